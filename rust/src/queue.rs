//! The events of a stretch of texts on their way to tokens: pieces, added tokens, ends of texts.

#[cfg(simd)]
mod fours;
mod words;

use crate::cache::{key_of, key_within, len_of, line_of, prefetch, Cache, Key, Line, LONGEST_KEY, PART};
use crate::cpu::CpuPath;

pub const CAPACITY: usize = 1024;

/// An event. A piece of up to 15 bytes has its cache key and line; any other event says in the key's last byte, where a
/// length would be, what it is, and has its start in the first word and its length at the beginning of the second.
#[derive(Clone, Copy, Default)]
#[repr(C, align(8))]
pub struct Event {
    pub key: Key,
    /// of a piece its line in the cache, of an added token its id
    pub line: u32,
    /// where it begins in the data, whose length may be above it: only differences count; 0 unless traced
    pub at: u32,
}

impl Event {
    /// How many bytes of text it is.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        if is_short(self.key) {
            len_of(self.key)
        } else {
            self.key[1] as u32
        }
    }
}

pub const LONG: u64 = 0x80 << 56;
pub const ADDED: u64 = 0x81 << 56;
pub const END: u64 = 0x82 << 56;
pub const LONG_PART: u64 = LONG | PART;

/// Where an event begins. words: how many words begin with it, 0 where it goes on with the one before; leads: 1 where its
/// first byte is a space that no text has, and that stands for the character behind it
#[derive(Clone, Copy)]
pub struct Start {
    pub at: u32,
    pub words: u32,
    pub leads: u32,
}

/// That of each event.
#[derive(Clone, Copy)]
pub struct Starts<'q> {
    events: &'q [Event],
    words: &'q [u32],
    leads: &'q [u32],
}

impl Starts<'_> {
    #[inline(always)]
    pub fn of(&self, event: usize) -> Start {
        Start { at: self.events[event].at, words: self.words[event], leads: self.leads[event] }
    }
}

/// The line of what is not looked for by the first look at the cache.
pub const NO_LINE: u32 = u32::MAX;

/// Whether an event's key is that of a piece, which the cache may know.
#[inline(always)]
pub fn is_short(key: Key) -> bool {
    key[1] < LONG
}

/// A text of which pieces are queued, data[base..], and the cache that is going to be asked for them. TRACE: whether it is
/// kept where they begin
///
/// `put` copies it first, for the compiler then holds it in registers: 8 % fewer instructions of known text with
/// GPT-2, and 3 % more where `words` did the same.
#[derive(Clone, Copy)]
pub struct Source<'s, const TRACE: bool> {
    lines: &'s [Line],
    shift: u32,
    data: &'s [u8],
    base: usize,
}

impl<'s, const TRACE: bool> Source<'s, TRACE> {
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
    fn short(&self, key: Key, start: usize) -> Event {
        let line = line_of(key, self.shift);
        prefetch(self.lines.as_ptr().wrapping_add(line));
        Event { key, line: line as u32, at: self.at(start) }
    }

    /// A piece without one, from `start` on.
    #[inline(always)]
    fn long(&self, start: usize, len: usize) -> Event {
        let key = [(self.base + start) as u64, LONG | len as u64];
        Event { key, line: NO_LINE, at: self.at(start) }
    }

    /// From before here 16 bytes can be read.
    #[inline(always)]
    fn safe(&self) -> usize {
        self.text().len().saturating_sub(15)
    }

    #[inline(always)]
    fn put(self, starts: &[u32], stops: &[u32], events: &mut [Event]) {
        let source = Source { ..self }; // for the compiler to hold it in registers
        let (text, safe) = (source.text(), source.safe());
        for ((event, &start), &stop) in events.iter_mut().zip(starts).zip(stops) {
            let (start, len) = (start as usize, stop.wrapping_sub(start) as usize);
            if len <= LONGEST_KEY && start < safe {
                // SAFETY: start + 16 <= text.len()
                *event = source.short(unsafe { key_within(text, start, len) }, start);
            } else {
                self.put_rare(start, len, event);
            }
        }
    }

    /// A piece without a key, or so near the end of the text that 16 bytes cannot be read.
    #[cold]
    #[inline(never)]
    fn put_rare(&self, start: usize, len: usize, event: &mut Event) {
        *event = if len > LONGEST_KEY {
            self.long(start, len)
        } else {
            self.short(key_of(&self.text()[start..start + len]), start)
        };
    }

    /// The same code with shifts and multiplications that need no fixed registers.
    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn put_avx2(self, starts: &[u32], stops: &[u32], events: &mut [Event]) {
        self.put(starts, stops, events)
    }

    #[inline(always)]
    fn at(&self, start: usize) -> u32 {
        if TRACE {
            self.base.wrapping_add(start) as u32
        } else {
            0
        }
    }
}

/// Events that wait for each other: lines of the cache are fetched while later pieces are cut.
pub struct Queue {
    events: Box<[Event; CAPACITY]>,
    /// of each as in `Start`: 1 and 0, unless `is_marked`
    words: Box<[u32; CAPACITY]>,
    leads: Box<[u32; CAPACITY]>,
    is_marked: bool,
    len: usize,
}

