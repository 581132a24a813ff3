//! Byte-pair merging: neighbours join, lowest rank first, leftmost of equal ones.
//!
//! Source: Sennrich, Haddow and Birch (2016), section 3.2.

mod lanes;

pub use lanes::{Lane, Lanes};

use crate::bert::Words;
use crate::cpu::{cpu_path, CpuPath};
use crate::models::{Best, KnownParts};
use crate::pairs::{Pairs, NEVER};
use crate::spelling::Joins;
use crate::steps::Spare;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A token of a piece, and the byte of the piece where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: u32,
    pub start: u32,
}

impl Token {
    /// The same in a piece that has `start` bytes before.
    #[inline(always)]
    pub fn from(self, start: u32) -> Token {
        Token { start: self.start + start, ..self }
    }
}

/// In place of a byte's token where it has none.
const NO_TOKEN: u32 = u32::MAX;

/// The rules of a vocabulary.
pub struct Rules {
    pairs: Pairs,
    /// What a rule's pair becomes, by rank.
    results: Vec<u32>,
    /// The token of each single byte.
    bytes: [u32; 256],
    /// How far below NEVER the rank of each pair of single bytes is: most lookups are these, and few of the 256 KB are in
    /// use, so that pages without a rank are never touched.
    byte_ranks: Box<[u32]>,
}

/// Up to so many symbols all ranks are in a few vectors.
const SHORT: usize = 16;
/// From more symbols than that on a heap beats scanning for the lowest rank.
const LONGEST_SCANNED: usize = 64;

/// Up to so many symbols that are no bytes are moved on each merge.
const LONGEST_MOVED: usize = 32;

/// How far below NEVER the ranks of pairs of bytes are. Asked of the few rules that are of bytes alone, not of all pairs.
fn ranks_of(rules: &[(u32, u32, u32)], bytes: &[u32; 256]) -> Box<[u32]> {
    let mut known: Vec<(u32, usize)> = bytes.iter().copied().zip(0..).collect();
    known.retain(|&(id, _)| id != NO_TOKEN);
    known.sort_unstable();
    let (lowest, highest) = (known.first().map_or(0, |one| one.0), known.last().map_or(0, |one| one.0));
    let within = |id: u32| (lowest..=highest).contains(&id);
    let of =
        |id: u32| known[known.partition_point(|one| one.0 < id)..].iter().take_while(move |one| one.0 == id);
    let mut ranks = vec![0; 1 << 16].into_boxed_slice();
    for &(left, right, rank) in rules.iter().filter(|rule| within(rule.0) && within(rule.1)) {
        for (left, right) in of(left).flat_map(|left| of(right).map(move |right| (left.1, right.1))) {
            ranks[left << 8 | right] = NEVER ^ rank; // of a pair that comes twice the last rank counts
        }
    }
    ranks
}

/// Where pieces are worked on; kept between them. best, parts: of Unigram; words, spare: of those of words
#[derive(Default)]
pub struct Scratch {
    pub best: Vec<Best>,
    before: Vec<u32>,
    after: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
    pub words: Words,
    pub parts: KnownParts,
    pub spare: Spare,
}

impl Rules {
    /// bytes: the token of each single byte
    pub fn new(joins: Joins, bytes: [u32; 256]) -> Result<Self, String> {
        let byte_ranks = ranks_of(&joins.pairs, &bytes);
        Ok(Rules { pairs: joins.table()?, results: joins.results, bytes, byte_ranks })
    }

    /// Of a model whose pieces begin as other tokens than those of single bytes. ascii: those of its characters, or no token
    pub fn over_symbols(joins: Joins, ascii: &[u32; 128]) -> Result<Self, String> {
        let mut bytes = [NO_TOKEN; 256];
        bytes[..128].copy_from_slice(ascii);
        Rules::new(joins, bytes)
    }

    #[inline(always)]
    fn byte_rank(&self, left: u8, right: u8) -> u32 {
        NEVER ^ self.byte_ranks[(left as usize) << 8 | right as usize]
    }

    /// Append the tokens of `piece` to `out`; less than 4 GB.
    pub fn merge(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) {
        match cpu_path() {
            CpuPath::Portable => self.merge_by_length(piece, scratch, out),
            #[cfg(simd)]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 | CpuPath::Avx512 => unsafe { self.merge_avx2(piece, scratch, out) },
            #[cfg(not(simd))]
            CpuPath::Avx2 | CpuPath::Avx512 => self.merge_by_length(piece, scratch, out),
        }
    }

