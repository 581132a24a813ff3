//! Pre-tokenizers that change pieces: each is changed by itself, and all are cut again as one text.

use super::route::Stretch;
use super::Worker;
use crate::aligned::{Aligned, View};
use crate::cut::Cut;
use crate::split::{Grammar, Layers, Pieces};
use crate::steps::{self, Outcome, Step};

/// What is done to every piece: steps change it, layers cut it.
pub struct Stage {
    pub steps: Vec<Step>,
    pub layers: Option<Layers>,
}

type Places = Vec<(usize, usize)>;

impl<const TRACE: bool> Worker<'_, TRACE> {
    /// Queue the pieces of a stretch that was changed by the first stage's steps.
    pub(super) fn staged(&mut self, stretch: Stretch) {
        let tokenizer = self.tokenizer;
        let mut layered = std::mem::take(&mut self.space.layered);
        let mut made: Option<Aligned> = None;
        let mut pieces = vec![(0, stretch.view.text.len())];
        let mut stages = tokenizer.route.stages.iter();
        let mut layers = stages.next().and_then(|stage| stage.layers.as_ref());
        let is_done = loop {
            let view = made.as_ref().map_or(stretch.view, Aligned::view);
            if !cut(layers, view.text, &mut pieces, &mut layered) {
                break false;
            }
            let Some(stage) = stages.next() else { break true };
            let Some(next) = self.changed(&stage.steps, view, &mut pieces) else { break false };
            self.space.spare.give_back(made.replace(next));
            layers = stage.layers.as_ref();
        };
        if is_done {
            let stretch = match &made {
                Some(made) => Stretch { view: made.view(), given: None, ..stretch },
                None => stretch,
            };
            self.in_place(stretch, |worker, data, base| worker.queue_spans(data, base, pieces.into_iter()));
        } else {
            self.leave();
        }
        self.space.spare.give_back(made);
        self.space.layered = layered;
    }

    /// The pieces of a text as steps make them, one behind the other, whose places become theirs. None where a
    /// step cannot be done here.
    fn changed(&mut self, steps: &[Step], view: View, pieces: &mut Places) -> Option<Aligned> {
        let mut spare = std::mem::take(&mut self.space.spare);
        let mut to = spare.take();
        for piece in pieces.iter_mut() {
            let one = view.slice(piece.0, piece.1);
            let at_start = self.tokenizer.knows_start && one.span(0, 1).is_some_and(|(start, _)| start == 0);
            let before = to.text.len();
            match steps::run(self.table, steps, one, at_start, &mut spare) {
                Outcome::Same => to.keep(one, 0, one.text.len()),
                Outcome::Made(made) => {
                    to.keep(made.view(), 0, made.text.len());
                    spare.give_back(Some(made));
                }
                Outcome::Refused => return None,
            }
            *piece = (before, to.text.len());
        }
        self.space.spare = spare;
        pieces.retain(|piece| piece.0 < piece.1);
        Some(to)
    }

    /// Queue the pieces at `places` of data[base..], each cut by what comes last.
    pub(super) fn queue_spans(
        &mut self,
        data: &[u8],
        base: usize,
        places: impl Iterator<Item = (usize, usize)>,
    ) {
        if self.tokenizer.route.cut == Cut::Grammar(Grammar::Whole) {
            self.spans(data, base, places);
        } else {
            places.for_each(|(from, to)| self.cut(data, base + from, base + to));
        }
    }
}

/// Cut pieces of a text; false where a pattern takes too many steps.
fn cut(layers: Option<&Layers>, text: &[u8], pieces: &mut Places, room: &mut Pieces) -> bool {
    let Some(layers) = layers else { return true };
    let Some(smaller) = layers.cut_each(text, pieces, room) else { return false };
    *pieces = smaller.collect();
    true
}
