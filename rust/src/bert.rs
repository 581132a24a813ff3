//! BERT's normalizer and pre-tokenizer: what each character is to them, and the words of a text.

use crate::normal::push_decomposed;
use crate::unicode::{by_code_point, decode, is_continuation};
use crate::unicode::{BLANK, DROPPED, IDEOGRAPH, NONSPACING, PUNCTUATION};
use crate::unicode_runs::{BERT, DECOMPOSITIONS, LOWERCASE};

// beside the bits of `BERT`
/// It may be another text once normalized.
const CHANGES: u8 = 32;

/// Where words may be cut before they are normalized: bits beside those.
pub const WHITE: u8 = 64;
/// A word by itself, whatever stands beside it.
pub const ALONE: u8 = 128;

const HANGUL: std::ops::Range<usize> = 0xac00..0xd7a4;

/// What the normalizer does, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// drops controls, and makes white space a space
    pub clean: bool,
    /// puts spaces around ideographs
    pub ideographs: bool,
    /// decomposes, and drops nonspacing marks
    pub strip: bool,
    pub lower: bool,
}

pub struct Bert {
    pub steps: Steps,
    table: Box<[u8]>,
}

/// The words of a piece, normalized.
///
/// sources: of each byte of `text`, where in the piece the character begins that it stands for,
/// and behind the first that does so, the place behind. even: whether every character of the piece
/// stands for something, in order
#[derive(Default)]
pub struct Words {
    pub text: Vec<u8>,
    pub sources: Vec<u32>,
    pub spans: Vec<(usize, usize)>,
    pub even: bool,
    parts: Vec<Part>,
    decomposed: Vec<(u32, u8)>,
    open: bool,
}

/// A character of the decomposed text, its combining class, and its source as above.
#[derive(Clone, Copy)]
struct Part {
    code: u32,
    class: u8,
    source: u32,
}

impl Bert {
    pub fn new(steps: Steps) -> Self {
        let mut table = by_code_point(BERT, |facts| facts | steps.cut(facts));
        if steps.strip {
            let mut parts = Vec::new();
            for &(code, ..) in DECOMPOSITIONS {
                parts.clear();
                push_decomposed(code, &mut parts);
                let facts = table[code as usize] & !(WHITE | ALONE);
                let mut kept =
                    parts.iter().map(|part| table[part.0 as usize]).filter(|f| f & NONSPACING == 0);
                let alone = steps.ideographs && facts & IDEOGRAPH != 0;
                let cut = match (kept.next(), kept.next()) {
                    _ if alone => ALONE,
                    (Some(only), None) => only & (WHITE | ALONE),
                    _ => 0,
                };
                table[code as usize] = facts | cut | CHANGES;
            }
            table[HANGUL].iter_mut().for_each(|facts| *facts |= CHANGES);
        }
        if steps.lower {
            LOWERCASE.iter().for_each(|&(code, ..)| table[code as usize] |= CHANGES);
        }
        Bert { steps, table }
    }

    /// WHITE, ALONE or neither, and other bits; of the character at `at`, with its length.
    #[inline(always)]
    pub fn at(&self, text: &[u8], at: usize) -> (u8, usize) {
        let (code, len) = decode(text, at);
        (self.table[code as usize], len)
    }

    /// The words of a piece. The piece is cut where no step sees across: beside white space, and
    /// around what is alone.
    pub fn words(&self, piece: &[u8], words: &mut Words) {
        words.clear();
        if piece.is_ascii() {
            for (at, &byte) in piece.iter().enumerate() {
                let facts = self.table[byte as usize];
                if self.steps.clean && facts & DROPPED != 0 {
                    words.even = false;
                } else {
                    let byte = if self.steps.lower { byte.to_ascii_lowercase() } else { byte };
                    words.put(facts, &[byte], at as u32);
                }
            }
            return words.finish();
        }
        let mut parts = std::mem::take(&mut words.parts);
        self.decompose(piece, words, &mut parts);
        for part in &parts {
            self.put(words, *part);
        }
        parts.clear();
        words.parts = parts;
        words.finish();
    }

