//! Pre-tokenizers one after the other, each a pattern and what becomes of its matches.

use super::pattern::{Effort, Program};
use crate::unicode::decode;

/// What becomes of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behavior {
    Removed,
    Isolated,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

struct Layer {
    program: Program,
    behavior: Behavior,
    /// what does not match is taken for the match
    invert: bool,
}

/// Cuts text as its layers say.
pub struct Layers {
    atoms: Box<[u8]>, // of each code point
    layers: Vec<Layer>,
}

/// The pieces of a text, and the room to find them; kept between calls.
#[derive(Default)]
pub struct Pieces {
    atoms: Vec<u8>,
    /// where each character begins, and the last one ends; empty where all are ASCII
    places: Vec<u32>,
    spans: Vec<Span>,
    smaller: Vec<Span>,
    parts: Vec<(Span, bool)>,
    effort: Effort,
}

type Span = (u32, u32);

const MOST_KEPT: usize = 1 << 20;
/// Steps a character that any sane pattern stays below by far.
const MOST_STEPS: usize = 500;

impl Layers {
    /// runs: (first code point, atom), up to the next. words: for each layer the number of alternatives,
    /// of steps, and behavior + 8 * invert; then what `Program::read` wants
    pub fn read(runs: &[[u32; 2]], mut words: &[u64]) -> Option<Layers> {
        let mut atoms = vec![0u8; 0x11_0000].into_boxed_slice();
        for (i, &[first, atom]) in runs.iter().enumerate() {
            let stop = runs.get(i + 1).map_or(atoms.len(), |next| next[0] as usize);
            atoms.get_mut(first as usize..stop)?.fill(u8::try_from(atom).ok().filter(|&atom| atom < 64)?);
        }
        let mut layers = Vec::new();
        while let [alternatives, steps, options, rest @ ..] = words {
            let sizes = [alternatives.checked_mul(2)?, steps.checked_mul(3)?];
            let [alternatives, steps] = sizes.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
            let steps_at = rest.get(alternatives..)?;
            let program = Program::read(&rest[..alternatives], steps_at.get(..steps)?)?;
            let behavior = match options & 7 {
                0 => Behavior::Removed,
                1 => Behavior::Isolated,
                2 => Behavior::MergedWithPrevious,
                3 => Behavior::MergedWithNext,
                4 => Behavior::Contiguous,
                _ => return None,
            };
            layers.push(Layer { program, behavior, invert: options & 8 != 0 });
            words = &steps_at[steps..];
        }
        words.is_empty().then_some(Layers { atoms, layers })
    }

    /// Where the pieces of a text are, in bytes. None where a pattern takes too many steps.
    pub fn cut<'p>(
        &self,
        text: &[u8],
        pieces: &'p mut Pieces,
    ) -> Option<impl Iterator<Item = (usize, usize)> + 'p> {
        self.begin(text, pieces);
        let Pieces { atoms, places, spans, smaller, parts, effort } = pieces;
        spans.clear();
        spans.push((0, atoms.len() as u32));
        for layer in &self.layers {
            smaller.clear();
            for &span in &*spans {
                layer.cut(atoms, span, effort, parts, smaller);
            }
            std::mem::swap(spans, smaller);
        }
        (effort.left > 0).then(|| in_bytes(spans, places))
    }

    /// Where the matches of the first layer's pattern are, in bytes. None where it takes too many steps.
    pub fn matches<'p>(
        &self,
        text: &[u8],
        pieces: &'p mut Pieces,
    ) -> Option<impl Iterator<Item = (usize, usize)> + 'p> {
        self.begin(text, pieces);
        let Pieces { atoms, places, spans, effort, .. } = pieces;
        spans.clear();
        self.layers.first()?.parts(atoms, effort, |span, is_match| spans.extend(is_match.then_some(span)));
        (effort.left > 0).then(|| in_bytes(spans, places))
    }

    fn begin(&self, text: &[u8], pieces: &mut Pieces) {
        if pieces.atoms.capacity() > MOST_KEPT {
            *pieces = Pieces::default();
        }
        self.classify(text, &mut pieces.atoms, &mut pieces.places);
        pieces.effort.left = (pieces.atoms.len() + 1000).saturating_mul(MOST_STEPS);
    }

    fn classify(&self, text: &[u8], atoms: &mut Vec<u8>, places: &mut Vec<u32>) {
        atoms.clear();
        places.clear();
        if text.is_ascii() {
            atoms.extend(text.iter().map(|&byte| self.atoms[byte as usize]));
            return;
        }
        let mut at = 0;
        while at < text.len() {
            let (code, len) = decode(text, at);
            atoms.push(self.atoms[code as usize]);
            places.push(at as u32);
            at += len;
        }
        places.push(at as u32);
    }
}

impl Layer {
    /// Append the pieces of `text[span]`, which is all that the pattern sees.
    fn cut(
        &self,
        text: &[u8],
        span: Span,
        effort: &mut Effort,
        parts: &mut Vec<(Span, bool)>,
        out: &mut Vec<Span>,
    ) {
        let (base, text) = (span.0, &text[span.0 as usize..span.1 as usize]);
        if self.behavior == Behavior::Isolated {
            return self.parts(text, effort, |(start, stop), _| {
                if start < stop {
                    out.push((base + start, base + stop));
                }
            });
        }
        parts.clear();
        self.parts(text, effort, |(start, stop), is_match| {
            parts.push(((base + start, base + stop), is_match != self.invert))
        });
        let mut put =
            |spans: &mut dyn Iterator<Item = Span>| out.extend(spans.filter(|span| span.0 < span.1));
        match self.behavior {
            Behavior::Isolated => unreachable!("done above"),
            Behavior::Removed => put(&mut parts.iter().filter(|part| !part.1).map(|part| part.0)),
            Behavior::Contiguous => put(&mut parts.chunk_by(|left, right| left.1 == right.1).map(joined)),
            // of matches in a row only the first joins what stands before it
            Behavior::MergedWithPrevious => {
                put(&mut parts.chunk_by(|left, right| !left.1 && right.1).map(joined))
            }
            Behavior::MergedWithNext => {
                put(&mut parts.chunk_by(|left, right| left.1 && !right.1).map(joined))
            }
        }
    }

    /// The matches and what is between them, in order. An empty match right behind another is none.
    fn parts(&self, text: &[u8], effort: &mut Effort, mut out: impl FnMut(Span, bool)) {
        let (mut last, mut at, mut matched) = (0, 0, false);
        let places = text.len() + self.program.may_be_empty() as usize;
        while at < places {
            let found = self.program.match_at(text, at, effort);
            let Some(end) = found.filter(|&end| end > at || !matched || at > last) else {
                at += 1;
                continue;
            };
            if last < at {
                out((last as u32, at as u32), false);
            }
            out((at as u32, end as u32), true);
            (last, at, matched) = (end, end, true);
        }
        if last < text.len() {
            out((last as u32, text.len() as u32), false);
        }
    }
}

/// Spans of characters as those of bytes. places: where each character begins; none where all are ASCII
fn in_bytes<'p>(spans: &'p [Span], places: &'p [u32]) -> impl Iterator<Item = (usize, usize)> + 'p {
    let place = move |at: u32| places.get(at as usize).map_or(at as usize, |&place| place as usize);
    spans.iter().map(move |&(start, stop)| (place(start), place(stop)))
}

fn joined(parts: &[(Span, bool)]) -> Span {
    (parts[0].0 .0, parts[parts.len() - 1].0 .1)
}
