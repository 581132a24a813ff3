//! Unigram: the most likely way to spell a piece, given a score for each token.

use super::unigram_parts::{UnigramParts, LONGEST_CUT};
use super::{spaced, Bench};
use crate::cache::{bytes_of, key_of, Cache, Key, LONGEST_KEY};
use crate::merge::{Scratch, Token};
use crate::model::Spelled;
use crate::trie::{Trie, NONE};
use crate::unicode::decode;

/// Below the lowest score of the vocabulary; SentencePiece's.
const UNKNOWN_PENALTY: f64 = 10.0;

pub struct Unigram {
    trie: Trie,
    scores: Vec<f64>,
    unknown: Option<u32>,
    unknown_score: f64,
    /// ids of the tokens <0x00> to <0xFF>, or NONE; all NONE where bytes are not fallen back to
    bytes: [u32; 256],
    /// the character that stands for a space
    visible: Vec<u8>,
    /// ids of the characters of ASCII, or NONE
    ascii: [u32; 128],
    /// None where a piece may not be cut
    parts: Option<UnigramParts>,
}

/// The best way to a place of a piece: its score, and the last token of it.
///
/// start: where that begins; id: NONE for an unknown character
#[derive(Clone, Copy)]
pub struct Best {
    score: f64,
    start: u32,
    id: u32,
}

const UNREACHED: u32 = u32::MAX;

/// Places of a part of a piece where the best way to there is not the best for sure: a bit each.
type Unsure = [u64; 4];
/// No longer part is spelled for itself.
const LONGEST_PART: usize = 255;

impl Unigram {
    /// Tokens with a score each, in the order of ids; of equal ones the last counts.
    /// visible: as for BPE over characters. Says what is wrong where the kernel cannot take them.
    pub fn new(
        tokens: &[&[u8]],
        scores: &[f64],
        unknown: Option<u32>,
        byte_fallback: bool,
        visible: &[u8],
    ) -> Result<Self, String> {
        if scores.iter().any(|score| score.is_nan()) {
            return Err("a score is no number".into());
        }
        let mut data = Vec::with_capacity(tokens.iter().map(|token| token.len()).sum());
        let mut text = Vec::new();
        let mut spans = Vec::with_capacity(tokens.len());
        for (token, id) in tokens.iter().zip(0..) {
            if !token.is_empty() && spaced(token, visible, &mut text) {
                spans.push((data.len(), text.len(), id));
                data.extend_from_slice(&text);
            }
        }
        let strings: Vec<_> = spans.iter().map(|&(at, size, id)| (&data[at..at + size], id)).collect();
        let trie = Trie::new(&strings).ok_or("the vocabulary is too large")?;
        let unknown_score = scores.iter().copied().reduce(f64::min).unwrap_or(0.0) - UNKNOWN_PENALTY;
        let most = scores.iter().fold(unknown_score.abs(), |most, score| most.max(score.abs()));
        let is_known = |id: u32| Some(id) != unknown;
        let texts = strings.iter().map(|&(text, id)| (text, is_known(id)));
        let unknown_text = strings.iter().find(|string| !is_known(string.1)).map(|string| string.0);
        let parts = UnigramParts::new(texts, unknown_text, most);
        let byte = |byte: usize| match byte_fallback {
            true => trie.find(format!("<0x{byte:02X}>").as_bytes()).unwrap_or(NONE),
            false => NONE,
        };
        Ok(Unigram {
            bytes: std::array::from_fn(byte),
            unknown_score,
            parts,
            ascii: std::array::from_fn(|code| {
                trie.find(&[code as u8]).filter(|&id| is_known(id)).unwrap_or(NONE)
            }),
            scores: scores.to_vec(),
            unknown,
            visible: if visible.is_empty() { b" " } else { visible }.to_vec(),
            trie,
        })
    }

    /// Append the tokens of a piece.
    pub fn spell(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) -> Spelled {
        self.find_best::<false>(piece, &mut scratch.best);
        self.follow(piece, &scratch.best, out)
    }

    /// The tokens of a piece in the place of what `out` has, by its parts, most of which came by before.
    pub fn spell_by_parts(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) -> Spelled {
        out.clear();
        let Some(parts) = self.parts.as_ref().filter(|_| piece.len() <= LONGEST_CUT) else {
            return self.spell(piece, scratch, out);
        };
        let mut start = 0;
        while start < piece.len() {
            let stop = parts.end(piece, start);
            let (part, first) = (&piece[start..stop], out.len());
            if part.len() == piece.len() || !self.put_part(part, scratch, out) {
                out.clear();
                return self.spell(piece, scratch, out);
            }
            out[first..].iter_mut().for_each(|token| token.start += start as u32);
            start = stop;
        }
        Spelled::Whole
    }

