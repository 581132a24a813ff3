//! Whether bytes are UTF-8, 32 at a time.
//!
//! Every mistake but one is between two bytes that stand side by side: three tables of 16, by the halves of the first
//! and the upper half of the second, each say which mistakes their half allows, and what all three allow is one.
//! What is left is that a third or fourth byte must be a continuation exactly where a lead two or three before says
//! so. Source: Keiser and Lemire (2021), Validating UTF-8 in less than one instruction per byte.

use crate::cpu::{cpu_path, CpuPath};

/// How many bytes of a text, from the first on, are whole characters of UTF-8.
pub fn valid_prefix(text: &[u8]) -> usize {
    let sure: usize = match cpu_path() {
        #[cfg(simd)]
        // SAFETY: `cpu_path` chose this one, so the CPU has the features
        CpuPath::Avx2 | CpuPath::Avx512 => unsafe { avx2::blocks(text) },
        _ => 0,
    };
    // up to there all is right but for a character that may go on behind it
    let edge = (sure.saturating_sub(3)..sure).rfind(|&at| text[at] >= 0xc0).unwrap_or(sure);
    match std::str::from_utf8(&text[edge..]) {
        Ok(_) => text.len(),
        Err(error) => edge + error.valid_up_to(),
    }
}

#[cfg(simd)]
mod avx2 {
    use std::arch::x86_64::*;

    const BLOCK: usize = 32;

    // mistakes, as bits: what the first byte of two is, then the second
    const TOO_SHORT: u8 = 1; // a lead, no continuation
    const TOO_LONG: u8 = 1 << 1; // ASCII, a continuation
    const OVERLONG_3: u8 = 1 << 2; // E0, less than A0
    const TOO_LARGE: u8 = 1 << 3; // F4, 90 and more; F5 and more
    const SURROGATE: u8 = 1 << 4; // ED, A0 and more
    const OVERLONG_2: u8 = 1 << 5; // C0 or C1
    const OVERLONG_4: u8 = 1 << 6; // F0, less than 90; F5 and more, less than 90
    const CONTINUED: u8 = 1 << 7; // two continuations: none where a lead stands before them
    const ANY_LOW: u8 = TOO_SHORT | TOO_LONG | CONTINUED; // which do not hang on the lower half

    /// By the upper half of the first byte.
    const FIRST_HIGH: [u8; 16] = {
        let mut table = [TOO_LONG; 16];
        (table[0x8], table[0x9], table[0xa], table[0xb]) = (CONTINUED, CONTINUED, CONTINUED, CONTINUED);
        table[0xc] = TOO_SHORT | OVERLONG_2;
        table[0xd] = TOO_SHORT;
        table[0xe] = TOO_SHORT | OVERLONG_3 | SURROGATE;
        table[0xf] = TOO_SHORT | TOO_LARGE | OVERLONG_4;
        table
    };

    /// By the lower half of the first byte.
    const FIRST_LOW: [u8; 16] = {
        let mut table = [ANY_LOW | TOO_LARGE | OVERLONG_4; 16];
        table[0x0] = ANY_LOW | OVERLONG_3 | OVERLONG_2 | OVERLONG_4;
        table[0x1] = ANY_LOW | OVERLONG_2;
        (table[0x2], table[0x3]) = (ANY_LOW, ANY_LOW);
        table[0x4] = ANY_LOW | TOO_LARGE;
        table[0xd] |= SURROGATE;
        table
    };

    /// By the upper half of the second byte.
    const SECOND_HIGH: [u8; 16] = {
        let mut table = [TOO_SHORT; 16];
        let continues = TOO_LONG | OVERLONG_2 | CONTINUED;
        table[0x8] = continues | OVERLONG_3 | OVERLONG_4;
        table[0x9] = continues | OVERLONG_3 | TOO_LARGE;
        (table[0xa], table[0xb]) = (continues | SURROGATE | TOO_LARGE, continues | SURROGATE | TOO_LARGE);
        table
    };

