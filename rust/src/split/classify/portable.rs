//! The masks of 64 bytes by a table, eight bytes at once.

use super::{Classify, Masks};

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
