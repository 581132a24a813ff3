//! Pieces that were worked out before, and their tokens.
//!
//! Pieces of up to 15 bytes are in a table of lines which hold the whole keys of two and
//! up to four tokens of each: most of a text is answered by one load.
//! Longer pieces are in a map of their own. Both are bounded; what they hold never
//! changes a result.

mod line;
mod placed;

pub use line::{end_of, start_of, token_of, Lanes, Line};
pub use placed::Placed;

use crate::memory::{comes_when_touched, Zeroed};
use crate::merge::Token;
use crate::vocabulary::hash_bytes;
use line::put_lanes;

pub const LONGEST_KEY: usize = 15;
/// Pieces longer than this are not kept: they do not come again.
pub const LONGEST_KEPT: usize = 256;
pub const ID_MASK: u32 = 0x00ff_ffff;

/// A piece as the table knows it: its bytes, zero padded, the length in the last byte.
pub type Key = [u64; 2];

/// In a key: not of a piece but of a part of one, where that may have other tokens.
pub const PART: u64 = 0x40 << 56;

#[derive(Clone)]
struct LongEntry {
    key: (u32, u32),
    tokens: (u32, u32),
}

pub struct Cache {
    /// room for as many as there may be, once there are many; those beyond `count` are empty
    room: Zeroed<Line>,
    count: usize,
    shift: u32,
    used: usize,
    most_lines: usize,
    spill: Vec<u32>,
    long_keys: Vec<u8>,
    long_tokens: Vec<Token>,
    long_entries: Vec<LongEntry>,
    /// tag and number of the entry + 1; 0 is free
    long_slots: Vec<(u32, u32)>,
    /// hashes of long pieces that came by, by place
    seen: Box<[u32]>,
    rest_limit: usize,
    victim: u64,
}

const SEEN: usize = 1 << 15; // 128 KB, not for small caches
/// 16 KB: a single text is there before the pages of a larger table are. What is large `expect`s more.
const FEWEST_LINES: usize = 1 << 8;
/// Text of which a quarter of a line's entries are new pieces, in the first MB of English and code.
const BYTES_A_LINE: usize = 32;
const MOST_EXPECTED: usize = 1 << 16; // lines, 4 MB

/// The key of a piece of 1 to 15 bytes.
///
/// # Safety
/// 16 bytes can be read from `start` on; len is at most 15.
#[inline(always)]
pub unsafe fn key_within(text: &[u8], start: usize, len: usize) -> Key {
    debug_assert!(start + 16 <= text.len() && len <= LONGEST_KEY);
    // SAFETY: the caller's promise
    unsafe {
        let words = text.as_ptr().add(start).cast::<[u64; 2]>().read_unaligned().map(u64::from_le);
        let mask = MASKS.get_unchecked(len);
        [words[0] & mask[0], words[1] & mask[1] | (len as u64) << 56]
    }
}

/// The key of 1 to 15 bytes.
#[inline(always)]
pub fn key_of(bytes: &[u8]) -> Key {
    let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) as u64;
    let len = bytes.len();
    let [low, high] = match len {
        0..=3 => [bytes.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64), 0],
        4..=7 => [four(0) | four(len - 4) << (8 * (len - 4)), 0],
        8 => [eight(0), 0],
        _ => [eight(0), eight(len - 8) >> (8 * (16 - len))],
    };
    [low, high | (len as u64) << 56]
}

/// The bytes of a piece and their number, by its key.
#[inline]
pub fn bytes_of(key: Key) -> ([u8; 16], usize) {
    let bytes = ((key[0] as u128) | (key[1] as u128) << 64).to_le_bytes();
    (bytes, len_of(key) as usize)
}

/// How many bytes a piece has, by its key.
#[inline(always)]
pub fn len_of(key: Key) -> u32 {
    (key[1] >> 56 & 15) as u32
}

/// Fetch a line ahead of its use.
#[inline(always)]
pub fn prefetch<T>(line: *const T) {
    #[cfg(simd)]
    // SAFETY: a prefetch reads nothing; an address of nothing is ignored by the CPU
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch(line.cast::<i8>(), _MM_HINT_T0);
    }
    #[cfg(not(simd))]
    let _ = line;
}

