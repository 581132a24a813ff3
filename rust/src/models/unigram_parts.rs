//! Where a piece of Unigram may be cut, so that what is known of its parts says what it is.
//!
//! Every way to spell a piece passes the place between two characters that stand side by side in no token, and of
//! which neither can become a part of an unknown stretch. The best way on from there is the best way of the rest alone,
//! but for how sums of scores are rounded: they are other numbers behind what came before. So a part counts only where
//! each choice on its best way was made by more than all rounding can come to.

use crate::cache::{line_of, Key, Lanes};
use crate::merge::Token;
use crate::unicode::decode;

/// Which characters stand side by side in a token, and which are tokens themselves.
pub struct UnigramParts {
    /// of ASCII, by the left one, the right ones that are not cut from it
    ascii: Box<[u128; 128]>,
    /// a bit for each hash of another pair that is in a token
    joined: Box<[u64]>,
    shift: u32,
    /// a bit for each character that is a token, whatever stands beside it
    solid: Box<[u64]>,
    /// a choice by less than that is none
    close: f64,
}

/// No piece of more bytes is cut. Of so many scores, each at most m, sums differ by less than m / 2^27, in whatever order
/// they are made: n additions err by n * m / 2^53 each, for either of two ways, beside either start.
pub const LONGEST_CUT: usize = 1 << 12;
const CLOSE: f64 = 1.0 / (1 << 20) as f64;

const BITS_PER_TOKEN: usize = 4; // most pairs are in many tokens
const MOST_BITS: usize = 1 << 22;

impl UnigramParts {
    /// tokens: their texts, with whether a token is known for what it is; unknown: the text of the unknown token;
    /// most: no score is further from 0. None where scores are no numbers that can be compared so
    pub fn new<'t>(
        tokens: impl ExactSizeIterator<Item = (&'t [u8], bool)>,
        unknown: Option<&[u8]>,
        most: f64,
    ) -> Option<UnigramParts> {
        if !most.is_finite() {
            return None;
        }
        let bits = (tokens.len() * BITS_PER_TOKEN).clamp(64, MOST_BITS).next_power_of_two();
        let mut parts = UnigramParts {
            ascii: Box::new([0; 128]),
            joined: vec![0; bits / 64].into(),
            shift: 64 - bits.ilog2(),
            solid: vec![0; 0x11_0000 / 64].into(),
            close: most * CLOSE,
        };
        for (token, is_known) in tokens {
            let mut characters = std::str::from_utf8(token).unwrap_or_default().chars().map(u32::from);
            let Some(first) = characters.next() else { continue };
            let mut last = first;
            for character in characters {
                if last < 128 && character < 128 {
                    parts.ascii[last as usize] |= 1 << character;
                } else {
                    let bit = (hash(last, character) >> parts.shift) as usize;
                    parts.joined[bit / 64] |= 1 << (bit % 64);
                }
                last = character;
            }
            if is_known && decode(token, 0).1 == token.len() {
                parts.solid[first as usize / 64] |= 1 << (first % 64);
            }
        }
        // where the unknown token is spelled out, it is one with what is unknown beside it
        let unknown = std::str::from_utf8(unknown.unwrap_or_default()).unwrap_or_default();
        for character in [unknown.chars().next(), unknown.chars().last()].into_iter().flatten() {
            parts.solid[character as usize / 64] &= !(1 << (character as usize % 64));
        }
        let solid = parts.solid[0] as u128 | (parts.solid[1] as u128) << 64;
        for (left, rights) in parts.ascii.iter_mut().enumerate() {
            *rights |= if solid >> left & 1 == 1 { !solid } else { u128::MAX };
        }
        Some(parts)
    }

    /// Where the part ends that begins at `start`.
    #[inline(always)]
    pub fn end(&self, piece: &[u8], start: usize) -> usize {
        let (mut last, len) = decode(piece, start);
        let mut at = start + len;
        while at < piece.len() {
            let byte = piece[at];
            if byte < 128 && last < 128 {
                if self.ascii[last as usize] >> byte & 1 == 0 {
                    return at;
                }
                (at, last) = (at + 1, byte as u32);
                continue;
            }
            let (code, len) = decode(piece, at);
            let bit = (hash(last, code) >> self.shift) as usize;
            if self.joined[bit / 64] >> (bit % 64) & 1 == 0 && self.is_solid(last) && self.is_solid(code) {
                return at;
            }
            (at, last) = (at + len, code);
        }
        at
    }

    #[inline(always)]
    fn is_solid(&self, code: u32) -> bool {
        self.solid[code as usize / 64] >> (code % 64) & 1 == 1
    }

    /// Whether one score is better than another for sure, or is not.
    #[inline(always)]
    pub fn is_close(&self, one: f64, other: f64) -> bool {
        (one - other).abs() <= self.close
    }
}

#[inline(always)]
fn hash(left: u32, right: u32) -> u64 {
    ((left as u64) << 32 | right as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[derive(Clone, Copy, Default)]
struct Entry {
    key: Key,
    lanes: Lanes,
}

/// Parts that came by before, and their tokens, of at most four: as many as stay near, for most come often.
#[derive(Default)]
pub struct KnownParts {
    entries: Vec<Entry>,
    /// of a key's hash, to its entry
    shift: u32,
    kept: usize,
}

/// 16 KB: a single text is there before the pages of a larger table are.
const FEWEST: usize = 1 << 9;
/// 512 KB: in the cache of pieces each would be fetched from afar.
const MOST: usize = 1 << 14;

impl KnownParts {
    /// Append the tokens of a part; false where it is not known.
    #[inline(always)]
    pub fn put(&self, key: Key, out: &mut Vec<Token>) -> bool {
        let entry = self.entries.get(line_of(key, self.shift)).filter(|entry| entry.key == key);
        out.extend(
            entry.into_iter().flat_map(|Entry { lanes, .. }| (0..lanes.count()).map(|i| lanes.token(i))),
        );
        entry.is_some()
    }

    /// Know the tokens of a part, in the place of another.
    pub fn keep(&mut self, key: Key, tokens: &[Token]) {
        let Some(lanes) = Lanes::of(key, tokens) else { return };
        if self.kept * 2 >= self.entries.len() && self.entries.len() < MOST {
            self.grow();
        }
        self.kept += 1;
        self.entries[line_of(key, self.shift)] = Entry { key, lanes };
    }

    fn grow(&mut self) {
        let size = if self.entries.is_empty() { FEWEST } else { MOST };
        self.shift = 64 - size.ilog2();
        for entry in std::mem::replace(&mut self.entries, vec![Entry::default(); size]) {
            if entry.key != [0, 0] {
                self.entries[line_of(entry.key, self.shift)] = entry;
            }
        }
    }
}
