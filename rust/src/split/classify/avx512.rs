//! The masks of 64 bytes, and their places, by one instruction each.

use super::{Classify, Masks};
use std::arch::x86_64::*;

pub struct Avx512;

impl Classify for Avx512 {
    #[inline(always)]
    unsafe fn masks<const CASES: bool, const ODD: bool>(block: &[u8; 64]) -> Masks {
        // SAFETY: the caller has seen that the CPU has AVX-512; the load is the block
        unsafe {
            let bytes = _mm512_loadu_si512(block.as_ptr().cast());
            let equal = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
            let in_range = |bytes: __m512i, first: u8, last: u8| {
                let moved = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
                _mm512_cmple_epu8_mask(moved, _mm512_set1_epi8((last - first) as i8))
            };
            let (upper, lower) = if CASES {
                (in_range(bytes, b'A', b'Z'), in_range(bytes, b'a', b'z'))
            } else {
                (0, in_range(_mm512_or_si512(bytes, _mm512_set1_epi8(0x20)), b'a', b'z'))
            };
            let (space, white) = (equal(b' '), in_range(bytes, 9, 13));
            Masks {
                high: _mm512_movepi8_mask(bytes),
                upper,
                lower,
                digit: in_range(bytes, b'0', b'9'),
                white: space | white,
                space,
                newline: equal(b'\n') | equal(b'\r'),
                quote: equal(b'\''),
                slash: equal(b'/'),
                odd: if ODD { (in_range(bytes, 0, 0x1f) | equal(0x7f)) & !white } else { 0 },
                ..Masks::default()
            }
        }
    }

    #[inline(always)]
    unsafe fn put_places(bits: u64, base: u32, out: &mut [u32; 64]) -> usize {
        const ALL: [i8; 64] = {
            let mut all = [0; 64];
            let mut i = 0;
            while i < 64 {
                all[i] = i as i8;
                i += 1;
            }
            all
        };
        // SAFETY: the caller has seen that the CPU has AVX-512; each store is of 16 of the 64
        unsafe {
            let places = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(ALL.as_ptr().cast()));
            let base = _mm512_set1_epi32(base as i32);
            let mut put = |at: usize, sixteen: __m128i| {
                let places = _mm512_add_epi32(_mm512_cvtepu8_epi32(sixteen), base);
                _mm512_storeu_si512(out.as_mut_ptr().add(at).cast(), places);
            };
            let count = bits.count_ones() as usize;
            put(0, _mm512_castsi512_si128(places));
            put(16, _mm512_extracti32x4_epi32::<1>(places));
            if count > 32 {
                put(32, _mm512_extracti32x4_epi32::<2>(places));
                put(48, _mm512_extracti32x4_epi32::<3>(places));
            }
            count
        }
    }
}
