//! Columns of tokens, and what writes them.

use crate::cache::{end_of, start_of, Lanes, Placed, ID_MASK};
use crate::four::Four;
use crate::merge::Token;
use crate::queue::Start;

/// Room for so many ids is kept between calls.
const MOST_KEPT: usize = 1 << 14;

/// The tokens of texts, one after the other.
///
/// stops: where the tokens of each text end. starts, ends: characters of the text;
/// words: number of the piece; empty unless traced. left: texts that must be
/// encoded in another way, which have no tokens here
#[derive(Default)]
pub struct Tokens {
    pub ids: Vec<u32>,
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
    pub words: Vec<u32>,
    pub stops: Vec<usize>,
    pub left: Vec<usize>,
}

impl Tokens {
    /// As new; the room of large columns is not kept.
    pub fn clear(&mut self) {
        if self.ids.capacity() > MOST_KEPT {
            *self = Tokens::default();
        }
        for column in [&mut self.ids, &mut self.starts, &mut self.ends, &mut self.words] {
            column.clear();
        }
        self.stops.clear();
        self.left.clear();
    }

    /// The tokens of further texts behind these.
    pub fn append(&mut self, other: &Tokens) {
        let (tokens, texts) = (self.ids.len(), self.stops.len());
        self.stops.extend(other.stops.iter().map(|stop| tokens + stop));
        self.left.extend(other.left.iter().map(|row| texts + row));
        self.ids.extend_from_slice(&other.ids);
        self.starts.extend_from_slice(&other.starts);
        self.ends.extend_from_slice(&other.ends);
        self.words.extend_from_slice(&other.words);
    }

    /// ids, starts, ends and words.
    pub fn into_columns(self) -> [Vec<u32>; 4] {
        [self.ids, self.starts, self.ends, self.words]
    }

    /// The columns that are filled.
    pub fn columns<const TRACE: bool>(&mut self) -> impl Iterator<Item = &mut Vec<u32>> {
        let all = [&mut self.ids, &mut self.starts, &mut self.ends, &mut self.words];
        all.into_iter().take(if TRACE { 4 } else { 1 })
    }
}

/// The piece that tokens are of: where it is in its text, and its number. leads: as in `Start`
pub struct Place<const TRACE: bool> {
    pub start: u32,
    pub len: u32,
    pub word: u32,
    pub leads: u32,
}

impl<const TRACE: bool> Place<TRACE> {
    pub fn append(&self, out: &mut Tokens, tokens: &[Token]) {
        out.ids.extend(tokens.iter().map(|token| token.id));
        if TRACE {
            // a made text has its places from 0 on, and is put right later
            let place = |token: &Token, least: u32| self.start.wrapping_add(token.start.max(least));
            out.starts.extend(tokens.iter().map(|token| place(token, self.leads)));
            if let Some((_, rest)) = tokens.split_first() {
                out.ends.extend(rest.iter().map(|next| place(next, 2 * self.leads)));
                out.ends.push(self.start.wrapping_add(self.len));
            }
            out.words.resize(out.ids.len(), self.word);
        }
    }

    /// The same of tokens that say where they are.
    pub fn append_placed(&self, out: &mut Tokens, tokens: impl Iterator<Item = Placed>) {
        for token in tokens {
            out.ids.push(token.id);
            if TRACE {
                out.starts.push(self.start.wrapping_add(token.start));
                out.ends.push(self.start.wrapping_add(token.end));
                out.words.push(self.word.wrapping_add(token.word));
            }
        }
    }
}

/// Writes tokens of known pieces to the columns, whose lengths are set at the end.
///
/// It holds the columns' pointers: behind a `&mut Vec` each would be loaded again for every piece.
pub struct Emitter<'t, const TRACE: bool> {
    out: &'t mut Tokens,
    ids: *mut u32,
    starts: *mut u32,
    ends: *mut u32,
    words: *mut u32,
    len: usize,
    text: Four, // where the current one begins
    word: Four, // number of the last
}

