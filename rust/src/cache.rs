//! Pieces that were worked out before, and their tokens.
//!
//! Pieces of up to 15 bytes are in a table of 32-byte entries which hold the whole key
//! and up to four tokens, two to a cache line: most of a text is answered by one load.
//! Longer pieces are in a map of their own. Both are bounded; what they hold never
//! changes a result.

mod placed;

pub use placed::Placed;

use crate::merge::Token;
use crate::vocabulary::hash_bytes;

pub const LONGEST_KEY: usize = 15;
/// Pieces longer than this are not kept: they do not come again.
pub const LONGEST_KEPT: usize = 256;
pub const ID_MASK: u32 = 0x00ff_ffff;

/// A piece as the table knows it: its bytes, zero padded, the length in the last byte.
pub type Key = [u64; 2];

/// In a key: not of a piece but of a part of one, where that may have other tokens.
pub const PART: u64 = 0x40 << 56;

/// lanes: of each token its id in the lower 24 bits, then in 4 bits each where in the piece it ends and begins; the first
/// begins with the piece, and says instead how many there are. With a count of 0 there are more than four:
/// lanes 1 and 2 are the place in `spill` and the number of lanes there, one a token where lane 3 is 0.
#[repr(C, align(32))]
#[derive(Clone, Copy, Default)]
pub struct Entry {
    pub key: Key,
    pub lanes: [u32; 4],
}

impl Entry {
    /// How many tokens there are, of at most four; 0 where there are more.
    #[inline(always)]
    pub fn count(&self) -> usize {
        (self.lanes[0] >> 28) as usize
    }

    /// Of the tokens that cover a piece one after the other, of which there are one to four; none of any other number.
    pub fn of(key: Key, tokens: &[Token]) -> Option<Self> {
        let mut lanes = [0; 4];
        if !(1..=lanes.len()).contains(&tokens.len()) {
            return None;
        }
        put_lanes(key, tokens, &mut lanes[..tokens.len()]);
        lanes[0] |= (tokens.len() as u32) << 28;
        Some(Entry { key, lanes })
    }

    /// Token `i` of at most four.
    pub fn token(&self, i: usize) -> Token {
        Token { start: if i == 0 { 0 } else { start_of(self.lanes[i]) }, ..token_of(self.lanes[i]) }
    }
}

/// Tokens in 32 bits each. A piece with a key is short, and ids are below 1 << 24.
#[inline(always)]
fn put_lanes(key: Key, tokens: &[Token], lanes: &mut [u32]) {
    let mut end = len_of(key);
    for (lane, token) in lanes.iter_mut().zip(tokens).rev() {
        *lane = token.id | end << 24 | token.start << 28;
        end = token.start;
    }
}

pub fn token_of(lane: u32) -> Token {
    Token { id: lane & ID_MASK, start: start_of(lane) }
}

/// Where in its piece a token begins, that is not the first of at most four.
#[inline(always)]
pub fn start_of(lane: u32) -> u32 {
    lane >> 28
}

/// Where in its piece a token ends.
#[inline(always)]
pub fn end_of(lane: u32) -> u32 {
    lane >> 24 & 15
}

#[repr(C, align(64))]
#[derive(Clone, Copy, Default)]
pub struct Line(pub [Entry; 2]);

#[derive(Clone)]
struct LongEntry {
    key: (u32, u32),
    tokens: (u32, u32),
}

