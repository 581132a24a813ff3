//! A compiled pipeline, and the loop that takes texts through it.

mod bert;
mod emit;
mod led;
mod placed;
mod route;
mod space;
mod stages;
mod units;
mod words;

pub use route::Route;
pub use space::Space;
pub use stages::Stage;

use crate::added::{Match, Matcher};
use crate::cpu::{cpu_path, CpuPath};
use crate::model::Model;
use crate::steps::Step;
use crate::tokens::Tokens;
use crate::unicode::{Characters, CHARACTERS};
use led::Led;
use std::ops::Range;
use std::sync::Arc;
use words::PlainWords;

/// All that decides the ids of a text.
///
/// in_raw: added tokens that are looked for in the text as given; in_normalized: the others;
/// is_direct: whether nothing changes a text before it is cut; knows_start: whether places must be kept to know what
/// stands for the start of the text; plain_words: where words of plain text are pieces; led: what texts are that only
/// get a space in front
pub struct Tokenizer {
    pub model: Arc<Model>,
    pub route: Route,
    pub in_raw: Option<Matcher>,
    pub in_normalized: Option<Matcher>,
    is_direct: bool,
    knows_start: bool,
    plain_words: Option<PlainWords>,
    led: Option<Led>,
}

impl Tokenizer {
    pub fn new(
        model: Arc<Model>,
        route: Route,
        in_raw: Option<Matcher>,
        in_normalized: Option<Matcher>,
    ) -> Self {
        // what no step changes is normalized as it is given
        let (in_raw, in_normalized) = match in_raw {
            None if route.before.is_empty() => (in_normalized, None),
            _ => (in_raw, in_normalized),
        };
        let first =
            |stage: &Stage| stage.steps.iter().any(|step| matches!(step, Step::Lead { first: true, .. }));
        // spaces stay where they are, and what is put in front stands for the start as long as nothing is cut out of it
        let moves = |step: &Step| match step {
            Step::Spaces { .. } => false,
            Step::Prepend(_) => in_normalized.is_some(),
            _ => true,
        };
        let knows_start = match &route.stages[..] {
            [] => false,
            [one, later @ ..] => (first(one) && route.before.iter().any(moves)) || later.iter().any(first),
        };
        let plain_words = PlainWords::new(&route, &model.kind).filter(|_| in_normalized.is_none());
        let led = Led::new(&route, &model.kind).filter(|_| in_normalized.is_none());
        let changes_nothing = match &route.stages[..] {
            [] => route.before.is_empty(),
            [one] => route.before.is_empty() && one.steps.is_empty() && one.layers.is_none(),
            _ => false,
        };
        let is_direct = changes_nothing && in_normalized.is_none();
        Tokenizer { model, route, in_raw, in_normalized, is_direct, knows_start, plain_words, led }
    }

    /// Whether pieces that the first look at the cache is for may have a space of which their text knows nothing.
    fn leads(&self) -> bool {
        self.plain_words.is_some()
    }
}

/// One thread's work on some texts. TRACE: whether places and words are wanted too
pub struct Worker<'a, const TRACE: bool> {
    tokenizer: &'a Tokenizer,
    data: &'a [u8],
    space: Box<Space>,
    path: CpuPath,
    table: &'static Characters,
    text: usize,         // number of the current one in `texts`
    word: u32,           // number of the last one
    clear: Range<usize>, // of the data: no added token begins there
}

/// So many bytes behind a text are searched with it for the added tokens of the next ones.
const AHEAD: usize = 4 << 10;

/// In place of the number of the last word, where none has begun.
const NO_WORD: u32 = u32::MAX;

impl<'a, const TRACE: bool> Worker<'a, TRACE> {
    /// data: where the texts are, and what may be read around them
    pub fn new(tokenizer: &'a Tokenizer, data: &'a [u8]) -> Self {
        Worker::within(tokenizer, data, tokenizer.model.take_space())
    }

    /// The same in a space that was taken before.
    pub fn within(tokenizer: &'a Tokenizer, data: &'a [u8], space: Box<Space>) -> Self {
        let path = cpu_path();
        Worker { tokenizer, data, space, path, table: &CHARACTERS, text: 0, word: NO_WORD, clear: 0..0 }
    }

    /// Encode `data[start..stop]`, which is UTF-8, as the next text.
    pub fn text(&mut self, start: usize, stop: usize) {
        if self.space.queue.room() == 0 {
            self.flush(self.data);
        }
        self.space.texts.push((start, stop));
        let data = self.data;
        let mut last = start;
        let matcher = self.tokenizer.in_raw.as_ref();
        if let Some((matcher, from)) = matcher.and_then(|one| Some((one, self.candidate(one, start, stop)?)))
        {
            let mut matches = std::mem::take(&mut self.space.matches[0]);
            matcher.find(self.table, &data[start..stop], from, &mut matches);
            for found in &matches {
                if last < start + found.start {
                    self.routed(last, start + found.start);
                }
                self.added(start, found);
                last = start + found.stop;
            }
            self.space.matches[0] = matches;
        }
        if last < stop {
            self.routed(last, stop);
        }
        if self.space.queue.room() == 0 {
            self.flush(data);
        }
        self.space.queue.end_of_text();
    }

    /// The first place in `data[start..stop]` where an added token may begin: short texts are searched many at once.
    #[inline]
    fn candidate(&mut self, matcher: &Matcher, start: usize, stop: usize) -> Option<usize> {
        if !(self.clear.start..=self.clear.end).contains(&start) {
            self.clear = start..start;
        }
        if self.clear.end < stop {
            let ahead = (stop + AHEAD).min(self.data.len());
            let found = matcher.candidate(&self.data[..ahead], self.clear.end);
            self.clear.end = found.unwrap_or(ahead);
        }
        (self.clear.end < stop).then(|| self.clear.end - start)
    }

    fn added(&mut self, base: usize, found: &Match) {
        if self.space.queue.room() == 0 {
            self.flush(self.data);
        }
        self.space.queue.added(found.id, base + found.start, found.stop - found.start);
    }

    /// The text that is cut must be encoded in another way.
    fn leave(&mut self) {
        self.leave_number(self.space.out.stops.len() + self.space.texts.len() - self.text - 1);
    }

    fn leave_number(&mut self, number: usize) {
        if let Err(place) = self.space.out.left.binary_search(&number) {
            self.space.out.left.insert(place, number);
        }
    }

    /// The tokens of the texts since the last time.
    pub fn take(&mut self) -> Tokens {
        self.flush(self.data);
        std::mem::take(&mut self.space.out)
    }

    /// The tokens of the texts since the last time, which stay where they are; None where a text was left.
    pub fn tokens(&mut self) -> Option<&mut Tokens> {
        self.flush(self.data);
        self.space.out.left.is_empty().then_some(&mut self.space.out)
    }

    /// Give the space back to the model, where the next call starts with it.
    pub fn finish(mut self) {
        self.space.out.clear();
        self.tokenizer.model.return_space(self.space);
    }
}
