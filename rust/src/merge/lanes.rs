//! Short pieces that are merged side by side.
//!
//! One merge is a chain of waits (the lowest rank, its result, two lookups, and back); those of different
//! pieces do not wait for each other, so that merging them in turn takes a third of the time of one after the other.

use super::{ranked, Rules, Token, PLACE_BITS, SHORT};
use crate::cache::{bytes_of, line_of, Cache, Key};
use crate::cpu::{cpu_path, CpuPath};
use crate::pairs::{Slots, NEVER, NO_ID};

/// How many pieces are laid out before they are merged.
const LANES: usize = 64;
/// How many of them are merged in turn: what is at its end gives its place to the next.
const IN_TURN: usize = 16;
/// Where a piece's lane is looked for, by the upper bits of its hash.
const SLOT_BITS: u32 = 8;
/// The place of no symbol, which has a rank with none: the neighbour of what has none.
const NOWHERE: usize = SHORT - 1;

/// A short piece on its way: its symbols, the rank and place of each with its next, and
/// as bits which symbols are left.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Lane {
    ids: [u32; SHORT],
    pairs: [i32; SHORT],
    key: Key,
    alive: u32,
    /// of the last merge: the places of its token, of the next and of the previous one
    changed: [u8; 3],
    /// and the slots of its pairs with them
    slots: [Slots; 2],
}

impl Lane {
    /// When symbols have been put into it.
    fn begin(&mut self) {
        self.ids[NOWHERE] = NO_ID;
        self.pairs[NOWHERE] = i32::MAX;
        self.alive |= 1 << NOWHERE;
        self.changed = [NOWHERE as u8; 3];
        self.slots = Default::default();
    }

    /// The token that is left, if it is one.
    fn only(&self) -> Option<u32> {
        (self.alive == 1 | 1 << NOWHERE).then_some(self.ids[0])
    }

    /// Append the tokens that are left to `out`.
    #[inline]
    fn tokens(&self, out: &mut Vec<Token>) {
        let mut alive = self.alive & !(1 << NOWHERE);
        while alive != 0 {
            let start = alive.trailing_zeros();
            out.push(Token { id: self.ids[start as usize % SHORT], start });
            alive &= alive - 1;
        }
    }
}

/// Pieces that are merged together; kept between them.
pub struct Lanes {
    lanes: Box<[Lane; LANES]>,
    /// the number of a lane + 1; 0 is free
    slots: [u8; 1 << SLOT_BITS],
}

impl Default for Lanes {
    fn default() -> Self {
        Lanes { lanes: Box::new([Lane::default(); LANES]), slots: [0; 1 << SLOT_BITS] }
    }
}

impl Lanes {
    /// Merge those of `keys` that the cache does not have, and keep what they come to.
    ///
    /// lay_out: put the symbols of a piece into a lane; whether it is one that is merged. unit: room for its tokens
    pub fn learn(
        &mut self,
        rules: &Rules,
        keys: &[Key],
        cache: &mut Cache,
        unit: &mut Vec<Token>,
        mut lay_out: impl FnMut(Key, &mut Lane, &mut Vec<Token>) -> bool,
    ) {
        for keys in keys.chunks(LANES) {
            let mut count = 0;
            self.slots.fill(0);
            for &key in keys {
                let slot = &mut self.slots[line_of(key, 64 - SLOT_BITS)];
                let is_there = *slot > 0 && self.lanes[*slot as usize - 1].key == key;
                let lane = &mut self.lanes[count];
                if !is_there && !cache.has(key) && lay_out(key, lane, unit) {
                    lane.key = key;
                    lane.begin();
                    count += 1;
                    *slot = count as u8;
                }
            }
            let lanes = &mut self.lanes[..count];
            rules.merge_lanes(lanes);
            for lane in lanes {
                unit.clear();
                lane.tokens(unit);
                cache.insert(lane.key, unit);
            }
        }
    }
}

