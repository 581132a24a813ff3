//! Blocks that have other than ASCII characters: the bytes of each get its class.

use super::{Carry, Splitter, DEEPSEEK, GPT2, KIMI, O200K};
use crate::split::classify::Masks;
use crate::split::Grammar;
use crate::unicode::{CASELESS, CLASS, EAST, HAN, LOWER, MARK, NUMBER, OTHER, SPACE, UPPER};

impl Splitter<'_> {
    /// The boundaries of a block of `len` bytes that has other than ASCII characters, and
    /// how many bytes it then has; None where it is for `scalar`.
    #[inline(never)]
    pub(super) fn mixed<const FAMILY: u8>(
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
}

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
