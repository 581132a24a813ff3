//! The boundaries of pieces, 64 bytes at a time.
//!
//! Each class of a block is a mask, bit i for byte i, and a grammar is some shifts and
//! ands on them; what reaches over the edge of a block is carried. All bytes of a
//! character are of its class, so that the neighbours of bytes are those of characters;
//! a boundary is at its first byte. A block ends with a character. Where masks do not
//! say enough (marks behind symbols, numbers of other scripts by threes) it is left to
//! `scalar`, from the last boundary on: patterns never look back, so any boundary is a
//! place to start afresh.

pub(super) mod bits;
mod cases;
mod cl100k;
mod contractions;
mod deepseek;
mod gpt2;
mod mixed;
mod runs;
mod white_space;

use super::classify::{Classify, Masks, Portable};
use super::scalar::advance;
use super::Grammar;
use crate::cpu::CpuPath;
use crate::unicode::{Characters, CHARACTERS};
use bits::block_at;

/// Places of one text where a piece begins.
pub struct Splitter<'a> {
    grammar: Grammar,
    path: CpuPath,
    table: &'static Characters,
    text: &'a [u8],
    at: usize,             // of the next block
    last: usize,           // where the last piece begins that was found
    slowly: Option<usize>, // in scalar mode: the place from which on blocks are tried again
    carry: Carry,
    begun: bool,
    done: bool,
}

/// What a block tells the next: of its last byte 0 or 1, and of bits that lie beyond it.
#[derive(Default)]
struct Carry {
    letter: u64,
    lower: u64,    // in a stretch of letters that are not upper case, behind a lower case one
    caseless: u64, // in one without such a letter
    number: u64,
    other: u64,
    white: u64,
    space: u64,
    horizontal: u64,
    newline: u64,
    joining: u64,
    joined: u64, // a letter that a symbol took
    odd: u64,
    apart: u64,
    swallowed: u64,
    digits: u32, // since the last boundary, when the last byte is a number
    clear: u64,
    set: u64,
    contraction_end: usize,
}

impl<'a> Splitter<'a> {
    pub fn new(grammar: Grammar, path: CpuPath, text: &'a [u8]) -> Self {
        let table = &CHARACTERS;
        let done = text.is_empty();
        Splitter {
            grammar,
            path,
            table,
            text,
            at: 0,
            last: 0,
            slowly: None,
            carry: Carry::default(),
            begun: false,
            done,
        }
    }

    /// Whether all places have been found.
    pub fn done(&self) -> bool {
        self.done
    }

    /// Put the next places into `out`, which has room for more than 64; returns how many.
    pub fn fill(&mut self, out: &mut [u32]) -> usize {
        match self.path {
            CpuPath::Portable => self.fill_in_family::<Portable>(out),
            #[cfg(simd)]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.fill_avx2(out) },
            #[cfg(simd)]
            // SAFETY: as above
            CpuPath::Avx512 => unsafe { self.fill_avx512(out) },
            #[cfg(not(simd))]
            _ => self.fill_in_family::<Portable>(out),
        }
    }

    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn fill_avx2(&mut self, out: &mut [u32]) -> usize {
        self.fill_in_family::<super::classify::Avx2>(out)
    }

