//! BPE over characters, as SentencePiece's models and many small ones have it.

use super::affixes::{form, Affixes, Form, FORMS};
use super::Bench;
use crate::bigrams::{Bigrams, Neighbours};
use crate::cache::{bytes_of, Cache, Key};
use crate::merge::{Lane, Rules, Scratch, Token};
use crate::model::Spelled;
use crate::spelling::{self, Ways};
use crate::unicode::decode;
use crate::vocabulary::Vocabulary;

/// What a tokenizer file says beside tokens and merges.
///
/// visible: the character that stands for a space in the vocabulary; pieces have the space then,
/// and of the tokens the one with it is meant. Empty where a space is a space
/// may_be_cut: whether pieces come as they are in a text, whose characters are cut apart where no merge crosses
pub struct Options<'a> {
    pub unknown: Unknown,
    pub fuse_unknown: bool,
    pub byte_fallback: bool,
    pub ignore_merges: bool,
    pub visible: &'a [u8],
    pub affixes: Affixes<&'a [u8]>,
    pub may_be_cut: bool,
}

/// What becomes of a character that is no token and not spelled in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    Dropped,
    /// There is said to be a token for it, which is not in the vocabulary.
    Missing,
    Token(u32),
}

pub struct CharacterBpe {
    vocabulary: Vocabulary,
    rules: Rules,
    /// ids of the characters of ASCII in each form, or NONE
    ascii: Box<[[u32; 128]; FORMS]>,
    /// ids of the tokens <0x00> to <0xFF>, or NONE; all NONE where bytes are not fallen back to
    bytes: [u32; 256],
    visible: Vec<u8>,
    affixes: Affixes<Vec<u8>>,
    /// which forms differ
    forms: Form,
    unknown: Unknown,
    fuse_unknown: bool,
    ignore_merges: bool,
    /// None where a piece may not be cut
    pub bigrams: Option<Bigrams>,
}

const NONE: u32 = u32::MAX;

impl CharacterBpe {
    /// tokens with an id each; merges by rank. Says what is wrong where the kernel cannot take them.
    pub fn new(tokens: &[&[u8]], ids: &[u32], ways: Ways, options: Options) -> Result<Self, String> {
        let Options { visible, affixes, .. } = options;
        if [affixes.prefix, affixes.suffix].iter().any(|affix| changes(affix, visible)) {
            return Err("a prefix or suffix has what stands for a space".into());
        }
        let spell = |token: &[u8], out: &mut Vec<u8>| spaced(token, visible, out);
        let vocabulary = spelling::vocabulary(tokens, ids, spell)?;
        let mut neighbours = Neighbours::default();
        let may_be_cut = options.may_be_cut && affixes.forms() == 0 && !options.ignore_merges;
        let joins = spelling::joins(tokens, ids, ways, spell, |made| {
            neighbours.extend(pairs_of(made).filter(|_| may_be_cut));
        })?;
        let id = |token: &[u8]| vocabulary.find(token).unwrap_or(NONE);
        let byte = |byte: usize| match options.byte_fallback {
            true => id(format!("<0x{byte:02X}>").as_bytes()),
            false => NONE,
        };
        let (mut ascii, mut token) = (Box::new([[NONE; 128]; FORMS]), Vec::new());
        for form in (0..FORMS).filter(|form| form & affixes.forms() == *form) {
            for code in 0..128u8 {
                token.clear();
                affixes.write(form, &[code], &mut token);
                ascii[form][code as usize] = id(&token);
            }
        }
        let bytes = std::array::from_fn(byte);
        let joins_special = joins_special(&joins.pairs, &bytes, options.unknown);
        let mut bpe = CharacterBpe {
            bytes,
            rules: Rules::over_symbols(joins, &ascii[0])?,
            ascii,
            visible: if visible.is_empty() { b" " } else { visible }.to_vec(),
            affixes: affixes.owned(),
            forms: affixes.forms(),
            unknown: options.unknown,
            fuse_unknown: options.fuse_unknown,
            ignore_merges: options.ignore_merges,
            bigrams: None,
            vocabulary,
        };
        // with affixes a token depends on what else is in its piece
        if may_be_cut && !joins_special {
            let spells_all = bpe.bytes.iter().all(|&id| id != NONE);
            let singles = tokens.iter().filter_map(|token| only_character(token, visible));
            bpe.bigrams = Some(Bigrams::new(neighbours, (!spells_all).then_some(singles)));
        }
        Ok(bpe)
    }

    /// Append the tokens of a piece.
    pub fn spell(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) -> Spelled {
        if self.ignore_merges {
            if let Some(id) = self.vocabulary.find(piece) {
                out.push(Token { id, start: 0 });
                return Spelled::Whole;
            }
        }
        let first = out.len();
        let spelled = self.symbols(piece, out);
        let kept = self.rules.merge_tokens(&mut out[first..], scratch);
        out.truncate(first + kept);
        spelled
    }

    /// Work out short pieces, several at a time, and keep them in the cache: changes no result. Those that are not whole
    /// are left.
    pub fn learn(&self, unknown: &[Key], cache: &mut Cache, bench: &mut Bench) {
        let Bench { lanes, unit, .. } = bench;
        lanes.learn(&self.rules, unknown, cache, unit, |key, lane, symbols| self.lay_out(key, lane, symbols));
    }

