//! The bits of a block: what is said with them whatever the grammar.

/// The 64 bytes of a text from `at` on, in `padded` with zeros behind where it has fewer; how many it has.
#[inline(always)]
pub fn block_at<'t>(text: &'t [u8], at: usize, padded: &'t mut [u8; 64]) -> (&'t [u8; 64], usize) {
    let rest = &text[at..];
    match rest.first_chunk() {
        Some(block) => (block, rest.len()),
        None => {
            padded[..rest.len()].copy_from_slice(rest);
            (padded, rest.len())
        }
    }
}

/// The bits before those of `what`. next: whether the first bit beyond the block is of it
#[inline(always)]
pub(super) fn behind(what: u64, next: bool, len: usize) -> u64 {
    what >> 1 | (next as u64) << (len - 1)
}

/// From the last byte of characters to the first.
#[inline(always)]
pub(super) fn first_bytes<const MIXED: bool>(last: u64, inner: u64) -> u64 {
    if !MIXED {
        return last;
    }
    (0..3).fold(last, |bits, _| (bits & !inner) | (bits & inner) >> 1)
}

/// The bits below `count`.
#[inline(always)]
pub(super) fn below(count: usize) -> u64 {
    if count >= 64 {
        !0
    } else {
        (1 << count) - 1
    }
}

/// `from..to` as bits.
#[inline(always)]
pub(super) fn span(from: usize, to: usize) -> u128 {
    (1 << to) - (1 << from)
}

/// From the marked bits on through all neighbours in `class`, and one bit beyond.
#[inline(always)]
pub(super) fn through(marks: u64, class: u64) -> u64 {
    ((marks & class).wrapping_add(class) ^ class) | marks
}

/// The places of bits, counted from `base`; returns how many. Eight are written at a
/// time, needed or not: one branch for most blocks, where a loop is mispredicted.
#[inline(always)]
pub fn put_places(bits: u64, base: u32, out: &mut [u32; 64]) -> usize {
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