    /// The same code, where 8 ranks are compared at once.
    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn merge_avx2(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) {
        self.merge_by_length(piece, scratch, out)
    }

    #[inline(always)]
    fn merge_by_length(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) {
        match piece.len() {
            0 => {}
            1..=SHORT => self.merge_scanning::<SHORT>(piece, out),
            17..=LONGEST_SCANNED => self.merge_scanning::<LONGEST_SCANNED>(piece, out),
            _ => {
                let first = out.len();
                let single = |(&byte, start): (&u8, u32)| Token { id: self.bytes[byte as usize], start };
                out.extend(piece.iter().zip(0..).map(single));
                let kept = self.merge_long(&mut out[first..], scratch);
                out.truncate(first + kept);
            }
        }
    }

    /// By scanning for the lowest rank; quadratic. N: most symbols
    ///
    /// Symbols stay where they are, and a mask says which are left: to move those behind
    /// a merge down cost more than it saved, for each move waits for the stores before.
    #[inline(always)]
    fn merge_scanning<const N: usize>(&self, piece: &[u8], out: &mut Vec<Token>) {
        let mut ids = [0u32; N];
        let mut pairs = [i32::MAX; N]; // rank and place, of each symbol with the next
        for (id, &byte) in ids.iter_mut().zip(piece) {
            *id = self.bytes[byte as usize];
        }
        for (i, pair) in piece.windows(2).enumerate() {
            pairs[i] = ranked(self.byte_rank(pair[0], pair[1]), i);
        }
        let mut alive = u64::MAX >> (64 - piece.len());
        loop {
            // the lowest number is the leftmost of the lowest rank
            let lowest = pairs.iter().fold(i32::MAX, |lowest, &pair| lowest.min(pair));
            let (rank, at) = ((lowest >> PLACE_BITS) as u32, lowest as usize % N);
            if rank >= NEVER {
                break;
            }
            let behind = |alive: u64| alive >> at >> 1;
            let right = (at + 1 + behind(alive).trailing_zeros() as usize) % N;
            ids[at] = self.results[rank as usize];
            alive &= !(1 << right);
            pairs[right] = i32::MAX;
            pairs[at] = match behind(alive) {
                0 => i32::MAX,
                mask => {
                    let next = (at + 1 + mask.trailing_zeros() as usize) % N;
                    ranked(self.pairs.rank(ids[at], ids[next]), at)
                }
            };
            let before = alive & ((1 << at) - 1);
            if before != 0 {
                let previous = (63 - before.leading_zeros() as usize) % N;
                pairs[previous] = ranked(self.pairs.rank(ids[previous], ids[at]), previous);
            }
        }
        while alive != 0 {
            let at = alive.trailing_zeros();
            out.push(Token { id: ids[at as usize % N], start: at });
            alive &= alive - 1;
        }
    }

    /// Merge `tokens` in place; how many are left, from the first on.
    pub fn merge_tokens(&self, tokens: &mut [Token], scratch: &mut Scratch) -> usize {
        match tokens.len() {
            0..=1 => tokens.len(),
            2..=LONGEST_MOVED => self.merge_moving(tokens),
            _ => self.merge_long(tokens, scratch),
        }
    }

    /// By scanning for the lowest rank; what stands behind a merge moves down.
    fn merge_moving(&self, tokens: &mut [Token]) -> usize {
        let mut len = tokens.len();
        let mut ranks = [NEVER; LONGEST_MOVED];
        for (rank, pair) in ranks.iter_mut().zip(tokens.windows(2)) {
            *rank = self.pairs.rank(pair[0].id, pair[1].id);
        }
        loop {
            let ranked = ranks[..len - 1].iter().zip(0usize..);
            let Some((&rank, at)) = ranked.min() else { break };
            if rank == NEVER {
                break;
            }
            tokens[at].id = self.results[rank as usize];
            tokens.copy_within(at + 2..len, at + 1);
            ranks.copy_within(at + 1..len - 1, at);
            len -= 1;
            let rank = |left: usize| self.pairs.rank(tokens[left].id, tokens[left + 1].id);
            ranks[at] = if at + 1 < len { rank(at) } else { NEVER };
            if at > 0 {
                ranks[at - 1] = rank(at - 1);
            }
        }
        len
    }