    /// How many bytes, in whole blocks, have no mistake in them and begin none; the last character may go on.
    #[target_feature(enable = "avx2")]
    pub unsafe fn blocks(text: &[u8]) -> usize {
        // SAFETY: of the caller, and each load is of a block or a table
        unsafe {
            let table =
                |bytes: &[u8; 16]| _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast()));
            let (first_high, first_low, second_high) =
                (table(&FIRST_HIGH), table(&FIRST_LOW), table(&SECOND_HIGH));
            let low_half = _mm256_set1_epi8(0x0f);
            let high = |bytes| _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low_half);
            let all = |byte: u8| _mm256_set1_epi8(byte as i8);
            let mut before = _mm256_setzero_si256();
            let mut ascii_before = true;
            for (number, block) in text.chunks_exact(BLOCK).enumerate() {
                let bytes = _mm256_loadu_si256(block.as_ptr().cast());
                let is_ascii = _mm256_movemask_epi8(bytes) == 0;
                if !(is_ascii && ascii_before) {
                    // the bytes one, two and three places before each
                    let seam = _mm256_permute2x128_si256::<0x21>(before, bytes);
                    let one = _mm256_alignr_epi8::<15>(bytes, seam);
                    let two = _mm256_alignr_epi8::<14>(bytes, seam);
                    let three = _mm256_alignr_epi8::<13>(bytes, seam);
                    let pairs = _mm256_and_si256(
                        _mm256_and_si256(
                            _mm256_shuffle_epi8(first_high, high(one)),
                            _mm256_shuffle_epi8(first_low, _mm256_and_si256(one, low_half)),
                        ),
                        _mm256_shuffle_epi8(second_high, high(bytes)),
                    );
                    // E0 and more two before, F0 and more three before: their highest bit stays set
                    let third = _mm256_subs_epu8(two, all(0xe0 - 0x80));
                    let fourth = _mm256_subs_epu8(three, all(0xf0 - 0x80));
                    let continued = _mm256_and_si256(_mm256_or_si256(third, fourth), all(CONTINUED));
                    let wrong = _mm256_xor_si256(continued, pairs);
                    if _mm256_testz_si256(wrong, wrong) == 0 {
                        return number * BLOCK;
                    }
                }
                (before, ascii_before) = (bytes, is_ascii);
            }
        }
        text.len() / BLOCK * BLOCK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(text: &[u8]) -> usize {
        std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len)
    }

    /// At the places of a block where it is cut by its end, and elsewhere.
    fn agrees_within(bytes: &[u8]) {
        for before in [0, 5, 28, 29, 30, 31, 32, 61, 62] {
            for around in ["a", "é", "中", "😀"] {
                let filler: Vec<u8> = "x".repeat(before % around.len()).into_bytes();
                let text = [&filler[..], around.repeat(before / around.len()).as_bytes(), bytes].concat();
                assert_eq!(valid_prefix(&text), expected(&text), "{text:x?}");
                let text = [&text[..], around.repeat(40).as_bytes()].concat();
                assert_eq!(valid_prefix(&text), expected(&text), "{text:x?}");
            }
        }
    }

    #[test]
    fn all_of_two_bytes() {
        (0..=0xffffu16).for_each(|pair| agrees_within(&pair.to_be_bytes()));
    }

    #[test]
    fn four_bytes_at_the_edges_of_every_range() {
        let edges = [0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2];
        let leads =
            [0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff];
        let bytes: Vec<u8> = edges.into_iter().chain(leads).collect();
        for &a in &bytes[7..] {
            for &b in &bytes {
                for &c in &bytes {
                    for d in [0x41, 0x80, 0xbf, 0xc2, 0xe1] {
                        let tail = [[a, b, c, d].as_slice(), "é".repeat(30).as_bytes()].concat();
                        for before in [27, 29, 30, 31] {
                            let text = ["x".repeat(before).as_bytes(), &tail].concat();
                            assert_eq!(valid_prefix(&text), expected(&text), "{text:x?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_character() {
        let text: String = ('\0'..=char::MAX).collect();
        assert_eq!(valid_prefix(text.as_bytes()), text.len());
        for cut in (0..text.len()).step_by(9_973) {
            assert_eq!(valid_prefix(&text.as_bytes()[..cut]), expected(&text.as_bytes()[..cut]));
        }
    }
}