#[derive(Clone)]
pub struct Cache {
    lines: Vec<Line>,
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
pub fn prefetch(line: *const Line) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing; an address of nothing is ignored by the CPU
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch(line.cast::<i8>(), _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
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

pub const HASH_ROTATION: u32 = 29;
pub const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The line where a key belongs in a table of 1 << (64 - shift) lines; it may also be in the neighbour.
#[inline(always)]
pub fn line_of(key: Key, shift: u32) -> usize {
    // no key's second word is 0, for it has the length; the constant makes its few bits many
    let mixed = key[0] ^ key[1].rotate_left(HASH_ROTATION);
    (mixed.wrapping_mul(HASH_FACTOR) >> (shift & 63)) as usize
}

/// The entry of a line that has the key, and whether one has.
///
/// Computed, not branched on: which of the two it is cannot be predicted.
#[inline(always)]
pub fn entry_of(line: &Line, key: Key) -> (&Entry, bool) {
    let [first, second] = &line.0;
    let (in_first, in_second) = (same(&first.key, &key), same(&second.key, &key));
    (&line.0[in_second as usize & 1], in_first | in_second)
}

/// The same by one comparison of both.
///
/// # Safety
/// The CPU must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn entry_of_avx2<'l>(line: &'l Line, key: &Key) -> (&'l Entry, bool) {
    use std::arch::x86_64::*;
    const FOUND: u32 = 0b1111_1000_1000_1000; // by `halves`: both bits of an entry are set
                                              // SAFETY: the caller's promise; each load is of 16 bytes that are there
    unsafe {
        let first = _mm_loadu_si128(line.0[0].key.as_ptr().cast());
        let second = _mm_loadu_si128(line.0[1].key.as_ptr().cast());
        let both = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
        let wanted = _mm256_broadcastsi128_si256(_mm_loadu_si128(key.as_ptr().cast()));
        let equal = _mm256_cmpeq_epi64(both, wanted);
        let halves = _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as u32 & 15;
        (&line.0[(halves + 4 >> 4) as usize & 1], FOUND >> halves & 1 == 1)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn same(a: &Key, b: &Key) -> bool {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64; both are 16 bytes
    unsafe {
        let equal = _mm_cmpeq_epi8(_mm_loadu_si128(a.as_ptr().cast()), _mm_loadu_si128(b.as_ptr().cast()));
        _mm_movemask_epi8(equal) == 0xffff
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn same(a: &Key, b: &Key) -> bool {
    (a[0] ^ b[0]) | (a[1] ^ b[1]) == 0
}

impl Cache {
    /// limit: bytes that it may take; 0 keeps nothing
    pub fn new(limit: usize) -> Self {
        let most = limit / 2 / std::mem::size_of::<Line>();
        let most_lines = if most < 2 { 0 } else { 1 << most.ilog2() };
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
        self.lines.len() * 64 + self.rest_bytes()
    }

    fn rest_bytes(&self) -> usize {
        self.spill.len() * 4
            + self.long_tokens.len() * 8
            + self.long_keys.len()
            + self.long_entries.len() * 32
    }

    fn resize(&mut self, lines: usize) {
        let old = std::mem::replace(&mut self.lines, vec![Line::default(); lines]);
        self.shift = 64 - lines.ilog2();
        self.used = 0;
        for entry in old.iter().flat_map(|line| &line.0).filter(|entry| entry.key != [0, 0]) {
            self.put(*entry);
        }
    }

    /// Be as large as `bytes` of new text will make it, for to grow by steps is to write all of it again.
    pub fn expect(&mut self, bytes: usize) {
        let lines = (bytes / BYTES_A_LINE).next_power_of_two().min(MOST_EXPECTED).min(self.most_lines);
        if lines > self.lines.len() {
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
        &self.lines
    }

    /// Fetch a line ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, line: usize) {
        prefetch(self.lines.as_ptr().wrapping_add(line));
    }

    /// An entry wherever it is. In the neighbour's line it is slower to find, so one that is
    /// asked for there changes places with one at home: what comes often comes home.
    pub fn find(&mut self, key: Key) -> Option<Entry> {
        let home = line_of(key, self.shift);
        if let (&entry, true) = entry_of(&self.lines[home], key) {
            return Some(entry);
        }
        let place = self.lines[home ^ 1].0.iter().position(|entry| entry.key == key)?;
        let victim = self.random();
        let (mine, found) = (self.lines[home].0[victim], self.lines[home ^ 1].0[place]);
        self.lines[home].0[victim] = found;
        self.lines[home ^ 1].0[place] = mine;
        Some(found)
    }

    /// Whether a piece is kept.
    #[inline]
    pub fn has(&self, key: Key) -> bool {
        let home = line_of(key, self.shift);
        entry_of(&self.lines[home], key).1 || entry_of(&self.lines[home ^ 1], key).1
    }

    fn random(&mut self) -> usize {
        self.victim = self.victim.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.victim >> 63) as usize
    }

    /// The lanes of an entry that are not in it.
    pub fn spilled(&self, entry: &Entry) -> &[u32] {
        &self.spill[entry.lanes[1] as usize..][..entry.lanes[2] as usize]
    }

    /// Keep the tokens of a short piece.
    pub fn insert(&mut self, key: Key, tokens: &[Token]) {
        if self.most_lines == 0 {
            return;
        }
        let entry = Entry::of(key, tokens).unwrap_or_else(|| {
            self.make_room_to_spill(tokens.len() * 4);
            let first = self.spill.len();
            self.spill.resize(first + tokens.len(), 0);
            put_lanes(key, tokens, &mut self.spill[first..]);
            Entry { key, lanes: [0, first as u32, tokens.len() as u32, 0] }
        });
        self.add(entry);
    }

    /// Put in an entry, in a larger table where the present one is full enough.
    fn add(&mut self, entry: Entry) {
        if self.used * 2 >= self.lines.len() && self.lines.len() < self.most_lines {
            // a quarter of the entries are taken; in a denser table more are beside their line
            self.resize(self.lines.len() * 2);
        }
        self.put(entry);
    }

    fn put(&mut self, entry: Entry) {
        let home = line_of(entry.key, self.shift);
        for line in [home, home ^ 1] {
            if let Some(free) = self.lines[line].0.iter_mut().find(|entry| entry.key == [0, 0]) {
                *free = entry;
                self.used += 1;
                return;
            }
        }
        let victim = self.random();
        self.lines[home].0[victim] = entry;
    }

    /// Empty the spilled tokens, and the table that refers to them, when `more` bytes would not fit.
    fn make_room_to_spill(&mut self, more: usize) {
        if self.spill.len() * 4 + more > self.rest_limit / 2 {
            self.lines.fill(Line::default());
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
        let entry = cache.find(key)?;
        let count = entry.count();
        if count == 0 {
            return Some(cache.spilled(&entry).iter().map(|&lane| token_of(lane)).collect());
        }
        Some((0..count).map(|i| entry.token(i)).collect())
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
    fn tokens_begin_where_the_ones_before_them_end() {
        let key = key_of(b"abcdefghijklmno");
        for starts in [&[0][..], &[0, 14], &[0, 1, 8], &[0, 3, 3, 9], &[0, 1, 2, 3, 15]] {
            let tokens: Vec<Token> = starts.iter().map(|&start| Token { id: ID_MASK, start }).collect();
            let mut lanes = vec![0; tokens.len()];
            put_lanes(key, &tokens, &mut lanes);
            let ends: Vec<u32> = lanes.iter().map(|&lane| end_of(lane)).collect();
            assert_eq!(ends, [&starts[1..], &[15]].concat());
            assert_eq!(lanes.iter().map(|&lane| token_of(lane)).collect::<Vec<_>>(), tokens);
            let entry = Entry::of(key, &tokens);
            assert_eq!(entry.map_or(0, |entry| entry.count()), tokens.len() % 5);
            assert_eq!(entry.map(|entry| entry.lanes.map(end_of)[tokens.len() - 1]), entry.map(|_| 15));
        }
        assert!(Entry::of(key, &[]).is_none());
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