    /// Append the tokens of a part of a piece; false where it is not sure that they are its tokens there.
    #[inline(always)]
    fn put_part(&self, part: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) -> bool {
        if let &[byte @ ..=127] = part {
            let id = self.ascii[byte as usize];
            if id != NONE {
                out.push(Token { id, start: 0 });
                return true;
            }
        }
        if part.len() > LONGEST_KEY {
            return part.len() <= LONGEST_PART && self.spell_part(part, scratch, out);
        }
        let key = key_of(part);
        if scratch.parts.put(key, out) {
            return true;
        }
        let first = out.len();
        let is_sure = self.spell_part(part, scratch, out);
        if is_sure {
            scratch.parts.keep(key, &out[first..]);
        }
        is_sure
    }

    /// The same without what came by before.
    #[inline(never)]
    fn spell_part(&self, part: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) -> bool {
        let unsure = self.find_best::<true>(part, &mut scratch.best);
        is_sure(&unsure, part, &scratch.best) && self.follow(part, &scratch.best, out) == Spelled::Whole
    }

    /// Work out short pieces, and keep them in the cache: changes no result. Those that are not whole are left.
    pub fn learn(&self, unknown: &[Key], cache: &mut Cache, bench: &mut Bench, scratch: &mut Scratch) {
        for &key in unknown {
            let (bytes, len) = bytes_of(key);
            if !cache.has(key)
                && self.spell_by_parts(&bytes[..len], scratch, &mut bench.unit) == Spelled::Whole
            {
                cache.insert(key, &bench.unit);
            }
        }
    }

    /// Append the tokens of the best way to spell a piece.
    fn follow(&self, piece: &[u8], best: &[Best], out: &mut Vec<Token>) -> Spelled {
        let first = out.len();
        let mut spelled = Spelled::Whole;
        let mut stop = piece.len();
        while stop > 0 {
            let place = best[stop];
            let mut start = place.start as usize;
            if self.is_known(place.id) {
                out.push(Token { id: place.id, start: place.start });
            } else {
                while start > 0 && !self.is_known(best[start].id) {
                    start = best[start].start as usize;
                }
                match self.put_unknown(&piece[start..stop], start as u32, out) {
                    Spelled::Whole => {}
                    Spelled::Uneven => spelled = Spelled::Uneven,
                    Spelled::Failed => return Spelled::Failed,
                }
            }
            stop = start;
        }
        out[first..].reverse();
        spelled
    }

    fn is_known(&self, id: u32) -> bool {
        id != NONE && Some(id) != self.unknown
    }

    /// Viterbi over the ends of tokens; of equal ways the one found first. Source: Kudo (2018).
    /// SURE: whether to say where it is not sure, of a piece of at most LONGEST_PART bytes
    fn find_best<const SURE: bool>(&self, piece: &[u8], best: &mut Vec<Best>) -> Unsure {
        let mut unsure = [0; 4];
        let parts = self.parts.as_ref().filter(|_| SURE);
        let mut reach = |best: &mut [Best], end: usize, score: f64, start: usize, id: u32| {
            if let Some(parts) = parts.filter(|_| best[end].start != UNREACHED) {
                if parts.is_close(score, best[end].score) {
                    unsure[end / 64] |= 1 << (end % 64);
                } else if score > best[end].score {
                    unsure[end / 64] &= !(1 << (end % 64));
                }
            }
            offer(&mut best[end], score, start, id);
        };
        best.clear();
        best.resize(piece.len() + 1, Best { score: 0.0, start: UNREACHED, id: NONE });
        let mut start = 0;
        while start < piece.len() {
            let here = best[start].score;
            let single = start + decode(piece, start).1;
            let mut is_known = false;
            self.trie.each_start(&piece[start..], |length, id| {
                is_known |= start + length == single;
                reach(best, start + length, here + self.scores[id as usize], start, id);
            });
            if !is_known {
                reach(best, single, here + self.unknown_score, start, NONE);
            }
            start = single;
        }
        unsure
    }

    /// The tokens of a stretch of unknown characters, the last one first.
    fn put_unknown(&self, text: &[u8], start: u32, out: &mut Vec<Token>) -> Spelled {
        if let Some(id) = self.trie.find(text) {
            out.push(Token { id, start });
            return Spelled::Whole;
        }
        let first = out.len();
        for byte in text.iter().rev() {
            let bytes = if *byte == b' ' { self.visible.as_slice() } else { std::slice::from_ref(byte) };
            out.extend(bytes.iter().rev().map(|&byte| Token { id: self.bytes[byte as usize], start }));
        }
        if out[first..].iter().all(|token| token.id != NONE) {
            // each of several stands for the whole stretch
            return if out.len() - first > 1 { Spelled::Uneven } else { Spelled::Whole };
        }
        out.truncate(first);
        let Some(id) = self.unknown else { return Spelled::Failed };
        out.push(Token { id, start });
        Spelled::Whole
    }
}

/// Whether each choice on the best way was sure.
fn is_sure(unsure: &Unsure, part: &[u8], best: &[Best]) -> bool {
    let mut at = part.len();
    while at > 0 && unsure[at / 64] >> (at % 64) & 1 == 0 {
        at = best[at].start as usize;
    }
    at == 0
}

#[inline(always)]
fn offer(place: &mut Best, score: f64, start: usize, id: u32) {
    if place.start == UNREACHED || score > place.score {
        *place = Best { score, start: start as u32, id };
    }
}
