//! Pieces of scripts without spaces, cut before they are looked up.
//!
//! A clause of Chinese or Japanese is one piece, and hardly ever comes again; what is left
//! when it is cut where no merge crosses does, and has a few tokens each.

use super::Worker;
use crate::models::ByteBpe;
use crate::queue::Source;

/// Units that are found at once.
const UNITS: usize = 256;

/// A piece of so many bytes is looked up whole: two characters of three bytes.
const UNCUT: usize = 6;

impl<const TRACE: bool> Worker<'_, TRACE> {
    /// Queue the units of the pieces at `pieces`, as `Queue::pieces` has them.
    #[inline(never)]
    pub(super) fn queue_units(&mut self, bpe: &ByteBpe, data: &[u8], base: usize, pieces: &[u32]) {
        let text = &data[base..];
        let mut starts = [0u32; UNITS + 1];
        let (mut goes_on, mut part) = ([false; UNITS], [false; UNITS]);
        let (mut next, mut at) = (0, pieces[0] as usize);
        while next + 1 < pieces.len() {
            let mut found = 0;
            while next + 1 < pieces.len() && found + 2 < UNITS {
                let (start, stop) = (pieces[next] as usize, pieces[next + 1] as usize);
                let first = found;
                if at > start || is_wide(&text[start..stop]) && !bpe.is_whole(&text[start..stop]) {
                    let (count, unit) = bpe.cuts.units(text, at, stop, &mut starts[found..UNITS]);
                    part[found..found + count].fill(at > start || unit < stop || count > 1);
                    (found, at) = (found + count, unit);
                } else {
                    (starts[found], part[found]) = (start as u32, false);
                    (found, at) = (found + 1, stop);
                }
                if TRACE {
                    goes_on[first..found].fill(true);
                    goes_on[first] = starts[first] as usize > start;
                }
                next += (at == stop) as usize;
            }
            starts[found] = at as u32;
            if self.space.queue.room() < found {
                self.flush(data);
            }
            let space = &mut *self.space;
            let source = Source::<TRACE>::new(&space.cache, data, base);
            space.queue.pieces(self.path, source, &starts[..found], &starts[1..=found]);
            if bpe.has_parts() {
                let units = part[..found].iter().rev().enumerate();
                units.filter(|unit| *unit.1).for_each(|(back, _)| space.queue.is_part(back, &space.cache));
            }
            if TRACE {
                space.queue.begin_words(goes_on[..found].iter().map(|goes_on| !goes_on));
            }
        }
    }
}

/// Whether a piece has several characters of three bytes or more, as far as its first and last ones say.
#[inline(always)]
fn is_wide(piece: &[u8]) -> bool {
    piece.len() > UNCUT && (piece[0] >= 0xe0 || piece[1] >= 0xe0 || piece[piece.len() - 3] >= 0xe0)
}
