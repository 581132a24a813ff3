//! Steps that look for white space.

use crate::aligned::{Aligned, View};
use crate::unicode::{is_continuation, Characters, CLASS, SPACE};

/// Whether the character at a place is white space, and its bytes.
#[inline(always)]
fn blank(table: &Characters, text: &[u8], at: usize) -> (bool, usize) {
    match text[at] {
        byte @ 0..=0x7f => (byte == b' ' || (9..=13).contains(&byte), 1),
        _ => {
            let (class, len) = table.at(text, at);
            (class & CLASS == SPACE, len)
        }
    }
}

/// Where the text without white space at its ends, as wished, begins and ends.
pub fn stripped(table: &Characters, text: &[u8], left: bool, right: bool) -> (usize, usize) {
    let (mut start, mut stop) = (0, text.len());
    while left && start < stop {
        let (is_blank, len) = blank(table, text, start);
        if !is_blank {
            break;
        }
        start += len;
    }
    while right && start < stop {
        let last = (start..stop).rev().find(|&at| !is_continuation(text[at])).unwrap_or(start);
        if !blank(table, text, last).0 {
            break;
        }
        stop = last;
    }
    (start, stop)
}

/// The words alone, each behind one space, which stands for its first character; none before one
/// that begins with what stands for a space.
pub fn words(table: &Characters, from: View, visible: &[u8], to: &mut Aligned) {
    let text = from.text;
    let mut at = 0;
    while at < text.len() {
        let (is_blank, len) = blank(table, text, at);
        if is_blank {
            at += len;
            continue;
        }
        let start = at;
        at += len;
        while at < text.len() {
            let (is_blank, len) = blank(table, text, at);
            if is_blank {
                break;
            }
            at += len;
        }
        if visible.is_empty() || !text[start..at].starts_with(visible) {
            to.put(b" ", from.span(start, start + 1));
        }
        to.keep(from, start, at);
    }
}

/// Whether there are two of `byte` side by side.
pub fn has_run(text: &[u8], byte: u8) -> bool {
    text.windows(2).any(|pair| pair == [byte, byte])
}

/// Each run of two or more of `byte` by `new`, which stands for the last of them, or for all.
pub fn squeeze(from: View, byte: u8, new: &[u8], full: bool, to: &mut Aligned) {
    let text = from.text;
    let (mut at, mut kept) = (0, 0);
    while at < text.len() {
        if text[at] != byte {
            at += 1;
            continue;
        }
        let start = at;
        while at < text.len() && text[at] == byte {
            at += 1;
        }
        if at - start > 1 {
            to.keep(from, kept, start);
            to.put(new, from.span(if full { start } else { at - 1 }, at));
            kept = at;
        }
    }
    to.keep(from, kept, text.len());
}
