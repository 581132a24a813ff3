//! Places in the bytes of a text as places in its characters.

use crate::cpu::{cpu_path, CpuPath};
use crate::unicode::count;

/// Bytes made characters; a part of a character stands for all of it.
pub fn to_characters(text: &[u8], starts: &mut [u32], ends: &mut [u32]) {
    match cpu_path() {
        #[cfg(simd)]
        // SAFETY: `cpu_path` chose this one, so the CPU has the features
        CpuPath::Avx2 | CpuPath::Avx512 => unsafe { to_characters_avx2(text, starts, ends) },
        _ => change(text, starts, ends),
    }
}

/// The same code, where bits are counted by one instruction.
#[cfg(simd)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn to_characters_avx2(text: &[u8], starts: &mut [u32], ends: &mut [u32]) {
    change(text, starts, ends)
}

#[inline(always)]
fn change(text: &[u8], starts: &mut [u32], ends: &mut [u32]) {
    let mut count = Count { text, first: 0, before: 0, begun: begun(text, 0) };
    for (start, end) in starts.iter_mut().zip(ends) {
        *start = count.before(*start as usize + 1) - 1;
        *end = count.before(*end as usize);
    }
}

const BLOCK: usize = 64;

/// How many characters begin before a byte, for some bytes side by side: places come nearly in order, but the
/// tokens of one character's bytes all have its place.
struct Count<'t> {
    text: &'t [u8],
    /// of the block, and the characters before it
    first: usize,
    before: u32,
    /// where in the block characters begin
    begun: u64,
}

impl Count<'_> {
    #[inline(always)]
    fn before(&mut self, byte: usize) -> u32 {
        if byte.wrapping_sub(self.first) >= BLOCK {
            self.move_to(byte - byte % BLOCK);
        }
        self.before + (self.begun & ((1 << (byte - self.first)) - 1)).count_ones()
    }

    #[inline(always)]
    fn move_to(&mut self, first: usize) {
        if first == self.first + BLOCK {
            self.before += self.begun.count_ones();
        } else if first > self.first {
            self.before += count(&self.text[self.first..first]) as u32;
        } else {
            self.before -= count(&self.text[first..self.first]) as u32;
        }
        (self.first, self.begun) = (first, begun(self.text, first));
    }
}

/// Which bytes of a block begin a character; of what is behind the text any.
#[inline(always)]
fn begun(text: &[u8], first: usize) -> u64 {
    let rest = &text[first..];
    let mut padded = [0; BLOCK];
    let block = rest.first_chunk::<BLOCK>().unwrap_or_else(|| {
        padded[..rest.len()].copy_from_slice(rest);
        &padded
    });
    begun_of(block)
}

#[cfg(simd)]
#[inline(always)]
fn begun_of(block: &[u8; BLOCK]) -> u64 {
    use std::arch::x86_64::*;
    // continuations are the lowest signed bytes. SAFETY: SSE2 is part of x86-64; each load is of 16 of the 64 bytes
    let sixteen = |at: usize| unsafe {
        let bytes = _mm_loadu_si128(block.as_ptr().add(at).cast());
        (_mm_movemask_epi8(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(-65))) as u64) << at
    };
    sixteen(0) | sixteen(16) | sixteen(32) | sixteen(48)
}

#[cfg(not(simd))]
#[inline(always)]
fn begun_of(block: &[u8; BLOCK]) -> u64 {
    block.iter().rev().fold(0, |bits, &byte| bits << 1 | !crate::unicode::is_continuation(byte) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_the_character_that_it_is_of() {
        let text = "aé中😀".repeat(100);
        let of_byte: Vec<u32> =
            text.char_indices().zip(0..).flat_map(|((_, c), i)| vec![i; c.len_utf8()]).collect();
        // forwards, and back to where the character begins, over every edge
        for step in [1, 3, 7, 64, 300] {
            let firsts = (0..text.len()).step_by(step).flat_map(|at| [at, at.saturating_sub(3), at]);
            let firsts: Vec<usize> = firsts.collect();
            let mut starts: Vec<u32> = firsts.iter().map(|&at| at as u32).collect();
            let mut ends: Vec<u32> = firsts.iter().map(|&at| at as u32 + 1).collect();
            to_characters(text.as_bytes(), &mut starts, &mut ends);
            let expected: Vec<u32> = firsts.iter().map(|&at| of_byte[at]).collect();
            assert_eq!(starts, expected);
            assert_eq!(ends, expected.iter().map(|i| i + 1).collect::<Vec<_>>());
        }
    }
}
