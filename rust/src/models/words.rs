//! WordPiece and WordLevel: what a word is spelled with, or the one token for all that cannot be.

use super::short_words::ShortWords;
use super::Bench;
use crate::bert::{Bert, Words};
use crate::cache::{Cache, Key};
use crate::merge::Token;
use crate::model::Spelled;
use crate::pairs::MOST_IDS;
use crate::steps::{as_bert, Step};
use crate::unicode::count;
use crate::vocabulary::fold;

/// How words are spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// A word is a token.
    Level,
    /// The longest token first, from left to right; a word of more characters than this is unknown.
    Pieces { longest: usize },
}

/// The tokens of words.
///
/// bert: what makes words of pieces first; None where pieces are words. steps: the same of its normalizer, one by one
pub struct WordModel {
    pub bert: Option<Bert>,
    pub(super) steps: Vec<Step>,
    spelling: Spelling,
    tokens: Trie,
    short: Option<ShortWords>,
    /// where tokens go on inside a word; None where none does
    inside: Option<u32>,
    unknown: Option<u32>,
}

impl WordModel {
    /// prefix: what tokens inside a word begin with. unknown: the token that is there for words without
    pub fn new(
        tokens: &[&[u8]],
        ids: &[u32],
        spelling: Spelling,
        prefix: &[u8],
        unknown: Option<u32>,
        bert: Option<Bert>,
    ) -> Result<Self, String> {
        if let Some(id) = ids.iter().chain(&unknown).find(|&&id| id >= MOST_IDS) {
            return Err(format!("the id {id} is larger than {}", MOST_IDS - 1));
        }
        let short = ShortWords::new(tokens, ids, spelling, prefix);
        let tokens = Trie::new(tokens, ids).ok_or("the vocabulary is too large")?;
        let inside =
            prefix.iter().try_fold(ROOT, |node, &byte| tokens.child(node, byte).map(|slot| slot.child()));
        let steps = bert.as_ref().map_or(Vec::new(), |bert| as_bert(bert.steps));
        Ok(WordModel { bert, steps, spelling, inside, unknown, tokens, short })
    }

    /// Work out short pieces that are plain words, and keep them in the cache: changes no result. The others stay in `unknown`.
    pub fn learn(&self, unknown: &mut Vec<Key>, cache: &mut Cache, bench: &mut Bench) {
        if let Some(short) = &self.short {
            short.learn(self, unknown, cache, &mut bench.waiting, &mut bench.unit);
        }
    }

    /// Whether a word may be spelled with several tokens.
    pub(super) fn has_pieces(&self) -> bool {
        self.spelling != Spelling::Level
    }

    /// Append the tokens of a piece.
    pub fn spell(&self, piece: &[u8], words: &mut Words, out: &mut Vec<Token>) -> Spelled {
        let Some(bert) = &self.bert else {
            return if self.word(piece, out) { Spelled::Whole } else { Spelled::Failed };
        };
        bert.words(piece, words);
        for &(start, stop) in &words.spans {
            let first = out.len();
            if !self.word(&words.text[start..stop], out) {
                return Spelled::Failed;
            }
            for token in &mut out[first..] {
                token.start = words.sources[start + token.start as usize];
            }
        }
        if let Some(first) = out.first_mut() {
            first.start = 0; // in the cache it has none; what else is before it is taken out, or no word's
        }
        if words.even {
            Spelled::Whole
        } else {
            Spelled::Uneven
        }
    }

    /// Append the tokens of a word; false where it has none.
    pub(super) fn word(&self, word: &[u8], out: &mut Vec<Token>) -> bool {
        let first = out.len();
        let spelled = match self.spelling {
            Spelling::Level => self.tokens.longest(ROOT, word).filter(|found| found.0 == word.len()),
            Spelling::Pieces { longest } if word.len() > longest && count(word) > longest => None,
            Spelling::Pieces { .. } => self.pieces(word, out),
        };
        let (id, start) = match (spelled, self.spelling) {
            (Some(_), Spelling::Pieces { .. }) => return true,
            (Some((_, id)), Spelling::Level) => (id, 0),
            (None, _) => {
                out.truncate(first);
                let Some(id) = self.unknown else { return false };
                (id, 0)
            }
        };
        out.push(Token { id, start });
        true
    }

    /// Append the pieces of a word; the last one, or None where it cannot be spelled to its end.
    fn pieces(&self, word: &[u8], out: &mut Vec<Token>) -> Option<(usize, u32)> {
        let (mut at, mut node) = (0, ROOT);
        loop {
            let found = self.tokens.longest(node, &word[at..])?;
            out.push(Token { id: found.1, start: at as u32 });
            at += found.0;
            if at >= word.len() {
                return Some(found);
            }
            node = self.inside?;
        }
    }
}

/// Tokens byte by byte: a table of (node, byte) to node.
struct Trie {
    slots: Box<[Slot]>,
    shift: u32,
    /// of the token that ends at a node
    ids: Vec<u32>,
}

