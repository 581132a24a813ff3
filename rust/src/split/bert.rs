//! The words of BERT in text that is not normalized yet, 64 bytes at a time.
//!
//! Beside white space, and single characters that are a word each. White space is between words and no piece, so a
//! word is the same piece wherever it stands.

use super::blocks::bits::block_at;
use super::words::{put, Edges, WORDS};
use crate::bert::{Bert, ALONE, WHITE};
use crate::cpu::CpuPath;

/// The words of one text.
pub struct BertWords<'a> {
    bert: &'a Bert,
    path: CpuPath,
    text: &'a [u8],
    at: usize,
    /// where a word begins whose end is not known
    open: Option<u32>,
    /// whether the last byte is of a word that is no single character: 0 or 1
    word: u64,
}

/// What 64 bytes are; those above 0x7f are in `high` alone, until they are looked up.
#[derive(Default, Debug, PartialEq)]
struct Masks {
    high: u64,
    white: u64,
    alone: u64,
    inner: u64,
}

impl<'a> BertWords<'a> {
    pub fn new(bert: &'a Bert, path: CpuPath, text: &'a [u8]) -> Self {
        BertWords { bert, path, text, at: 0, open: None, word: 0 }
    }

    /// Whether all words have been found.
    pub fn done(&self) -> bool {
        self.at == self.text.len()
    }

    /// Where the next words begin and end; returns how many.
    pub fn fill(&mut self, starts: &mut Edges, stops: &mut Edges) -> usize {
        match self.path {
            #[cfg(simd)]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 | CpuPath::Avx512 => unsafe { self.fill_avx2(starts, stops) },
            _ => self.fill_with(starts, stops, portable),
        }
    }

    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn fill_avx2(&mut self, starts: &mut Edges, stops: &mut Edges) -> usize {
        // SAFETY: this function has the feature
        self.fill_with(starts, stops, |block, clean| unsafe { avx2(block, clean) })
    }

    #[inline(always)]
    fn fill_with(
        &mut self,
        starts: &mut Edges,
        stops: &mut Edges,
        masks: impl Fn(&[u8; 64], bool) -> Masks,
    ) -> usize {
        starts[0] = self.open.unwrap_or_default();
        let (mut begun, mut ended) = (self.open.is_some() as usize, 0);
        while self.at < self.text.len() && begun < WORDS {
            let mut padded = [0; 64];
            let (block, left) = block_at(self.text, self.at, &mut padded);
            let mut masks = masks(block, self.bert.steps.clean);
            let len = if masks.high == 0 { left.min(64) } else { self.look_up(&mut masks, left.min(64)) };
            let (begins, ends) = self.edges(&masks, len, begun > ended);
            begun += put(begins, self.at, starts, begun);
            ended += put(ends, self.at, stops, ended);
            self.at += len;
        }
        if self.done() && begun > ended {
            stops[ended] = self.at as u32;
            ended += 1;
        }
        self.open = (begun > ended).then(|| starts[ended]);
        ended
    }

    /// The classes of characters of several bytes; how many bytes the block then has.
    #[inline(never)]
    fn look_up(&self, masks: &mut Masks, len: usize) -> usize {
        let text = &self.text[self.at..];
        let mut rest = masks.high;
        while rest != 0 {
            let start = rest.trailing_zeros() as usize;
            let (class, size) = self.bert.at(text, start);
            if start + size > 64 {
                return start; // the next block begins with it
            }
            let span = ((1 << size) - 1) << start;
            masks.white |= if class & WHITE != 0 { span } else { 0 };
            masks.alone |= if class & ALONE != 0 { span } else { 0 };
            masks.inner |= span & (span << 1);
            rest &= !span;
        }
        len
    }

    /// The first bytes of words, and those behind words. open: whether the byte before is of a word
    #[inline(always)]
    fn edges(&mut self, masks: &Masks, len: usize, open: bool) -> (u64, u64) {
        let valid = !0 >> (64 - len);
        let (white, alone) = (masks.white & valid, masks.alone & valid);
        let word = valid & !(white | alone);
        let begins = (alone | (word & !(word << 1 | self.word))) & !masks.inner;
        let ends = (begins | white) & ((valid & !white) << 1 | open as u64);
        self.word = word >> (len - 1);
        (begins, ends)
    }
}