static MASKS: [[u64; 2]; 16] = {
    let mut masks = [[0; 2]; 16];
    let mut len = 1;
    while len < 16 {
        let mask = (1u128 << (8 * len)) - 1;
        masks[len] = [mask as u64, (mask >> 64) as u64];
        len += 1;
    }
    masks
};

/// No whole bytes, so that digits at the same place of both words do not cancel each other.
pub const HASH_ROTATION: u32 = 29;
pub const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15; // of the golden ratio

/// The line where a key belongs in a table of 1 << (64 - shift) lines; it may also be in the neighbour.
#[inline(always)]
pub fn line_of(key: Key, shift: u32) -> usize {
    // the upper bits of a product hang on all that is below them
    let mixed = key[0] ^ key[1].rotate_left(HASH_ROTATION);
    (mixed.wrapping_mul(HASH_FACTOR) >> (shift & 63)) as usize
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        let mut room = Cache::room_for(self.count, self.most_lines);
        room[..self.count].copy_from_slice(self.lines());
        Cache {
            room,
            spill: self.spill.clone(),
            long_keys: self.long_keys.clone(),
            long_tokens: self.long_tokens.clone(),
            long_entries: self.long_entries.clone(),
            long_slots: self.long_slots.clone(),
            seen: self.seen.clone(),
            ..*self
        }
    }
}

impl Cache {
    /// limit: bytes that it may take; 0 keeps nothing
    pub fn new(limit: usize) -> Self {
        let most = limit / 2 / std::mem::size_of::<Line>();
        let most_lines = if most < 2 { 0 } else { 1 << most.ilog2() };
        let mut cache = Cache {
            room: Zeroed::new(1),
            count: 0,
            shift: 0,
            used: 0,
            most_lines,
            spill: Vec::new(),
            long_keys: Vec::new(),
            long_tokens: Vec::new(),
            long_entries: Vec::new(),
            long_slots: vec![(0, 0); 1 << 8],
            seen: vec![0; if limit < 1 << 20 { 0 } else { SEEN }].into_boxed_slice(),
            rest_limit: limit / 2,
            victim: 0,
        };
        cache.resize(FEWEST_LINES.min(most_lines.max(2)));
        cache
    }

    /// Whether it keeps short pieces at all.
    pub fn keeps(&self) -> bool {
        self.most_lines > 0
    }

    pub fn bytes(&self) -> usize {
        self.count * 64 + self.rest_bytes()
    }

    fn rest_bytes(&self) -> usize {
        self.spill.len() * 4
            + self.long_tokens.len() * 8
            + self.long_keys.len()
            + self.long_entries.len() * 32
    }

    /// More lines, a power of two; where there is room for them, in place.
    fn resize(&mut self, count: usize) {
        if count <= self.room.len() {
            while self.count < count {
                self.double();
            }
            return;
        }
        let old = std::mem::replace(&mut self.room, Cache::room_for(count, self.most_lines));
        let lines = std::mem::replace(&mut self.count, count);
        self.shift = 64 - count.ilog2();
        self.used = 0;
        for (key, lanes) in old[..lines].iter().flat_map(Line::pieces) {
            self.put(key, *lanes);
        }
    }

    /// Room for so many lines, and for all that there may be where it is taken as it is touched.
    fn room_for(count: usize, most: usize) -> Zeroed<Line> {
        let is_lazy = comes_when_touched(count * size_of::<Line>());
        Zeroed::new(if is_lazy { count.max(most) } else { count })
    }

    /// Twice as many lines. Where a key belongs has one bit more then: what two neighbours have goes to four, which take
    /// the place of none that come before them.
    fn double(&mut self) {
        self.shift -= 1;
        self.used = 0;
        let pairs = self.count / 2;
        self.count *= 2;
        for pair in (0..pairs).rev() {
            let two = [self.room[2 * pair], self.room[2 * pair + 1]];
            self.room[4 * pair..4 * pair + 4].fill(Line::default());
            for (key, lanes) in two.iter().flat_map(Line::pieces) {
                self.put(key, *lanes);
            }
        }
    }