impl Lanes {
    /// Whether pieces of which each byte is a symbol come to one token, and that is theirs.
    pub fn are_whole(&mut self, rules: &Rules, pieces: &[(Key, u32)], out: &mut Vec<bool>) {
        for pieces in pieces.chunks(LANES) {
            let lanes = &mut self.lanes[..pieces.len()];
            for (lane, &(key, _)) in lanes.iter_mut().zip(pieces) {
                rules.put_bytes(key, lane);
                lane.begin();
            }
            rules.merge_lanes(lanes);
            out.extend(lanes.iter().zip(pieces).map(|(lane, &(_, id))| lane.only() == Some(id)));
        }
    }
}

impl Rules {
    /// Merge what is in some lanes, each as if it were alone.
    fn merge_lanes(&self, lanes: &mut [Lane]) {
        match cpu_path() {
            CpuPath::Portable => self.merge_in_turn(lanes),
            #[cfg(simd)]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 | CpuPath::Avx512 => unsafe { self.merge_in_turn_avx2(lanes) },
            #[cfg(not(simd))]
            CpuPath::Avx2 | CpuPath::Avx512 => self.merge_in_turn(lanes),
        }
    }

    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn merge_in_turn_avx2(&self, lanes: &mut [Lane]) {
        self.merge_in_turn(lanes)
    }

