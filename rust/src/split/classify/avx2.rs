//! The masks of 64 bytes by comparisons of 32.

use super::{Classify, Masks};
use std::arch::x86_64::*;

pub struct Avx2;

impl Classify for Avx2 {
    #[inline(always)]
    unsafe fn masks<const CASES: bool, const ODD: bool>(block: &[u8; 64]) -> Masks {
        // SAFETY: the caller has seen that the CPU has AVX2; both loads are inside the block
        unsafe {
            let parts = [
                _mm256_loadu_si256(block.as_ptr().cast()),
                _mm256_loadu_si256(block.as_ptr().add(32).cast()),
            ];
            macro_rules! mask {
                ($of:expr) => {
                    mask!(parts, $of)
                };
                ($parts:expr, $of:expr) => {{
                    let of = $of;
                    let low = _mm256_movemask_epi8(of($parts[0])) as u32 as u64;
                    low | (_mm256_movemask_epi8(of($parts[1])) as u32 as u64) << 32
                }};
            }
            macro_rules! equal {
                ($byte:expr) => {
                    mask!(|x| _mm256_cmpeq_epi8(x, _mm256_set1_epi8($byte as i8)))
                };
            }
            // first..=last: moved down to the lowest signed numbers, one comparison does
            macro_rules! range {
                ($first:expr, $last:expr) => {
                    range!(parts, $first, $last)
                };
                ($parts:expr, $first:expr, $last:expr) => {
                    mask!($parts, |x| {
                        let moved =
                            _mm256_sub_epi8(x, _mm256_set1_epi8(($first as u8).wrapping_add(128) as i8));
                        _mm256_cmpgt_epi8(
                            _mm256_set1_epi8(-128 + ($last as u8 - $first as u8 + 1) as i8),
                            moved,
                        )
                    })
                };
            }
            let space = equal!(b' ');
            let (upper, lower) = if CASES {
                (range!(b'A', b'Z'), range!(b'a', b'z'))
            } else {
                let small = _mm256_set1_epi8(0x20);
                let moved = [_mm256_or_si256(parts[0], small), _mm256_or_si256(parts[1], small)];
                (0, range!(moved, b'a', b'z'))
            };
            let white = range!(9, 13);
            Masks {
                high: mask!(|x| x),
                upper,
                lower,
                digit: range!(b'0', b'9'),
                white: space | white,
                space,
                newline: equal!(b'\n') | equal!(b'\r'),
                quote: equal!(b'\''),
                slash: equal!(b'/'),
                odd: if ODD { (range!(0, 0x1f) | equal!(0x7f)) & !white } else { 0 },
                ..Masks::default()
            }
        }
    }
}
