//! Contractions in blocks, which may reach over the edge of one.

use super::bits::span;
use super::{Carry, Splitter};
use crate::split::classify::Masks;
use crate::split::scalar::contraction;

impl Splitter<'_> {
    /// Contractions that are pieces: nothing begins inside, something does behind.
    #[inline(always)]
    pub(super) fn leading_contractions(
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
    pub(super) fn trailing_contractions(
        &self,
        carry: &mut Carry,
        masks: &Masks,
        bits: u64,
        len: usize,
    ) -> u64 {
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

#[inline(always)]
fn overlay(carry: &mut Carry, bits: u64, clear: u128, set: u128, len: usize) -> u64 {
    carry.clear = (clear >> len) as u64;
    carry.set = (set >> len) as u64;
    let inside = !0 >> (64 - len);
    ((bits & !clear as u64) | set as u64) & inside
}
