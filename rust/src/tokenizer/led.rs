//! Texts of which no more becomes than that a space is put in front: cut as they stand, the first piece apart.
//!
//! So Llama 2 has them. Behind the first piece no byte is moved, and texts wait for each other in the queue.

use super::{Route, Stage, Worker};
use crate::bigrams::Bigrams;
use crate::cache::LONGEST_KEY;
use crate::cut::{Cut, Cutter};
use crate::model::Kind;
use crate::split::Grammar;
use crate::steps::{find, Step};
use crate::unicode::decode;

/// visible: what may not be in a text, for it becomes a space; twice: whether a space is put before one; first: whether
/// only at the start of a text
pub(super) struct Led {
    visible: Vec<u8>,
    twice: bool,
    first: bool,
}

impl Led {
    /// None where steps do something else, or pieces are not cut where no merge crosses.
    pub(super) fn new(route: &Route, kind: &Kind) -> Option<Self> {
        if route.cut != Cut::Grammar(Grammar::Whole) || bigrams(kind).is_none() {
            return None;
        }
        let (visible, space, twice, first) = match (&route.before[..], &route.stages[..]) {
            ([Step::Spaces { visible }, Step::Prepend(space)], []) => (visible, space, true, false),
            ([], [Stage { steps, layers: None }]) => match &steps[..] {
                [Step::Spaces { visible }, Step::Lead { content, first }] => {
                    (visible, content, false, *first)
                }
                _ => return None,
            },
            _ => return None,
        };
        (space == b" ").then(|| Led { visible: visible.clone(), twice, first })
    }

    /// Whether a space comes in front of a text, and nothing else is done to it.
    fn takes(&self, text: &[u8], at_start: bool) -> bool {
        (self.twice || text[0] != b' ') && (at_start || !self.first) && find(text, &self.visible, 0).is_none()
    }
}

fn bigrams(kind: &Kind) -> Option<&Bigrams> {
    match kind {
        Kind::Characters(bpe) => bpe.bigrams.as_ref(),
        _ => None,
    }
}

/// How many bytes of `text` are in one piece with the space before it.
fn behind_space(bigrams: &Bigrams, text: &[u8]) -> usize {
    let (mut at, mut last) = (0, b' ' as u32);
    while at < text.len() {
        let (code, len) = decode(text, at);
        let cuts = if last < 0x80 && code < 0x80 {
            bigrams.cuts_ascii(last as u8, code as u8)
        } else {
            bigrams.cuts(last, code)
        };
        if cuts {
            break;
        }
        (at, last) = (at + len, code);
    }
    at
}

impl<const TRACE: bool> Worker<'_, TRACE> {
    /// Queue the pieces of a stretch of the text as it was given, behind a space; false where it must go by steps.
    pub(super) fn led(&mut self, led: &Led, start: usize, stop: usize) -> bool {
        let (data, tokenizer) = (self.data, self.tokenizer);
        let text = &data[start..stop];
        let Some(bigrams) = bigrams(&tokenizer.model.kind) else { return false };
        if !led.takes(text, start == self.first_byte()) {
            return false;
        }
        let first = behind_space(bigrams, text);
        if first >= LONGEST_KEY {
            return false;
        }
        if self.space.queue.room() == 0 {
            self.flush(data);
        }
        let space = &mut *self.space;
        space.queue.word_behind_space::<TRACE>(&space.cache, &text[..first], start);
        if first < text.len() {
            let places = Cutter::new(false, Some(bigrams), &text[first..]);
            self.pieces(places, data, start + first, stop, Some(|_| false));
        }
        true
    }
}
