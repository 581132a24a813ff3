//! DeepSeek V3 in blocks: three patterns as one.

use super::bits::{behind, first_bytes, through};
use super::runs::threes;
use super::{Carry, Splitter};
use crate::split::classify::Masks;
use crate::split::scalar::{is_deepseek_cut, is_deepseek_letter};
use crate::unicode::{CLASS, SPACE};

impl Splitter<'_> {
    /// `masks.lower` has the letters and marks that are in no cut, `masks.apart` what the second pattern cuts.
    #[inline(always)]
    pub(super) fn deepseek<const MIXED: bool>(
        &self,
        carry: &mut Carry,
        masks: &Masks,
        valid: u64,
        len: usize,
    ) -> u64 {
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
}