    #[inline(always)]
    fn merge_in_turn(&self, lanes: &mut [Lane]) {
        let mut working: [usize; IN_TURN] = std::array::from_fn(|number| number);
        let mut left = lanes.len().min(IN_TURN);
        let mut next = left;
        while left > 0 {
            let mut kept = 0;
            for place in 0..left {
                let number = working[place];
                let goes_on = self.join(&mut lanes[number]);
                let begins = !goes_on & (next < lanes.len());
                // written at once, counted only if it is one: no branch to mispredict
                working[kept] = if goes_on { number } else { next };
                next += begins as usize;
                kept += (goes_on | begins) as usize;
            }
            left = kept;
            for &number in &working[..left] {
                self.rank_neighbours(&mut lanes[number]);
            }
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
    pub fn put_bytes(&self, key: Key, lane: &mut Lane) {
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

    /// Do the next merge of a lane, but for the ranks of the new token with its neighbours, whose slots are fetched ahead;
    /// whether there was one.
    #[inline(always)]
    fn join(&self, lane: &mut Lane) -> bool {
        let lowest = lane.pairs.iter().fold(i32::MAX, |lowest, &pair| lowest.min(pair));
        let (rank, at) = ((lowest >> PLACE_BITS) as u32, lowest as u32 % SHORT as u32);
        if rank >= NEVER {
            return false;
        }
        let behind = lane.alive & (!1 << at);
        let right = behind.trailing_zeros();
        let next = (behind & behind.wrapping_sub(1)).trailing_zeros() % SHORT as u32;
        let previous = 31u32.wrapping_sub((lane.alive & ((1 << at) - 1)).leading_zeros()) % SHORT as u32;
        lane.alive ^= 1 << right;
        let id = self.results[rank as usize];
        lane.ids[at as usize] = id;
        lane.pairs[right as usize % SHORT] = i32::MAX;
        lane.changed = [at as u8, next as u8, previous as u8];
        lane.slots = [
            self.pairs.slots_of(id, lane.ids[next as usize]),
            self.pairs.slots_of(lane.ids[previous as usize], id),
        ];
        lane.slots.iter().for_each(|&slots| self.pairs.prefetch(slots));
        true
    }

    /// The ranks that `join` left.
    #[inline(always)]
    fn rank_neighbours(&self, lane: &mut Lane) {
        let [at, next, previous] = lane.changed.map(|place| place as usize % SHORT);
        let id = lane.ids[at];
        let [behind, before] = lane.slots;
        lane.pairs[at] = ranked(self.pairs.rank_in(behind, id, lane.ids[next]), at);
        lane.pairs[previous] = ranked(self.pairs.rank_in(before, lane.ids[previous], id), previous);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key_of;
    use crate::merge::Scratch;
    use crate::spelling::Joins;

    fn randoms(mut seed: u64) -> impl FnMut(u64) -> u64 {
        move |n| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        }
    }

    /// 40 rules over 3 letters and their results, in no order of ranks.
    fn some_rules(random: &mut impl FnMut(u64) -> u64) -> Rules {
        let mut operand = || if random(2) == 0 { 97 + random(3) } else { 256 + random(40) } as u32;
        let pairs: Vec<_> = (0..40).map(|rank| (operand(), operand(), rank)).collect();
        let results: Vec<u32> = (0..40).map(|_| 256 + random(40) as u32).collect();
        Rules::new(Joins { pairs, results }, std::array::from_fn(|i| i as u32)).unwrap()
    }

    /// One that loses nothing of what these tests put into it.
    fn large_cache() -> Cache {
        let mut cache = Cache::new(1 << 20);
        cache.expect(1 << 20);
        cache
    }

    fn kept(cache: &mut Cache, key: Key) -> Vec<Token> {
        let kept = cache.find(key).expect("it was learnt");
        match kept.count() {
            0 => cache.spilled(&kept).iter().map(|&lane| crate::cache::token_of(lane)).collect(),
            count => (0..count).map(|i| kept.token(i)).collect(),
        }
    }

    #[test]
    fn each_piece_has_the_tokens_that_it_has_alone() {
        let mut random = randoms(11);
        let (mut lanes, mut unit) = (Lanes::default(), Vec::new());
        for _ in 0..100 {
            let rules = some_rules(&mut random);
            // more than fit at once, of all lengths, some of them twice
            let pieces: Vec<Vec<u8>> = (0..random(3 * LANES as u64))
                .map(|_| (0..1 + random(15)).map(|_| 97 + random(3) as u8).collect())
                .collect();
            let keys: Vec<Key> = pieces.iter().map(|piece| key_of(piece)).collect();
            let mut cache = large_cache();
            lanes.learn(&rules, &keys, &mut cache, &mut unit, |key, lane, _| {
                rules.put_bytes(key, lane);
                true
            });
            for (piece, &key) in pieces.iter().zip(&keys) {
                let mut alone = Vec::new();
                rules.merge(piece, &mut Scratch::default(), &mut alone);
                assert_eq!(kept(&mut cache, key), alone);
            }
        }
    }

    #[test]
    fn symbols_of_several_bytes_leave_places_out() {
        let mut random = randoms(12);
        let (mut lanes, mut unit) = (Lanes::default(), Vec::new());
        for _ in 0..200 {
            let rules = some_rules(&mut random);
            let symbols: Vec<Vec<Token>> = (0..1 + random(LANES as u64))
                .map(|_| {
                    let places: Vec<u32> = (0..15).filter(|&place| place == 0 || random(2) == 0).collect();
                    places.into_iter().map(|start| Token { id: 97 + random(3) as u32, start }).collect()
                })
                .collect();
            let keys: Vec<Key> =
                (0..symbols.len() as u64).map(|number| key_of(&number.to_le_bytes())).collect();
            let mut cache = large_cache();
            lanes.learn(&rules, &keys, &mut cache, &mut unit, |key, lane, _| {
                rules.put_symbols(&symbols[key[0] as usize], lane);
                true
            });
            for (mut alone, &key) in symbols.into_iter().zip(&keys) {
                let left = rules.merge_tokens(&mut alone, &mut Scratch::default());
                alone.truncate(left);
                assert_eq!(kept(&mut cache, key), alone);
            }
        }
    }

    #[test]
    fn what_is_not_merged_or_known_is_left() {
        let rules = some_rules(&mut randoms(13));
        let (mut lanes, mut unit, mut cache) = (Lanes::default(), Vec::new(), large_cache());
        let keys = [b"a", b"b", b"c"].map(|piece| key_of(piece));
        cache.insert(keys[1], &[Token { id: 5, start: 0 }]);
        lanes.learn(&rules, &keys, &mut cache, &mut unit, |key, lane, _| {
            rules.put_bytes(key, lane);
            key != keys[0]
        });
        assert!(!cache.has(keys[0]));
        assert_eq!(kept(&mut cache, keys[1]), [Token { id: 5, start: 0 }]);
        assert_eq!(kept(&mut cache, keys[2]), [Token { id: 99, start: 0 }]);
    }
}
