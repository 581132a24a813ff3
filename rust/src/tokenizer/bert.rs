//! Words of BERT: queued as they stand in the text, and normalized by the model, once each.

use super::Worker;
use crate::models::WordModel;
use crate::queue::Source;
use crate::split::{BertWords, WORDS};

impl<const TRACE: bool> Worker<'_, TRACE> {
    /// Queue the words of data[start..stop].
    pub(super) fn bert_words(&mut self, model: &WordModel, data: &[u8], start: usize, stop: usize) {
        let Some(bert) = &model.bert else { return self.leave() };
        let mut words = BertWords::new(bert, self.path, &data[start..stop]);
        let (mut starts, mut stops) = ([0; WORDS + 64], [0; WORDS + 64]);
        while !words.done() {
            let count = words.fill(&mut starts, &mut stops);
            if self.space.queue.room() < count {
                self.flush(data);
            }
            let space = &mut *self.space;
            let (starts, stops) = (&starts[..count], &stops[..count]);
            let source = Source::<TRACE>::new(&space.cache, data, start);
            space.queue.pieces(self.path, source, starts, stops);
        }
    }
}
