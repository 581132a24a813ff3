//! Pieces whose tokens do not cover them one after the other, for the model takes something out.

use super::{Space, Worker};
use crate::cache::{Key, Lanes};
use crate::model::{Kind, Spelled};
use crate::tokens::Place;

impl<const TRACE: bool> Worker<'_, TRACE> {
    /// The tokens of such a piece. key: its key, where it is short
    #[cold]
    pub(super) fn uneven(&mut self, place: Place<TRACE>, piece: &[u8], key: Option<Key>) {
        let Kind::Words(model) = &self.tokenizer.model.kind else { return self.hard(place, Spelled::Uneven) };
        let Space { cache, scratch, placed, out, .. } = &mut *self.space;
        let Some(words) = model.spell_placed(piece, scratch, placed) else {
            return self.hard(place, Spelled::Failed);
        };
        if let Some(key) = key {
            cache.insert_placed(key, placed, words);
        }
        place.append_placed(out, placed.iter().copied());
        self.word = place.word.wrapping_add(words).wrapping_sub(1);
    }

    /// The same out of the cache.
    pub(super) fn placed(&mut self, place: Place<TRACE>, lanes: &Lanes) {
        let Space { cache, out, .. } = &mut *self.space;
        place.append_placed(out, cache.placed(lanes));
        self.word = place.word.wrapping_add(lanes.words().unwrap_or(0)).wrapping_sub(1);
    }
}
