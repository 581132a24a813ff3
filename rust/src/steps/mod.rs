//! Steps: what normalizers, and pre-tokenizers before they cut, do to a text.
//!
//! Each is what the reference engine's component of its name does, character for character
//! and span for span. Most texts are left alone by most steps, which is seen before anything is copied.

mod charsmap;
mod each;
mod edits;
mod matches;
mod words;

pub use charsmap::Charsmap;
pub use each::Each;
pub use edits::find;
pub use matches::Matches;

use crate::aligned::{Aligned, View};
use crate::bert;
use crate::normal::Form;
use crate::split::Pieces;
use crate::unicode::Characters;

/// full: whether a character that several were made into one of stands for all of them.
///
/// Visible spaces: where the character that stands for a space in the vocabulary is one
/// like any other, `Spaces` makes it a space, and no other space is left; so words
/// begin with one byte, not three.
pub enum Step {
    /// In front of what is not empty.
    Prepend(Vec<u8>),
    /// `old`, which is not empty, by `new`.
    Replace {
        old: Vec<u8>,
        new: Vec<u8>,
        full: bool,
    },
    /// The visible character of a space becomes the space.
    Spaces {
        visible: Vec<u8>,
    },
    /// A text in front of what does not begin with it. first: only at the start of the whole text
    Lead {
        content: Vec<u8>,
        first: bool,
    },
    Form {
        form: Form,
        full: bool,
    },
    /// White space at the ends is taken off.
    Strip {
        left: bool,
        right: bool,
    },
    /// Two or more of `old` in a row by `new`.
    Squeeze {
        old: u8,
        new: Vec<u8>,
        full: bool,
    },
    /// Cut at white space, each word behind a space.
    Words {
        visible: Vec<u8>,
    },
    Charsmap(Box<Charsmap>),
    Each(Each),
    /// The bytes, each as the character that byte-level vocabularies spell it with.
    Bytes,
    Matches(Box<Matches>),
}

impl Step {
    /// From the number and options that the border uses, and two texts.
    /// Texts that are no UTF-8 are refused, for what steps make is not looked at again; a map of characters looks itself,
    /// and a program is no text.
    pub fn from_parts(number: u32, options: u32, one: &[u8], two: &[u8]) -> Result<Step, String> {
        let texts: &[&[u8]] = if number == 8 || number == 11 { &[two] } else { &[one, two] };
        if texts.iter().any(|text| std::str::from_utf8(text).is_err()) {
            return Err("a text of a step is not UTF-8".into());
        }
        let full = options & 1 != 0;
        Ok(match number {
            0 => Step::Prepend(one.to_vec()),
            1 if !one.is_empty() => Step::Replace { old: one.to_vec(), new: two.to_vec(), full },
            2 if !one.is_empty() => Step::Spaces { visible: one.to_vec() },
            3 => {
                let content = if one.is_empty() { b" " } else { one };
                Step::Lead { content: content.to_vec(), first: options & 1 != 0 }
            }
            4 => Step::Form { form: Form::new(options & 2 == 0, options & 4 != 0), full },
            5 => Step::Strip { left: options & 1 != 0, right: options & 2 != 0 },
            6 if one.len() == 1 => Step::Squeeze { old: one[0], new: two.to_vec(), full },
            7 => Step::Words { visible: one.to_vec() },
            8 => {
                Step::Charsmap(Box::new(Charsmap::new(one, full).ok_or("the character map cannot be read")?))
            }
            9 => Step::Each(Each::from_number(options).ok_or("characters are changed in no such way")?),
            10 => Step::Bytes,
            11 => Step::Matches(Box::new(
                Matches::read(one, two, full).ok_or("the program of a pattern makes no sense")?,
            )),
            _ => return Err(format!("there is no step {number} with these parts")),
        })
    }

