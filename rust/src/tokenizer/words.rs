//! Texts of models whose pieces are words behind one space, where the steps before that only see to white space.
//!
//! Most of such text needs no step: its words are queued as they stand, whatever white space is between them. What
//! is not plain is taken through the steps, from white space to white space.

use std::ops::Range;

use super::route::Stretch;
use super::{Route, Stage, Worker};
use crate::aligned::View;
use crate::cut::Cut;
use crate::model::Kind;
use crate::queue::Source;
use crate::split::{Byte, Bytes, WordFinder, WORDS};
use crate::steps::{Charsmap, Step};

/// Where that is so. apart: whether parts between white space go through the steps as they do together;
/// strips: whether white space of any kind is taken off at the left and at the right; knows_places: whether words are
/// where they stand in the text, each behind the last of the white space before it
pub(super) struct PlainWords {
    bytes: Bytes,
    apart: bool,
    strips: (bool, bool),
    pub(super) knows_places: bool,
}

/// So many plain bytes are a reason to leave the steps again.
const PLAIN: usize = 64;

impl PlainWords {
    /// None where words of plain text are other pieces, or steps do more.
    pub(super) fn new(route: &Route, kind: &Kind) -> Option<Self> {
        let [Stage { steps, layers: None }] = &route.stages[..] else { return None };
        let is_plain = matches!(kind, Kind::Unigram(_)) && route.cut == Cut::Spaces;
        if !is_plain || !route.before.iter().all(sees_to_space_alone) || charsmaps(route).count() > 1 {
            return None;
        }
        let (apart, visible) = match &steps[..] {
            [Step::Words { visible }, Step::Spaces { visible: same }] if visible == same => (true, visible),
            [Step::Spaces { visible }, Step::Lead { content, first: false }] if content == b" " => {
                (false, visible)
            }
            _ => return None,
        };
        let squeezes = |step: &Step| matches!(step, Step::Squeeze { new, .. } if new == b" " || (!apart && new == visible));
        let others = route.before.iter().filter(|step| matches!(step, Step::Squeeze { .. }));
        let is_last = apart || route.before.last().is_some_and(squeezes);
        if visible.is_ascii() || !others.clone().all(squeezes) || (!apart && others.count() > 1) || !is_last {
            return None;
        }
        let strips_left = |step: &Step| matches!(step, Step::Strip { left: true, .. });
        let strips_right = |step: &Step| matches!(step, Step::Strip { right: true, .. });
        let strips = (route.before.iter().any(strips_left), route.before.iter().any(strips_right));
        let squeezes_fully = |step: &Step| matches!(step, Step::Squeeze { full: true, .. });
        Some(PlainWords {
            bytes: Bytes::new(|byte| what(byte, route, apart)),
            apart,
            strips,
            knows_places: apart || !(strips.0 || route.before.iter().any(squeezes_fully)),
        })
    }

    /// Whether all of a text must go through the steps together. traced: whether its places are wanted
    fn is_one(&self, text: &[u8], traced: bool) -> bool {
        let is = |what: Byte| move |byte: &u8| self.bytes.of(*byte) == what;
        if self.apart {
            // what a map takes out at the start of a text moves the places of all behind it
            let mut words = text.iter().skip_while(|byte| is(Byte::White)(byte));
            return traced && words.next().is_some_and(is(Byte::Other));
        }
        // one space for two characters stands for the first of them
        let two = traced && text.contains(&b'\r');
        let keeps_last = !self.strips.1;
        two || (keeps_last && text.last().is_some_and(is(Byte::White))) || text.iter().any(is(Byte::Other))
    }

    /// What is left of a text whose ends are taken off. Where all white space is between words, there is nothing to do.
    fn stripped(&self, text: &[u8]) -> Range<usize> {
        let is_left = |byte: &u8| !matches!(byte, 9..=13 | b' ');
        let from = if self.strips.0 { text.iter().position(is_left).unwrap_or(text.len()) } else { 0 };
        let to = if self.strips.1 {
            text.iter().rposition(is_left).map_or(from, |last| last + 1)
        } else {
            text.len()
        };
        from..to
    }

