//! Where BERT's words begin in text that is not normalized yet, 64 bytes at a time.
//!
//! Pieces are words, single characters that are a word each, and white space. Where places
//! are not wanted, the last white space of a run belongs to the word behind it: a space is in
//! the key of the word, and costs nothing.

use super::blocks::bits::put_places;
use super::classify::CpuPath;
use crate::bert::{Bert, ALONE, WHITE};

/// Places of one text where a piece begins.
pub struct BertSplitter<'a> {
    bert: &'a Bert,
    path: CpuPath,
    text: &'a [u8],
    at: usize,
    joins: bool,
    word: u64, // whether the last byte is of a word, or white: 0 or 1
    white: u64,
    done: bool,
}

/// What 64 bytes are; those above 0x7f are in `high` alone, until they are looked up.
#[derive(Default, Debug, PartialEq)]
struct Masks {
    high: u64,
    white: u64,
    alone: u64,
    inner: u64,
}

impl<'a> BertSplitter<'a> {
    /// joins: whether a word has the white space before it
    pub fn new(bert: &'a Bert, path: CpuPath, joins: bool, text: &'a [u8]) -> Self {
        BertSplitter { bert, path, text, at: 0, joins, word: 0, white: 0, done: text.is_empty() }
    }

    /// Whether all places have been found.
    pub fn done(&self) -> bool {
        self.done
    }

    /// Put the next places into `out`, which has room for more than 64; returns how many.
    pub fn fill(&mut self, out: &mut [u32]) -> usize {
        match self.path {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.fill_avx2(out) },
            _ => self.fill_with(out, portable),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn fill_avx2(&mut self, out: &mut [u32]) -> usize {
        // SAFETY: this function has the feature
        self.fill_with(out, |block, clean| unsafe { avx2(block, clean) })
    }

    #[inline(always)]
    fn fill_with(&mut self, out: &mut [u32], masks: impl Fn(&[u8; 64], bool) -> Masks) -> usize {
        let mut found = 0;
        while !self.done && found + 64 <= out.len() {
            let left = self.text.len() - self.at;
            let mut padded = [0; 64];
            let block: &[u8; 64] = if left >= 64 {
                self.text[self.at..self.at + 64].try_into().expect("64 bytes")
            } else {
                padded[..left].copy_from_slice(&self.text[self.at..]);
                &padded
            };
            let mut masks = masks(block, self.bert.steps.clean);
            let len = if masks.high == 0 { left.min(64) } else { self.look_up(&mut masks, left.min(64)) };
            let bits = self.boundaries(&masks, len);
            if bits != 0 {
                let places: &mut [u32; 64] = (&mut out[found..found + 64]).try_into().expect("64 places");
                found += put_places(bits, self.at as u32, places);
            }
            self.at += len;
            self.done = left <= len;
        }
        found
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

    #[inline(always)]
    fn boundaries(&mut self, masks: &Masks, len: usize) -> u64 {
        let valid = !0 >> (64 - len);
        let (white, alone) = (masks.white & valid, masks.alone & valid);
        let word = valid & !(white | alone);
        let (after_white, last) = (white << 1 | self.white, len - 1);
        let begins = (alone | (word & !(word << 1 | self.word))) & !masks.inner;
        let bits = if self.joins {
            (begins & !after_white)
                | self.before_text(white, valid, masks.inner, len)
                | (white & !after_white)
        } else {
            begins | (white & !after_white)
        };
        (self.word, self.white) = (word >> last, white >> last);
        bits
    }

    /// The last white space of each run that text follows, at its first byte.
    #[inline(always)]
    fn before_text(&self, white: u64, valid: u64, inner: u64, len: usize) -> u64 {
        let next = self.at + len;
        let text_next = next < self.text.len() && self.bert.at(self.text, next).0 & WHITE == 0;
        let last = white & ((!white & valid) >> 1 | (text_next as u64) << (len - 1));
        let second = (last & !inner) | (last & inner) >> 1;
        (second & !inner) | (second & inner) >> 1
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

#[cfg(target_arch = "x86_64")]
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
    use crate::split::cpu_path;

    fn one_by_one(bert: &Bert, text: &str, joins: bool) -> Vec<u32> {
        let classes: Vec<(usize, u8)> = text
            .char_indices()
            .map(|(at, _)| (at, bert.at(text.as_bytes(), at).0 & (WHITE | ALONE)))
            .collect();
        let begins = |i: usize| {
            let (before, class) = (if i == 0 { None } else { Some(classes[i - 1].1) }, classes[i].1);
            let run_begins = class == ALONE || before != Some(class);
            let last_white = class == WHITE && classes.get(i + 1).is_some_and(|next| next.1 != WHITE);
            if joins {
                last_white || (run_begins && before != Some(WHITE))
            } else {
                run_begins
            }
        };
        (0..classes.len()).filter(|&i| begins(i)).map(|i| classes[i].0 as u32).collect()
    }

    fn in_blocks(bert: &Bert, path: CpuPath, text: &str, joins: bool) -> Vec<u32> {
        let mut splitter = BertSplitter::new(bert, path, joins, text.as_bytes());
        let (mut starts, mut out) = (Vec::new(), [0; 70]);
        while !splitter.done() {
            let found = splitter.fill(&mut out);
            starts.extend(&out[..found]);
        }
        starts
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
            for _ in 0..round % 200 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let choice = seed as usize % if round % 3 > 0 { 8 } else { alphabet.len() };
                text.push_str(alphabet[choice]);
            }
            for (bert, joins) in all.iter().flat_map(|bert| [(bert, false), (bert, true)]) {
                let expected = one_by_one(bert, &text, joins);
                for path in [CpuPath::Portable, cpu_path()] {
                    assert_eq!(in_blocks(bert, path, &text, joins), expected, "{:?} {text:?}", bert.steps);
                }
            }
        }
    }
}
