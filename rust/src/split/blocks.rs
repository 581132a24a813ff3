//! The boundaries of pieces, 64 bytes of ASCII at a time.
//!
//! Each class of a block is a mask, bit i for byte i, and a grammar is some shifts and
//! ands on them; what reaches over the edge of a block is carried. A block that has
//! other characters is left to `scalar`, from the last boundary on, until 64 bytes of
//! ASCII stand behind one: patterns never look back, so any boundary is a place to
//! start afresh.

use super::classify::{Classify, CpuPath, Masks, Portable};
use super::scalar::{advance, contraction};
use super::Grammar;
use crate::unicode::{Characters, CLASS, SPACE};

/// Places of one text where a piece begins.
pub struct Splitter<'a> {
    grammar: Grammar,
    path: CpuPath,
    table: &'static Characters,
    text: &'a [u8],
    at: usize,             // of the next block
    last: usize,           // where the last piece begins that was found
    slowly: Option<usize>, // in scalar mode: the place from which blocks may be tried again
    carry: Carry,
    begun: bool,
    done: bool,
}

/// What a block tells the next: of its last byte 0 or 1, and of bits that lie beyond it.
#[derive(Default)]
struct Carry {
    letter: u64,
    lower: u64,
    number: u64,
    other: u64,
    white: u64,
    space: u64,
    horizontal: u64,
    newline: u64,
    joining: u64,
    swallowed: u64,
    digits: u32, // since the last boundary, when the last byte is a number
    clear: u64,
    set: u64,
    contraction_end: usize,
}

impl<'a> Splitter<'a> {
    pub fn new(grammar: Grammar, path: CpuPath, text: &'a [u8]) -> Self {
        let table = Characters::get();
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
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.fill_avx2(out) },
            #[cfg(not(target_arch = "x86_64"))]
            CpuPath::Avx2 => self.fill_in_family::<Portable>(out),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn fill_avx2(&mut self, out: &mut [u32]) -> usize {
        self.fill_in_family::<super::classify::Avx2>(out)
    }

    /// A loop of its own for each family of grammars, which needs not all of the masks.
    #[inline(always)]
    fn fill_in_family<C: Classify>(&mut self, out: &mut [u32]) -> usize {
        match self.grammar {
            Grammar::Whole | Grammar::Gpt2 => self.fill_with::<C, GPT2>(out),
            Grammar::Cl100k { .. } => self.fill_with::<C, CL100K>(out),
            Grammar::O200k { .. } => self.fill_with::<C, O200K>(out),
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
            let left = self.text.len() - self.at;
            let mut padded = [0; 64];
            let block: &[u8; 64] = if left >= 64 {
                self.text[self.at..self.at + 64].try_into().expect("64 bytes")
            } else {
                padded[..left].copy_from_slice(&self.text[self.at..]);
                &padded
            };
            // SAFETY: `fill` calls this with a class that the CPU has the features for
            let masks = unsafe {
                if FAMILY == O200K {
                    C::masks::<true>(block)
                } else {
                    C::masks::<false>(block)
                }
            };
            if masks.high != 0 {
                self.slowly = Some(self.at + left.min(64));
                continue;
            }
            let bits = self.boundaries::<FAMILY>(&mut carry, &masks, left);
            if bits != 0 {
                self.last = self.at + 63 - bits.leading_zeros() as usize;
                let places: &mut [u32; 64] = (&mut out[found..found + 64]).try_into().expect("64 places");
                found += put_places(bits, self.at as u32, places);
            }
            self.at += 64;
            self.done = left <= 64;
        }
        self.carry = carry;
        found
    }

