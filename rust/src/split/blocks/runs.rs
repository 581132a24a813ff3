//! Runs of numbers and of symbols in blocks.

use super::Carry;
use crate::split::classify::Masks;

/// Every third of a run of numbers, its first included.
#[inline(always)]
pub(super) fn threes(carry: &mut Carry, number: u64, last: usize) -> u64 {
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

/// Symbols that begin their run and took no space: a letter that follows joins them.
#[inline(always)]
pub(super) fn joining<const MIXED: bool>(carry: &Carry, masks: &Masks, other: u64) -> u64 {
    let first = other & !(other << 1 | carry.other) & !(masks.space << 1 | carry.space);
    if !MIXED {
        return first;
    }
    let second = first | first << 1 & masks.inner; // over the bytes of each, four at most
    second | second << 1 & masks.inner | second << 2 & masks.inner & masks.inner << 1
}
