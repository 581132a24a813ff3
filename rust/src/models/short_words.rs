//! Words of up to 15 bytes, many at a time.
//!
//! A tree of bytes is a wait for each byte of a word. By its key a word that is a token is found by one load, which
//! can be fetched while others are looked for; most are. Others go through the tree: their tokens by keys, the longest
//! first, were up to 15 loads each, from more memory than a tree's first nodes.

use super::words::{Spelling, WordModel};
use crate::bert::Bert;
use crate::cache::{bytes_of, Cache, Key, LONGEST_KEY};
use crate::merge::Token;
use crate::vocabulary::{is_short, Vocabulary};

/// The tokens that a word may be.
pub(super) struct ShortWords(Vocabulary);

/// A piece that waits, and its word as a number.
#[derive(Clone, Copy)]
pub struct Waiting {
    key: Key,
    word: u128,
    len: usize,
}

/// A byte everywhere.
const fn all(byte: u8) -> u128 {
    u128::from_le_bytes([byte; 16])
}

fn key(bytes: u128, len: usize) -> Key {
    let bytes = bytes & ((1 << (8 * len)) - 1);
    [bytes as u64, (bytes >> 64) as u64 | (len as u64) << 56]
}

impl ShortWords {
    /// None where a token may be too long for a word.
    pub fn new(tokens: &[&[u8]], ids: &[u32], spelling: Spelling) -> Option<Self> {
        if matches!(spelling, Spelling::Pieces { longest } if longest < LONGEST_KEY) {
            return None;
        }
        let short = || tokens.iter().zip(ids).filter(|(token, _)| is_short(token));
        let mut vocabulary = Vocabulary::new(short().count(), 0, 0);
        short().for_each(|(token, &id)| vocabulary.add(token, id));
        Some(ShortWords(vocabulary))
    }

    /// Keep the tokens of short pieces in the cache; those that are not plain, or have none, are left in `unknown`.
    pub fn learn(
        &self,
        model: &WordModel,
        unknown: &mut Vec<Key>,
        cache: &mut Cache,
        waiting: &mut Vec<Waiting>,
        tokens: &mut Vec<Token>,
    ) {
        waiting.clear();
        unknown.retain(|&piece| {
            let plain = match &model.bert {
                Some(bert) => plain_word(bert, piece),
                None => Some(whole(piece)),
            };
            if let Some(one) = plain {
                self.0.prefetch(key(one.word, one.len));
                waiting.push(one);
            }
            plain.is_none()
        });
        for one in &*waiting {
            if !cache.has(one.key) {
                tokens.clear();
                let is_spelled = match self.0.by_key(key(one.word, one.len)) {
                    Some(id) => {
                        tokens.push(Token { id, start: 0 });
                        true
                    }
                    None => model.word(&one.word.to_le_bytes()[..one.len], tokens),
                };
                if is_spelled {
                    cache.insert(one.key, tokens);
                } else {
                    unknown.push(one.key);
                }
            }
        }
    }
}

/// A piece that is a word as it stands.
fn whole(piece: Key) -> Waiting {
    let (bytes, len) = bytes_of(piece);
    Waiting { key: piece, word: u128::from_le_bytes(bytes), len }
}

/// The word of a piece of printable ASCII: the cut leaves one.
fn plain_word(bert: &Bert, piece: Key) -> Option<Waiting> {
    let (bytes, len) = bytes_of(piece);
    let word = u128::from_le_bytes(bytes) & ((1 << (8 * len)) - 1);
    let beyond = all(b'a') & !((1 << (8 * len)) - 1);
    let filled = word | beyond;
    // printable: none is above 0x7e, and all come to 0x80 when what is missing to 0x21 is added
    let above = (filled | (filled & all(0x7f)) + all(1)) & all(0x80);
    let below = !((filled & all(0x7f)) + all(0x80 - 0x21)) & all(0x80);
    if above | below != 0 {
        return None;
    }
    let from_a = (word & all(0x7f)) + all(0x80 - b'A');
    let beyond_z = (word & all(0x7f)) + all(0x80 - b'Z' - 1);
    let upper = (from_a & !beyond_z & all(0x80)) >> 2;
    Some(Waiting { key: piece, word: if bert.steps.lower { word + upper } else { word }, len })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bert::{Steps, Words};
    use crate::cache::{key_of, token_of};
    use crate::model::Spelled;
    use crate::models::Bench;

    fn kept(cache: &mut Cache, key: Key) -> Option<Vec<Token>> {
        let lanes = cache.find(key)?;
        Some(match lanes.count() {
            0 => cache.spilled(&lanes).iter().map(|&lane| token_of(lane)).collect(),
            count => (0..count).map(|i| lanes.token(i)).collect(),
        })
    }

    #[test]
    fn what_is_learnt_is_what_a_tree_spells() {
        let mut seed = 7u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        let mut learnt = 0;
        for round in 0..400 {
            let prefix = ["##", "", "#", "é", "12345678"][round % 5];
            let mut text = |letters: &[&str], longest: usize| -> String {
                (0..1 + random(longest)).map(|_| letters[random(letters.len())]).collect()
            };
            let mut words: Vec<String> = (0..60)
                .map(|i| {
                    if i % 2 == 0 { "" } else { prefix }.to_string() + &text(&["a", "b", "é"], 1 + i / 4)
                })
                .collect();
            words.extend(["a", "b", "!", "##a", "##b"].map(String::from));
            words.sort();
            words.dedup();
            let tokens: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
            let ids: Vec<u32> = (0..tokens.len() as u32).collect();
            let on = round % 4 < 2;
            let bert = (round % 3 > 0)
                .then(|| Bert::new(Steps { clean: on, ideographs: on, strip: on, lower: round % 2 == 0 }));
            let spelling =
                if round % 7 == 0 { Spelling::Level } else { Spelling::Pieces { longest: 15 + round % 2 } };
            let model = WordModel::new(&tokens, &ids, spelling, prefix.as_bytes(), Some(0), bert).unwrap();
            let letters =
                if model.bert.is_some() { &["a", "b", "A", "7"][..] } else { &["a", "b", "é", "\n"] };
            let mut pieces: Vec<String> = (0..200).map(|i| text(&letters[..2 + i % 3], 15)).collect();
            pieces.extend(["\u{7f}a", "\0", "~", "!"].map(String::from));
            let keys: Vec<Key> =
                pieces.iter().filter(|p| is_short(p.as_bytes())).map(|p| key_of(p.as_bytes())).collect();
            let mut cache = Cache::new(1 << 20);
            model.learn(&mut keys.clone(), &mut cache, &mut Bench::default());
            for key in keys {
                let (bytes, len) = bytes_of(key);
                let mut expected = Vec::new();
                let spelled = model.spell(&bytes[..len], &mut Words::default(), &mut expected);
                if let Some(found) = kept(&mut cache, key) {
                    assert_eq!((found, Spelled::Whole), (expected, spelled), "{:?}", &bytes[..len]);
                    learnt += 1;
                }
            }
        }
        assert!(learnt > 20_000, "{learnt}");
    }
}