fn portable(block: &[u8; 64], clean: bool) -> Masks {
    let mut masks = Masks::default();
    for (i, &byte) in block.iter().enumerate() {
        let white = matches!(byte, b' ' | b'\t' | b'\n' | b'\r') || (!clean && matches!(byte, 11 | 12));
        masks.white |= (white as u64) << i;
        masks.alone |= (byte.is_ascii_punctuation() as u64) << i;
        masks.high |= (!byte.is_ascii() as u64) << i;
    }
    masks
}

#[cfg(simd)]
#[target_feature(enable = "avx2")]
unsafe fn avx2(block: &[u8; 64], clean: bool) -> Masks {
    use std::arch::x86_64::*;
    // SAFETY: two loads of 32 bytes from 64; the rest works on registers
    unsafe {
        let parts =
            [_mm256_loadu_si256(block.as_ptr().cast()), _mm256_loadu_si256(block.as_ptr().add(32).cast())];
        // first..=last: moved down to the lowest signed numbers, one comparison does
        let range = |x: __m256i, first: u8, last: u8| {
            let moved = _mm256_sub_epi8(x, _mm256_set1_epi8(first.wrapping_add(128) as i8));
            _mm256_cmpgt_epi8(_mm256_set1_epi8(-128 + (last - first + 1) as i8), moved)
        };
        let equal = |x: __m256i, byte: u8| _mm256_cmpeq_epi8(x, _mm256_set1_epi8(byte as i8));
        let mask = |found: [__m256i; 2]| {
            let low = _mm256_movemask_epi8(found[0]) as u32 as u64;
            low | (_mm256_movemask_epi8(found[1]) as u32 as u64) << 32
        };
        let white = parts.map(|x| {
            let controls = if clean {
                _mm256_or_si256(range(x, b'\t', b'\n'), equal(x, b'\r'))
            } else {
                range(x, b'\t', b'\r')
            };
            _mm256_or_si256(equal(x, b' '), controls)
        });
        let alone = parts.map(|x| {
            let letter = range(_mm256_or_si256(x, _mm256_set1_epi8(0x20)), b'a', b'z');
            let named = _mm256_or_si256(letter, range(x, b'0', b'9'));
            _mm256_andnot_si256(named, range(x, b'!', b'~'))
        });
        Masks { high: mask(parts), white: mask(white), alone: mask(alone), inner: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bert::Steps;

    fn one_by_one(bert: &Bert, text: &str) -> Vec<(u32, u32)> {
        let mut words: Vec<(u32, u32)> = Vec::new();
        let mut before = WHITE;
        for (at, character) in text.char_indices() {
            let class = bert.at(text.as_bytes(), at).0 & (WHITE | ALONE);
            let span = (at as u32, (at + character.len_utf8()) as u32);
            match words.last_mut() {
                _ if class == WHITE => {}
                Some(word) if class == 0 && before == 0 => word.1 = span.1,
                _ => words.push(span),
            }
            before = class;
        }
        words
    }

    fn in_blocks(bert: &Bert, path: CpuPath, text: &str) -> Vec<(u32, u32)> {
        let mut finder = BertWords::new(bert, path, text.as_bytes());
        let (mut words, mut starts, mut stops) = (Vec::new(), [0; WORDS + 64], [0; WORDS + 64]);
        while !finder.done() {
            let found = finder.fill(&mut starts, &mut stops);
            words.extend(starts[..found].iter().copied().zip(stops[..found].iter().copied()));
        }
        words
    }

    #[test]
    fn blocks_agree_with_the_characters_of_random_text() {
        let alphabet = [
            "a", "B", "1", " ", " ", "\n", "\u{b}", "!", "'", "é", "中", "…", "\u{3000}", "\u{301}", "😀",
            "\0",
        ];
        let mut seed = 88172645463325252u64;
        let all =
            [true, false].map(|on| Bert::new(Steps { clean: on, ideographs: on, strip: on, lower: on }));
        for round in 0..20_000 {
            let mut text = String::new();
            for _ in 0..round % 200 + if round % 50 == 0 { 2000 } else { 0 } {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let choice = seed as usize % if round % 3 > 0 { 8 } else { alphabet.len() };
                text.push_str(alphabet[choice]);
            }
            for bert in &all {
                let expected = one_by_one(bert, &text);
                for path in CpuPath::here() {
                    assert_eq!(in_blocks(bert, path, &text), expected, "{:?} {text:?}", bert.steps);
                }
            }
        }
    }
}
