//! The classes of 64 bytes as bit masks, bit i for byte i; in the way that suits the CPU.

#[cfg(simd)]
mod avx2;
#[cfg(simd)]
mod avx512;
mod portable;

use super::blocks::bits::put_places;
#[cfg(simd)]
pub use avx2::Avx2;
#[cfg(simd)]
pub use avx512::Avx512;
pub use portable::Portable;

/// What 64 bytes are. Bytes above 0x7f are in `high`, and in no other mask that matters.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Masks {
    pub high: u64,
    pub upper: u64,
    pub lower: u64,
    pub digit: u64,
    pub white: u64,
    pub space: u64,
    pub newline: u64,
    pub quote: u64,
    pub slash: u64,
    /// neither letters, numbers, white space nor symbols
    pub odd: u64,
    /// only where `high` is not 0: letters without case, what is apart from letters, and bytes behind the
    /// first one of their character
    pub caseless: u64,
    pub apart: u64,
    pub inner: u64,
}

impl Masks {
    /// Drop what is not in `valid`.
    pub fn keep(&mut self, valid: u64) {
        let Masks { high, upper, lower, digit, white, space, newline, quote, slash, odd, .. } = self;
        for mask in [high, upper, lower, digit, white, space, newline, quote, slash, odd] {
            *mask &= valid;
        }
        for mask in [&mut self.caseless, &mut self.apart, &mut self.inner] {
            *mask &= valid;
        }
    }
}

/// A way to find the masks.
pub trait Classify {
    /// CASES: whether `upper` and `lower` differ; else `lower` has all letters. ODD: whether `odd` is wanted
    ///
    /// # Safety
    /// The CPU must have what the implementation is named after.
    unsafe fn masks<const CASES: bool, const ODD: bool>(block: &[u8; 64]) -> Masks;

    /// The places of bits, counted from `base`; returns how many.
    ///
    /// # Safety
    /// As of `masks`.
    #[inline(always)]
    unsafe fn put_places(bits: u64, base: u32, out: &mut [u32; 64]) -> usize {
        put_places(bits, base, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuPath;

    /// Of a block, by a way to classify it: with and without what only some grammars want.
    unsafe fn seen<C: Classify>(block: &[u8; 64]) -> [Masks; 2] {
        // SAFETY: the caller's promise
        unsafe { [C::masks::<true, true>(block), C::masks::<false, false>(block)] }
    }

    #[test]
    fn all_paths_see_the_same() {
        let mut block = [0u8; 64];
        for start in 0..256 {
            for (i, byte) in block.iter_mut().enumerate() {
                *byte = (start + i * 37) as u8;
            }
            // SAFETY, here and below: the portable path needs nothing, and the others are here
            let portable = unsafe { seen::<Portable>(&block) };
            assert_eq!(
                portable[0].high.count_ones() as usize,
                block.iter().filter(|b| !b.is_ascii()).count()
            );
            #[cfg(simd)]
            for path in CpuPath::here() {
                let found = match path {
                    CpuPath::Portable => continue,
                    CpuPath::Avx2 => unsafe { seen::<Avx2>(&block) },
                    CpuPath::Avx512 => unsafe { seen::<Avx512>(&block) },
                };
                assert_eq!(found, portable, "{path:?}");
            }
        }
    }

    #[test]
    fn all_paths_put_the_same_places() {
        let mut seed = 88172645463325252u64;
        for round in 0..20_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let bits = if round % 3 == 0 {
                seed
            } else {
                seed.rotate_left(7) & seed.rotate_left(29) & (!0 >> (round % 64))
            };
            let expected: Vec<u32> = (0..64).filter(|i| bits >> i & 1 == 1).map(|i| 1000 + i).collect();
            let check = |path, put: unsafe fn(u64, u32, &mut [u32; 64]) -> usize| {
                let mut out = [0; 64];
                // SAFETY: the path is here
                let count = unsafe { put(bits, 1000, &mut out) };
                assert_eq!(out[..count], expected, "{path:?}");
            };
            check(CpuPath::Portable, Portable::put_places);
            #[cfg(simd)]
            if CpuPath::Avx512.is_here() {
                check(CpuPath::Avx512, Avx512::put_places);
            }
        }
    }
}
