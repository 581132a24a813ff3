//! WordPiece and WordLevel: what a word is spelled with, or the one token for all that cannot be.

use super::short_words::ShortWords;
use super::Bench;
use crate::bert::{Bert, Words};
use crate::cache::{Cache, Key};
use crate::merge::Token;
use crate::model::Spelled;
use crate::pairs::MOST_IDS;
use crate::steps::{as_bert, Step};
use crate::trie::Trie;
use crate::unicode::count;

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
    /// what tokens inside a word cover, behind the prefix; None where there is none
    inside: Option<Trie>,
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
        let short = ShortWords::new(tokens, ids, spelling);
        let trie = |strings: Vec<(&[u8], u32)>| Trie::new(&strings).ok_or("the vocabulary is too large");
        let all = || tokens.iter().copied().zip(ids.iter().copied()).filter(|(token, _)| !token.is_empty());
        let covers = |(token, id): (_, u32)| {
            <[u8]>::strip_prefix(token, prefix)
                .filter(|covered| !covered.is_empty())
                .map(|covered| (covered, id))
        };
        let inside: Vec<(&[u8], u32)> = all().filter_map(covers).collect();
        let inside = if inside.is_empty() { None } else { Some(trie(inside)?) };
        let tokens = trie(all().collect())?;
        let steps = bert.as_ref().map_or(Vec::new(), |bert| as_bert(bert.steps));
        Ok(WordModel { bert, steps, spelling, inside, unknown, tokens, short })
    }

    /// Work out short pieces that are plain words, and keep them in the cache: changes no result. The others stay in `unknown`.
    pub fn learn(&self, unknown: &mut Vec<Key>, cache: &mut Cache, bench: &mut Bench) {
        if let Some(short) = &self.short {
            short.learn(self, unknown, cache, &mut bench.waiting, &mut bench.unit);
        }
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
            Spelling::Level => longest(&self.tokens, word).filter(|found| found.0 == word.len()),
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
        let (mut at, mut tokens) = (0, &self.tokens);
        loop {
            let found = longest(tokens, &word[at..])?;
            out.push(Token { id: found.1, start: at as u32 });
            at += found.0;
            if at >= word.len() {
                return Some(found);
            }
            tokens = self.inside.as_ref()?;
        }
    }
}

/// The longest token that `text` begins with: its length and its id.
#[inline]
fn longest(tokens: &Trie, text: &[u8]) -> Option<(usize, u32)> {
    let mut best = None;
    tokens.each_start(text, |len, id| best = Some((len, id)));
    best
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
