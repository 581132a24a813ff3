//! Byte strings to ids.

use crate::cache::{key_of, line_of, prefetch, Key, Lanes, Line, LONGEST_KEY};

/// A hash of bytes: folded multiplications of 16 bytes at a time, the last ones again where they overlap.
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) as u64;
    let len = bytes.len();
    let seed = len as u64;
    match len {
        0 => fold(seed, 0),
        1..=3 => fold(seed, (bytes[0] as u64) << 16 | (bytes[len / 2] as u64) << 8 | bytes[len - 1] as u64),
        4..=7 => fold(four(0) ^ seed << 32, four(len - 4)),
        8..=16 => fold(eight(0) ^ seed << 56, eight(len - 8)),
        _ => {
            let mut hash = seed;
            for at in (0..len - 16).step_by(16) {
                hash = fold(eight(at) ^ hash, eight(at + 8));
            }
            fold(eight(len - 16) ^ hash, eight(len - 8))
        }
    }
}

/// Two words to one: the halves of their product, each first mixed with a constant.
#[inline(always)]
pub fn fold(low: u64, high: u64) -> u64 {
    let product = (low ^ 0xa076_1d64_78bd_642f) as u128 * (high ^ 0xe703_7ed1_a0b4_28db) as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Tokens by their bytes.
///
/// Those of up to 15 bytes, nearly all that text asks for, lie in lines of the piece
/// cache's layout: one load answers, where a table of places and the entries behind it
/// were two, each from memory. Longer ones are in a table of the usual kind.
pub struct Vocabulary {
    lines: Vec<Line>,
    shift: u32,
    bytes: Vec<u8>,
    entries: Vec<Long>,
    /// tag (the hash's high half) and number of the entry + 1; 0 is free
    slots: Box<[(u32, u32)]>,
    pub longest: usize,
}

/// start, len: in `bytes`. whole: whether the token's text, as a piece, is this one token
struct Long {
    id: u32,
    start: u32,
    len: u32,
    whole: bool,
}

// lanes of a short token: its id, and whether its text, as a piece, is this one token
const ID: usize = 0;
const WHOLE: usize = 1;

/// Lines whose tokens are marked at once.
const MARKED: usize = 256;

impl Vocabulary {
    /// Room for `short` tokens of up to 15 bytes, and for `long` others of `bytes` bytes
    /// together, which is less than 4 GB.
    pub fn new(short: usize, long: usize, bytes: usize) -> Self {
        // at most two thirds of the places are taken: few tokens stand beside their own line
        let lines = (short * 3 / 4).max(16).next_power_of_two();
        Vocabulary {
            lines: vec![Line::default(); lines],
            shift: 64 - lines.ilog2(),
            bytes: Vec::with_capacity(bytes),
            entries: Vec::with_capacity(long),
            slots: vec![(0, 0); (long * 2).max(16).next_power_of_two()].into_boxed_slice(),
            longest: 0,
        }
    }

    /// Add a token that is not there yet; no more than there is room for.
    pub fn add(&mut self, token: &[u8], id: u32) {
        self.longest = self.longest.max(token.len());
        if is_short(token) {
            let key = key_of(token);
            let mut line = line_of(key, self.shift);
            loop {
                if self.lines[line].put(key, Lanes([id, 0, 0, 0])) {
                    return;
                }
                line = (line + 1) & (self.lines.len() - 1);
            }
        }
        assert!(self.entries.len() * 2 < self.slots.len());
        let hash = hash_bytes(token);
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot].1 != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let (start, len) = (self.bytes.len() as u32, token.len() as u32);
        self.entries.push(Long { id, start, len, whole: false });
        self.slots[slot] = ((hash >> 32) as u32, self.entries.len() as u32);
        self.bytes.extend_from_slice(token);
    }

    /// The id of a token.
    #[inline]
    pub fn find(&self, token: &[u8]) -> Option<u32> {
        if is_short(token) {
            self.by_key(key_of(token))
        } else {
            self.long(token).map(|entry| entry.id)
        }
    }

    /// Id of the token with this key.
    #[inline]
    pub fn by_key(&self, key: Key) -> Option<u32> {
        self.short(key).map(|lanes| lanes.0[ID])
    }

    /// Id of the token with this key, where its text as a piece is the token itself.
    #[inline]
    pub fn whole_by_key(&self, key: Key) -> Option<u32> {
        let Lanes(lanes) = self.short(key)?;
        (lanes[WHOLE] != 0).then_some(lanes[ID])
    }

    /// The same by the bytes of a longer token.
    pub fn whole_by_bytes(&self, token: &[u8]) -> Option<u32> {
        let entry = (token.len() <= self.longest).then(|| self.long(token))??;
        entry.whole.then_some(entry.id)
    }

    /// Fetch ahead what `whole_by_key` will read.
    #[inline(always)]
    pub fn prefetch(&self, key: Key) {
        prefetch(self.lines.as_ptr().wrapping_add(line_of(key, self.shift)));
    }

    #[inline(always)]
    fn short(&self, key: Key) -> Option<&Lanes> {
        let mut line = line_of(key, self.shift);
        loop {
            let two = &self.lines[line];
            if let Some(lanes) = two.find(key) {
                return Some(lanes);
            }
            if !two.is_full() {
                return None; // not full: nothing went on to the next
            }
            line = (line + 1) & (self.lines.len() - 1);
        }
    }

    #[inline]
    fn long(&self, token: &[u8]) -> Option<&Long> {
        let hash = hash_bytes(token);
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            let (tag, number) = self.slots[slot];
            let entry = self.entries.get((number as usize).checked_sub(1)?)?;
            if tag == (hash >> 32) as u32
                && &self.bytes[entry.start as usize..][..entry.len as usize] == token
            {
                return Some(entry);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Note which tokens' texts, as pieces, are the tokens themselves. short: asked of many at once, with their ids
    pub fn mark_whole(
        &mut self,
        mut short: impl FnMut(&[(Key, u32)], &mut Vec<bool>),
        mut long: impl FnMut(&[u8], u32) -> bool,
    ) {
        let (mut tokens, mut whole) = (Vec::new(), Vec::new());
        for lines in self.lines.chunks_mut(MARKED) {
            tokens.clear();
            tokens.extend(lines.iter().flat_map(Line::pieces).map(|(key, lanes)| (key, lanes.0[ID])));
            whole.clear();
            short(&tokens, &mut whole);
            let marks = lines.iter_mut().flat_map(Line::pieces_mut).map(|(_, lanes)| &mut lanes.0[WHOLE]);
            marks.zip(&whole).for_each(|(mark, &is_whole)| *mark = is_whole as u32);
        }
        for entry in &mut self.entries {
            let token = &self.bytes[entry.start as usize..][..entry.len as usize];
            entry.whole = long(token, entry.id);
        }
    }
}

/// Whether a token has a key.
pub fn is_short(token: &[u8]) -> bool {
    (1..=LONGEST_KEY).contains(&token.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_added() {
        let tokens: Vec<Vec<u8>> = (0..5000u32).map(|i| vec![i as u8; (i / 256) as usize + 1]).collect();
        let mut vocabulary = Vocabulary::new(tokens.len(), tokens.len(), 0);
        for (id, token) in tokens.iter().enumerate() {
            vocabulary.add(token, id as u32);
        }
        for (id, token) in tokens.iter().enumerate() {
            assert_eq!(vocabulary.find(token), Some(id as u32));
        }
        assert_eq!(vocabulary.find(b"ab"), None);
        assert_eq!(vocabulary.longest, 20);
    }
}