    #[cfg(simd)]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
    )]
    unsafe fn fill_avx512(&mut self, out: &mut [u32]) -> usize {
        self.fill_in_family::<super::classify::Avx512>(out)
    }

    /// A loop of its own for each family of grammars, which needs not all of the masks.
    #[inline(always)]
    fn fill_in_family<C: Classify>(&mut self, out: &mut [u32]) -> usize {
        match self.grammar {
            Grammar::Whole | Grammar::Gpt2 => self.fill_with::<C, GPT2>(out),
            Grammar::Cl100k { .. } => self.fill_with::<C, CL100K>(out),
            Grammar::O200k { .. } => self.fill_with::<C, O200K>(out),
            Grammar::Kimi => self.fill_with::<C, KIMI>(out),
            Grammar::DeepSeek => self.fill_with::<C, DEEPSEEK>(out),
        }
    }

    #[inline(always)]
    fn fill_with<C: Classify, const FAMILY: u8>(&mut self, out: &mut [u32]) -> usize {
        let mut found = 0;
        if !self.begun && !self.done {
            self.begun = true;
            self.carry.clear = 1; // the start of the text is a boundary that is put out here
            out[0] = 0;
            found = 1;
            self.done = self.grammar == Grammar::Whole;
        }
        let mut carry = std::mem::take(&mut self.carry); // a local stays in registers
        while !self.done && found + 64 <= out.len() {
            if self.slowly.is_some() {
                found = self.scalar(out, found);
                carry = Carry { clear: 1, ..Carry::default() };
                continue;
            }
            let mut padded = [0; 64];
            let (block, left) = block_at(self.text, self.at, &mut padded);
            // SAFETY: `fill` calls this with a class that the CPU has the features for
            let mut masks = unsafe {
                match FAMILY {
                    O200K | KIMI => C::masks::<true, false>(block),
                    DEEPSEEK => C::masks::<false, true>(block),
                    _ => C::masks::<false, false>(block),
                }
            };
            let (bits, len) = if masks.high == 0 {
                let valid = if left >= 64 { !0 } else { (1 << left) - 1 };
                (Some(self.boundaries::<FAMILY, false>(&mut carry, &masks, valid, 64)), 64)
            } else {
                self.mixed::<FAMILY>(&mut carry, &mut masks, left.min(64))
            };
            let Some(bits) = bits else {
                self.slowly = Some(self.at + len);
                continue;
            };
            if bits != 0 {
                self.last = self.at + 63 - bits.leading_zeros() as usize;
                let places: &mut [u32; 64] = (&mut out[found..found + 64]).try_into().expect("64 places");
                // SAFETY: as above
                found += unsafe { C::put_places(bits, self.at as u32, places) };
            }
            self.at += len;
            self.done = left <= len;
        }
        self.carry = carry;
        found
    }

    /// Pieces one by one, until blocks can be tried again or `out` is full.
    #[cold]
    #[inline(never)]
    fn scalar(&mut self, out: &mut [u32], mut found: usize) -> usize {
        let until = self.slowly.unwrap_or(0);
        while found < out.len() {
            let end = advance(self.grammar, self.table, self.text, self.last);
            if end >= self.text.len() {
                self.done = true;
                break;
            }
            self.last = end;
            out[found] = end as u32;
            found += 1;
            if end >= until {
                self.at = end;
                self.slowly = None;
                return found;
            }
        }
        self.slowly = Some(until);
        found
    }

    /// The boundaries of a block of `len` bytes, of which `valid` are text.
    /// MIXED: whether it has other than ASCII characters
    #[inline(always)]
    fn boundaries<const FAMILY: u8, const MIXED: bool>(
        &self,
        carry: &mut Carry,
        masks: &Masks,
        valid: u64,
        len: usize,
    ) -> u64 {
        let (clear, set) = (carry.clear, carry.set);
        (carry.clear, carry.set) = (0, 0);
        let bits = match (FAMILY, self.grammar) {
            (CL100K, Grammar::Cl100k { digits }) => {
                self.cl100k::<MIXED, FAMILY>(carry, masks, valid, len, digits, masks.newline)
            }
            (KIMI, _) => {
                let bits = self.cl100k::<MIXED, FAMILY>(carry, masks, valid, len, 3, masks.newline);
                self.trailing_contractions(carry, masks, bits, len)
            }
            (DEEPSEEK, _) => self.deepseek::<MIXED>(carry, masks, valid, len),
            (O200K, Grammar::O200k { digits, contractions }) => {
                let swallowed = masks.newline | masks.slash;
                let bits = self.cl100k::<MIXED, FAMILY>(carry, masks, valid, len, digits, swallowed);
                if contractions {
                    self.trailing_contractions(carry, masks, bits, len)
                } else {
                    bits
                }
            }
            _ => self.gpt2::<MIXED>(carry, masks, valid, len),
        };
        let last = len - 1;
        carry.letter = (masks.upper | masks.lower | masks.caseless) >> last;
        carry.number = masks.digit >> last;
        carry.space = masks.space >> last;
        (bits & !clear) | set
    }
}

const GPT2: u8 = 0;
const CL100K: u8 = 1;
const O200K: u8 = 2;
const KIMI: u8 = 3;
const DEEPSEEK: u8 = 4;