    /// Be as large as `bytes` of new text will make it, for to grow by steps is to write all of it again.
    pub fn expect(&mut self, bytes: usize) {
        let lines = (bytes / BYTES_A_LINE).next_power_of_two().min(MOST_EXPECTED).min(self.most_lines);
        if lines > self.count {
            self.resize(lines);
        }
    }

    /// For `line_of`.
    #[inline(always)]
    pub fn shift(&self) -> u32 {
        self.shift
    }

    #[inline(always)]
    pub fn lines(&self) -> &[Line] {
        &self.room[..self.count]
    }

    #[inline(always)]
    fn lines_mut(&mut self) -> &mut [Line] {
        &mut self.room[..self.count]
    }

    /// Fetch a line ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, line: usize) {
        prefetch(self.room.as_ptr().wrapping_add(line));
    }

    /// The lanes of a piece wherever it is. In the neighbour's line it is slower to find, so one that is
    /// asked for there changes places with one at home: what comes often comes home.
    pub fn find(&mut self, key: Key) -> Option<Lanes> {
        let home = line_of(key, self.shift);
        if let Some(&lanes) = self.room[home].find(key) {
            return Some(lanes);
        }
        if !self.room[home].is_full() {
            return None; // nothing went on to the neighbour, which is rarely in reach
        }
        let place = self.room[home ^ 1].place_of(key)?;
        let lanes = *self.room[home ^ 1].find(key)?;
        let victim = self.random();
        let (other, its) = self.room[home].replace(victim, key, lanes);
        self.room[home ^ 1].replace(place, other, its);
        Some(lanes)
    }

    /// Whether a piece is kept.
    #[inline]
    pub fn has(&self, key: Key) -> bool {
        let home = line_of(key, self.shift);
        let line = &self.room[home];
        line.find(key).is_some() || line.is_full() && self.room[home ^ 1].find(key).is_some()
    }

    fn random(&mut self) -> usize {
        self.victim = self.victim.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.victim >> 63) as usize
    }

    /// The lanes of a piece that has more than four.
    pub fn spilled(&self, lanes: &Lanes) -> &[u32] {
        &self.spill[lanes.0[1] as usize..][..lanes.0[2] as usize]
    }

    /// Keep the tokens of a short piece.
    pub fn insert(&mut self, key: Key, tokens: &[Token]) {
        if self.most_lines == 0 {
            return;
        }
        let lanes = Lanes::of(key, tokens).unwrap_or_else(|| {
            self.make_room_to_spill(tokens.len() * 4);
            let first = self.spill.len();
            self.spill.resize(first + tokens.len(), 0);
            put_lanes(key, tokens, &mut self.spill[first..]);
            Lanes([0, first as u32, tokens.len() as u32, 0])
        });
        self.add(key, lanes);
    }

    /// Keep the lanes of a piece, in a larger table where the present one is full enough.
    fn add(&mut self, key: Key, lanes: Lanes) {
        if self.used * 2 >= self.count && self.count < self.most_lines {
            // a quarter of the places are taken; in a denser table more are beside their line
            self.resize(self.count * 2);
        }
        self.put(key, lanes);
    }

    #[inline(always)]
    fn put(&mut self, key: Key, lanes: Lanes) {
        let home = line_of(key, self.shift);
        if self.room[home].put(key, lanes) || self.room[home ^ 1].put(key, lanes) {
            self.used += 1;
            return;
        }
        let victim = self.random();
        self.room[home].replace(victim, key, lanes);
    }

    /// Empty the spilled tokens, and the table that refers to them, when `more` bytes would not fit.
    fn make_room_to_spill(&mut self, more: usize) {
        if self.spill.len() * 4 + more > self.rest_limit / 2 {
            self.lines_mut().fill(Line::default());
            self.used = 0;
            self.spill.clear();
        }
    }

    fn long_bytes(&self) -> usize {
        self.long_tokens.len() * 8 + self.long_keys.len() + self.long_entries.len() * 32
    }

    /// The same with the long pieces, which nothing refers to.
    fn make_room_for_long(&mut self, more: usize) {
        if self.long_bytes() + more <= self.rest_limit / 2 {
            return;
        }
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

    /// Whether a long piece is worth keeping that may never come again: there is room, or it
    /// came by before, as far as is remembered.
    pub fn is_worth(&mut self, piece: &[u8]) -> bool {
        if self.long_bytes() < self.rest_limit / 4 {
            return true;
        }
        let hash = hash_bytes(piece);
        let places = self.seen.len();
        match self.seen.get_mut(hash as usize % places.max(1)) {
            Some(seen) => std::mem::replace(seen, (hash >> 32) as u32) == (hash >> 32) as u32,
            None => false,
        }
    }

    /// Keep the tokens of a long piece that is not there yet.
    pub fn insert_long(&mut self, piece: &[u8], tokens: &[Token]) {
        let more = piece.len() + tokens.len() * 8 + 32;
        if piece.len() > LONGEST_KEPT || more > self.rest_limit / 2 {
            return;
        }
        self.make_room_for_long(more);
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

    fn found(cache: &mut Cache, key: Key) -> Option<Vec<Token>> {
        let lanes = cache.find(key)?;
        let count = lanes.count();
        if count == 0 {
            return Some(cache.spilled(&lanes).iter().map(|&lane| token_of(lane)).collect());
        }
        Some((0..count).map(|i| lanes.token(i)).collect())
    }

    #[test]
    fn what_is_found_is_what_was_put_in_and_memory_is_bounded() {
        for limit in [0, 64, 1 << 12, 1 << 20] {
            let mut cache = Cache::new(limit);
            let mut kept = 0;
            for n in 0..50_000u32 {
                let text = format!("{n:0>15}");
                let short = key_of(&text.as_bytes()[..15 - n as usize % 9]);
                let count = 1 + n % 7;
                if cache.find(short).is_none() {
                    cache.insert(short, &tokens(n, count));
                    if let Some(found) = found(&mut cache, short) {
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
                assert!(cache.bytes() <= limit.max(128));
                if n % 9973 == 0 {
                    let mut copy = cache.clone();
                    assert_eq!(found(&mut copy, short), found(&mut cache, short));
                    assert_eq!(copy.find_long(long.as_bytes()), cache.find_long(long.as_bytes()));
                }
            }
            assert!(limit < 1 << 12 || kept > 1000);
        }
    }

    #[test]
    fn a_table_that_grows_where_it_is_keeps_what_it_has() {
        let key = |n: u32| key_of(&n.to_le_bytes());
        let mut cache = Cache::new(16 << 20);
        let (mut first, mut moved) = (cache.lines().as_ptr(), 0);
        for n in 0..80_000u32 {
            cache.insert(key(n), &tokens(n, 1 + n % 4));
            moved += (std::mem::replace(&mut first, cache.lines().as_ptr()) != first) as usize;
            if n.is_power_of_two() || n == 79_999 {
                let lost = (0..=n).filter(|&n| !cache.has(key(n))).count();
                assert!(lost <= n as usize / 100, "{lost} of {n}");
                let mut copy = cache.clone();
                for n in 0..=n {
                    let found_here = found(&mut cache, key(n));
                    assert!(found_here.as_ref().is_none_or(|found| *found == tokens(n, 1 + n % 4)));
                    assert_eq!(found(&mut copy, key(n)), found_here);
                }
            }
        }
        // from 256 lines to 16,384 in new rooms, then to 131,072 in the last of them, where its memory comes when touched
        let rooms = if comes_when_touched(1 << 20) { 6 } else { 9 };
        assert_eq!((moved, cache.lines().len()), (rooms, 1 << 17));
    }

    #[test]
    fn keys_are_the_bytes_and_their_number() {
        let text: Vec<u8> = (1..40).collect();
        for len in 1..=LONGEST_KEY {
            for start in 0..20 {
                let mut bytes = [0; 16];
                bytes[..len].copy_from_slice(&text[start..start + len]);
                bytes[15] = len as u8;
                let expected = u128::from_le_bytes(bytes);
                let [low, high] = key_of(&text[start..start + len]);
                assert_eq!(low as u128 | (high as u128) << 64, expected);
                // SAFETY: start + 16 is less than 39
                assert_eq!(unsafe { key_within(&text, start, len) }, [low, high]);
            }
        }
    }
}
