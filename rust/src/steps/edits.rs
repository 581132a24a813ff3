//! Steps that put in, take out or replace what is found by its bytes.

use crate::added::find_byte;
use crate::aligned::{Aligned, View};
use crate::spelling::write_spelled;
use crate::unicode::decode;

/// Where `what`, which is not empty, stands in `text` from `at` on.
pub fn find(text: &[u8], what: &[u8], at: usize) -> Option<usize> {
    let (&first, rest) = what.split_first()?;
    let mut at = at;
    while let Some(place) = find_byte(text.get(at..)?, first) {
        at += place + 1;
        if text[at..].starts_with(rest) {
            return Some(at - 1);
        }
    }
    None
}

/// Each `old` by `new`, which stands for its last character, or for all of them.
pub fn replace(from: View, old: &[u8], new: &[u8], full: bool, to: &mut Aligned) {
    let mut last = 0;
    while let Some(start) = find(from.text, old, last) {
        to.keep(from, last, start);
        let stop = start + old.len();
        to.put(new, from.span(if full { start } else { stop - 1 }, stop));
        last = stop;
    }
    to.keep(from, last, from.text.len());
}

/// Whether each byte of `text` is spelled by itself.
pub fn spells_itself(text: &[u8]) -> bool {
    text.iter().all(|byte| (0x21..=0x7e).contains(byte))
}

/// The bytes, each as its printable character; all those of a character stand for all of it.
pub fn spell_bytes(from: View, to: &mut Aligned) {
    let text = from.text;
    let mut at = 0;
    while at < text.len() {
        let (_, len) = decode(text, at);
        text[at..at + len].iter().for_each(|&byte| write_spelled(byte, &mut to.text));
        to.stand(from.span(at, at + len));
        at += len;
    }
}
