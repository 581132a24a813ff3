//! The events of a stretch of texts on their way to tokens: pieces, added tokens, ends of texts.

use crate::cache::{key, Cache, Key, LONGEST_KEY};

pub const CAPACITY: usize = 512;

/// An event. A piece of up to 15 bytes has its cache key and line; any other event says
/// in the key's last byte, where a length would be, what it is.
#[derive(Clone, Copy, Default)]
pub struct Event {
    pub key: Key,
    pub start: u64,
    pub len: u32,
    /// of a piece its line in the cache, of an added token its id
    pub line: u32,
}

pub const LONG: u64 = 0x80 << 56;
pub const ADDED: u64 = 0x81 << 56;
pub const END: u64 = 0x82 << 56;

/// Events that wait for each other: lines of the cache are fetched while later pieces are cut.
pub struct Queue {
    events: Box<[Event; CAPACITY]>,
    len: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { events: Box::new([Event::default(); CAPACITY]), len: 0 }
    }
}

impl Queue {
    pub fn events(&self) -> &[Event] {
        &self.events[..self.len]
    }

    pub fn room(&self) -> usize {
        CAPACITY - self.len
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The pieces that begin at `starts`, each up to the next; the last number only ends.
    #[inline(always)]
    pub fn pieces(&mut self, cache: &Cache, data: &[u8], base: usize, starts: &[u32]) {
        let count = starts.len() - 1;
        let free = &mut self.events[self.len..self.len + count];
        for (event, pair) in free.iter_mut().zip(starts.windows(2)) {
            let (start, len) = (base + pair[0] as usize, pair[1] - pair[0]);
            if len as usize <= LONGEST_KEY {
                let key = key(data, start, len as usize);
                let line = cache.line_of(key);
                cache.prefetch(line);
                *event = Event { key, start: start as u64, len, line: line as u32 };
            } else {
                *event = Event { key: [0, LONG], start: start as u64, len, line: 0 };
            }
        }
        self.len += count;
    }

    pub fn added(&mut self, id: u32, start: usize, len: usize) {
        self.push(Event { key: [0, ADDED], start: start as u64, len: len as u32, line: id });
    }

    pub fn end_of_text(&mut self) {
        self.push(Event { key: [0, END], ..Event::default() });
    }

    fn push(&mut self, event: Event) {
        self.events[self.len] = event;
        self.len += 1;
    }
}