    /// With a heap of (rank, place) and links between neighbours; O(n log n).
    #[inline(never)]
    fn merge_long(&self, tokens: &mut [Token], scratch: &mut Scratch) -> usize {
        const NONE: u32 = u32::MAX;
        let n = tokens.len();
        let Scratch { before, after, heap, .. } = scratch;
        before.clear();
        before.extend((0..n as u32).map(|i| i.wrapping_sub(1)));
        after.clear();
        after.extend(1..=n as u32);
        let entry = |rank: u32, at: usize| Reverse((rank as u64) << 32 | at as u64);
        let mut first = std::mem::take(heap).into_vec();
        first.clear();
        for i in 0..n - 1 {
            let rank = self.pairs.rank(tokens[i].id, tokens[i + 1].id);
            if rank != NEVER {
                first.push(entry(rank, i));
            }
        }
        *heap = BinaryHeap::from(first);
        while let Some(Reverse(lowest)) = heap.pop() {
            let (rank, left) = ((lowest >> 32) as u32, lowest as u32 as usize);
            let right = after[left] as usize;
            // stale when one of the two has been joined since
            if before[left] == left as u32
                || right >= n
                || self.pairs.rank(tokens[left].id, tokens[right].id) != rank
            {
                continue;
            }
            tokens[left].id = self.results[rank as usize];
            let next = after[right] as usize;
            after[left] = next as u32;
            before[right] = right as u32; // points to itself: dead
            if next < n {
                before[next] = left as u32;
                let rank = self.pairs.rank(tokens[left].id, tokens[next].id);
                if rank != NEVER {
                    heap.push(entry(rank, left));
                }
            }
            if before[left] != NONE {
                let previous = before[left] as usize;
                let rank = self.pairs.rank(tokens[previous].id, tokens[left].id);
                if rank != NEVER {
                    heap.push(entry(rank, previous));
                }
            }
        }
        let mut kept = 0;
        let mut at = 0;
        while at < n {
            tokens[kept] = tokens[at];
            kept += 1;
            at = after[at] as usize;
        }
        kept
    }
}

const PLACE_BITS: u32 = 6; // beside the 22 of a rank
const _: () = assert!(LONGEST_SCANNED <= 1 << PLACE_BITS);

/// A rank and where its pair is in one number, in the order of both.
#[inline(always)]
fn ranked(rank: u32, place: usize) -> i32 {
    (rank << PLACE_BITS | place as u32) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Join the leftmost pair of the lowest rank until none has a rank.
    fn one_by_one(ranks: &HashMap<(u32, u32), u32>, results: &[u32], piece: &[u8]) -> Vec<u32> {
        let mut ids: Vec<u32> = piece.iter().map(|&byte| byte as u32).collect();
        loop {
            let ranked =
                ids.windows(2).zip(0..).filter_map(|(pair, i)| Some((*ranks.get(&(pair[0], pair[1]))?, i)));
            let Some((rank, at)) = ranked.min() else { return ids };
            ids[at] = results[rank as usize];
            ids.remove(at + 1);
        }
    }

    #[test]
    fn agrees_with_the_simple_loop_on_random_rules() {
        let mut seed = 7u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..200 {
            // ids are in no order of ranks, pairs repeat, operands come later
            let rules: Vec<(u32, u32, u32)> = (0..40)
                .map(|rank| {
                    let mut operand =
                        || if random(2) == 0 { 97 + random(3) } else { 256 + random(40) } as u32;
                    (operand(), operand(), rank)
                })
                .collect();
            let results: Vec<u32> = (0..40).map(|_| 256 + random(40) as u32).collect();
            let mut ranks = HashMap::new();
            for &(left, right, rank) in &rules {
                ranks.insert((left, right), rank);
            }
            let joins = Joins { pairs: rules, results: results.clone() };
            let merged = Rules::new(joins, std::array::from_fn(|i| i as u32)).unwrap();
            for len in [1, 2, 3, 7, SHORT, SHORT + 1, 30, LONGEST_SCANNED, LONGEST_SCANNED + 1, 200] {
                let piece: Vec<u8> = (0..len).map(|_| 97 + random(3) as u8).collect();
                let mut tokens = Vec::new();
                merged.merge(&piece, &mut Scratch::default(), &mut tokens);
                let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
                assert_eq!(ids, one_by_one(&ranks, &results, &piece));
                assert!(tokens.windows(2).all(|pair| pair[0].start < pair[1].start));
            }
        }
    }
}
