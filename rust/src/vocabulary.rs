//! Byte strings to ids.

use crate::cache::{key_of, Key, LONGEST_KEY};

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

/// Every token's bytes, and a table to find them.
pub struct Vocabulary {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// tag (the hash's high half) and number of the entry + 1; 0 is free
    slots: Box<[(u32, u32)]>,
    pub longest: usize,
}

/// key: of a token of up to 15 bytes, else zero. start, len: in `bytes`.
/// whole: whether the token's text, as a piece, is this one token
struct Entry {
    key: Key,
    id: u32,
    start: u32,
    len: u32,
    whole: bool,
}

const NO_KEY: Key = [0, 0];

/// The key and the hash of a token: of a short one they are those of the piece cache.
#[inline(always)]
fn key_and_hash(token: &[u8]) -> (Key, u64) {
    if (1..=LONGEST_KEY).contains(&token.len()) {
        let key = key_of(token);
        (key, fold(key[0], key[1]))
    } else {
        (NO_KEY, hash_bytes(token))
    }
}

impl Vocabulary {
    /// Room for `tokens` tokens of `bytes` bytes together, which is less than 4 GB.
    pub fn new(tokens: usize, bytes: usize) -> Self {
        let slots = vec![(0, 0); (tokens * 2).max(16).next_power_of_two()].into_boxed_slice();
        Vocabulary {
            bytes: Vec::with_capacity(bytes),
            entries: Vec::with_capacity(tokens),
            slots,
            longest: 0,
        }
    }

    /// Add a token that is not there yet; no more than there is room for.
    pub fn add(&mut self, token: &[u8], id: u32) {
        assert!(self.entries.len() * 2 < self.slots.len());
        let (key, hash) = key_and_hash(token);
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot].1 != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let (start, len) = (self.bytes.len() as u32, token.len() as u32);
        self.entries.push(Entry { key, id, start, len, whole: false });
        self.slots[slot] = ((hash >> 32) as u32, self.entries.len() as u32);
        self.bytes.extend_from_slice(token);
        self.longest = self.longest.max(token.len());
    }

    /// Number of the entry of a token.
    #[inline]
    pub fn find(&self, token: &[u8]) -> Option<usize> {
        match key_and_hash(token) {
            (NO_KEY, hash) => self.probe(hash, |entry| self.token(entry) == token),
            (key, hash) => self.probe(hash, |entry| self.entries[entry].key == key),
        }
    }

    /// Id of the token with this key, where its text as a piece is the token itself.
    #[inline]
    pub fn whole_by_key(&self, key: Key) -> Option<u32> {
        let entry = self.probe(fold(key[0], key[1]), |entry| self.entries[entry].key == key)?;
        self.entries[entry].whole.then_some(self.entries[entry].id)
    }

    /// The same by the bytes of a longer token.
    pub fn whole_by_bytes(&self, token: &[u8]) -> Option<u32> {
        let entry = (token.len() <= self.longest).then(|| self.find(token))??;
        self.entries[entry].whole.then_some(self.entries[entry].id)
    }

    #[inline(always)]
    fn probe(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            let (tag, number) = self.slots[slot];
            if number == 0 {
                return None;
            }
            if tag == (hash >> 32) as u32 && is_it(number as usize - 1) {
                return Some(number as usize - 1);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Note which tokens' texts, as pieces, are the tokens themselves.
    pub fn mark_whole(&mut self, mut is_whole: impl FnMut(&[u8], u32) -> bool) {
        let Vocabulary { bytes, entries, .. } = self;
        for entry in entries {
            let token = &bytes[entry.start as usize..][..entry.len as usize];
            entry.whole = is_whole(token, entry.id);
        }
    }

    pub fn id(&self, entry: usize) -> u32 {
        self.entries[entry].id
    }

    pub fn token(&self, entry: usize) -> &[u8] {
        let Entry { start, len, .. } = self.entries[entry];
        &self.bytes[start as usize..][..len as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_added() {
        let tokens: Vec<Vec<u8>> = (0..5000u32).map(|i| vec![i as u8; (i / 256) as usize + 1]).collect();
        let mut vocabulary = Vocabulary::new(tokens.len(), 0);
        for (id, token) in tokens.iter().enumerate() {
            vocabulary.add(token, id as u32);
        }
        for (id, token) in tokens.iter().enumerate() {
            assert_eq!(vocabulary.find(token).map(|entry| vocabulary.id(entry)), Some(id as u32));
        }
        assert_eq!(vocabulary.find(b"ab"), None);
        assert_eq!(vocabulary.longest, 20);
    }
}