    /// Whether the step gives `text`, which is not empty, as it is. at_start: whether it is the text's start
    fn leaves(&self, table: &Characters, text: &[u8], at_start: bool) -> bool {
        match self {
            Step::Prepend(content) => content.is_empty(),
            Step::Replace { old, .. } => find(text, old, 0).is_none(),
            Step::Spaces { visible } => find(text, visible, 0).is_none(),
            Step::Lead { content, first } => text.starts_with(content) || (*first && !at_start),
            Step::Form { form, .. } => form.leaves(text),
            &Step::Strip { left, right } => words::stripped(table, text, left, right) == (0, text.len()),
            Step::Squeeze { old, .. } => !words::has_run(text, *old),
            Step::Words { .. } | Step::Matches(_) => false,
            Step::Charsmap(map) => map.leaves(text),
            Step::Each(each) => each.leaves(text),
            Step::Bytes => edits::spells_itself(text),
        }
    }

    /// Write what the step makes of a text that it does not leave, and whether it did change it. None where
    /// it cannot be done here.
    fn apply(&self, table: &Characters, from: View, room: &mut Pieces, to: &mut Aligned) -> Option<bool> {
        match self {
            Step::Prepend(content) | Step::Lead { content, .. } => to.lead(content, from),
            Step::Replace { old, new, full } => edits::replace(from, old, new, *full, to),
            Step::Spaces { visible } => edits::replace(from, visible, b" ", true, to),
            Step::Form { form, full } => return Some(form.apply(from, *full, to)),
            &Step::Strip { left, right } => {
                let (start, stop) = words::stripped(table, from.text, left, right);
                to.keep(from, start, stop);
            }
            Step::Squeeze { old, new, full } => words::squeeze(from, *old, new, *full, to),
            Step::Words { visible } => words::words(table, from, visible, to),
            Step::Charsmap(map) => return map.apply(from, to),
            Step::Each(each) => each.apply(from, to),
            Step::Bytes => edits::spell_bytes(from, to),
            Step::Matches(matches) => return matches.apply(from, room, to),
        }
        Some(true)
    }
}

/// What BERT's normalizer does, step by step.
pub fn as_bert(steps: bert::Steps) -> Vec<Step> {
    let each = |wanted: bool, number| if wanted { Each::from_number(number).map(Step::Each) } else { None };
    let decompose = Step::Form { form: Form::new(false, false), full: false };
    let strip = [steps.strip.then_some(decompose), each(steps.strip, 6)];
    let before = [each(steps.clean, 4), each(steps.ideographs, 5)];
    before.into_iter().chain(strip).chain([each(steps.lower, 1)]).flatten().collect()
}

/// Texts that are not in use, and the room that patterns need.
#[derive(Default)]
pub struct Spare {
    texts: Vec<Aligned>,
    pieces: Pieces,
}

impl Spare {
    pub fn take(&mut self) -> Aligned {
        let mut text = self.texts.pop().unwrap_or_default();
        text.clear();
        text
    }

    pub fn give_back(&mut self, text: Option<Aligned>) {
        self.texts.extend(text);
    }
}

/// What comes of a text by all steps.
pub enum Outcome {
    Same,
    Made(Aligned),
    /// A step cannot be done here.
    Refused,
}

/// Do all steps.
pub fn run(table: &Characters, steps: &[Step], given: View, at_start: bool, spare: &mut Spare) -> Outcome {
    let mut made: Option<Aligned> = None;
    for step in steps {
        let current = made.as_ref().map_or(given, Aligned::view);
        if current.text.is_empty() || step.leaves(table, current.text, at_start) {
            continue;
        }
        let mut next = spare.take();
        match step.apply(table, current, &mut spare.pieces, &mut next) {
            Some(true) => spare.give_back(made.replace(next)),
            Some(false) => spare.give_back(Some(next)),
            None => return Outcome::Refused,
        }
    }
    made.map_or(Outcome::Same, Outcome::Made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_put_no_broken_text_into_another() {
        assert!(Step::from_parts(0, 0, b"\xc3\xa9", b"").is_ok());
        assert!(Step::from_parts(0, 0, b"\xc3", b"").is_err());
        assert!(Step::from_parts(1, 0, b"a", b"\x80").is_err());
        assert!(Step::from_parts(6, 0, b"\xa9", b"").is_err());
    }
}
