//! Texts on their way to pieces.
//!
//! A stretch between added tokens is changed by the normalizer's steps, searched for the
//! other added tokens, changed by the pre-tokenizer's steps, and cut. Where no step
//! changes it, the pieces are those of the text as it was given.

use super::{Stage, Worker};
use crate::aligned::{Spans, View};
use crate::cut::{Cut, Cutter, Places};
use crate::model::Kind;
use crate::queue::Source;
use crate::split::{Grammar, Layers, Splitter};
use crate::steps::{self, Outcome, Step};

/// before: steps before added tokens are looked for in the normalized text; stages: what changes and
/// cuts a text before `cut` does
pub struct Route {
    pub before: Vec<Step>,
    pub stages: Vec<Stage>,
    pub cut: Cut,
}

/// A part of a text in its present form. given: where it begins in the worker's data, as long as it
/// is still that; at_start: whether it begins the text
#[derive(Clone, Copy)]
pub(super) struct Stretch<'s> {
    pub view: View<'s>,
    pub given: Option<usize>,
    pub at_start: bool,
}

impl<'s> Stretch<'s> {
    fn slice(self, start: usize, stop: usize) -> Self {
        Stretch {
            view: self.view.slice(start, stop),
            given: self.given.map(|at| at + start),
            at_start: self.at_start && start == 0,
        }
    }
}

/// Starts of pieces that are found at once: what is left of a queue after them is never too small.
const STARTS: usize = 256;

impl<'a, const TRACE: bool> Worker<'a, TRACE> {
    /// A stretch of the text as it was given, between added tokens.
    pub(super) fn routed(&mut self, start: usize, stop: usize) {
        let tokenizer = self.tokenizer;
        if tokenizer.is_direct {
            return self.cut(self.data, start, stop);
        }
        match (&tokenizer.plain_words, &tokenizer.led) {
            (Some(words), _) if !TRACE || words.knows_places => self.words(words, start, stop),
            (_, Some(led)) if self.led(led, start, stop) => {}
            _ => self.by_steps(start, stop),
        }
    }

    /// The same step by step.
    pub(super) fn by_steps(&mut self, start: usize, stop: usize) {
        let (stretch, tokenizer) = (self.as_given(start, stop), self.tokenizer);
        self.after_steps(&tokenizer.route.before, stretch, |worker, stretch| worker.searched(stretch));
    }

