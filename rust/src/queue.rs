//! The events of a stretch of texts on their way to tokens: pieces, added tokens, ends of texts.

mod apart;
mod words;

use crate::cache::{key_of, key_within, line_of, prefetch, Cache, Key, Line, LONGEST_KEY, PART};
use crate::split::CpuPath;

pub const CAPACITY: usize = 1024;

/// An event. A piece of up to 15 bytes has its cache key and line; any other event says
/// in the key's last byte, where a length would be, what it is, and has its start in the
/// first word.
#[derive(Clone, Copy, Default)]
#[repr(C, align(8))]
pub struct Event {
    pub key: Key,
    /// of a piece its line in the cache, of an added token its id
    pub line: u32,
    pub len: u32,
}

pub const LONG: u64 = 0x80 << 56;
pub const ADDED: u64 = 0x81 << 56;
pub const END: u64 = 0x82 << 56;
pub const LONG_PART: u64 = LONG | PART;

/// Where a piece or an added token begins in the data, whose length may be above it: only differences count.
/// continues: 1 where it goes on with the word of the one before it; leads: 1 where its first byte is a space that no
/// text has, and that stands for the character behind it
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Start {
    pub at: u32,
    pub continues: u16,
    pub leads: u16,
}

/// Whether an event's key is that of a piece, which the cache may know.
#[inline(always)]
pub fn is_short(key: Key) -> bool {
    key[1] < LONG
}

/// A text of which pieces are queued, data[base..], and the cache that is going to be asked for them.
///
/// `pieces` and `apart` copy it first, for the compiler then holds it in registers: 8 % fewer instructions of known text with
/// GPT-2, and 3 % more where `words` did the same.
#[derive(Clone, Copy)]
pub struct Source<'s> {
    lines: &'s [Line],
    shift: u32,
    data: &'s [u8],
    base: usize,
}

impl<'s> Source<'s> {
    #[inline(always)]
    pub fn new(cache: &'s Cache, data: &'s [u8], base: usize) -> Self {
        Source { lines: cache.lines(), shift: cache.shift(), data, base }
    }

    #[inline(always)]
    fn text(&self) -> &'s [u8] {
        &self.data[self.base..]
    }

    /// A piece with a key, whose line is fetched ahead.
    #[inline(always)]
    fn short(&self, key: Key, len: usize) -> Event {
        let line = line_of(key, self.shift);
        prefetch(self.lines.as_ptr().wrapping_add(line));
        Event { key, line: line as u32, len: len as u32 }
    }

    /// A piece without one, from `start` on.
    #[inline(always)]
    fn long(&self, start: usize, len: usize) -> Event {
        Event { key: [(self.base + start) as u64, LONG], line: u32::MAX, len: len as u32 }
    }

    #[inline(always)]
    fn start(&self, start: u32) -> Start {
        Start { at: (self.base as u32).wrapping_add(start), ..Start::default() }
    }
}

/// Events that wait for each other: lines of the cache are fetched while later pieces are cut.
pub struct Queue {
    events: Box<[Event; CAPACITY]>,
    /// where each piece and added token begins, and whether it goes on with a word
    starts: Box<[Start; CAPACITY]>,
    len: usize,
}

impl Queue {
    pub fn new() -> Self {
        Queue {
            events: Box::new([Event::default(); CAPACITY]),
            starts: Box::new([Start::default(); CAPACITY]),
            len: 0,
        }
    }

    pub fn starts(&self) -> &[Start] {
        &self.starts[..self.len]
    }

    pub fn events(&self) -> &[Event] {
        &self.events[..self.len]
    }

    /// Find the lines of pieces anew: the cache has grown.
    pub fn find_lines(&mut self, cache: &Cache) {
        for event in self.events[..self.len].iter_mut().filter(|event| is_short(event.key)) {
            event.line = line_of(event.key, cache.shift()) as u32;
        }
    }

    pub fn room(&self) -> usize {
        CAPACITY - self.len
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The pieces that begin at `starts`, each up to the next; the last number only ends.
    /// trace: whether to keep where they begin
    pub fn pieces(&mut self, path: CpuPath, source: Source, starts: &[u32], trace: bool) {
        match path {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.pieces_avx2(source, starts, trace) },
            _ => self.put_pieces(source, starts, trace),
        }
    }

    /// The same code with shifts and multiplications that need no fixed registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn pieces_avx2(&mut self, source: Source, starts: &[u32], trace: bool) {
        self.put_pieces(source, starts, trace)
    }

    #[inline(always)]
    fn put_pieces(&mut self, source: Source, starts: &[u32], trace: bool) {
        let source = Source { ..source };
        let count = starts.len() - 1;
        let text = source.text();
        assert!(starts[count] as usize <= text.len());
        let free = &mut self.events[self.len..self.len + count];
        if trace {
            for (place, &start) in self.starts[self.len..self.len + count].iter_mut().zip(starts) {
                *place = source.start(start);
            }
        }
        let safe = (text.len() + 1).saturating_sub(16); // from before here 16 bytes can be read
        let begins_safely = |start: &u32| (*start as usize) < safe;
        let sure = match starts[..count].last() {
            Some(last) if begins_safely(last) => count,
            _ => starts[..count].partition_point(begins_safely),
        };
        let (surely, last) = free.split_at_mut(sure);
        let mut start = starts[0] as usize;
        for (event, &stop) in surely.iter_mut().zip(&starts[1..]) {
            let len = stop as usize - start;
            if len <= LONGEST_KEY {
                // SAFETY: start + 16 <= text.len(), for start < safe
                *event = source.short(unsafe { key_within(text, start, len) }, len);
            } else {
                *event = source.long(start, len);
            }
            start = stop as usize;
        }
        for (event, &stop) in last.iter_mut().zip(&starts[sure + 1..]) {
            let len = stop as usize - start;
            *event = if len <= LONGEST_KEY {
                source.short(key_of(&text[start..start + len]), len)
            } else {
                source.long(start, len)
            };
            start = stop as usize;
        }
        self.len += count;
    }

    /// The last piece but `back` is a part of one, which may have other tokens than the same text as a piece.
    pub fn is_part(&mut self, back: usize, cache: &Cache) {
        let event = &mut self.events[self.len - 1 - back];
        event.key[1] |= PART;
        if is_short(event.key) {
            event.line = line_of(event.key, cache.shift()) as u32;
            cache.prefetch(event.line as usize);
        }
    }

    /// The last piece but `back` goes on with the word of the one before it.
    pub fn continues(&mut self, back: usize) {
        self.starts[self.len - 1 - back].continues = 1;
    }

    /// Which of the last pieces go on with a word. starts: where they begin, for `begins_word`
    pub fn continue_words(&mut self, starts: &[u32], begins_word: impl Fn(usize) -> bool) {
        let places = &mut self.starts[self.len - starts.len()..self.len];
        for (place, &start) in places.iter_mut().zip(starts) {
            place.continues = !begins_word(start as usize) as u16;
        }
    }

    pub fn added(&mut self, id: u32, start: usize, len: usize) {
        self.push(Event { key: [start as u64, ADDED], line: id, len: len as u32 }, start);
    }

    pub fn end_of_text(&mut self) {
        self.push(Event { key: [0, END], ..Event::default() }, 0);
    }

    fn push(&mut self, event: Event, start: usize) {
        self.events[self.len] = event;
        self.starts[self.len] = Start { at: start as u32, continues: 0, leads: 0 };
        self.len += 1;
    }
}
