//! Pieces that were worked out before, and their tokens.
//!
//! Pieces of up to 15 bytes are in a table of 32-byte entries which hold the whole key
//! and up to four tokens, two to a cache line: most of a text is answered by one load.
//! Longer pieces are in a map of their own. Both are bounded; what they hold never
//! changes a result.

use crate::merge::Token;
use crate::vocabulary::{fold, hash_bytes};

pub const LONGEST_KEY: usize = 15;
/// Pieces longer than this are not kept: they do not come again.
pub const LONGEST_KEPT: usize = 256;
pub const ID_MASK: u32 = 0x00ff_ffff;

/// A piece as the table knows it: its bytes, zero padded, the length in the last byte.
pub type Key = [u64; 2];

/// lanes: ids in the lower 24 bits. The upper 8 of the first say how many there are, of
/// the others where in the piece they begin. With a count of 0 there are more than four:
/// lanes 1 and 2 are the place in `spill` and the number of tokens.
#[repr(C, align(32))]
#[derive(Clone, Copy, Default)]
pub struct Entry {
    pub key: Key,
    pub lanes: [u32; 4],
}

#[repr(C, align(64))]
#[derive(Clone, Copy, Default)]
pub struct Line(pub [Entry; 2]);

struct LongEntry {
    key: (u32, u32),
    tokens: (u32, u32),
}

pub struct Cache {
    lines: Vec<Line>,
    shift: u32,
    used: usize,
    most_lines: usize,
    spill: Vec<Token>,
    long_keys: Vec<u8>,
    long_tokens: Vec<Token>,
    long_entries: Vec<LongEntry>,
    /// tag and number of the entry + 1; 0 is free
    long_slots: Vec<(u32, u32)>,
    rest_limit: usize,
    victim: u64,
}

const FEWEST_LINES: usize = 1 << 11; // 128 KB

/// The key of a piece of 1 to 15 bytes. `end` is where the text that may be read ends.
#[inline(always)]
pub fn key(text: &[u8], start: usize, len: usize) -> Key {
    let bytes: [u8; 16] = match text.get(start..start + 16) {
        Some(bytes) => bytes.try_into().expect("16 bytes"),
        None => near_the_end(text, start),
    };
    let whole = u128::from_le_bytes(bytes);
    let kept = whole & MASKS[len & 15];
    [kept as u64, (kept >> 64) as u64 | (len as u64) << 56]
}

#[cold]
fn near_the_end(text: &[u8], start: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..text.len() - start].copy_from_slice(&text[start..]);
    bytes
}

static MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 1;
    while len < 16 {
        masks[len] = (1u128 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

impl Cache {
    /// limit: bytes that it may take; 0 keeps nothing
    pub fn new(limit: usize) -> Self {
        let most = limit / 2 / std::mem::size_of::<Line>();
        let most_lines = if most == 0 { 0 } else { 1 << most.ilog2() };
        let mut cache = Cache {
            lines: Vec::new(),
            shift: 0,
            used: 0,
            most_lines,
            spill: Vec::new(),
            long_keys: Vec::new(),
            long_tokens: Vec::new(),
            long_entries: Vec::new(),
            long_slots: vec![(0, 0); 1 << 8],
            rest_limit: limit / 2,
            victim: 0,
        };
        cache.resize(FEWEST_LINES.min(most_lines.max(1)));
        cache
    }

    pub fn bytes(&self) -> usize {
        self.lines.capacity() * 64 + self.rest_bytes()
    }

    fn rest_bytes(&self) -> usize {
        (self.spill.len() + self.long_tokens.len()) * 8 + self.long_keys.len() + self.long_entries.len() * 32
    }

    fn resize(&mut self, lines: usize) {
        let old = std::mem::replace(&mut self.lines, vec![Line::default(); lines]);
        self.shift = 64 - lines.ilog2().max(1);
        self.used = 0;
        for entry in old.iter().flat_map(|line| &line.0).filter(|entry| entry.key != [0, 0]) {
            self.put(*entry);
        }
    }

    /// The line where a key belongs; the other that it may be in is the neighbour.
    #[inline(always)]
    pub fn line_of(&self, key: Key) -> usize {
        (fold(key[0], key[1]) >> self.shift) as usize & (self.lines.len() - 1)
    }

    #[inline(always)]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Fetch a line ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, line: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch reads nothing; the place is in the table or ignored by the CPU
        unsafe {
            use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
            _mm_prefetch(self.lines.as_ptr().wrapping_add(line).cast::<i8>(), _MM_HINT_T0);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = line;
    }

    /// An entry wherever it is.
    pub fn find(&self, key: Key) -> Option<&Entry> {
        let home = self.line_of(key);
        let lines = [home, (home ^ 1) & (self.lines.len() - 1)];
        lines.into_iter().flat_map(|line| &self.lines[line].0).find(|entry| entry.key == key)
    }

    /// The tokens of an entry that has more than four.
    pub fn spilled(&self, entry: &Entry) -> &[Token] {
        &self.spill[entry.lanes[1] as usize..][..entry.lanes[2] as usize]
    }

    /// Keep the tokens of a short piece.
    pub fn insert(&mut self, key: Key, tokens: &[Token]) {
        if self.most_lines == 0 {
            return;
        }
        let mut lanes = [0; 4];
        if tokens.len() <= 4 {
            for (lane, token) in lanes.iter_mut().zip(tokens) {
                *lane = token.id | token.start << 24;
            }
            lanes[0] |= (tokens.len() as u32) << 24;
        } else {
            self.make_room(tokens.len() * 8);
            lanes = [0, self.spill.len() as u32, tokens.len() as u32, 0];
            self.spill.extend_from_slice(tokens);
        }
        if self.used >= self.lines.len() && self.lines.len() < self.most_lines {
            self.resize((self.lines.len() * 4).min(self.most_lines)); // half of the entries are taken
        }
        self.put(Entry { key, lanes });
    }

    fn put(&mut self, entry: Entry) {
        let home = self.line_of(entry.key);
        for line in [home, (home ^ 1) & (self.lines.len() - 1)] {
            if let Some(free) = self.lines[line].0.iter_mut().find(|entry| entry.key == [0, 0]) {
                *free = entry;
                self.used += 1;
                return;
            }
        }
        self.victim = self.victim.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.lines[home].0[(self.victim >> 63) as usize] = entry;
    }

    /// Empty what is beside the table when `more` bytes would not fit; the table refers to it.
    fn make_room(&mut self, more: usize) {
        if self.rest_bytes() + more <= self.rest_limit {
            return;
        }
        self.lines.fill(Line::default());
        self.used = 0;
        self.spill.clear();
        self.long_keys.clear();
        self.long_tokens.clear();
        self.long_entries.clear();
        self.long_slots.fill((0, 0));
    }

    /// The tokens of a piece of more than 15 bytes.
    pub fn find_long(&self, piece: &[u8]) -> Option<&[Token]> {
        let hash = hash_bytes(piece);
        let mut slot = hash as usize & (self.long_slots.len() - 1);
        loop {
            let (tag, number) = self.long_slots[slot];
            if number == 0 {
                return None;
            }
            let entry = &self.long_entries[number as usize - 1];
            if tag == (hash >> 32) as u32 && &self.long_keys[range(entry.key)] == piece {
                return Some(&self.long_tokens[range(entry.tokens)]);
            }
            slot = (slot + 1) & (self.long_slots.len() - 1);
        }
    }

    /// Keep the tokens of a long piece that is not there yet.
    pub fn insert_long(&mut self, piece: &[u8], tokens: &[Token]) {
        let more = piece.len() + tokens.len() * 8 + 32;
        if piece.len() > LONGEST_KEPT || more > self.rest_limit {
            return;
        }
        self.make_room(more);
        if self.long_entries.len() * 2 >= self.long_slots.len() {
            self.long_slots = vec![(0, 0); self.long_slots.len() * 4];
            for number in 0..self.long_entries.len() {
                let hash = hash_bytes(&self.long_keys[range(self.long_entries[number].key)]);
                self.link(hash, number);
            }
        }
        self.long_entries.push(LongEntry {
            key: (self.long_keys.len() as u32, piece.len() as u32),
            tokens: (self.long_tokens.len() as u32, tokens.len() as u32),
        });
        self.long_keys.extend_from_slice(piece);
        self.long_tokens.extend_from_slice(tokens);
        self.link(hash_bytes(piece), self.long_entries.len() - 1);
    }

    fn link(&mut self, hash: u64, entry: usize) {
        let mut slot = hash as usize & (self.long_slots.len() - 1);
        while self.long_slots[slot].1 != 0 {
            slot = (slot + 1) & (self.long_slots.len() - 1);
        }
        self.long_slots[slot] = ((hash >> 32) as u32, entry as u32 + 1);
    }
}

fn range((start, len): (u32, u32)) -> std::ops::Range<usize> {
    start as usize..start as usize + len as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(n: u32, count: u32) -> Vec<Token> {
        (0..count).map(|i| Token { id: n + i, start: i }).collect()
    }

    fn found(cache: &Cache, key: Key) -> Option<Vec<Token>> {
        let entry = cache.find(key)?;
        let count = entry.lanes[0] >> 24;
        if count == 0 {
            return Some(cache.spilled(entry).to_vec());
        }
        let lane = |i: usize| Token {
            id: entry.lanes[i] & ID_MASK,
            start: if i == 0 { 0 } else { entry.lanes[i] >> 24 },
        };
        Some((0..count as usize).map(lane).collect())
    }

    #[test]
    fn what_is_found_is_what_was_put_in_and_memory_is_bounded() {
        for limit in [0, 64, 1 << 12, 1 << 20] {
            let mut cache = Cache::new(limit);
            let mut kept = 0;
            for n in 0..50_000u32 {
                let text = format!("{n:0>15}");
                let short = key(text.as_bytes(), 0, 15 - n as usize % 9);
                let count = 1 + n % 7;
                if cache.find(short).is_none() {
                    cache.insert(short, &tokens(n, count));
                    if let Some(found) = found(&cache, short) {
                        assert_eq!(found, tokens(n, count));
                        kept += 1;
                    }
                }
                let long = format!("{n:0>40}");
                if cache.find_long(long.as_bytes()).is_none() {
                    cache.insert_long(long.as_bytes(), &tokens(n, count));
                    assert!(
                        limit < 1 << 12 || cache.find_long(long.as_bytes()) == Some(&tokens(n, count)[..])
                    );
                }
                assert!(cache.bytes() <= limit.max(64));
            }
            assert!(limit < 1 << 12 || kept > 1000);
        }
    }

    #[test]
    fn keys_are_read_up_to_the_very_end() {
        let text = b"0123456789abcdef";
        for start in 0..16 {
            for len in 1..=LONGEST_KEY.min(16 - start) {
                let mut bytes = [0; 16];
                bytes[..len].copy_from_slice(&text[start..start + len]);
                bytes[15] = len as u8;
                let [low, high] = key(text, start, len);
                assert_eq!((low as u128 | (high as u128) << 64).to_le_bytes(), bytes);
            }
        }
    }
}
