//! The boundaries of pieces, 64 bytes at a time.
//!
//! Each class of a block is a mask, bit i for byte i, and a grammar is some shifts and
//! ands on them; what reaches over the edge of a block is carried. All bytes of a
//! character are of its class, so that the neighbours of bytes are those of characters;
//! a boundary is at its first byte. A block ends with a character. Where masks do not
//! say enough (marks behind symbols, numbers of other scripts by threes) it is left to
//! `scalar`, from the last boundary on: patterns never look back, so any boundary is a
//! place to start afresh.

use super::classify::{Classify, CpuPath, Masks, Portable};
use super::scalar::{advance, contraction, is_deepseek_cut, is_deepseek_letter};
use super::Grammar;
use crate::unicode::{Characters, CASELESS, CLASS, EAST, HAN, LOWER, MARK, NUMBER, OTHER, SPACE, UPPER};

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
            let left = self.text.len() - self.at;
            let mut padded = [0; 64];
            let block: &[u8; 64] = if left >= 64 {
                self.text[self.at..self.at + 64].try_into().expect("64 bytes")
            } else {
                padded[..left].copy_from_slice(&self.text[self.at..]);
                &padded
            };
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
                found += put_places(bits, self.at as u32, places);
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

    /// The boundaries of a block of `len` bytes that has other than ASCII characters, and
    /// how many bytes it then has; None where it is for `scalar`.
    #[inline(never)]
    fn mixed<const FAMILY: u8>(
        &self,
        carry: &mut Carry,
        masks: &mut Masks,
        len: usize,
    ) -> (Option<u64>, usize) {
        let text = &self.text[self.at..];
        let mut classes = [0u64; 16];
        let (mut inner, mut rest, mut len) = (0, masks.high, len);
        while rest != 0 {
            let start = rest.trailing_zeros() as usize;
            let (class, size) = self.table.at(text, start);
            if start + size > 64 {
                len = start; // the next block begins with it
                break;
            }
            let span = ((1 << size) - 1) << start;
            classes[class_in::<FAMILY>(class)] |= span;
            inner |= span & (span << 1);
            rest &= !span;
        }
        let valid = !0 >> (64 - len);
        let letters = classes[UPPER as usize] | classes[LOWER as usize] | classes[CASELESS as usize];
        if FAMILY == O200K || FAMILY == KIMI {
            masks.upper |= classes[UPPER as usize];
            masks.lower |= classes[LOWER as usize];
            masks.caseless = classes[CASELESS as usize] | classes[MARK as usize];
        } else {
            masks.lower |= letters;
        }
        if FAMILY == DEEPSEEK {
            masks.lower |= classes[MARK as usize];
            masks.odd |= classes[OTHER as usize];
        }
        masks.apart = classes[APART];
        let number = classes[NUMBER as usize];
        masks.digit |= number;
        masks.white |= classes[SPACE as usize];
        masks.inner = inner;
        masks.keep(valid);
        let digits = match self.grammar {
            Grammar::Cl100k { digits } | Grammar::O200k { digits, .. } => digits,
            _ => 3,
        };
        if (FAMILY != GPT2 && digits == 3 && number != 0)
            || classes[ODDLY_APART] != 0
            || ((FAMILY == O200K || FAMILY == KIMI)
                && self.is_odd(carry, masks, classes[MARK as usize], valid))
        {
            return (None, len);
        }
        (Some(self.boundaries::<FAMILY, true>(carry, masks, valid, len)), len)
    }

    /// Whether a mark may belong to the symbols before it, or a letter without case comes
    /// right behind a contraction.
    fn is_odd(&self, carry: &Carry, masks: &Masks, mark: u64, valid: u64) -> bool {
        let letter = masks.upper | masks.lower | masks.caseless;
        let symbol = valid & !(letter | masks.digit | masks.white | masks.apart);
        let single = joining::<true>(carry, masks, symbol);
        if mark & ((symbol & !single) << 1 | (carry.other & !carry.joining)) != 0 {
            return true;
        }
        let mut quotes = masks.quote & (letter << 1 | carry.letter);
        while quotes != 0 {
            let quote = self.at + quotes.trailing_zeros() as usize;
            quotes &= quotes - 1;
            let behind = contraction(self.text, quote, true).filter(|&end| end < self.text.len());
            if behind.is_some_and(|end| matches!(self.table.at(self.text, end).0 & CLASS, CASELESS | MARK)) {
                return true;
            }
        }
        false
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

    /// White space, each with what follows it: the last of a run that text follows.
    #[inline(always)]
    fn before_text<const MIXED: bool>(&self, masks: &Masks, valid: u64, len: usize) -> u64 {
        let next = self.at + len;
        let text_next = next < self.text.len() && self.table.at(self.text, next).0 & CLASS != SPACE;
        let last = masks.white & behind(!masks.white & valid, text_next, len);
        first_bytes::<MIXED>(last, masks.inner)
    }

    #[inline(always)]
    fn gpt2<const MIXED: bool>(&self, carry: &mut Carry, masks: &Masks, valid: u64, len: usize) -> u64 {
        let letter = masks.upper | masks.lower;
        let number = masks.digit;
        let white = masks.white;
        let other = valid & !(letter | number | white);
        let same = (letter & (letter << 1 | carry.letter))
            | (number & (number << 1 | carry.number))
            | (other & (other << 1 | carry.other));
        let mut bits = (valid & !white & !same & !(masks.space << 1 | carry.space))
            | (white & !(white << 1 | carry.white));
        if MIXED {
            bits &= !masks.inner;
        }
        bits |= self.before_text::<MIXED>(masks, valid, len);
        carry.other = other >> (len - 1);
        carry.white = white >> (len - 1);
        self.leading_contractions(carry, bits, masks.quote & bits, false, len)
    }

    /// cl100k, and o200k and Kimi with their cases. swallowed: what a run of symbols takes behind it
    #[inline(always)]
    fn cl100k<const MIXED: bool, const FAMILY: u8>(
        &self,
        carry: &mut Carry,
        masks: &Masks,
        valid: u64,
        len: usize,
        digits: u8,
        swallowed: u64,
    ) -> u64 {
        let last = len - 1;
        let letter = masks.upper | masks.lower | masks.caseless;
        let number = masks.digit;
        let newline = masks.newline;
        let apart = if FAMILY == KIMI { masks.apart } else { 0 };
        let symbol = valid & !(letter | number | masks.white | apart);
        let horizontal = masks.white & !newline;
        let after_newline = newline << 1 | carry.newline;

        let first = (newline & (symbol << 1 | carry.other)) | (swallowed & carry.swallowed);
        let taken = if first == 0 { 0 } else { through(first, swallowed) & swallowed };
        let other = symbol & !taken;
        let white = masks.white & !taken;
        let joining = joining::<MIXED>(carry, masks, other);
        let mut bits = (letter
            & !(letter << 1 | carry.letter)
            & !(horizontal << 1 | carry.horizontal)
            & !(joining << 1 | carry.joining))
            | joining
            | (white & !(white << 1 | carry.white));
        if FAMILY == KIMI {
            bits |= apart & !(apart << 1 | carry.apart);
            carry.apart = apart >> last;
        }
        let numbers = if digits == 1 { number } else { threes(carry, number, last) };
        bits |= numbers;
        if MIXED {
            bits &= !masks.inner;
        }
        bits |= horizontal & self.before_text::<MIXED>(masks, valid, len);
        let cases = FAMILY != CL100K;
        if cases {
            bits |= self.changes_of_case::<MIXED>(carry, masks, len);
        }
        let indents = horizontal & after_newline & !masks.inner;
        if indents != 0 {
            bits |= self.indents(indents, horizontal, newline, len);
        }
        carry.newline = newline >> last;
        carry.horizontal = horizontal >> last;
        carry.other = other >> last;
        carry.white = white >> last;
        carry.joining = joining >> last;
        carry.swallowed = taken >> last;
        if cases {
            bits
        } else {
            self.leading_contractions(carry, bits, masks.quote & joining, true, len)
        }
    }

    /// Where upper case begins a piece behind letters: behind a stretch with lower case, and
    /// behind one without case where nothing but upper case follows.
    #[inline(always)]
    fn changes_of_case<const MIXED: bool>(&self, carry: &mut Carry, masks: &Masks, len: usize) -> u64 {
        let last = len - 1;
        let Masks { upper, lower, caseless, inner, .. } = *masks;
        let (stretch, without) = if MIXED {
            let behind = carry.contraction_end.saturating_sub(self.at); // letters of a contraction do not count
            let marks = (lower & !below(behind)) | ((lower | caseless) & carry.lower);
            let stretch = through(marks, lower | caseless) & (lower | caseless);
            (stretch, caseless & !stretch)
        } else {
            (lower, 0)
        };
        let mut bits = upper & (stretch << 1 | carry.lower) & !inner;
        let mut starts = upper & (without << 1 | carry.caseless) & !inner;
        while starts != 0 {
            let start = starts.trailing_zeros();
            starts &= starts - 1;
            let end = start + (!(upper >> start)).trailing_zeros();
            let follows = if end as usize >= len {
                self.letter_after_upper(self.at + len)
            } else {
                (lower | caseless) >> end & 1 != 0
            };
            bits |= (!follows as u64) << start;
        }
        carry.lower = stretch >> last & 1;
        carry.caseless = without >> last;
        bits
    }

    /// Whether upper case from `at` on comes to another letter. Asked once a run.
    #[cold]
    fn letter_after_upper(&self, mut at: usize) -> bool {
        while at < self.text.len() {
            let (class, len) = self.table.at(self.text, at);
            if class & CLASS != UPPER {
                let apart = self.grammar == Grammar::Kimi && class & HAN != 0;
                return matches!(class & CLASS, LOWER | CASELESS | MARK) && !apart;
            }
            at += len;
        }
        false
    }

    /// `masks.lower` has the letters and marks that are in no cut, `masks.apart` what the second pattern cuts.
    #[inline(always)]
    fn deepseek<const MIXED: bool>(&self, carry: &mut Carry, masks: &Masks, valid: u64, len: usize) -> u64 {
        let last = len - 1;
        let Masks { lower: letter, digit: number, newline, apart, .. } = *masks;
        let odd = masks.odd & valid; // what a last block is filled up with is NUL
        let symbol = valid & !(letter | number | masks.white | odd | apart);
        let horizontal = masks.white & !newline;
        let after_newline = newline << 1 | carry.newline;

        let first = newline & (symbol << 1 | carry.other | carry.swallowed);
        let taken = if first == 0 { 0 } else { through(first, newline) & newline };
        let white = masks.white & !taken;
        let joining = symbol & !(symbol << 1 | carry.other) & !(masks.space << 1 | carry.space);
        // a symbol of ASCII takes letters of ASCII, and no others that follow
        let ascii = letter & !masks.high;
        let begun = ascii & ((joining & !masks.high) << 1 | carry.joining | carry.joined);
        let joined = through(begun, ascii) & ascii;
        let mut bits = (letter
            & !(letter << 1 | carry.letter)
            & !(horizontal << 1 | carry.horizontal)
            & !(odd << 1 | carry.odd)
            & !begun)
            | joining
            | (white & !(white << 1 | carry.white))
            | (odd & !(odd << 1 | carry.odd))
            | (apart & !(apart << 1 | carry.apart))
            | threes(carry, number, last);
        if MIXED {
            bits |= letter & !ascii & (joined << 1 | carry.joined);
            bits &= !masks.inner;
        }
        bits |= self.before_uncut::<MIXED>(masks, horizontal, valid, len);
        let indents = horizontal & after_newline & !masks.inner;
        if indents != 0 {
            bits |= self.indents(indents, horizontal, newline, len);
        }
        carry.newline = newline >> last;
        carry.horizontal = horizontal >> last;
        carry.other = symbol >> last;
        carry.white = white >> last;
        carry.joining = (joining & !masks.high) >> last;
        carry.joined = joined >> last;
        carry.odd = odd >> last;
        carry.apart = apart >> last;
        carry.swallowed = taken >> last;
        bits
    }

    /// Of white space that begins behind a newline, what no newline ends: `\s*[\r\n]+` would take that whole.
    #[inline(always)]
    fn indents(&self, mut starts: u64, horizontal: u64, newline: u64, len: usize) -> u64 {
        let mut kept = starts;
        while starts != 0 {
            let start = starts.trailing_zeros();
            let run = (!(horizontal >> start)).trailing_zeros();
            let end = start + run;
            let ends_in_newline =
                if end as usize >= len { self.newline_after(self.at + len) } else { newline >> end & 1 != 0 };
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

    /// White space that text follows which is not cut out, and odd characters that letters follow: the last of each run.
    #[inline(always)]
    fn before_uncut<const MIXED: bool>(&self, masks: &Masks, horizontal: u64, valid: u64, len: usize) -> u64 {
        let next = self.text.get(self.at + len).map(|_| self.table.at(self.text, self.at + len).0);
        let text = valid & !(masks.white | masks.digit | masks.apart);
        let text_next = next.is_some_and(|known| known & CLASS != SPACE && !is_deepseek_cut(known));
        let letter_next = next.is_some_and(is_deepseek_letter);
        let last = (horizontal & behind(text, text_next, len))
            | (masks.odd & valid & behind(masks.lower, letter_next, len));
        first_bytes::<MIXED>(last, masks.inner)
    }

    /// Contractions that are pieces: nothing begins inside, something does behind.
    #[inline(always)]
    fn leading_contractions(
        &self,
        carry: &mut Carry,
        bits: u64,
        mut quotes: u64,
        any_case: bool,
        len: usize,
    ) -> u64 {
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
        overlay(carry, bits, clear, set, len)
    }

    /// Contractions that end a piece of letters; one does not follow another.
    #[inline(always)]
    fn trailing_contractions(&self, carry: &mut Carry, masks: &Masks, bits: u64, len: usize) -> u64 {
        let letter = masks.upper | masks.lower | masks.caseless;
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
        if carry.contraction_end >= self.at + len {
            (carry.lower, carry.caseless) = (0, 0); // its letters are of no stretch
        }
        overlay(carry, bits, clear, set, len)
    }
}

const GPT2: u8 = 0;
const CL100K: u8 = 1;
const O200K: u8 = 2;
const KIMI: u8 = 3;
const DEEPSEEK: u8 = 4;

/// Beside the classes of characters: what a grammar cuts out from among the letters, and what it
/// does so with that is no letter, which masks do not tell enough of.
const APART: usize = 14;
const ODDLY_APART: usize = 15;

#[inline(always)]
fn class_in<const FAMILY: u8>(known: u8) -> usize {
    let class = known & CLASS;
    match FAMILY {
        KIMI if known & HAN != 0 && class == CASELESS => APART,
        KIMI if known & HAN != 0 => ODDLY_APART,
        DEEPSEEK if known & EAST != 0 => APART,
        _ => class as usize,
    }
}

/// The bits before those of `what`. next: whether the first bit beyond the block is of it
#[inline(always)]
fn behind(what: u64, next: bool, len: usize) -> u64 {
    what >> 1 | (next as u64) << (len - 1)
}

/// From the last byte of characters to the first.
#[inline(always)]
fn first_bytes<const MIXED: bool>(last: u64, inner: u64) -> u64 {
    if !MIXED {
        return last;
    }
    (0..3).fold(last, |bits, _| (bits & !inner) | (bits & inner) >> 1)
}

/// The places of bits, counted from `base`; returns how many. Eight are written at a
/// time, needed or not: one branch for most blocks, where a loop is mispredicted.
#[inline(always)]
pub(super) fn put_places(bits: u64, base: u32, out: &mut [u32; 64]) -> usize {
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
fn threes(carry: &mut Carry, number: u64, last: usize) -> u64 {
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
    if number >> last != 0 {
        carry.digits = last as u32 + 1 - (63 - bits.leading_zeros());
    }
    bits
}

#[inline(always)]
fn overlay(carry: &mut Carry, bits: u64, clear: u128, set: u128, len: usize) -> u64 {
    carry.clear = (clear >> len) as u64;
    carry.set = (set >> len) as u64;
    let inside = !0 >> (64 - len);
    ((bits & !clear as u64) | set as u64) & inside
}

/// The bits below `count`.
#[inline(always)]
fn below(count: usize) -> u64 {
    if count >= 64 {
        !0
    } else {
        (1 << count) - 1
    }
}

/// Symbols that begin their run and took no space: a letter that follows joins them.
#[inline(always)]
fn joining<const MIXED: bool>(carry: &Carry, masks: &Masks, other: u64) -> u64 {
    let first = other & !(other << 1 | carry.other) & !(masks.space << 1 | carry.space);
    if !MIXED {
        return first;
    }
    let second = first | first << 1 & masks.inner; // over the bytes of each, four at most
    second | second << 1 & masks.inner | second << 2 & masks.inner & masks.inner << 1
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