    /// All characters up to the removal of marks.
    fn decompose(&self, piece: &[u8], words: &mut Words, parts: &mut Vec<Part>) {
        let mut at = 0;
        while at < piece.len() {
            let (mut code, len) = decode(piece, at);
            let facts = self.table[code as usize];
            let source = at as u32;
            at += len;
            if self.steps.clean && facts & DROPPED != 0 {
                words.even = false;
                continue;
            }
            if self.steps.clean && facts & BLANK != 0 {
                code = b' ' as u32;
            }
            let around = self.steps.ideographs && facts & IDEOGRAPH != 0;
            let space = Part { code: b' ' as u32, class: 0, source };
            if around {
                parts.push(space);
            }
            if self.steps.strip && code > 0x7f {
                words.decomposed.clear();
                push_decomposed(code, &mut words.decomposed);
                let whole = words.decomposed.iter().enumerate();
                parts.extend(whole.map(|(i, &(code, class))| Part {
                    code,
                    class,
                    source: source + (i > 0) as u32,
                }));
            } else {
                parts.push(Part { code, class: 0, source });
            }
            if around {
                parts.push(space);
            }
        }
        if self.steps.strip {
            for marks in parts.chunk_by_mut(|_, right| right.class != 0) {
                let first = (marks[0].class == 0) as usize; // a starter stays in front of its marks
                words.even &= marks[first..].is_sorted_by_key(|mark| mark.class);
                marks[first..].sort_by_key(|mark| mark.class);
            }
            let dropped = |part: &Part| self.table[part.code as usize] & NONSPACING != 0;
            // a mark that was in its character is no loss: the rest of it stands for all
            let lost = |part: &Part| dropped(part) && !is_continuation(piece[part.source as usize]);
            words.even &= !parts.iter().any(lost);
            parts.retain(|part| !dropped(part));
        }
    }

    fn put(&self, words: &mut Words, part: Part) {
        let facts = self.table[part.code as usize];
        let mut bytes = [0; 4];
        let mut encoded = |code: u32, source: u32, words: &mut Words| {
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            words.put(facts, character.encode_utf8(&mut bytes).as_bytes(), source);
        };
        if self.steps.lower && facts & CHANGES != 0 {
            if let Ok(i) = LOWERCASE.binary_search_by_key(&part.code, |entry| entry.0) {
                let (_, first, second) = LOWERCASE[i];
                encoded(first, part.source, words);
                if second != 0 {
                    encoded(second, part.source + 1, words);
                }
                return;
            }
        }
        encoded(part.code, part.source, words);
    }
}

impl Steps {
    fn cut(self, facts: u8) -> u8 {
        if self.clean && facts & DROPPED != 0 {
            0
        } else if facts & BLANK != 0 {
            WHITE
        } else if facts & PUNCTUATION != 0 || (self.ideographs && facts & IDEOGRAPH != 0) {
            ALONE
        } else {
            0
        }
    }
}

impl Words {
    fn clear(&mut self) {
        self.text.clear();
        self.sources.clear();
        self.spans.clear();
        (self.even, self.open) = (true, false);
    }

    /// A normalized character, by what was known of it.
    #[inline(always)]
    fn put(&mut self, facts: u8, character: &[u8], source: u32) {
        if facts & BLANK != 0 {
            self.open = false;
            return;
        }
        let start = self.text.len();
        self.text.extend_from_slice(character);
        self.sources.resize(self.text.len(), source);
        match self.spans.last_mut() {
            Some(span) if self.open && facts & PUNCTUATION == 0 => span.1 = self.text.len(),
            _ => self.spans.push((start, self.text.len())),
        }
        self.open = facts & PUNCTUATION == 0;
    }

    fn finish(&mut self) {
        self.even &= self.spans.len() < 2;
    }
}
