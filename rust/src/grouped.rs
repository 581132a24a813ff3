//! A relation between characters of ASCII that vectors can look up: which may stand in one token side by side.
//!
//! The left ones are put into eight groups of those that go with nearly the same right ones. A byte has the bit of its
//! group as a left one, and as a right one the bits of all groups that go with it. A group goes with all that one of
//! it does, so that some pairs are related that were not.

/// left, right: bits of groups, by character
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct Grouped {
    left: [u8; 128],
    right: [u8; 128],
}

const GROUPS: usize = 8;

/// How often a character is in text, roughly: what is common is to be told apart. By these numbers 99 % of the cuts in
/// English are found that there are; with letters all the same 90 %.
static WEIGHTS: [u8; 128] = {
    let mut weights = [1; 128];
    let rest: [(&[u8], u8); 3] =
        [(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 5), (b".,\n", 20), (b"-'\"()_:/`=", 8)];
    let mut i = 0;
    while i < rest.len() {
        let mut j = 0;
        while j < rest[i].0.len() {
            weights[rest[i].0[j] as usize] = rest[i].1;
            j += 1;
        }
        i += 1;
    }
    let (letters, mut weight, mut i) = (b" etaoinsrhldcumfpgwybvkxjqz", 180u16, 0);
    while i < letters.len() {
        weights[letters[i] as usize] = weight as u8;
        weight = weight * 9 / 10;
        i += 1;
    }
    weights
};

fn weight(characters: u128) -> u64 {
    let (mut rest, mut sum) = (characters, 0);
    while rest != 0 {
        sum += WEIGHTS[rest.trailing_zeros() as usize] as u64;
        rest &= rest - 1;
    }
    sum
}

/// Left characters, and the right ones that one of them goes with.
#[derive(Clone, Copy)]
struct Group {
    lefts: u128,
    rights: u128,
}

impl Group {
    fn with(self, other: Group) -> Group {
        Group { lefts: self.lefts | other.lefts, rights: self.rights | other.rights }
    }

    /// What becomes related that is not, when two become one.
    fn loss(self, other: Group) -> u64 {
        weight(self.lefts) * weight(other.rights & !self.rights)
            + weight(other.lefts) * weight(self.rights & !other.rights)
    }
}

impl Grouped {
    /// related: the right characters that each left one goes with, a bit each
    pub fn new(related: &[u128; 128]) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for (&rights, left) in related.iter().zip(0..) {
            // most characters of a small vocabulary go with none, and to find that out pair by pair would take 2 ms
            match groups.iter_mut().find(|group| group.rights == rights) {
                Some(same) => same.lefts |= 1 << left,
                None => groups.push(Group { lefts: 1 << left, rights }),
            }
        }
        let mut losses: Vec<Vec<u64>> =
            groups.iter().map(|&a| groups.iter().map(|&b| a.loss(b)).collect()).collect();
        while groups.len() > GROUPS {
            let pairs = (0..groups.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
            let Some((a, b)) = pairs.min_by_key(|&(a, b)| losses[b][a]) else { break };
            groups[a] = groups[a].with(groups[b]);
            groups.swap_remove(b);
            losses.swap_remove(b);
            losses.iter_mut().for_each(|row| {
                row.swap_remove(b);
            });
            for other in 0..groups.len() {
                let loss = groups[a].loss(groups[other]);
                (losses[a][other], losses[other][a]) = (loss, loss);
            }
        }
        let mut grouped = Grouped { left: [0; 128], right: [0; 128] };
        for (group, number) in groups.iter().zip(0..) {
            for code in 0..128 {
                grouped.left[code] |= ((group.lefts >> code & 1) as u8) << number;
                grouped.right[code] |= ((group.rights >> code & 1) as u8) << number;
            }
        }
        grouped
    }

    #[inline(always)]
    pub fn has(&self, left: u8, right: u8) -> bool {
        self.left[left as usize & 127] & self.right[right as usize & 127] != 0
    }