    /// Text as it was given.
    pub(super) fn as_given(&self, start: usize, stop: usize) -> Stretch<'a> {
        let at = start - self.first_byte();
        let placed = TRACE || self.tokenizer.knows_start;
        let spans = if placed { Spans::Given(at as u32) } else { Spans::Unknown };
        let data: &'a [u8] = self.data;
        let view = View { text: &data[start..stop], spans };
        Stretch { view, given: Some(start), at_start: at == 0 }
    }

    /// Where the text that is cut begins.
    pub(super) fn first_byte(&self) -> usize {
        self.space.texts.last().map_or(0, |text| text.0)
    }

    /// `then` with what steps make of a stretch, unless that is nothing.
    #[inline]
    fn after_steps(&mut self, steps: &[Step], stretch: Stretch, then: impl FnOnce(&mut Self, Stretch)) {
        if steps.is_empty() {
            return then(self, stretch);
        }
        let mut spare = std::mem::take(&mut self.space.spare);
        let made = steps::run(self.table, steps, stretch.view, stretch.at_start, &mut spare);
        self.space.spare = spare;
        match made {
            Outcome::Same => then(self, stretch),
            Outcome::Refused => self.leave(),
            Outcome::Made(made) => {
                debug_assert!(!TRACE || made.view().is_traced());
                if !made.text.is_empty() {
                    then(self, Stretch { view: made.view(), given: None, ..stretch });
                }
                self.space.spare.give_back(Some(made));
            }
        }
    }

    /// Normalized text, which may hold added tokens.
    pub(super) fn searched(&mut self, stretch: Stretch) {
        let tokenizer = self.tokenizer;
        let Some(matcher) = &tokenizer.in_normalized else { return self.plain(stretch) };
        let text = stretch.view.text;
        let mut matches = std::mem::take(&mut self.space.matches[1]);
        matcher.find(self.table, text, 0, &mut matches);
        let mut last = 0;
        for found in &matches {
            if last < found.start {
                self.plain(stretch.slice(last, found.start));
            }
            self.in_place(stretch, |worker, data, base| {
                if worker.space.queue.room() == 0 {
                    worker.flush(data);
                }
                worker.space.queue.added(found.id, base + found.start, found.stop - found.start);
            });
            last = found.stop;
        }
        if last < text.len() {
            self.plain(stretch.slice(last, text.len()));
        }
        self.space.matches[1] = matches;
    }

    /// Normalized text without added tokens.
    fn plain(&mut self, mut stretch: Stretch) {
        let tokenizer = self.tokenizer;
        if tokenizer.knows_start {
            stretch.at_start = stretch.view.span(0, 1).is_some_and(|(start, _)| start == 0);
        }
        let steps = tokenizer.route.stages.first().map_or(&[][..], |stage| &stage.steps);
        self.after_steps(steps, stretch, |worker, stretch| match tokenizer.route.stages[..] {
            [_, _, ..] => worker.staged(stretch),
            _ => worker.prepared(stretch),
        });
    }

    /// Text that is cut as it is.
    fn prepared(&mut self, stretch: Stretch) {
        let layers = self.tokenizer.route.stages.first().and_then(|stage| stage.layers.as_ref());
        let len = stretch.view.text.len();
        self.in_place(stretch, |worker, data, base| worker.layers(layers, data, base, base + len));
    }

    /// Put something into the queue whose places are in `stretch`, and see that they are right in the end.
    ///
    /// then: with the data that the events refer to, and where in it the stretch begins
    pub(super) fn in_place(&mut self, stretch: Stretch, then: impl FnOnce(&mut Self, &[u8], usize)) {
        if let Some(at) = stretch.given {
            return then(self, self.data, at);
        }
        self.flush(self.data);
        let first = self.space.out.ids.len();
        then(self, stretch.view.text, 0);
        self.flush(stretch.view.text);
        if TRACE {
            self.put_right(stretch.view, first);
        }
    }

    /// The places of the tokens from `first` on, which were taken for those of a text at the start of the data.
    fn put_right(&mut self, view: View, first: usize) {
        let base = self.space.texts[self.text].0 as u32;
        let out = &mut self.space.out;
        let places = out.starts[first..].iter_mut().zip(&mut out.ends[first..]);
        if let Spans::Led(led) = view.spans {
            for (start, end) in places {
                (*start, *end) = led.span(start.wrapping_add(base), end.wrapping_add(base));
            }
            return;
        }
        for (start, end) in places {
            (*start, *end) = (start.wrapping_add(base), end.wrapping_add(base));
            if let Some(span) = view.span(*start as usize, *end as usize) {
                (*start, *end) = span;
            }
        }
    }

    /// Queue the pieces of data[start..stop], cut by layers first.
    fn layers(&mut self, layers: Option<&Layers>, data: &[u8], start: usize, stop: usize) {
        let Some(layers) = layers else { return self.cut(data, start, stop) };
        let mut room = std::mem::take(&mut self.space.layered);
        match layers.cut(&data[start..stop], &mut room) {
            None => self.leave(),
            Some(spans) => self.queue_spans(data, start, spans),
        }
        self.space.layered = room;
    }

    /// Queue pieces at places of data[base..].
    pub(super) fn spans(&mut self, data: &[u8], base: usize, spans: impl Iterator<Item = (usize, usize)>) {
        let mut starts = [0u32; STARTS + 1];
        let mut count = 0; // of pieces that stand side by side
        for (start, stop) in spans {
            if count > 0 && (count == STARTS || starts[count] as usize != start) {
                self.queue_pieces(data, base, &starts[..=count]);
                count = 0;
            }
            (starts[count], starts[count + 1]) = (start as u32, stop as u32);
            count += 1;
        }
        if count > 0 {
            self.queue_pieces(data, base, &starts[..=count]);
        }
    }

    #[inline(always)]
    fn queue_pieces(&mut self, data: &[u8], base: usize, starts: &[u32]) {
        let text = &data[base + starts[0] as usize..base + starts[starts.len() - 1] as usize];
        if let Some(bpe) = self.tokenizer.model.kind.cutting().filter(|_| !text.is_ascii()) {
            return self.queue_units(bpe, data, base, starts);
        }
        let (starts, stops) = (&starts[..starts.len() - 1], &starts[1..]);
        if self.space.queue.room() < starts.len() {
            self.flush(data);
        }
        let space = &mut *self.space;
        space.queue.pieces(self.path, Source::<TRACE>::new(&space.cache, data, base), starts, stops);
    }

    /// Queue the pieces of data[start..stop].
    pub(super) fn cut(&mut self, data: &[u8], start: usize, stop: usize) {
        let tokenizer = self.tokenizer;
        let (cut, text) = (tokenizer.route.cut, &data[start..stop]);
        let bigrams = match &tokenizer.model.kind {
            Kind::Characters(bpe) => bpe.bigrams.as_ref(),
            _ => None,
        };
        // what is cut further is a new word at the start and before spaces, and white space is none
        let at_start = |at: usize| at == 0;
        let at_space = |at: usize| at == 0 || text[at] == b' ';
        let all = None::<fn(usize) -> bool>;
        match cut {
            Cut::Grammar(Grammar::Whole) if bigrams.is_some() => {
                self.pieces(Cutter::new(false, bigrams, text), data, start, stop, Some(at_start))
            }
            Cut::Grammar(grammar) => {
                self.pieces(Splitter::new(grammar, self.path, text), data, start, stop, all)
            }
            Cut::Spaces => {
                let words = bigrams.map(|_| at_space);
                self.pieces(Cutter::new(true, bigrams, text), data, start, stop, words)
            }
            Cut::Bert => match &tokenizer.model.kind {
                Kind::Words(words) => self.bert_words(words, data, start, stop),
                _ => self.leave(),
            },
        }
    }

    /// Queue what begins at `places`. begins_word: whether a piece is a new word, where not all are
    pub(super) fn pieces(
        &mut self,
        mut places: impl Places,
        data: &[u8],
        start: usize,
        stop: usize,
        begins_word: Option<impl Fn(usize) -> bool>,
    ) {
        let mut starts = std::mem::take(&mut self.space.starts);
        starts.resize(STARTS + 2, 0);
        let mut open = 0; // whether a piece has begun whose end is not known
        loop {
            let found = open + places.fill(&mut starts[open..STARTS]);
            let count = if places.done() {
                starts[found] = (stop - start) as u32;
                found
            } else {
                found - 1
            };
            self.queue_pieces(data, start, &starts[..=count]);
            if let (true, Some(begins_word)) = (TRACE, &begins_word) {
                self.space
                    .queue
                    .begin_words(starts[..count].iter().map(|&start| begins_word(start as usize)));
            }
            if places.done() {
                break;
            }
            starts[0] = starts[count];
            open = 1;
        }
        self.space.starts = starts;
    }
}
