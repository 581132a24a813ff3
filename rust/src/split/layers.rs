//! Pre-tokenizers one after the other: patterns and what becomes of their matches, and cuts by length and by script.

use super::pattern::{Effort, Program};
use crate::unicode::{decode, Classes};

/// What becomes of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behavior {
    Removed,
    Isolated,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

enum Layer {
    Matches(Matches),
    /// After so many characters.
    Length(usize),
    /// Where the script changes: characters without one join what is before, or are dropped.
    Scripts,
}

struct Matches {
    program: Program,
    behavior: Behavior,
    /// what does not match is taken for the match
    invert: bool,
}

/// Cuts text as its layers say. atoms, scripts: of each code point; 0 is no script
pub struct Layers {
    atoms: Classes,
    scripts: Option<Classes>,
    layers: Vec<Layer>,
}

/// The pieces of a text, and the room to find them; kept between calls.
#[derive(Default)]
pub struct Pieces {
    atoms: Vec<u8>,
    scripts: Vec<u8>,
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
    /// runs: (first code point, atom + script << 8), up to the next. words: for each layer the number of alternatives,
    /// of steps, and behavior + 8 * invert; then what `Program::read` wants. In place of the behavior: 5 by length,
    /// which the first number is; 6 by scripts
    pub fn read(runs: &[[u32; 2]], mut words: &[u64]) -> Option<Layers> {
        let mut layers = Vec::new();
        while let [alternatives, steps, options, rest @ ..] = words {
            if let 5 | 6 = options {
                let length =
                    usize::try_from(*alternatives).ok().filter(|&length| length > 0 || *options == 6)?;
                layers.push(if *options == 5 { Layer::Length(length) } else { Layer::Scripts });
                words = rest;
                continue;
            }
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
            layers.push(Layer::Matches(Matches { program, behavior, invert: options & 8 != 0 }));
            words = &steps_at[steps..];
        }
        let by_scripts = layers.iter().any(|layer| matches!(layer, Layer::Scripts));
        let atom = |&[first, both]: &[u32; 2]| Some((first, both as u8)).filter(|run| run.1 < 64);
        let script = |&[first, both]: &[u32; 2]| Some((first, u8::try_from(both >> 8).ok()?));
        let atoms = Classes::new(&runs.iter().map(atom).collect::<Option<Vec<_>>>()?)?;
        let scripts = Classes::new(&runs.iter().map(script).collect::<Option<Vec<_>>>()?)?;
        words.is_empty().then_some(Layers { atoms, scripts: by_scripts.then_some(scripts), layers })
    }

    /// Where the pieces of a text are, in bytes. None where a pattern takes too many steps.
    pub fn cut<'p>(
        &self,
        text: &[u8],
        pieces: &'p mut Pieces,
    ) -> Option<impl Iterator<Item = (usize, usize)> + 'p> {
        self.cut_each(text, &[(0, text.len())], pieces)
    }

    /// The same of a text that was cut before: `given` are its pieces, in order, which none looks out of.
    pub fn cut_each<'p>(
        &self,
        text: &[u8],
        given: &[(usize, usize)],
        pieces: &'p mut Pieces,
    ) -> Option<impl Iterator<Item = (usize, usize)> + 'p> {
        self.begin(text, pieces);
        let Pieces { atoms, scripts, places, spans, smaller, parts, effort } = pieces;
        in_characters(given, places, spans);
        for layer in &self.layers {
            smaller.clear();
            for &span in &*spans {
                match layer {
                    Layer::Matches(matches) => matches.cut(atoms, span, effort, parts, smaller),
                    Layer::Length(length) => smaller.extend(by_length(span, *length)),
                    Layer::Scripts => by_scripts(scripts, span, smaller),
                }
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
        let Layer::Matches(matches) = self.layers.first()? else { return None };
        matches.parts(atoms, effort, |span, is_match| spans.extend(is_match.then_some(span)));
        (effort.left > 0).then(|| in_bytes(spans, places))
    }

    fn begin(&self, text: &[u8], pieces: &mut Pieces) {
        if pieces.atoms.capacity() > MOST_KEPT {
            *pieces = Pieces::default();
        }
        self.classify(text, &mut pieces.atoms, &mut pieces.places);
        if let Some(known) = &self.scripts {
            let of_character = |at: usize| known.of(decode(text, at).0);
            let Pieces { places, scripts, atoms, .. } = pieces;
            scripts.clear();
            match places.split_last() {
                None => scripts.extend((0..atoms.len()).map(of_character)),
                Some((_, places)) => scripts.extend(places.iter().map(|&at| of_character(at as usize))),
            }
        }
        pieces.effort.left = (pieces.atoms.len() + 1000).saturating_mul(MOST_STEPS);
    }

    /// The atom of each character, and where it begins, unless all are ASCII.
    fn classify(&self, text: &[u8], atoms: &mut Vec<u8>, places: &mut Vec<u32>) {
        atoms.clear();
        places.clear();
        if text.is_ascii() {
            atoms.extend(text.iter().map(|&byte| self.atoms.of(byte as u32)));
            return;
        }
        let mut at = 0;
        while at < text.len() {
            let (code, len) = decode(text, at);
            atoms.push(self.atoms.of(code));
            places.push(at as u32);
            at += len;
        }
        places.push(at as u32);
    }
}

impl Matches {
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
/// Places in bytes, in order, as those in characters.
fn in_characters(given: &[(usize, usize)], places: &[u32], spans: &mut Vec<Span>) {
    spans.clear();
    let mut count = 0;
    let mut character = |byte: usize| {
        if places.is_empty() {
            return byte as u32; // all are ASCII
        }
        while (places[count] as usize) < byte {
            count += 1;
        }
        count as u32
    };
    spans.extend(given.iter().map(|&(start, stop)| (character(start), character(stop))));
}

fn in_bytes<'p>(spans: &'p [Span], places: &'p [u32]) -> impl Iterator<Item = (usize, usize)> + 'p {
    let place = move |at: u32| places.get(at as usize).map_or(at as usize, |&place| place as usize);
    spans.iter().map(move |&(start, stop)| (place(start), place(stop)))
}

fn joined(parts: &[(Span, bool)]) -> Span {
    (parts[0].0 .0, parts[parts.len() - 1].0 .1)
}

fn by_length(span: Span, length: usize) -> impl Iterator<Item = Span> {
    let size = u32::try_from(length).unwrap_or(u32::MAX);
    (span.0..span.1).step_by(length).map(move |start| (start, span.1.min(start.saturating_add(size))))
}

fn by_scripts(scripts: &[u8], span: Span, out: &mut Vec<Span>) {
    let (mut begun, mut script) = (None, 0);
    for at in span.0..span.1 {
        let next = scripts[at as usize];
        if next != 0 && next != script {
            out.extend(begun.map(|start| (start, at)));
            (begun, script) = (Some(at), next);
        }
    }
    out.extend(begun.map(|start| (start, span.1)));
}
