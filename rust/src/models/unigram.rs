//! Unigram: the most likely way to spell a piece, given a score for each token.

use super::spaced;
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
        let byte = |byte: usize| match byte_fallback {
            true => trie.find(format!("<0x{byte:02X}>").as_bytes()).unwrap_or(NONE),
            false => NONE,
        };
        Ok(Unigram {
            bytes: std::array::from_fn(byte),
            unknown_score: scores.iter().copied().reduce(f64::min).unwrap_or(0.0) - UNKNOWN_PENALTY,
            scores: scores.to_vec(),
            unknown,
            visible: if visible.is_empty() { b" " } else { visible }.to_vec(),
            trie,
        })
    }

    /// Append the tokens of a piece.
    pub fn spell(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) -> Spelled {
        let best = &mut scratch.best;
        self.find_best(piece, best);
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
    fn find_best(&self, piece: &[u8], best: &mut Vec<Best>) {
        best.clear();
        best.resize(piece.len() + 1, Best { score: 0.0, start: UNREACHED, id: NONE });
        let mut start = 0;
        while start < piece.len() {
            let here = best[start].score;
            let single = start + decode(piece, start).1;
            let mut is_known = false;
            self.trie.each_start(&piece[start..], |length, id| {
                is_known |= start + length == single;
                offer(&mut best[start + length], here + self.scores[id as usize], start, id);
            });
            if !is_known {
                offer(&mut best[single], here + self.unknown_score, start, NONE);
            }
            start = single;
        }
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

#[inline(always)]
fn offer(place: &mut Best, score: f64, start: usize, id: u32) {
    if place.start == UNREACHED || score > place.score {
        *place = Best { score, start: start as u32, id };
    }
}
