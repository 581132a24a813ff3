//! Events to tokens: most by one look at the cache each, the rest one by one.

use super::{Space, Worker, NO_WORD};
use crate::cache::{bytes_of, token_of, Key, Lanes, Line};
use crate::characters::to_characters;
use crate::cpu::CpuPath;
use crate::merge::Token;
use crate::model::{Kind, Spelled};
use crate::queue::{is_short, Start, ADDED, CAPACITY, END, LONG, LONG_PART};
use crate::tokens::{Emitter, Place};

/// More tokens than this come to their room by growing: 64 MB a column are reserved, not more.
const MOST_EXPECTED: usize = 16 << 20;

impl Space {
    /// Gather the keys of short pieces from event `from` on that the cache does not have.
    #[inline(always)]
    fn find_unknown(&mut self, from: usize, probe: impl for<'l> Fn(&'l Line, &Key) -> Option<&'l Lanes>) {
        let Space { cache, queue, unknown, .. } = self;
        unknown.clear();
        let lines = cache.lines();
        for event in &queue.events()[from..] {
            let is_known =
                lines.get(event.line as usize).is_some_and(|line| probe(line, &event.key).is_some());
            if !is_known && is_short(event.key) && !cache.has(event.key) {
                unknown.push(event.key);
            }
        }
    }

    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn find_unknown_avx2(&mut self, from: usize) {
        // SAFETY: this function's own promise
        self.find_unknown(from, |line, key| unsafe { line.find_avx2(key) })
    }
}

/// Apart, for the loop that asks it has few instructions.
#[inline(never)]
fn is_ascii(text: &[u8]) -> bool {
    text.is_ascii()
}