    /// Where plain text goes on behind what is not, which is met from `from` on.
    fn goes_on(&self, text: &[u8], from: usize, route: &Route) -> usize {
        let is = |what: Byte| move |byte: &u8| self.bytes.of(*byte) == what;
        let mut at = from;
        while let Some(white) = text[at..].iter().position(is(Byte::White)) {
            let white = at + white;
            let ahead = &text[white..text.len().min(white + PLAIN)];
            at = match ahead.iter().rposition(is(Byte::Other)) {
                Some(other) => white + other + 1,
                None if charsmaps(route).any(|map| map.may_join(text, white)) => white + 1,
                None => return white,
            };
        }
        text.len()
    }
}

/// Whether a step changes nothing of ASCII but what it does to white space, or to single characters by a map.
fn sees_to_space_alone(step: &Step) -> bool {
    match step {
        Step::Charsmap(_) | Step::Form { .. } | Step::Strip { .. } => true,
        Step::Squeeze { old, .. } => *old == b' ',
        Step::Replace { old, .. } => old.iter().all(|byte| !byte.is_ascii()),
        _ => false,
    }
}

/// What a byte of ASCII is, if white space alone is between words. apart: all white space is; else only what becomes a
/// space, and a line end is part of a word
fn what(byte: u8, route: &Route, apart: bool) -> Byte {
    let maps = || charsmaps(route);
    let is_white = matches!(byte, 9..=13 | b' ');
    let becomes_space = maps().any(|map| map.makes_space(byte)) || byte == b' ';
    if is_white && maps().all(|map| map.makes_space(byte) || map.is_plain(byte)) && (apart || becomes_space) {
        Byte::White
    } else if !(is_white && (apart || becomes_space)) && maps().all(|map| map.is_plain(byte)) {
        Byte::Word
    } else {
        Byte::Other
    }
}

fn charsmaps(route: &Route) -> impl Iterator<Item = &Charsmap> {
    route.before.iter().filter_map(|step| match step {
        Step::Charsmap(map) => Some(&**map),
        _ => None,
    })
}

impl<const TRACE: bool> Worker<'_, TRACE> {
    /// Queue the words of a stretch of the text as it was given.
    pub(super) fn words(&mut self, words: &PlainWords, start: usize, stop: usize) {
        let (data, tokenizer) = (self.data, self.tokenizer);
        let text = &data[start..stop];
        if words.is_one(text, TRACE) {
            return self.by_steps(start, stop);
        }
        let kept = words.stripped(text);
        let (start, text) = (start + kept.start, &text[kept]);
        let mut finder = WordFinder::new(&words.bytes, self.path, text);
        let (mut starts, mut stops) = ([0; WORDS + 64], [0; WORDS + 64]);
        loop {
            let count = finder.fill(&mut starts, &mut stops);
            self.queue_words(words, start, &starts[..count], &stops[..count]);
            if let Some(from) = finder.stop() {
                let to = words.goes_on(text, from, &tokenizer.route);
                self.by_steps(start + from, start + to);
                finder.go_on(to);
            }
            if finder.done() {
                return;
            }
        }
    }

    /// Words of data[base..], which is where the stretch begins.
    fn queue_words(&mut self, words: &PlainWords, base: usize, starts: &[u32], stops: &[u32]) {
        let data = self.data;
        let mut next = 0;
        while next < starts.len() {
            if self.space.queue.room() < starts.len() - next {
                self.flush(data);
            }
            let space = &mut *self.space;
            let source = Source::<TRACE>::new(&space.cache, data, base);
            let taken = space.queue.words(self.path, source, &starts[next..], &stops[next..]);
            if TRACE {
                space.queue.lead(&starts[next..next + taken], |start| words.apart || start == 0);
            }
            next += taken;
            if next < starts.len() {
                self.long_word(words, base, starts[next] as usize, stops[next] as usize);
                next += 1;
            }
        }
    }

    /// The word in data[base..] from `start` to `stop`, which no step changes.
    fn long_word(&mut self, words: &PlainWords, base: usize, start: usize, stop: usize) {
        let data = self.data;
        if words.apart || start == 0 {
            return self.searched(self.as_given(base + start, base + stop));
        }
        // a piece of it is the white space before, as the space that a map makes of it
        let given = self.as_given(base + start - 1, base + stop);
        let text = [b" ", &data[base + start..base + stop]].concat();
        self.searched(Stretch { view: View { text: &text, ..given.view }, given: None, ..given });
    }
}
