//! BPE over bytes, as GPT-2 has it and most models since.

use super::short_words::Waiting;
use crate::cache::{key_of, line_of, token_of, Cache, Key, LONGEST_KEY, PART};
use crate::cuts::{Cuts, Neighbours};
use crate::merge::{Lanes, Rules, Scratch, Token};
use crate::spelling::{self, spelled, Ways};
use crate::vocabulary::Vocabulary;

/// A byte-level BPE vocabulary.
pub struct ByteBpe {
    vocabulary: Vocabulary,
    rules: Rules,
    pub cuts: Cuts,
    ignore_merges: bool,
}

/// Units of a long piece that are found at once.
const UNITS: usize = 64;

/// Where pieces are worked out several at a time, or in parts; kept between calls.
#[derive(Default)]
pub struct Bench {
    pub(super) lanes: Lanes,
    units: Vec<(Key, usize, usize)>,
    pub unit: Vec<Token>,
    pub(super) waiting: Vec<Waiting>,
}

impl ByteBpe {
    /// Whether each of the 256 bytes is a token.
    pub fn has_all_bytes(tokens: &[&[u8]]) -> bool {
        let (mut found, mut bytes) = ([false; 256], Vec::new());
        for token in tokens.iter().filter(|token| token.len() <= 2) {
            if let (true, &[byte]) = (spelled(token, &mut bytes), &bytes[..]) {
                found[byte as usize] = true;
            }
        }
        found.iter().all(|&is_there| is_there)
    }

    /// tokens with an id each, spelled in byte characters; merges by rank. Says what is wrong where
    /// the kernel cannot take them.
    ///
    /// A token with a character that spells no byte is never reached from bytes, and is left
    /// out with its merges. Entries that encode to themselves are found here, so that a word
    /// of the vocabulary is a lookup even at first sight.
    pub fn new(tokens: &[&[u8]], ids: &[u32], ways: Ways, ignore_merges: bool) -> Result<Self, String> {
        let mut vocabulary = spelling::vocabulary(tokens, ids, spelled)?;
        let mut singles = [0; 256];
        for byte in 0..=255u8 {
            let id = vocabulary.find(&[byte]);
            singles[byte as usize] = id.ok_or_else(|| format!("no token spells the byte 0x{byte:02x}"))?;
        }
        let mut neighbours = Neighbours::default();
        let joins = spelling::joins(tokens, ids, ways, spelled, |made| neighbours.add(made))?;
        let rules = Rules::new(joins, singles)?;
        let (mut lanes, mut scratch, mut merged) = (Lanes::default(), Scratch::default(), Vec::new());
        vocabulary.mark_whole(
            |tokens, whole| match ignore_merges {
                true => whole.resize(tokens.len(), true),
                false => lanes.are_whole(&rules, tokens, whole),
            },
            |token, id| {
                merged.clear();
                if !ignore_merges {
                    rules.merge(token, &mut scratch, &mut merged);
                }
                ignore_merges || matches!(merged[..], [only] if only.id == id)
            },
        );
        Ok(ByteBpe { vocabulary, rules, cuts: neighbours.into(), ignore_merges })
    }

    /// Append the tokens of a piece. key: its key, where it is short
    pub fn spell(&self, piece: &[u8], key: Option<Key>, scratch: &mut Scratch, out: &mut Vec<Token>) {
        let known = match key {
            Some(key) => self.vocabulary.whole_by_key(key),
            None => self.vocabulary.whole_by_bytes(piece),
        };
        match known {
            Some(id) => out.push(Token { id, start: 0 }),
            None => self.rules.merge(piece, scratch, out),
        }
    }

    /// Work out short pieces, several at a time, and keep them in the cache. `unknown` is used up.
    ///
    /// Changes no result, for what is kept may be lost again: it only makes asking for one rare.
    pub fn learn(&self, unknown: &mut Vec<Key>, cache: &mut Cache, bench: &mut Bench) {
        unknown.iter().for_each(|&key| self.vocabulary.prefetch(key));
        unknown.retain(|&key| match self.vocabulary.whole_by_key(key) {
            Some(id) => {
                if !cache.has(key) {
                    cache.insert(key, &[Token { id, start: 0 }]);
                }
                false
            }
            None => true,
        });
        let Bench { lanes, unit, .. } = bench;
        lanes.learn(&self.rules, unknown, cache, unit, |key, lane, _| {
            self.rules.put_bytes(key, lane);
            true
        });
    }

    /// The tokens of a long piece, cut where no merge crosses. Whether it has few units.
    pub fn spell_by_units(
        &self,
        piece: &[u8],
        cache: &mut Cache,
        bench: &mut Bench,
        scratch: &mut Scratch,
        out: &mut Vec<Token>,
    ) -> bool {
        if let Some(id) = self.vocabulary.whole_by_bytes(piece) {
            out.clear();
            out.push(Token { id, start: 0 });
            return true;
        }
        self.spell_part(piece, cache, bench, scratch, out);
        bench.units.len() < 4
    }

    /// The tokens of a long part of a piece.
    pub fn spell_part(
        &self,
        piece: &[u8],
        cache: &mut Cache,
        bench: &mut Bench,
        scratch: &mut Scratch,
        out: &mut Vec<Token>,
    ) {
        let Bench { units, unit, .. } = bench;
        let part = if self.ignore_merges { PART } else { 0 };
        out.clear();
        units.clear();
        let mut at = 0;
        while at < piece.len() {
            let mut starts = [0; UNITS + 1];
            let (count, next) = self.cuts.units(piece, at, piece.len(), &mut starts[..UNITS]);
            starts[count] = next as u32;
            for pair in starts[..=count].windows(2) {
                let (start, end) = (pair[0] as usize, pair[1] as usize);
                let mut key = [0, 0];
                if end - start <= LONGEST_KEY {
                    key = key_of(&piece[start..end]);
                    key[1] |= part;
                }
                cache.prefetch(line_of(key, cache.shift()));
                units.push((key, start, end));
            }
            at = next;
        }
        for &(key, start, end) in &*units {
            let (bytes, start) = (&piece[start..end], start as u32);
            if key == [0, 0] {
                let first = out.len();
                self.rules.merge(bytes, scratch, out);
                out[first..].iter_mut().for_each(|token| token.start += start);
                continue;
            }
            match cache.find(key) {
                Some(lanes) if lanes.count() == 0 => {
                    out.extend(cache.spilled(&lanes).iter().map(|&lane| token_of(lane).from(start)));
                }
                Some(lanes) => out.extend((0..lanes.count()).map(|i| lanes.token(i).from(start))),
                None => {
                    unit.clear();
                    self.spell(bytes, Some(key), scratch, unit);
                    cache.insert(key, unit);
                    out.extend(unit.iter().map(|token| token.from(start)));
                }
            }
        }
    }

    /// Whether a piece is not cut: its parts may have other tokens than it has.
    #[inline]
    pub fn is_whole(&self, piece: &[u8]) -> bool {
        self.ignore_merges && (piece.len() <= LONGEST_KEY || self.vocabulary.whole_by_bytes(piece).is_some())
    }

    /// Whether a part of a piece may have other tokens than the same text as a piece.
    pub fn has_parts(&self) -> bool {
        self.ignore_merges
    }
}
