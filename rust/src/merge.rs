//! Byte-pair merging: neighbours join, lowest rank first, leftmost of equal ones.
//!
//! Source: Sennrich, Haddow and Birch (2016), section 3.2.

use crate::bert::Words;
use crate::cache::{bytes_of, Key};
use crate::models::Best;
use crate::pairs::{Pairs, NEVER};
use crate::spelling::Joins;
use crate::split::{cpu_path, CpuPath};
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

/// How many short pieces are merged in turn.
pub const LANES: usize = 8;

/// A short piece on its way: its symbols, the rank and place of each with its next, and
/// as bits which symbols are left.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Lane {
    ids: [u32; SHORT],
    pairs: [i32; SHORT],
    alive: u32,
}

impl Lane {
    /// Append the tokens that are left to `out`.
    #[inline]
    pub fn tokens(&self, out: &mut Vec<Token>) {
        let mut alive = self.alive;
        while alive != 0 {
            let start = alive.trailing_zeros();
            out.push(Token { id: self.ids[start as usize % SHORT], start });
            alive &= alive - 1;
        }
    }
}

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

/// Where pieces are worked on; kept between them. best: of models that do not merge; words, spare: of those of words
#[derive(Default)]
pub struct Scratch {
    pub best: Vec<Best>,
    before: Vec<u32>,
    after: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
    pub words: Words,
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
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.merge_avx2(piece, scratch, out) },
            #[cfg(not(target_arch = "x86_64"))]
            CpuPath::Avx2 => self.merge_by_length(piece, scratch, out),
        }
    }

    /// The same code, where 8 ranks are compared at once.
    #[cfg(target_arch = "x86_64")]
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

    /// The tokens of several pieces of at most 15 bytes each, by their keys: at most LANES.
    pub fn merge_short(&self, keys: &[Key], lanes: &mut [Lane; LANES]) {
        for (&key, lane) in keys.iter().zip(lanes.iter_mut()) {
            self.fill_lane(key, lane);
        }
        self.merge_lanes(&mut lanes[..keys.len()]);
    }

    /// Merge what is in several lanes: at most LANES.
    ///
    /// One merge is a chain of waits (the lowest rank, its result, two lookups, and back);
    /// those of different pieces do not wait for each other, so that merging them in turn
    /// takes a third of the time of one after the other.
    pub fn merge_lanes(&self, lanes: &mut [Lane]) {
        match cpu_path() {
            CpuPath::Portable => self.merge_in_turn(lanes),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.merge_in_turn_avx2(lanes) },
            #[cfg(not(target_arch = "x86_64"))]
            CpuPath::Avx2 => self.merge_in_turn(lanes),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn merge_in_turn_avx2(&self, lanes: &mut [Lane]) {
        self.merge_in_turn(lanes)
    }

    #[inline(always)]
    fn merge_in_turn(&self, lanes: &mut [Lane]) {
        let mut working: [usize; LANES] = std::array::from_fn(|number| number);
        let mut left = lanes.len();
        while left > 0 {
            let mut kept = 0;
            for place in 0..left {
                let number = working[place];
                // written at once, counted only if it goes on: no branch to mispredict
                working[kept] = number;
                kept += self.merge_once(&mut lanes[number]) as usize;
            }
            left = kept;
        }
    }

    /// The symbols of a piece of at most 15 bytes, each at the place of its first byte, no two at one.
    pub fn put_symbols(&self, symbols: &[Token], lane: &mut Lane) {
        lane.pairs = [i32::MAX; SHORT];
        lane.alive = 0;
        for symbol in symbols {
            lane.ids[symbol.start as usize % SHORT] = symbol.id;
            lane.alive |= 1 << symbol.start;
        }
        for pair in symbols.windows(2) {
            let at = pair[0].start as usize % SHORT;
            lane.pairs[at] = ranked(self.pairs.rank(pair[0].id, pair[1].id), at);
        }
    }

    /// A piece of which each byte is a symbol, by its key.
    #[inline(always)]
    pub fn fill_lane(&self, key: Key, lane: &mut Lane) {
        let (bytes, len) = bytes_of(key);
        for (id, &byte) in lane.ids.iter_mut().zip(&bytes) {
            *id = self.bytes[byte as usize];
        }
        for (i, pair) in lane.pairs[..SHORT - 1].iter_mut().enumerate() {
            let rank = self.byte_rank(bytes[i], bytes[i + 1]);
            *pair = if i + 1 < len { ranked(rank, i) } else { i32::MAX };
        }
        lane.pairs[SHORT - 1] = i32::MAX;
        lane.alive = (1 << len) - 1;
    }

    /// Do the next merge of a lane; whether there was one. Place 15 is of no symbol: what
    /// has no neighbour writes there.
    #[inline(always)]
    fn merge_once(&self, lane: &mut Lane) -> bool {
        const NOWHERE: usize = SHORT - 1;
        let lowest = lane.pairs.iter().fold(i32::MAX, |lowest, &pair| lowest.min(pair));
        let (rank, at) = ((lowest >> PLACE_BITS) as u32, lowest as usize % SHORT);
        if rank >= NEVER {
            return false;
        }
        let alive = lane.alive;
        let behind = alive & (!1 << at);
        let right = behind.trailing_zeros() as usize % SHORT;
        let rest = behind & behind.wrapping_sub(1);
        let before = alive & ((1 << at) - 1);
        let next = if rest == 0 { NOWHERE } else { rest.trailing_zeros() as usize % SHORT };
        let previous = if before == 0 { NOWHERE } else { (31 - before.leading_zeros()) as usize % SHORT };
        let id = self.results[rank as usize];
        lane.ids[at] = id;
        lane.alive = alive & !(1 << right);
        let (behind, before) = (self.pairs.rank(id, lane.ids[next]), self.pairs.rank(lane.ids[previous], id));
        lane.pairs[right] = i32::MAX;
        lane.pairs[at] = if next == NOWHERE { i32::MAX } else { ranked(behind, at) };
        lane.pairs[previous] = if previous == NOWHERE { i32::MAX } else { ranked(before, previous) };
        true
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
    use crate::cache::key_of;
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
            let pieces: Vec<Vec<u8>> = (0..1 + random(LANES as u64))
                .map(|_| (0..1 + random(15)).map(|_| 97 + random(3) as u8).collect())
                .collect();
            let keys: Vec<Key> = pieces.iter().map(|piece| key_of(piece)).collect();
            let mut lanes = [Lane::default(); LANES];
            merged.merge_short(&keys, &mut lanes);
            for (piece, lane) in pieces.iter().zip(&lanes) {
                let (mut alone, mut in_turn) = (Vec::new(), Vec::new());
                merged.merge(piece, &mut Scratch::default(), &mut alone);
                lane.tokens(&mut in_turn);
                assert_eq!(in_turn, alone);
            }
            // symbols of several bytes leave places out
            let symbols: Vec<Vec<Token>> = (0..1 + random(LANES as u64))
                .map(|_| {
                    let places: Vec<u32> = (0..15).filter(|_| random(2) == 0).collect();
                    let id = |_| 97 + random(3) as u32;
                    let ids: Vec<u32> = places.iter().map(id).collect();
                    ids.into_iter().zip(places).map(|(id, start)| Token { id, start }).collect()
                })
                .collect();
            for (symbols, lane) in symbols.iter().zip(&mut lanes) {
                merged.put_symbols(symbols, lane);
            }
            merged.merge_lanes(&mut lanes[..symbols.len()]);
            for (mut alone, lane) in symbols.into_iter().zip(&lanes) {
                let kept = merged.merge_tokens(&mut alone, &mut Scratch::default());
                alone.truncate(kept);
                let mut in_turn = Vec::new();
                lane.tokens(&mut in_turn);
                assert_eq!(in_turn, alone);
            }
        }
    }
}