    /// Put the symbols of a short piece into a lane; whether it is whole, and is merged.
    fn lay_out(&self, key: Key, lane: &mut Lane, symbols: &mut Vec<Token>) -> bool {
        let (bytes, len) = bytes_of(key);
        let piece = &bytes[..len];
        if self.ignore_merges && self.vocabulary.find(piece).is_some() {
            return false;
        }
        let is_known = |byte: &u8| self.ascii[0].get(*byte as usize).is_some_and(|&id| id != NONE);
        if self.forms == 0 && piece.iter().all(is_known) {
            self.rules.put_bytes(key, lane);
            return true;
        }
        symbols.clear();
        let is_whole = self.symbols(piece, symbols) == Spelled::Whole;
        if is_whole {
            self.rules.put_symbols(symbols, lane);
        }
        is_whole
    }

    /// The characters as tokens. Starts are counted by what is put out, as the reference does.
    fn symbols(&self, piece: &[u8], out: &mut Vec<Token>) -> Spelled {
        let mut spelled = Spelled::Whole;
        let (mut start, mut unknown) = (0, 0); // unknown: bytes that wait to be put out
        let (mut at, mut room) = (0, Vec::new());
        while at < piece.len() {
            let (code, len) = decode(piece, at);
            let character = &piece[at..at + len];
            let form = form(self.forms, piece, at, at + len);
            at += len;
            let id = match self.ascii[form].get(code as usize) {
                Some(&id) => id,
                None => self.vocabulary.find(self.formed(form, character, &mut room)).unwrap_or(NONE),
            };
            if id != NONE {
                if !self.put_unknown(&mut unknown, &mut start, out) {
                    return Spelled::Failed;
                }
                out.push(Token { id, start });
                start += len as u32;
                continue;
            }
            let bytes = if character == b" " { &self.visible } else { character };
            let bytes = self.formed(form, bytes, &mut room);
            if bytes.iter().all(|&byte| self.bytes[byte as usize] != NONE) {
                let starts = (0..).map(|i: u32| start + i.min(len as u32 - 1));
                out.extend(
                    bytes
                        .iter()
                        .zip(starts)
                        .map(|(&byte, start)| Token { id: self.bytes[byte as usize], start }),
                );
                start += len as u32;
                if unknown > 0 || bytes.len() > len {
                    // the unknown is put out behind these; a space begins at one place, three times
                    spelled = Spelled::Uneven;
                }
            } else if self.unknown == Unknown::Dropped {
                spelled = Spelled::Uneven; // what follows counts as if it had not been there
            } else {
                if unknown > 0 && !self.fuse_unknown && !self.put_unknown(&mut unknown, &mut start, out) {
                    return Spelled::Failed;
                }
                unknown += len as u32;
            }
        }
        if self.put_unknown(&mut unknown, &mut start, out) {
            spelled
        } else {
            Spelled::Failed
        }
    }

    /// A character as the vocabulary has it.
    #[inline(always)]
    fn formed<'t>(&self, form: Form, character: &'t [u8], room: &'t mut Vec<u8>) -> &'t [u8] {
        if form == 0 {
            return character;
        }
        room.clear();
        self.affixes.write(form, character, room);
        room
    }

    /// The unknown token for the bytes that wait; false where there is none.
    fn put_unknown(&self, unknown: &mut u32, start: &mut u32, out: &mut Vec<Token>) -> bool {
        if *unknown > 0 {
            let Unknown::Token(id) = self.unknown else { return false };
            out.push(Token { id, start: *start });
            *start += std::mem::take(unknown);
        }
        true
    }
}

/// Whether a rule is over the tokens of bytes or the unknown one: what these stand for is no text of theirs.
fn joins_special(rules: &[(u32, u32, u32)], bytes: &[u32; 256], unknown: Unknown) -> bool {
    let mut special: Vec<u32> = bytes.iter().copied().filter(|&id| id != NONE).collect();
    if let Unknown::Token(id) = unknown {
        special.push(id);
    }
    special.sort_unstable();
    let is_special = |id: &u32| special.binary_search(id).is_ok();
    rules.iter().any(|(left, right, _)| is_special(left) || is_special(right))
}

/// The characters that stand side by side in a text.
fn pairs_of(text: &[u8]) -> impl Iterator<Item = (char, char)> + '_ {
    let text = std::str::from_utf8(text).unwrap_or_default();
    text.chars().zip(text.chars().skip(1))
}

/// The character of texts that is all of a token.
fn only_character(token: &[u8], visible: &[u8]) -> Option<char> {
    if !visible.is_empty() && token == visible {
        return Some(' ');
    }
    if token.len() > 4 {
        return None; // bytes of a character
    }
    let mut characters = std::str::from_utf8(token).ok()?.chars();
    // no text has a space where something stands for it
    let is_found = |&first: &char| visible.is_empty() || first != ' ';
    characters.next().filter(is_found).filter(|_| characters.next().is_none())
}

/// Whether `spaced` would change or refuse a text.
fn changes(text: &[u8], visible: &[u8]) -> bool {
    !visible.is_empty() && (text.contains(&b' ') || crate::steps::find(text, visible, 0).is_some())
}

/// `token` with spaces in place of what stands for them; false where it has one already, which no text has.
pub fn spaced(token: &[u8], visible: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    if visible.is_empty() {
        out.extend_from_slice(token);
        return true;
    }
    let mut last = 0;
    while let Some(at) = crate::steps::find(token, visible, last) {
        out.extend_from_slice(&token[last..at]);
        out.push(b' ');
        last = at + visible.len();
    }
    out.extend_from_slice(&token[last..]);
    !token.contains(&b' ')
}
