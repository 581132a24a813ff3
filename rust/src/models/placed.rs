//! Words of which BERT's normalizer takes something out, by the steps that it is.
//!
//! The model normalizes a word at once, and then does not know where the tokens of what is left are. Steps do.

use super::WordModel;
use crate::aligned::{Aligned, Spans, View};
use crate::cache::Placed;
use crate::cpu::cpu_path;
use crate::merge::{Scratch, Token};
use crate::split::{BertWords, WORDS};
use crate::steps::{self, Outcome};
use crate::unicode::CHARACTERS;

impl WordModel {
    /// The tokens of a piece in the place of what `out` has, and how many words it is; None where one has no token.
    pub fn spell_placed(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Placed>) -> Option<u32> {
        let given = View { text: piece, spans: Spans::Given(0) };
        let made = match steps::run(&CHARACTERS, &self.steps, given, false, &mut scratch.spare) {
            Outcome::Same => None,
            Outcome::Made(made) => Some(made),
            Outcome::Refused => return None,
        };
        out.clear();
        let words = self.put_placed(made.as_ref().map_or(given, Aligned::view), out);
        scratch.spare.give_back(made);
        words
    }

    /// Append the tokens of normalized text.
    fn put_placed(&self, view: View, out: &mut Vec<Placed>) -> Option<u32> {
        let mut words = BertWords::new(self.bert.as_ref()?, cpu_path(), view.text);
        let (mut starts, mut stops) = ([0; WORDS + 64], [0; WORDS + 64]);
        let (mut tokens, mut number) = (Vec::new(), 0);
        while !words.done() {
            let count = words.fill(&mut starts, &mut stops);
            for (&start, &stop) in starts[..count].iter().zip(&stops) {
                tokens.clear();
                if !self.word(&view.text[start as usize..stop as usize], &mut tokens) {
                    return None;
                }
                let ends = tokens.iter().skip(1).map(|next| start + next.start).chain([stop]);
                for (&Token { id, start: at }, end) in tokens.iter().zip(ends) {
                    let (start, end) = view.span((start + at) as usize, end as usize)?;
                    out.push(Placed { id, start, end, word: number });
                }
                number += 1;
            }
        }
        Some(number)
    }
}