impl<const TRACE: bool> Worker<'_, TRACE> {
    /// Turn the events that wait into tokens.
    pub(super) fn flush(&mut self, data: &[u8]) {
        self.reserve(0);
        let mut at = self.known(0);
        let mut has_learnt = !self.space.cache.keeps();
        while let Some(event) = self.space.queue.events().get(at) {
            if !has_learnt && is_short(event.key) && !self.space.cache.has(event.key) {
                has_learnt = true;
                self.learn(at);
            } else {
                self.rare(data, at);
                at += 1;
            }
            at = self.known(at);
        }
        self.space.queue.clear();
    }

    /// Emit events from `at` on as long as the first look at the cache answers them; where that ends.
    #[inline(always)]
    fn known(&mut self, at: usize) -> usize {
        match self.path {
            #[cfg(simd)]
            // SAFETY, of both: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 | CpuPath::Avx512 if TRACE && self.tokenizer.leads() => unsafe {
                self.known_avx2::<true>(at)
            },
            #[cfg(simd)]
            CpuPath::Avx2 | CpuPath::Avx512 => unsafe { self.known_avx2::<false>(at) },
            _ => self.known_by::<TRACE>(at, |line, key| line.find(*key)),
        }
    }

    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn known_avx2<const LEADS: bool>(&mut self, at: usize) -> usize {
        // SAFETY: this function's own promise
        self.known_by::<LEADS>(at, |line, key| unsafe { line.find_avx2(key) })
    }

    /// With the ends of texts whose tokens are as they stand. probe: `Line::find`, in the way that suits the CPU;
    /// LEADS: whether a piece may lead
    #[inline(always)]
    fn known_by<const LEADS: bool>(
        &mut self,
        mut at: usize,
        probe: impl for<'l> Fn(&'l Line, &Key) -> Option<&'l Lanes>,
    ) -> usize {
        let Space { cache, queue, out, texts, .. } = &mut *self.space;
        let begins = |text: usize| texts.get(text).map_or(0, |text| text.0);
        let mut text = self.text;
        let mut out = Emitter::<TRACE>::new(out, begins(text), self.word);
        let lines = cache.lines();
        let (events, starts) = (queue.events(), queue.starts());
        loop {
            // a loop of its own, whose numbers are all in registers
            let mut known = None;
            while let Some(event) = events.get(at) {
                // a table that has grown since has other lines: not found there is only slower
                let Some(line) = lines.get(event.line as usize) else { break };
                let Some(lanes) = probe(line, &event.key) else { break };
                let count = lanes.count();
                if count == 0 {
                    known = Some(lanes);
                    break;
                }
                // SAFETY: `reserve` made room for four tokens for each event that is left
                unsafe { out.put::<LEADS>(starts.of(at), lanes, count) };
                at += 1;
            }
            match (known, events.get(at)) {
                (None, Some(event)) if event.key[1] == END && out.ends_texts() => {
                    let Some(&(first, last)) = texts.get(text) else { break };
                    if TRACE && !is_ascii(&self.data[first..last]) {
                        break;
                    }
                    text += 1;
                    out.end_text(begins(text), NO_WORD);
                }
                (Some(lanes), _) if lanes.words().is_none() => {
                    let has_room;
                    let left = events.len() - at;
                    (out, has_room) = out.with_lanes(starts.of(at), cache.spilled(lanes), left);
                    if !has_room {
                        break;
                    }
                }
                _ => break,
            }
            at += 1;
        }
        self.word = out.finish();
        self.text = text;
        self.forget_texts();
        at
    }

    /// Let the model work out short pieces from `from` on that are not known: several at a time are sooner.
    #[inline(never)]
    fn learn(&mut self, from: usize) {
        match self.path {
            #[cfg(simd)]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 | CpuPath::Avx512 => unsafe { self.space.find_unknown_avx2(from) },
            _ => self.space.find_unknown(from, |line, key| line.find(*key)),
        }
        let Space { cache, queue, unknown, bench, scratch, .. } = &mut *self.space;
        let shift = cache.shift();
        self.tokenizer.model.kind.learn(unknown, cache, bench, scratch);
        if cache.shift() != shift {
            queue.find_lines(cache);
        }
    }

    /// Room for the tokens that `bytes` of text come to, roughly: growing later copies what is there.
    pub fn expect(&mut self, bytes: usize) {
        self.space.cache.expect(bytes);
        let tokens = (bytes / 3).min(MOST_EXPECTED) + 4 * CAPACITY;
        let rooms = &self.tokenizer.model.rooms;
        for column in self.space.out.columns::<TRACE>().filter(|column| column.capacity() < tokens) {
            let first = std::mem::replace(column, rooms.take(tokens));
            column.extend_from_slice(&first);
            rooms.give_back(first);
        }
    }

    /// Room for the tokens of a whole queue out of the cache, and `more`.
    fn reserve(&mut self, more: usize) {
        let more = more + 4 * CAPACITY + 4;
        for column in self.space.out.columns::<TRACE>() {
            column.reserve(more);
        }
    }

    /// What the first look at the cache does not answer.
    #[inline(never)]
    fn rare(&mut self, data: &[u8], at: usize) {
        let event = self.space.queue.events()[at];
        let (kind, len) = (event.key[1] & 0xff << 56, event.len());
        if kind == END {
            return self.finish_text();
        }
        let place = self.place(self.space.queue.starts().of(at), len);
        self.reserve(3 * len as usize); // no token is empty, but a space may be spelled in three bytes
        let Space { cache, tokens, out, .. } = &mut *self.space;
        match kind {
            ADDED => place.append(out, &[Token { id: event.line, start: 0 }]),
            LONG => self.rare_long(place, &data[event.key[0] as usize..][..len as usize]),
            LONG_PART => self.long_part(place, &data[event.key[0] as usize..][..len as usize]),
            _ => match cache.find(event.key) {
                Some(lanes) if lanes.words().is_some() => self.placed(place, &lanes),
                Some(lanes) if lanes.count() == 0 => {
                    tokens.clear();
                    tokens.extend(cache.spilled(&lanes).iter().map(|&lane| token_of(lane)));
                    place.append(out, tokens);
                }
                Some(lanes) => {
                    let tokens: [Token; 4] = std::array::from_fn(|i| lanes.token(i));
                    place.append(out, &tokens[..lanes.count()]);
                }
                None => self.new_short(place, event.key),
            },
        }
    }

    fn new_short(&mut self, place: Place<TRACE>, key: Key) {
        let (bytes, len) = bytes_of(key);
        let Space { cache, scratch, tokens, out, .. } = &mut *self.space;
        match self.tokenizer.model.kind.spell(&bytes[..len], Some(key), scratch, tokens) {
            Spelled::Whole => {
                cache.insert(key, tokens);
                place.append(out, tokens);
            }
            Spelled::Uneven => self.uneven(place, &bytes[..len], Some(key)),
            Spelled::Failed => self.hard(place, Spelled::Failed),
        }
    }

    fn rare_long(&mut self, place: Place<TRACE>, piece: &[u8]) {
        let Space { cache, scratch, tokens, bench, out, .. } = &mut *self.space;
        if let Some(known) = cache.find_long(piece) {
            return place.append(out, known);
        }
        let worth_keeping = match &self.tokenizer.model.kind {
            // of what is cut into many units, most never comes again
            Kind::Bytes(bpe) => {
                bpe.spell_by_units(piece, cache, bench, scratch, tokens) || cache.is_worth(piece)
            }
            kind => match kind.spell_long(piece, scratch, tokens) {
                Spelled::Whole => cache.is_worth(piece),
                Spelled::Uneven => return self.uneven(place, piece, None),
                Spelled::Failed => return self.hard(place, Spelled::Failed),
            },
        };
        if worth_keeping {
            cache.insert_long(piece, tokens);
        }
        place.append(out, tokens);
    }

    /// A part of a piece, in which no merge is left out.
    fn long_part(&mut self, place: Place<TRACE>, part: &[u8]) {
        let Space { cache, scratch, tokens, bench, out, .. } = &mut *self.space;
        if let Kind::Bytes(bpe) = &self.tokenizer.model.kind {
            bpe.spell_part(part, cache, bench, scratch, tokens);
            place.append(out, tokens);
        }
    }

    /// A piece that cannot be spelled, or whose tokens are not where they seem to be.
    #[cold]
    pub(super) fn hard(&mut self, place: Place<TRACE>, spelled: Spelled) {
        if TRACE || spelled == Spelled::Failed {
            self.leave_number(self.space.out.stops.len());
        } else {
            place.append(&mut self.space.out, &self.space.tokens);
        }
    }

    /// Where an event's tokens are, and the number of their word.
    fn place(&mut self, start: Start, len: u32) -> Place<TRACE> {
        if !TRACE {
            return Place { start: 0, len, word: 0, leads: 0 };
        }
        self.word = self.word.wrapping_add(start.words);
        let at = start.at.wrapping_sub(self.space.texts[self.text].0 as u32);
        Place { start: at, len, word: self.word, leads: start.leads }
    }

    fn finish_text(&mut self) {
        let Space { out, texts, .. } = &mut *self.space;
        let first = out.stops.last().copied().unwrap_or(0);
        let is_left = out.left.binary_search(&out.stops.len()).is_ok();
        if is_left {
            out.columns::<TRACE>().for_each(|column| column.truncate(first));
        }
        if TRACE {
            let (start, stop) = texts[self.text];
            let text = &self.data[start..stop];
            if !is_left && !text.is_ascii() {
                to_characters(text, &mut out.starts[first..], &mut out.ends[first..]);
            }
            self.word = NO_WORD;
        }
        out.stops.push(out.ids.len());
        self.text += 1;
        self.forget_texts();
    }

    /// The bounds of texts are needed until the last has ended.
    fn forget_texts(&mut self) {
        if self.text == self.space.texts.len() {
            self.space.texts.clear();
            self.text = 0;
        }
    }
}