    /// Of 64 bytes behind one more, which of them are not related to the one before: a bit each; None where one is not ASCII.
    ///
    /// # Safety
    /// The CPU must have AVX2.
    #[cfg(simd)]
    #[target_feature(enable = "avx2")]
    pub unsafe fn apart_avx2(&self, bytes: &[u8; 65]) -> Option<u64> {
        use std::arch::x86_64::*;
        // SAFETY: loads of 32 bytes from 65, and of 16 from tables of 128; the rest works on registers
        unsafe {
            let load = |at: usize| _mm256_loadu_si256(bytes.as_ptr().add(at).cast());
            let (left, right) = ([load(0), load(32)], [load(1), load(33)]);
            let not_ascii =
                _mm256_or_si256(_mm256_or_si256(left[0], right[0]), _mm256_or_si256(left[1], right[1]));
            if _mm256_movemask_epi8(not_ascii) != 0 {
                return None;
            }
            let mut found = [_mm256_setzero_si256(); 4];
            for upper in 0..8usize {
                let table = |of: &[u8; 128]| {
                    _mm256_broadcastsi128_si256(_mm_loadu_si128(of.as_ptr().add(16 * upper).cast()))
                };
                // of what is in this sixteenth the lower half is left, and of the rest the highest bit is set: no entry
                let within = |x: __m256i| {
                    let moved = _mm256_xor_si256(x, _mm256_set1_epi8((upper << 4) as i8));
                    _mm256_adds_epu8(moved, _mm256_set1_epi8(0x70))
                };
                let (lefts, rights) = (table(&self.left), table(&self.right));
                for half in 0..2 {
                    let a = _mm256_shuffle_epi8(lefts, within(left[half]));
                    let b = _mm256_shuffle_epi8(rights, within(right[half]));
                    found[half] = _mm256_or_si256(found[half], a);
                    found[2 + half] = _mm256_or_si256(found[2 + half], b);
                }
            }
            let apart = |half: usize| {
                let both = _mm256_and_si256(found[half], found[2 + half]);
                _mm256_movemask_epi8(_mm256_cmpeq_epi8(both, _mm256_setzero_si256())) as u32 as u64
            };
            Some(apart(0) | apart(1) << 32)
        }
    }

    /// The same: a table of 128 bytes is one lookup.
    ///
    /// # Safety
    /// The CPU must have AVX-512 with VBMI.
    #[cfg(simd)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub unsafe fn apart_avx512(&self, bytes: &[u8; 65]) -> Option<u64> {
        use std::arch::x86_64::*;
        // SAFETY: loads of 64 bytes from 65, and from tables of 128
        unsafe {
            let load = |bytes: &[u8], at: usize| _mm512_loadu_si512(bytes.as_ptr().add(at).cast());
            let (left, right) = (load(bytes, 0), load(bytes, 1));
            if _mm512_movepi8_mask(_mm512_or_si512(left, right)) != 0 {
                return None;
            }
            let groups = |table: &[u8; 128], bytes: __m512i| {
                _mm512_permutex2var_epi8(load(table, 0), bytes, load(table, 64))
            };
            Some(_mm512_testn_epi8_mask(groups(&self.left, left), groups(&self.right, right)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_relation(seed: &mut u64, sparse: u32) -> [u128; 128] {
        let mut random = || {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*seed >> 33) as u128 | (*seed >> 13 << 60) as u128 | (*seed as u128) << 70
        };
        std::array::from_fn(|_| (0..sparse).fold(u128::MAX, |all, _| all & random()))
    }

    #[test]
    fn all_that_are_related_are_found() {
        let mut seed = 7;
        for sparse in 0..8 {
            let related = random_relation(&mut seed, sparse);
            let grouped = Grouped::new(&related);
            for (left, rights) in related.iter().enumerate() {
                assert!((0..128u8).all(|right| rights >> right & 1 == 0 || grouped.has(left as u8, right)));
            }
        }
    }

    #[test]
    fn few_kinds_of_characters_are_told_apart() {
        let related = std::array::from_fn(|left| 0b1011 << (left % 8 * 7));
        let grouped = Grouped::new(&related);
        for (left, rights) in related.iter().enumerate() {
            assert!((0..128u8).all(|right| (rights >> right & 1 == 1) == grouped.has(left as u8, right)));
        }
    }

    #[cfg(simd)]
    #[test]
    fn vectors_find_what_single_pairs_are() {
        use crate::cpu::CpuPath;
        let mut seed = 7;
        for round in 0..2000usize {
            let grouped = Grouped::new(&random_relation(&mut seed, round as u32 % 6));
            let apart = |path, bytes: &[u8; 65]| match path {
                // SAFETY, of both: the path is here
                CpuPath::Avx512 => unsafe { grouped.apart_avx512(bytes) },
                _ => unsafe { grouped.apart_avx2(bytes) },
            };
            for step in [1, 3, 37] {
                let mut text: [u8; 65] = std::array::from_fn(|i| ((i * step + round) % 128) as u8);
                let expected = (0..64).map(|i| (!grouped.has(text[i], text[i + 1]) as u64) << i).sum();
                for path in CpuPath::here().filter(|path| *path > CpuPath::Portable) {
                    assert_eq!(apart(path, &text), Some(expected), "{path:?}");
                }
                text[round % 65] |= 0x80;
                for path in CpuPath::here().filter(|path| *path > CpuPath::Portable) {
                    assert_eq!(apart(path, &text), None, "{path:?}");
                }
            }
        }
    }
}
