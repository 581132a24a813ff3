//! Where texts are cut into pieces.

use crate::bigrams::Bigrams;
use crate::split::{BertSplitter, Grammar, Splitter};
use crate::unicode::decode;

/// How a text becomes pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Grammar(Grammar),
    /// Before every space.
    Spaces,
    /// Into the words of BERT, which the model normalizes.
    Bert,
}

impl Cut {
    /// By the number that the border uses.
    pub fn from_number(number: u32) -> Option<Cut> {
        match number {
            64 => Some(Cut::Spaces),
            65 => Some(Cut::Bert),
            _ => Grammar::from_number(number).map(Cut::Grammar),
        }
    }
}

/// The places where the pieces of a text begin, some at a time.
pub trait Places {
    /// Put the next places into `out`, which is not empty; returns how many.
    fn fill(&mut self, out: &mut [u32]) -> usize;

    /// Whether no more will come: the last piece goes on to the end.
    fn done(&self) -> bool;
}

impl Places for Splitter<'_> {
    fn fill(&mut self, out: &mut [u32]) -> usize {
        Splitter::fill(self, out)
    }

    fn done(&self) -> bool {
        Splitter::done(self)
    }
}

impl Places for BertSplitter<'_> {
    fn fill(&mut self, out: &mut [u32]) -> usize {
        BertSplitter::fill(self, out)
    }

    fn done(&self) -> bool {
        BertSplitter::done(self)
    }
}

/// The places before spaces, and wherever no merge crosses.
pub struct Cutter<'a> {
    spaces: bool,
    bigrams: Option<&'a Bigrams>,
    text: &'a [u8],
    at: usize,
    last: u32, // the character before `at`
}

impl<'a> Cutter<'a> {
    /// For a text that is not empty. spaces: whether pieces begin before spaces; bigrams: where else
    pub fn new(spaces: bool, bigrams: Option<&'a Bigrams>, text: &'a [u8]) -> Self {
        Cutter { spaces, bigrams, text, at: 0, last: 0 }
    }

    fn fill_by_spaces(&mut self, out: &mut [u32]) -> usize {
        let mut found = 0;
        while self.at < self.text.len() && found < out.len() {
            out[found] = self.at as u32;
            found += (self.at == 0 || self.text[self.at] == b' ') as usize;
            self.at += 1;
        }
        found
    }

    /// SPACES: also before every space
    fn fill_by_bigrams<const SPACES: bool>(&mut self, bigrams: &Bigrams, out: &mut [u32]) -> usize {
        let (text, mut at, mut last) = (self.text, self.at, self.last);
        let mut found = 0;
        if at == 0 && !text.is_empty() {
            let (code, len) = decode(text, 0);
            (out[0], found, at, last) = (0, 1, len, code);
        }
        while at < text.len() && found < out.len() {
            let byte = text[at];
            out[found] = at as u32;
            if byte < 0x80 && last < 0x80 {
                let space = SPACES && byte == b' ';
                found += bigrams.cuts_ascii(last as u8, byte) | space as usize;
                (last, at) = (byte as u32, at + 1);
            } else {
                let (code, len) = decode(text, at);
                found += (bigrams.cuts(last, code) || (SPACES && byte == b' ')) as usize;
                (last, at) = (code, at + len);
            }
        }
        (self.at, self.last) = (at, last);
        found
    }
}

impl Places for Cutter<'_> {
    fn fill(&mut self, out: &mut [u32]) -> usize {
        match (self.bigrams, self.spaces) {
            (Some(bigrams), false) => self.fill_by_bigrams::<false>(bigrams, out),
            (Some(bigrams), true) => self.fill_by_bigrams::<true>(bigrams, out),
            (None, true) => self.fill_by_spaces(out),
            (None, false) => {
                self.at = self.text.len();
                out[0] = 0;
                1
            }
        }
    }

    fn done(&self) -> bool {
        self.at == self.text.len()
    }
}