impl Queue {
    pub fn new() -> Self {
        Queue {
            events: Box::new([Event::default(); CAPACITY]),
            words: Box::new([1; CAPACITY]),
            leads: Box::new([0; CAPACITY]),
            is_marked: false,
            len: 0,
        }
    }

    pub fn events(&self) -> &[Event] {
        &self.events[..self.len]
    }

    /// Where each event begins. As slices, for what is behind a `&mut` would be loaded again for each.
    #[inline(always)]
    pub fn starts(&self) -> Starts<'_> {
        Starts { events: self.events(), words: &self.words[..self.len], leads: &self.leads[..self.len] }
    }

    /// Find the lines of pieces anew: the cache has grown.
    pub fn find_lines(&mut self, cache: &Cache) {
        let has_line = |event: &&mut Event| is_short(event.key) && event.line != NO_LINE;
        for event in self.events[..self.len].iter_mut().filter(has_line) {
            event.line = line_of(event.key, cache.shift()) as u32;
        }
    }

    pub fn room(&self) -> usize {
        CAPACITY - self.len
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_marked) {
            self.words[..self.len].fill(1);
            self.leads[..self.len].fill(0);
        }
        self.len = 0;
    }

    /// The pieces from each start to its stop.
    pub fn pieces<const TRACE: bool>(
        &mut self,
        path: CpuPath,
        source: Source<TRACE>,
        starts: &[u32],
        stops: &[u32],
    ) {
        let free = &mut self.events[self.len..self.len + starts.len()];
        match path {
            #[cfg(simd)]
            // SAFETY, of both: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { source.put_avx2(starts, stops, free) },
            #[cfg(simd)]
            CpuPath::Avx512 => unsafe { source.put_avx512(starts, stops, free) },
            _ => source.put(starts, stops, free),
        }
        self.len += starts.len();
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

    /// Which of the last pieces begin a word; the others go on with the one before.
    #[inline(always)]
    pub fn begin_words(&mut self, begins: impl ExactSizeIterator<Item = bool>) {
        let words = &mut self.words[self.len - begins.len()..self.len];
        words.iter_mut().zip(begins).for_each(|(words, begins)| *words = begins as u32);
        self.is_marked = true;
    }

    pub fn added(&mut self, id: u32, start: usize, len: usize) {
        self.push(Event { key: [start as u64, ADDED | len as u64], line: id, at: start as u32 });
    }

    pub fn end_of_text(&mut self) {
        self.push(Event { key: [0, END], ..Event::default() });
    }

    fn push(&mut self, event: Event) {
        self.events[self.len] = event;
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of data[base..], one by one, by what the words of keys are said to be.
    fn expected(cache: &Cache, data: &[u8], base: usize, edges: &[(u32, u32)]) -> Vec<(Key, u32, u32)> {
        let event = |&(start, stop): &(u32, u32)| {
            let (first, len) = (base + start as usize, (stop - start) as usize);
            let piece = &data[first..first + len];
            let (key, line) = if len > LONGEST_KEY {
                ([first as u64, LONG | len as u64], u32::MAX)
            } else {
                (key_of(piece), line_of(key_of(piece), cache.shift()) as u32)
            };
            (key, line, first as u32)
        };
        edges.iter().map(event).collect()
    }

    #[test]
    fn pieces_have_the_same_keys_on_every_path_and_wherever_they_stand() {
        let mut cache = Cache::new(1 << 20);
        cache.expect(1 << 16);
        let mut seed = 7u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for round in 0..4000 {
            let base = random(3);
            let (mut data, mut edges) = (b"--".repeat(9)[..base].to_vec(), Vec::new());
            for _ in 0..random(14) {
                data.extend_from_slice(&b"     "[..random(3)]); // between pieces
                let start = (data.len() - base) as u32;
                let len = if random(12) == 0 { random(60) } else { 1 + random(15) };
                data.extend((0..len).map(|_| random(256) as u8));
                edges.push((start, start + len as u32));
            }
            data.resize(data.len() + [0, 1, 15, 16][round % 4], b'x');
            let (starts, stops): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
            let expected = expected(&cache, &data, base, &edges);
            for path in CpuPath::here() {
                let (mut queue, mut traced) = (Queue::new(), Queue::new());
                queue.pieces(path, Source::<false>::new(&cache, &data, base), &starts, &stops);
                traced.pieces(path, Source::<true>::new(&cache, &data, base), &starts, &stops);
                let found = |queue: &Queue| -> Vec<_> {
                    queue.events().iter().map(|event| (event.key, event.line, event.at)).collect()
                };
                assert_eq!(found(&traced), expected, "{path:?}");
                let unplaced: Vec<_> = expected.iter().map(|&(key, line, _)| (key, line, 0)).collect();
                assert_eq!(found(&queue), unplaced, "{path:?}");
            }
        }
    }
}
