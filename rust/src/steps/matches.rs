//! A step that replaces what a pattern matches.

use crate::aligned::{Aligned, View};
use crate::split::{Layers, Pieces};

/// Each match of a pattern, which has at least a character, by `new`, which stands for its last character, or for all of it.
pub struct Matches {
    pattern: Layers,
    new: Vec<u8>,
    full: bool,
}

impl Matches {
    /// program: words of 64 bits, the lowest byte first: how many runs there are; each, first code point + (class << 32);
    /// then what `Layers::read` wants of one pre-tokenizer
    pub fn read(program: &[u8], new: &[u8], full: bool) -> Option<Matches> {
        let words =
            program.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("8 bytes")));
        let words: Vec<u64> = words.collect();
        let (&count, rest) = words.split_first()?;
        let runs = rest.get(..usize::try_from(count).ok()?)?;
        let pairs: Vec<[u32; 2]> = runs.iter().map(|&run| [run as u32, (run >> 32) as u32]).collect();
        let pattern =
            Layers::read(&pairs, &rest[runs.len()..]).filter(|pattern| !pattern.may_match_nothing())?;
        Some(Matches { pattern, new: new.to_vec(), full })
    }

    /// Whether there was a match; None where the pattern takes too many steps.
    pub fn apply(&self, from: View, room: &mut Pieces, to: &mut Aligned) -> Option<bool> {
        let mut kept = 0;
        for (start, stop) in self.pattern.matches(from.text, room)? {
            to.keep(from, kept, start);
            to.put(&self.new, from.span(if self.full { start } else { stop - 1 }, stop));
            kept = stop;
        }
        if kept > 0 {
            to.keep(from, kept, from.text.len());
        }
        Some(kept > 0)
    }
}
