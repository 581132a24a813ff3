//! Where a text can be cut so that no token ever spans the cut.
//!
//! Two characters that stand side by side inside no merge's result never come to stand in one token:
//! whatever is merged on the left and on the right of them stays apart. To encode both sides
//! alone is then exact, whatever the order of the rules. What is cut repeats, so it can
//! be looked up; and no piece of real text is long.

use crate::grouped::Grouped;

/// Which pairs of characters may be cut apart. A pair is joined sooner than cut wrongly.
pub struct Bigrams {
    /// those of ASCII that may not be cut
    pub ascii: Grouped,
    /// of others, a bit for each hash of a pair that must not be cut
    joined: Box<[u64]>,
    shift: u32,
    /// a bit for each character beside which may be cut; empty where that is every one
    solid: Box<[u64]>,
}

const BITS_PER_PAIR: usize = 8;
const MOST_BITS: usize = 1 << 22;

/// Characters that stand side by side in what merges make.
pub struct Neighbours {
    /// by the left one, the right ones, a bit each
    ascii: [u128; 128],
    /// hashes of the other pairs
    others: Vec<u64>,
}

impl Default for Neighbours {
    fn default() -> Self {
        Neighbours { ascii: [0; 128], others: Vec::new() }
    }
}

impl Extend<(char, char)> for Neighbours {
    fn extend<T: IntoIterator<Item = (char, char)>>(&mut self, pairs: T) {
        for (left, right) in pairs {
            if left.is_ascii() && right.is_ascii() {
                self.ascii[left as usize] |= 1 << right as u32;
            } else {
                self.others.push(hash(left as u32, right as u32));
            }
        }
    }
}

impl Bigrams {
    /// solid: the characters that become tokens by themselves, wherever they stand; None for all. What becomes of another one
    /// may depend on its neighbours
    pub fn new(neighbours: Neighbours, solid: Option<impl Iterator<Item = char>>) -> Self {
        let Neighbours { mut ascii, others } = neighbours;
        let bits = (others.len() * BITS_PER_PAIR).clamp(64, MOST_BITS).next_power_of_two();
        let shift = 64 - bits.ilog2();
        let mut joined = vec![0u64; bits / 64].into_boxed_slice();
        for pair in others {
            let bit = (pair >> shift) as usize;
            joined[bit / 64] |= 1 << (bit % 64);
        }
        let mut of_solid = Box::default();
        if let Some(solid) = solid {
            let mut bits = vec![0u64; 0x11_0000 / 64].into_boxed_slice();
            for character in solid {
                bits[character as usize / 64] |= 1 << (character as usize % 64);
            }
            let solid = bits[0] as u128 | (bits[1] as u128) << 64;
            for (left, rights) in ascii.iter_mut().enumerate() {
                *rights |= if solid >> left & 1 == 1 { !solid } else { u128::MAX };
            }
            of_solid = bits;
        }
        Bigrams { ascii: Grouped::new(&ascii), joined, shift, solid: of_solid }
    }

    fn is_solid(&self, code: usize) -> bool {
        self.solid.get(code / 64).map_or(true, |bits| bits >> (code % 64) & 1 == 1)
    }

    /// Whether two bytes of ASCII may be cut apart.
    #[inline(always)]
    pub fn cuts_ascii(&self, left: u8, right: u8) -> bool {
        !self.ascii.has(left, right)
    }

    /// Whether two characters, not both of ASCII, may be cut apart.
    #[inline]
    pub fn cuts(&self, left: u32, right: u32) -> bool {
        let bit = (hash(left, right) >> self.shift) as usize;
        let joined = self.joined[bit / 64] >> (bit % 64) & 1 == 1;
        !joined && self.is_solid(left as usize) && self.is_solid(right as usize)
    }
}

#[inline(always)]
fn hash(left: u32, right: u32) -> u64 {
    ((left as u64) << 32 | right as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pairs_inside_no_result_are_cut() {
        let mut neighbours = Neighbours::default();
        neighbours.extend([('a', 'b'), ('b', 'c'), ('é', '中'), ('中', 'b')]);
        let bigrams = Bigrams::new(neighbours, Some("abcdé中".chars()));
        let cuts = |left: char, right: char| match (left.is_ascii(), right.is_ascii()) {
            (true, true) => bigrams.cuts_ascii(left as u8, right as u8),
            _ => bigrams.cuts(left as u32, right as u32),
        };
        for (left, right) in [('a', 'b'), ('b', 'c'), ('é', '中'), ('中', 'b'), ('a', 'x'), ('ü', 'a')] {
            assert!(!cuts(left, right), "{left}{right}");
        }
        for (left, right) in [('b', 'a'), ('a', 'c'), ('c', 'a'), ('d', 'd'), ('中', 'é')] {
            assert!(cuts(left, right), "{left}{right}");
        }
    }
}
