//! The pieces of texts that are counted and not encoded: the steps and the cuts of a route, without a model.

use crate::aligned::{Spans, View};
use crate::bert::Bert;
use crate::cpu::{cpu_path, CpuPath};
use crate::cut::{Cut, Cutter, Places};
use crate::split::{BertWords, Layers, Pieces, Splitter, WORDS};
use crate::steps::{self, Outcome, Spare, Step};
use crate::tokenizer::Route;
use crate::unicode::{Characters, CHARACTERS};

/// bert: what tells BERT's words apart, where the cut is theirs
pub struct Cutting {
    steps: Vec<Step>,
    layers: Option<Layers>,
    cut: Cut,
    pub bert: Option<Bert>,
    path: CpuPath,
    table: &'static Characters,
}

/// Room to find pieces, kept from text to text.
#[derive(Default)]
pub struct Room {
    spare: Spare,
    layered: Pieces,
}

/// Starts of pieces that are found at once.
const STARTS: usize = 256;

impl Cutting {
    /// None where the route cuts as BERT does, and nothing says how, or where pieces are changed.
    pub fn new(route: Route, bert: Option<Bert>) -> Option<Self> {
        let Route { before: mut steps, mut stages, cut } = route;
        if (cut == Cut::Bert && bert.is_none()) || stages.len() > 1 {
            return None;
        }
        let layers = stages.pop().and_then(|mut stage| {
            steps.append(&mut stage.steps);
            stage.layers
        });
        Some(Cutting { steps, layers, cut, bert, path: cpu_path(), table: &CHARACTERS })
    }

    /// Give `each` the pieces of a text, and where each begins in the text that is cut. False where the
    /// text must be cut in another way: none was given then.
    pub fn pieces(&self, text: &[u8], room: &mut Room, mut each: impl FnMut(&[u8], u32)) -> bool {
        if text.is_empty() {
            return true;
        }
        let Room { spare, layered } = room;
        let made =
            match steps::run(self.table, &self.steps, View { text, spans: Spans::Unknown }, true, spare) {
                Outcome::Same => None,
                Outcome::Made(made) => Some(made),
                Outcome::Refused => return false,
            };
        let text = made.as_ref().map_or(text, |made| &made.text);
        let mut cut = |start: usize, stop: usize| self.cut(&text[start..stop], start as u32, &mut each);
        let cuts = match &self.layers {
            None if text.is_empty() => true,
            None => {
                cut(0, text.len());
                true
            }
            Some(layers) => match layers.cut(text, layered) {
                None => false,
                Some(spans) => {
                    spans.for_each(|(start, stop)| cut(start, stop));
                    true
                }
            },
        };
        spare.give_back(made);
        cuts
    }

    /// The pieces of a text without steps and layers. base: where it begins
    fn cut(&self, text: &[u8], base: u32, each: &mut impl FnMut(&[u8], u32)) {
        let each = |start: u32, stop: u32| each(&text[start as usize..stop as usize], base + start);
        match (self.cut, &self.bert) {
            (Cut::Bert, Some(bert)) => walk_words(BertWords::new(bert, self.path, text), each),
            (Cut::Bert, None) => unreachable!("seen when this was made"),
            (Cut::Spaces, _) => walk(Cutter::new(true, None, text), text, each),
            (Cut::Grammar(grammar), _) => walk(Splitter::new(grammar, self.path, text), text, each),
        }
    }
}

/// Where each piece begins and ends.
fn walk(mut places: impl Places, text: &[u8], mut each: impl FnMut(u32, u32)) {
    let mut starts = [0u32; STARTS + 2];
    let mut open = 0; // whether a piece has begun whose end is not known
    loop {
        let mut count = open + places.fill(&mut starts[open..STARTS]);
        if places.done() {
            starts[count] = text.len() as u32;
        } else {
            count -= 1;
        }
        starts[..=count].windows(2).for_each(|two| each(two[0], two[1]));
        if places.done() {
            return;
        }
        (starts[0], open) = (starts[count], 1);
    }
}

/// Where each word begins and ends.
fn walk_words(mut words: BertWords, mut each: impl FnMut(u32, u32)) {
    let (mut starts, mut stops) = ([0; WORDS + 64], [0; WORDS + 64]);
    while !words.done() {
        let count = words.fill(&mut starts, &mut stops);
        starts[..count].iter().zip(&stops).for_each(|(&start, &stop)| each(start, stop));
    }
}
