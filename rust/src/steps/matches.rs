//! A step that replaces what a pattern matches.

use crate::aligned::{Aligned, Span, View};
use crate::split::{Layers, Pieces};
use crate::unicode::start_before;

/// Each match of a pattern by `new`, which stands for its last character, or for all of it; the empty one's for
/// the character before.
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
        let pattern = Layers::read(&pairs, &rest[runs.len()..])?;
        Some(Matches { pattern, new: new.to_vec(), full })
    }

    /// Whether there was a match; None where the pattern takes too many steps.
    pub fn apply(&self, from: View, room: &mut Pieces, to: &mut Aligned) -> Option<bool> {
        let (mut kept, mut changed) = (0, false);
        for (start, stop) in self.pattern.matches(from.text, room)? {
            to.keep(from, kept, start);
            to.put(&self.new, self.stands_for(from, start, stop));
            (kept, changed) = (stop, true);
        }
        to.keep(from, kept, from.text.len());
        Some(changed)
    }

    /// What is in place of text[start..stop].
    fn stands_for(&self, from: View, start: usize, stop: usize) -> Option<Span> {
        match (start < stop, start_before(from.text, stop)) {
            (true, _) if self.full => from.span(start, stop),
            (_, Some(last)) => from.span(last, stop),
            (_, None) => from.span(0, 1).map(|(first, _)| (first, first)),
        }
    }
}