    /// Pieces one by one, until blocks can be tried again or `out` is full.
    #[cold]
    #[inline(never)]
    fn scalar(&mut self, out: &mut [u32], mut found: usize) -> usize {
        let mut until = self.slowly.unwrap_or(0);
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
                let next = (end + 64).min(self.text.len());
                if self.text[end..next].is_ascii() {
                    self.at = end;
                    self.slowly = None;
                    return found;
                }
                until = next;
            }
        }
        self.slowly = Some(until);
        found
    }

    /// The boundaries of a block of which `left` bytes or 64 are text.
    #[inline(always)]
    fn boundaries<const FAMILY: u8>(&self, carry: &mut Carry, masks: &Masks, left: usize) -> u64 {
        let valid = if left >= 64 { !0 } else { (1 << left) - 1 };
        let (clear, set) = (carry.clear, carry.set);
        (carry.clear, carry.set) = (0, 0);
        let bits = match (FAMILY, self.grammar) {
            (CL100K, Grammar::Cl100k { digits }) => {
                self.cl100k(carry, masks, valid, digits, masks.newline, false)
            }
            (O200K, Grammar::O200k { digits, contractions }) => {
                let swallowed = masks.newline | masks.slash;
                let bits = self.cl100k(carry, masks, valid, digits, swallowed, true);
                if contractions {
                    self.trailing_contractions(carry, masks, bits)
                } else {
                    bits
                }
            }
            _ => self.gpt2(carry, masks, valid),
        };
        carry.letter = (masks.upper | masks.lower) >> 63;
        carry.number = masks.digit >> 63;
        carry.space = masks.space >> 63;
        (bits & !clear) | set
    }

    /// White space, each with what follows it: the last of a run that text follows.
    #[inline(always)]
    fn before_text(&self, white: u64, valid: u64) -> u64 {
        let next = self.at + 64;
        let text_next = next < self.text.len() && self.table.at(self.text, next).0 & CLASS != SPACE;
        white & ((!white & valid) >> 1 | (text_next as u64) << 63)
    }

    #[inline(always)]
    fn gpt2(&self, carry: &mut Carry, masks: &Masks, valid: u64) -> u64 {
        let letter = masks.upper | masks.lower;
        let number = masks.digit;
        let white = masks.white;
        let other = valid & !(letter | number | white);
        let same = (letter & (letter << 1 | carry.letter))
            | (number & (number << 1 | carry.number))
            | (other & (other << 1 | carry.other));
        let bits = (valid & !white & !same & !(masks.space << 1 | carry.space))
            | (white & !(white << 1 | carry.white))
            | self.before_text(white, valid);
        carry.other = other >> 63;
        carry.white = white >> 63;
        self.leading_contractions(carry, bits, masks.quote & bits, false)
    }

    /// cl100k, and with `cases` o200k. swallowed: what a run of symbols takes behind it
    #[inline(always)]
    fn cl100k(
        &self,
        carry: &mut Carry,
        masks: &Masks,
        valid: u64,
        digits: u8,
        swallowed: u64,
        cases: bool,
    ) -> u64 {
        let letter = masks.upper | masks.lower;
        let number = masks.digit;
        let newline = masks.newline;
        let symbol = valid & !(letter | number | masks.white);
        let horizontal = masks.white & !newline;
        let after_newline = newline << 1 | carry.newline;

        let first = (newline & (symbol << 1 | carry.other)) | (swallowed & carry.swallowed);
        let taken = if first == 0 { 0 } else { through(first, swallowed) & swallowed };
        let other = symbol & !taken;
        let white = masks.white & !taken;
        let joining = other & !(other << 1 | carry.other) & !(masks.space << 1 | carry.space);
        let mut bits = (letter
            & !(letter << 1 | carry.letter)
            & !(horizontal << 1 | carry.horizontal)
            & !(joining << 1 | carry.joining))
            | joining
            | (white & !(white << 1 | carry.white))
            | (horizontal & self.before_text(masks.white, valid));
        if cases {
            bits |= masks.upper & (masks.lower << 1 | carry.lower);
        }
        let indents = horizontal & after_newline;
        if indents != 0 {
            bits |= self.indents(indents, horizontal, newline, valid);
        }
        bits |= if digits == 1 { number } else { threes(carry, number) };
        carry.lower = masks.lower >> 63;
        carry.newline = newline >> 63;
        carry.horizontal = horizontal >> 63;
        carry.other = other >> 63;
        carry.white = white >> 63;
        carry.joining = joining >> 63;
        carry.swallowed = taken >> 63;
        if cases {
            bits
        } else {
            self.leading_contractions(carry, bits, masks.quote & joining, true)
        }
    }

    /// Of white space that begins behind a newline, what no newline ends: `\s*[\r\n]+` would take that whole.
    #[inline(always)]
    fn indents(&self, mut starts: u64, horizontal: u64, newline: u64, valid: u64) -> u64 {
        let mut kept = starts;
        while starts != 0 {
            let start = starts.trailing_zeros();
            let run = (!(horizontal >> start)).trailing_zeros();
            let end = start + run;
            let ends_in_newline = if end >= 64 {
                valid >> 63 != 0 && self.newline_after(self.at + 64)
            } else {
                newline >> end & 1 != 0
            };
            if ends_in_newline {
                kept &= !(1 << start);
            }
            starts &= starts - 1;
        }
        kept
    }

    /// Whether white space from `at` on comes to a newline. Asked once a run, so linear in the text.
    #[cold]
    fn newline_after(&self, mut at: usize) -> bool {
        while at < self.text.len() {
            if matches!(self.text[at], b'\n' | b'\r') {
                return true;
            }
            let (class, len) = self.table.at(self.text, at);
            if class & CLASS != SPACE {
                return false;
            }
            at += len;
        }
        false
    }

    /// Contractions that are pieces: nothing begins inside, something does behind.
    #[inline(always)]
    fn leading_contractions(&self, carry: &mut Carry, bits: u64, mut quotes: u64, any_case: bool) -> u64 {
        if quotes == 0 {
            return bits;
        }
        let (mut clear, mut set) = (0u128, 0u128);
        while quotes != 0 {
            let quote = quotes.trailing_zeros() as usize;
            quotes &= quotes - 1;
            if let Some(end) = contraction(self.text, self.at + quote, any_case) {
                clear |= span(quote + 1, end - self.at);
                set |= ((end < self.text.len()) as u128) << (end - self.at);
            }
        }
        overlay(carry, bits, clear, set)
    }

    /// Contractions that end a piece of letters; one does not follow another.
    #[inline(always)]
    fn trailing_contractions(&self, carry: &mut Carry, masks: &Masks, bits: u64) -> u64 {
        let letter = masks.upper | masks.lower;
        let mut quotes = masks.quote & (letter << 1 | carry.letter);
        if quotes == 0 {
            return bits;
        }
        let (mut clear, mut set) = (0u128, 0u128);
        while quotes != 0 {
            let quote = quotes.trailing_zeros() as usize;
            quotes &= quotes - 1;
            if self.at + quote == carry.contraction_end {
                continue;
            }
            if let Some(end) = contraction(self.text, self.at + quote, true) {
                clear |= span(quote, end - self.at);
                set |= ((end < self.text.len()) as u128) << (end - self.at);
                carry.contraction_end = end;
            }
        }
        overlay(carry, bits, clear, set)
    }
}

