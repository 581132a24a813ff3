//! cl100k in blocks; o200k and Kimi too, whose letters have cases.

use super::bits::through;
use super::runs::{joining, threes};
use super::{Carry, Splitter, CL100K, KIMI};
use crate::split::classify::Masks;

impl Splitter<'_> {
    /// cl100k, and o200k and Kimi with their cases. swallowed: what a run of symbols takes behind it
    #[inline(always)]
    pub(super) fn cl100k<const MIXED: bool, const FAMILY: u8>(
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
}
