//! Merge rules: which pairs of tokens join, and in which order.

use crate::cache::prefetch;

/// A pair without a rule; above every rank.
pub const NEVER: u32 = RANK_MASK as u32;

const ID_BITS: u32 = 21;
const RANK_BITS: u32 = 22;
const RANK_MASK: u64 = (1 << RANK_BITS) - 1;
pub const MOST_IDS: u32 = NO_ID;
/// The id of no token.
pub const NO_ID: u32 = (1 << ID_BITS) - 1;
pub const MOST_RANKS: u32 = NEVER;

/// Pair to rank, a cuckoo table: a pair is in one of two slots.
///
/// A slot is one u64, left and right (21 bits each) and how far the rank is below NEVER (22), so that o200k's
/// 446,189 rules are 8 MB. A lookup loads both slots and selects without a branch:
/// most lookups of a merge find nothing, and a probing loop would be mispredicted.
pub struct Pairs {
    slots: Vec<u64>,
    shift: u32,
}

/// Where a pair may be.
pub type Slots = [u32; 2];

/// No pair, whatever is asked for.
const EMPTY: u64 = !0 << RANK_BITS;
const MULTIPLIERS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
const KICKS: usize = 500;

impl Pairs {
    /// From (left, right, rank); of a pair that comes twice the last rank counts.
    /// None where pairs collide, however large the table: made to, not by chance.
    pub fn new(rules: &[(u32, u32, u32)]) -> Option<Self> {
        let bits = (rules.len() * 9 / 4).max(16).next_power_of_two().trailing_zeros();
        (bits..bits + 3).find_map(|bits| Self::build(rules, bits))
    }

    fn build(rules: &[(u32, u32, u32)], bits: u32) -> Option<Self> {
        let mut pairs = Pairs { slots: vec![EMPTY; 1 << bits], shift: 64 - bits };
        for &(left, right, rank) in rules {
            pairs.insert(key(left, right), rank)?;
        }
        Some(pairs)
    }

    fn insert(&mut self, key: u64, rank: u32) -> Option<()> {
        let mut slot = key << RANK_BITS | (NEVER - rank) as u64;
        for place in self.places(key) {
            if self.slots[place] == EMPTY || self.slots[place] >> RANK_BITS == key {
                self.slots[place] = slot;
                return Some(());
            }
        }
        let mut place = self.places(key)[0];
        for _ in 0..KICKS {
            std::mem::swap(&mut slot, &mut self.slots[place]);
            if slot == EMPTY {
                return Some(());
            }
            let [first, second] = self.places(slot >> RANK_BITS);
            place = if place == first { second } else { first };
        }
        None
    }

    #[inline(always)]
    fn places(&self, key: u64) -> [usize; 2] {
        MULTIPLIERS.map(|multiplier| (key.wrapping_mul(multiplier) >> self.shift) as usize)
    }

    /// Both slots of a pair, for `prefetch` and `rank_in`.
    #[inline(always)]
    pub fn slots_of(&self, left: u32, right: u32) -> Slots {
        self.places(key(left, right)).map(|place| place as u32)
    }

    /// Fetch slots ahead of their use.
    #[inline(always)]
    pub fn prefetch(&self, slots: Slots) {
        slots.iter().for_each(|&slot| prefetch(self.slots.as_ptr().wrapping_add(slot as usize)));
    }

    /// The rank of a pair, or NEVER. slots: its own
    #[inline(always)]
    pub fn rank_in(&self, slots: Slots, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let [a, b] = slots.map(|slot| self.slots[slot as usize]);
        // without a branch: which of the two it is cannot be predicted
        let is_there = |slot: u64| ((slot >> RANK_BITS == key) as u64).wrapping_neg();
        NEVER - ((a & is_there(a) | b & is_there(b)) & RANK_MASK) as u32
    }

    /// The rank of a pair, or NEVER.
    #[inline(always)]
    pub fn rank(&self, left: u32, right: u32) -> u32 {
        self.rank_in(self.slots_of(left, right), left, right)
    }
}

#[inline(always)]
fn key(left: u32, right: u32) -> u64 {
    (left as u64) << ID_BITS | right as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_rule_and_nothing_else() {
        let rules: Vec<_> = (0..20_000).map(|i| (i % 300, i / 7, i)).collect();
        let pairs = Pairs::new(&rules).unwrap();
        let mut last = std::collections::HashMap::new();
        for &(left, right, rank) in &rules {
            last.insert((left, right), rank);
        }
        for left in 0..310 {
            for right in 0..3000 {
                assert_eq!(pairs.rank(left, right), last.get(&(left, right)).copied().unwrap_or(NEVER));
            }
        }
    }

    #[test]
    fn the_last_of_equal_pairs_counts() {
        assert_eq!(Pairs::new(&[(1, 2, 0), (3, 4, 1), (1, 2, 2)]).unwrap().rank(1, 2), 2);
    }
}