const ROOT: u32 = 0;
const MOST_NODES: usize = 1 << 24;

/// parent, byte and child node, and whether a token ends there: 24, 8, 24 and 1 bits
#[derive(Clone, Copy)]
struct Slot(u64);

const FREE: Slot = Slot(u64::MAX);
const ENDS: u64 = 1 << 56;

impl Slot {
    #[inline(always)]
    fn child(self) -> u32 {
        (self.0 >> 32) as u32 & 0xff_ffff
    }
}

impl Trie {
    fn new(tokens: &[&[u8]], ids: &[u32]) -> Option<Trie> {
        let bytes: usize = tokens.iter().map(|token| token.len()).sum();
        let mut trie = Trie { slots: vec![FREE; 1 << 12].into(), shift: 64 - 12, ids: vec![0] };
        for (token, &id) in tokens.iter().zip(ids).filter(|(token, _)| !token.is_empty()) {
            let (mut node, mut place) = (ROOT, 0);
            for &byte in *token {
                place = trie.place(node, byte)?;
                node = trie.slots[place].child();
            }
            trie.slots[place].0 |= ENDS;
            trie.ids[node as usize] = id;
        }
        (trie.ids.len() <= MOST_NODES && bytes < u32::MAX as usize).then_some(trie)
    }

    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        (fold(key, 0) >> (self.shift & 63)) as usize
    }

    /// Where the slot of a child is, which is made where there is none.
    fn place(&mut self, node: u32, byte: u8) -> Option<usize> {
        if self.ids.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let key = (node as u64) << 8 | byte as u64;
        let mut place = self.home(key);
        while self.slots[place].0 != FREE.0 {
            if self.slots[place].0 as u32 as u64 == key {
                return Some(place);
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
        let child = self.ids.len();
        if child >= MOST_NODES - 1 {
            return None;
        }
        self.slots[place] = Slot(key | (child as u64) << 32);
        self.ids.push(0);
        Some(place)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![FREE; old.len() * 2].into();
        self.shift -= 1;
        for slot in old.iter().filter(|slot| slot.0 != FREE.0) {
            let mut place = self.home(slot.0 as u32 as u64);
            while self.slots[place].0 != FREE.0 {
                place = (place + 1) & (self.slots.len() - 1);
            }
            self.slots[place] = *slot;
        }
    }

    #[inline(always)]
    fn child(&self, node: u32, byte: u8) -> Option<Slot> {
        let key = (node as u64) << 8 | byte as u64;
        let mut place = self.home(key);
        loop {
            let slot = self.slots[place];
            if slot.0 == FREE.0 {
                return None;
            }
            if slot.0 as u32 as u64 == key {
                return Some(slot);
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    /// The longest token that `text` begins with from a node on: its length and its id.
    fn longest(&self, mut node: u32, text: &[u8]) -> Option<(usize, u32)> {
        let mut best = None;
        for (i, &byte) in text.iter().enumerate() {
            let Some(slot) = self.child(node, byte) else { break };
            node = slot.child();
            if slot.0 & ENDS != 0 {
                best = Some((i + 1, node));
            }
        }
        best.map(|(len, node)| (len, self.ids[node as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(model: &WordModel, word: &str) -> Option<Vec<(u32, u32)>> {
        let mut out = Vec::new();
        let found = model.spell(word.as_bytes(), &mut Words::default(), &mut out);
        (found != Spelled::Failed).then(|| out.iter().map(|token| (token.id, token.start)).collect())
    }

    fn model(spelling: Spelling, unknown: Option<u32>) -> WordModel {
        let tokens: Vec<&[u8]> = vec![b"un", b"##aff", b"##able", b"##a", "é".as_bytes(), b"[UNK]", b"##"];
        let ids: Vec<u32> = (0..tokens.len() as u32).collect();
        WordModel::new(&tokens, &ids, spelling, b"##", unknown, None).unwrap()
    }

    #[test]
    fn the_longest_token_comes_first() {
        let model = model(Spelling::Pieces { longest: 9 }, Some(5));
        assert_eq!(spelled(&model, "unaffable"), Some(vec![(0, 0), (1, 2), (2, 5)]));
        assert_eq!(spelled(&model, "éa"), Some(vec![(4, 0), (3, 2)]));
        assert_eq!(spelled(&model, "unx"), Some(vec![(5, 0)]));
        assert_eq!(spelled(&model, "unaffablea"), Some(vec![(5, 0)]));
        assert_eq!(spelled(&model, "##a"), Some(vec![(3, 0)]));
    }

    #[test]
    fn a_word_is_a_token_or_unknown() {
        assert_eq!(spelled(&model(Spelling::Level, Some(5)), "un"), Some(vec![(0, 0)]));
        assert_eq!(spelled(&model(Spelling::Level, Some(5)), "una"), Some(vec![(5, 0)]));
        assert_eq!(spelled(&model(Spelling::Level, None), "una"), None);
    }
}
