//! Places inside a piece that no merge can cross, where it may be cut.
//!
//! Two characters that stand side by side inside no result of a merge never become one
//! token: merges to the left and to the right of such a place do not know of each other,
//! so that both sides can be encoded alone. A clause of 30 Chinese characters, which
//! never comes again, is cut into units that do. Not for merges dropped at random.

use crate::unicode::{decode, is_continuation};
use crate::vocabulary::fold;

/// Pairs of neighbours inside results of merges; has some others too, which only costs cuts.
pub struct Cuts {
    /// a bit for each hash of (bytes to the left, bytes to the right) of a place between characters
    bits: Box<[u64]>,
    /// of which lengths such bytes are: a result may begin or end inside a character
    lengths: [[bool; 4]; 4],
}

const BITS: u32 = 21;

/// What was found out about pairs of characters, by place of their hash.
pub struct Memo(Box<[u64]>);

const MEMO_BITS: u32 = 14;

impl Default for Memo {
    fn default() -> Self {
        Memo(vec![0; 1 << MEMO_BITS].into_boxed_slice())
    }
}

impl Default for Cuts {
    fn default() -> Self {
        Cuts { bits: vec![0; 1 << (BITS - 6)].into_boxed_slice(), lengths: Default::default() }
    }
}

impl Cuts {
    /// Note the neighbours inside the result of a merge.
    pub fn add(&mut self, result: &[u8]) {
        let starts = |at: usize| !is_continuation(result[at]);
        for at in (1..result.len()).filter(|&at| starts(at)) {
            let first = (0..at).rev().find(|&i| starts(i)).unwrap_or(0).max(at.saturating_sub(4));
            let stop = (at + 1..result.len()).find(|&i| starts(i)).unwrap_or(result.len()).min(at + 4);
            let (left, right) = (&result[first..at], &result[at..stop]);
            self.lengths[left.len() - 1][right.len() - 1] = true;
            let hash = hash(packed(left), left.len(), packed(right), right.len());
            self.bits[hash >> 6] |= 1 << (hash & 63);
        }
    }

    /// Where the unit that begins at `at` ends: at the next place that no merge can cross, or with the piece.
    #[inline]
    pub fn end(&self, memo: &mut Memo, piece: &[u8], at: usize) -> usize {
        let (mut code, len) = decode(piece, at);
        let (mut first, mut end) = (at, at + len);
        while end < piece.len() {
            let (next, len) = decode(piece, end);
            // one more than the pair, so that no pair is an empty place; the last bit is the answer
            let pair = (((code as u64) << 21 | next as u64) + 1) << 1;
            let place = &mut memo.0[(fold(pair, 0) >> (64 - MEMO_BITS)) as usize];
            if *place & !1 != pair {
                *place = pair | self.crossed(&piece[first..end], &piece[end..end + len]) as u64;
            }
            if *place & 1 == 0 {
                return end;
            }
            (code, first, end) = (next, end, end + len);
        }
        end
    }

    /// Whether a merge might cross the place between two characters, of whose bytes it may have some alone.
    #[inline(never)]
    fn crossed(&self, left: &[u8], right: &[u8]) -> bool {
        let (before, behind) = (packed(left), packed(right));
        for (i, lengths) in self.lengths[..left.len()].iter().enumerate() {
            let before = before & (u32::MAX >> (24 - 8 * i));
            for (j, &some) in lengths[..right.len()].iter().enumerate() {
                let hash = hash(before, i + 1, behind >> (8 * (right.len() - 1 - j)), j + 1);
                if some && self.bits[hash >> 6] >> (hash & 63) & 1 != 0 {
                    return true;
                }
            }
        }
        false
    }
}

/// At most four bytes as a number, the last lowest.
#[inline(always)]
fn packed(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |word, &byte| word << 8 | byte as u32)
}

/// Of bytes to the left and to the right, and of how many they are.
#[inline(always)]
fn hash(left: u32, left_len: usize, right: u32, right_len: usize) -> usize {
    let lengths = (left_len << 2 | right_len) as u64;
    (fold((left as u64) << 32 | right as u64, lengths) >> (64 - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units<'a>(cuts: &Cuts, piece: &'a str) -> Vec<&'a str> {
        let (mut memo, mut at, mut found) = (Memo::default(), 0, Vec::new());
        while at < piece.len() {
            let end = cuts.end(&mut memo, piece.as_bytes(), at);
            found.push(&piece[at..end]);
            at = end;
        }
        found
    }

    #[test]
    fn neighbours_in_a_result_stay_together() {
        let mut cuts = Cuts::default();
        cuts.add("日本".as_bytes());
        cuts.add("ab".as_bytes());
        assert_eq!(units(&cuts, "日日本日\0\0"), ["日", "日本", "日", "\0", "\0"]);
        assert_eq!(units(&cuts, "bab😀"), ["b", "ab", "😀"]);
    }

    #[test]
    fn parts_of_characters_count() {
        let mut cuts = Cuts::default();
        cuts.add("の中".as_bytes().get(..4).unwrap()); // the first byte of 中 and of 日 is not the same
        cuts.add("本の".as_bytes().get(2..).unwrap());
        assert_eq!(units(&cuts, "の中の日本のの"), ["の中", "の", "日", "本の", "の"]);
    }
}
