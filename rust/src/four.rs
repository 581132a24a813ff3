//! Four numbers at once, which wrap around.
//!
//! Spelled out for x86-64, where compilers make single loads and stores of four numbers one after the other: ids with
//! places took twice the time of ids alone.

#[cfg(simd)]
use std::arch::x86_64::*;

#[cfg(simd)]
type Numbers = __m128i;
#[cfg(not(simd))]
type Numbers = [u32; 4];

#[derive(Clone, Copy)]
pub struct Four(Numbers);

// SAFETY, of each block below: SSE2 is part of x86-64, and a vector has the 16 bytes of four numbers
#[cfg(simd)]
impl Four {
    #[inline(always)]
    pub fn of(numbers: &[u32; 4]) -> Self {
        Four(unsafe { _mm_loadu_si128(numbers.as_ptr().cast()) })
    }

    /// The same number four times.
    #[inline(always)]
    pub fn all(number: u32) -> Self {
        Four(unsafe { _mm_set1_epi32(number as i32) })
    }

    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        Four(unsafe { _mm_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    pub fn minus(self, other: Self) -> Self {
        Four(unsafe { _mm_sub_epi32(self.0, other.0) })
    }

    /// The bits that are in both.
    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        Four(unsafe { _mm_and_si128(self.0, other.0) })
    }

    /// Shifted down.
    #[inline(always)]
    pub fn shifted<const BITS: i32>(self) -> Self {
        Four(unsafe { _mm_srli_epi32::<BITS>(self.0) })
    }

    /// A number, and three times 0.
    #[inline(always)]
    pub fn only_first(number: u32) -> Self {
        Four(unsafe { _mm_cvtsi32_si128(number as i32) })
    }

    /// One more where `other` has the same.
    #[inline(always)]
    pub fn more_where(self, other: Self) -> Self {
        Four(unsafe { _mm_sub_epi32(self.0, _mm_cmpeq_epi32(self.0, other.0)) })
    }

    #[inline(always)]
    pub fn first(self) -> u32 {
        unsafe { _mm_cvtsi128_si32(self.0) as u32 }
    }

    #[inline(always)]
    pub fn numbers(self) -> [u32; 4] {
        unsafe { std::mem::transmute(self.0) }
    }
}

#[cfg(not(simd))]
impl Four {
    pub fn of(numbers: &[u32; 4]) -> Self {
        Four(*numbers)
    }

    pub fn all(number: u32) -> Self {
        Four([number; 4])
    }

    pub fn plus(self, other: Self) -> Self {
        Four(std::array::from_fn(|i| self.0[i].wrapping_add(other.0[i])))
    }

    pub fn minus(self, other: Self) -> Self {
        Four(std::array::from_fn(|i| self.0[i].wrapping_sub(other.0[i])))
    }

    pub fn and(self, other: Self) -> Self {
        Four(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    pub fn shifted<const BITS: i32>(self) -> Self {
        Four(self.0.map(|number| number >> BITS))
    }

    pub fn only_first(number: u32) -> Self {
        Four([number, 0, 0, 0])
    }

    pub fn more_where(self, other: Self) -> Self {
        Four(std::array::from_fn(|i| self.0[i].wrapping_add((self.0[i] == other.0[i]) as u32)))
    }

    pub fn first(self) -> u32 {
        self.0[0]
    }

    pub fn numbers(self) -> [u32; 4] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_what_it_says_to_each() {
        let (a, b) = ([1, 1 << 31, u32::MAX, 0xab00_0000], [u32::MAX, 2, 3, 4]);
        let (x, y) = (Four::of(&a), Four::of(&b));
        let both = |f: fn(u32, u32) -> u32| -> [u32; 4] { std::array::from_fn(|i| f(a[i], b[i])) };
        assert_eq!(x.plus(y).numbers(), both(u32::wrapping_add));
        assert_eq!(x.minus(y).numbers(), both(u32::wrapping_sub));
        assert_eq!(x.and(y).numbers(), both(|a, b| a & b));
        assert_eq!(x.shifted::<24>().numbers(), a.map(|n| n >> 24));
        assert_eq!(Four::only_first(7).numbers(), [7, 0, 0, 0]);
        assert_eq!(Four::of(&[1, 5, 3, u32::MAX]).more_where(y).numbers(), [1, 5, 4, u32::MAX]);
        assert_eq!(y.more_where(y).numbers(), [0, 3, 4, 5]);
        assert_eq!((x.first(), Four::all(7).numbers()), (1, [7; 4]));
    }
}
