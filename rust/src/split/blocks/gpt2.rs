//! GPT-2 in blocks.

use super::{Carry, Splitter};
use crate::split::classify::Masks;

impl Splitter<'_> {
    #[inline(always)]
    pub(super) fn gpt2<const MIXED: bool>(
        &self,
        carry: &mut Carry,
        masks: &Masks,
        valid: u64,
        len: usize,
    ) -> u64 {
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
}