impl<'t, const TRACE: bool> Emitter<'t, TRACE> {
    #[inline(always)]
    pub fn new(out: &'t mut Tokens, text: usize, word: u32) -> Self {
        let len = out.ids.len();
        let (ids, starts) = (out.ids.as_mut_ptr(), out.starts.as_mut_ptr());
        let (ends, words) = (out.ends.as_mut_ptr(), out.words.as_mut_ptr());
        Emitter { out, ids, starts, ends, words, len, text: Four::all(text as u32), word: Four::all(word) }
    }

    /// The tokens of a piece: all four lanes are written, and `count` of them count. LEADS: whether a piece may lead
    ///
    /// # Safety
    /// The columns have room for four tokens more.
    #[inline(always)]
    pub unsafe fn put<const LEADS: bool>(&mut self, start: Start, lanes: &Lanes, count: usize) {
        debug_assert!(self.len + 4 <= self.out.ids.capacity());
        // SAFETY: the caller's promise
        let write = |column: *mut u32, values: Four| unsafe {
            column.add(self.len).cast::<[u32; 4]>().write_unaligned(values.numbers())
        };
        let lanes = Four::of(&lanes.0);
        write(self.ids, lanes.and(Four::all(ID_MASK)));
        if TRACE {
            let at = Four::all(start.at).minus(self.text);
            let mut starts = lanes.shifted::<28>().and(Four::of(&[0, 15, 15, 15]));
            let mut ends = lanes.shifted::<24>().and(Four::all(15));
            if LEADS {
                // of the first token the place is one further on, and its end, if that is all it has
                let leads = Four::only_first(start.leads);
                (starts, ends) = (starts.plus(leads), ends.more_where(leads));
            }
            write(self.starts, starts.plus(at));
            write(self.ends, ends.plus(at));
            self.word = self.word_at(start);
            write(self.words, self.word);
        }
        self.len += count;
    }

    /// The number of the word that a piece belongs to.
    #[inline(always)]
    fn word_at(&self, start: Start) -> Four {
        self.word.plus(Four::all(start.words))
    }

    /// Itself and the tokens of lanes behind its own; false where there is no room for them and four for each of so many
    /// events.
    ///
    /// By value: whose address is given away is in no registers.
    #[inline(never)]
    pub fn with_lanes(mut self, start: Start, lanes: &[u32], events: usize) -> (Self, bool) {
        let wanted = self.len + lanes.len() + 4 * events;
        if self.out.columns::<TRACE>().any(|column| column.capacity() < wanted) {
            return (self, false);
        }
        let at = start.at.wrapping_sub(self.text.first());
        self.word = self.word_at(start);
        let (word, leads) = (self.word.first(), start.leads);
        for (i, &lane) in lanes.iter().enumerate() {
            let place = self.len + i;
            // SAFETY: there is room, as just seen
            unsafe {
                self.ids.add(place).write(lane & ID_MASK);
                if TRACE {
                    self.starts.add(place).write(at.wrapping_add(start_of(lane).max(leads)));
                    self.ends.add(place).write(at.wrapping_add(end_of(lane).max(2 * leads)));
                    self.words.add(place).write(word);
                }
            }
        }
        self.len += lanes.len();
        (self, true)
    }

    /// Whether texts end without more ado: none has been left.
    #[inline(always)]
    pub fn ends_texts(&self) -> bool {
        self.out.left.is_empty()
    }

    /// A text ends; the next begins at `text`, behind word number `word`.
    #[inline(always)]
    pub fn end_text(&mut self, text: usize, word: u32) {
        self.out.stops.push(self.len);
        (self.text, self.word) = (Four::all(text as u32), Four::all(word));
    }

    /// Returns the number of the last word.
    #[inline(always)]
    pub fn finish(self) -> u32 {
        // SAFETY: up to `len` everything was written by `put`
        unsafe {
            self.out.ids.set_len(self.len);
            if TRACE {
                self.out.starts.set_len(self.len);
                self.out.ends.set_len(self.len);
                self.out.words.set_len(self.len);
            }
        }
        self.word.first()
    }
}