const GPT2: u8 = 0;
const CL100K: u8 = 1;
const O200K: u8 = 2;

/// The places of bits, counted from `base`; returns how many. Eight are written at a
/// time, needed or not: one branch for most blocks, where a loop is mispredicted.
#[inline(always)]
fn put_places(bits: u64, base: u32, out: &mut [u32; 64]) -> usize {
    let count = bits.count_ones() as usize;
    let mut rest = bits;
    for eight in out.chunks_exact_mut(8) {
        for place in eight {
            *place = base.wrapping_add(rest.trailing_zeros());
            rest &= rest.wrapping_sub(1);
        }
        if rest == 0 {
            break;
        }
    }
    count
}

/// Every third of a run of numbers, its first included.
#[inline(always)]
fn threes(carry: &mut Carry, number: u64) -> u64 {
    let mut starts = number & !(number << 1 | carry.number);
    if carry.number != 0 {
        let next = 3 - carry.digits;
        let all = (2u64 << next) - 1;
        starts |= ((number & all == all) as u64) << next;
    }
    let mut bits = 0;
    while starts != 0 {
        bits |= starts;
        starts = (starts << 3) & number & (number << 1) & (number << 2);
    }
    if number >> 63 != 0 {
        carry.digits = bits.leading_zeros() + 1;
    }
    bits
}

#[inline(always)]
fn overlay(carry: &mut Carry, bits: u64, clear: u128, set: u128) -> u64 {
    carry.clear = (clear >> 64) as u64;
    carry.set = (set >> 64) as u64;
    (bits & !clear as u64) | set as u64
}

/// `from..to` as bits.
#[inline(always)]
fn span(from: usize, to: usize) -> u128 {
    (1 << to) - (1 << from)
}

/// From the marked bits on through all neighbours in `class`, and one bit beyond.
#[inline(always)]
fn through(marks: u64, class: u64) -> u64 {
    ((marks & class).wrapping_add(class) ^ class) | marks
}
