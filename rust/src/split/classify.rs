//! The classes of 64 bytes as bit masks, bit i for byte i: with AVX2, or portably.

use std::sync::OnceLock;

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
}

/// Which code runs on this CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuPath {
    Portable,
    Avx2,
}

/// The best path of this CPU; ARROWPREP_KERNEL_CPU=portable forces the other.
pub fn cpu_path() -> CpuPath {
    static PATH: OnceLock<CpuPath> = OnceLock::new();
    *PATH.get_or_init(|| {
        let forced = std::env::var("ARROWPREP_KERNEL_CPU").is_ok_and(|value| value == "portable");
        if !forced && has_avx2() {
            CpuPath::Avx2
        } else {
            CpuPath::Portable
        }
    })
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

pub struct Portable;

// a bit a class in each byte of the table, collected by a multiplication for 8 bytes at once
const HIGH: usize = 0;
const UPPER: usize = 1;
const LOWER: usize = 2;
const DIGIT: usize = 3;
const WHITE: usize = 4;
const NEWLINE: usize = 5;
const QUOTE: usize = 6;
const SLASH: usize = 7;

static BITS: [u8; 256] = bits();

const fn bits() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'A'..=b'Z' => 1 << UPPER,
            b'a'..=b'z' => 1 << LOWER,
            b'0'..=b'9' => 1 << DIGIT,
            b'\n' | b'\r' => 1 << WHITE | 1 << NEWLINE,
            b'\t' | 0x0b | 0x0c | b' ' => 1 << WHITE,
            b'\'' => 1 << QUOTE,
            b'/' => 1 << SLASH,
            0x80.. => 1 << HIGH,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// Whether a byte of ASCII is a control character, and no white space.
#[inline(always)]
fn is_odd(byte: u8) -> bool {
    byte.is_ascii_control() && !(9..=13).contains(&byte)
}

impl Classify for Portable {
    #[inline(always)]
    unsafe fn masks<const CASES: bool, const ODD: bool>(block: &[u8; 64]) -> Masks {
        let mut found = [0u64; 8];
        let (mut space, mut odd) = (0u64, 0u64);
        for (i, eight) in block.chunks_exact(8).enumerate() {
            let mut bits = 0u64;
            for (j, &byte) in eight.iter().enumerate() {
                bits |= (BITS[byte as usize] as u64) << (8 * j);
                space |= ((byte == b' ') as u64) << (8 * i + j);
                odd |= (is_odd(byte) as u64) << (8 * i + j);
            }
            for (class, mask) in found.iter_mut().enumerate() {
                let lowest = (bits >> class) & 0x0101_0101_0101_0101;
                *mask |= (lowest.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
            }
        }
        Masks {
            high: found[HIGH],
            upper: if CASES { found[UPPER] } else { 0 },
            lower: if CASES { found[LOWER] } else { found[UPPER] | found[LOWER] },
            digit: found[DIGIT],
            white: found[WHITE],
            space,
            newline: found[NEWLINE],
            quote: found[QUOTE],
            slash: found[SLASH],
            odd: if ODD { odd } else { 0 },
            ..Masks::default()
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Classify for Avx2 {
    #[inline(always)]
    unsafe fn masks<const CASES: bool, const ODD: bool>(block: &[u8; 64]) -> Masks {
        use std::arch::x86_64::*;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_paths_see_the_same() {
        let mut block = [0u8; 64];
        for start in 0..256 {
            for (i, byte) in block.iter_mut().enumerate() {
                *byte = (start + i * 37) as u8;
            }
            // SAFETY: the portable path needs nothing
            let portable =
                unsafe { (Portable::masks::<true, true>(&block), Portable::masks::<false, false>(&block)) };
            assert_eq!(portable.0.high.count_ones() as usize, block.iter().filter(|b| !b.is_ascii()).count());
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                // SAFETY: just asked
                assert_eq!(
                    unsafe { (Avx2::masks::<true, true>(&block), Avx2::masks::<false, false>(&block)) },
                    portable
                );
            }
        }
    }
}
