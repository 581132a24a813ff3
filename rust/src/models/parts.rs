//! A model of what a file says of it: which of the kinds it is, and with which options.

use super::{Affixes, ByteBpe, CharacterBpe, Options, OverBytes, Spelling, Unigram, Unknown, WordModel};
use crate::bert::{Bert, Steps};
use crate::model::Kind;

const BYTES: u32 = 0;
const CHARACTERS: u32 = 1;
pub const UNIGRAM: u32 = 2;
const WORD_PIECE: u32 = 3;
const WORD_LEVEL: u32 = 4;

/// What a model is made of; the header says what of it each kind looks at.
///
/// ids, scores: one for each token. visible: what a space is in the vocabulary
pub struct Parts<'a> {
    pub kind: u32,
    pub options: u32,
    pub tokens: &'a [&'a [u8]],
    pub ids: &'a [u32],
    pub scores: &'a [f64],
    pub ways: &'a [[u32; 3]],
    pub visible: &'a [u8],
    pub affixes: Affixes<&'a [u8]>,
    /// the id, or what is done where there is none
    pub unknown: i64,
    pub longest: usize,
}

impl Parts<'_> {
    pub fn kind(&self) -> Result<Kind, String> {
        if self.kind == BYTES && self.affixes.forms() == 0 && ByteBpe::has_all_bytes(self.tokens) {
            let bpe = ByteBpe::new(self.tokens, self.ids, self.ways, self.flag(1))?;
            return Ok(Kind::Bytes(Box::new(bpe)));
        }
        let unknown = u32::try_from(self.unknown).ok();
        let model = match self.kind {
            BYTES | CHARACTERS => Kind::Characters(Box::new(self.character_bpe()?)),
            UNIGRAM => {
                let fallback = self.flag(4);
                let unigram = Unigram::new(self.tokens, self.scores, unknown, fallback, self.visible)?;
                Kind::Unigram(Box::new(unigram))
            }
            WORD_PIECE | WORD_LEVEL => {
                let spelling = match self.kind {
                    WORD_PIECE => Spelling::Pieces { longest: self.longest },
                    _ => Spelling::Level,
                };
                let bert = bert(self.options);
                let words = WordModel::new(self.tokens, self.ids, spelling, self.visible, unknown, bert)?;
                Kind::Words(Box::new(words))
            }
            kind => return Err(format!("there is no kind of model {kind}")),
        };
        Ok(if self.is_over_bytes() { Kind::OverBytes(Box::new(OverBytes::new(model))) } else { model })
    }

    fn character_bpe(&self) -> Result<CharacterBpe, String> {
        let options = Options {
            ignore_merges: self.flag(1),
            fuse_unknown: self.flag(2),
            byte_fallback: self.flag(4),
            unknown: match (u32::try_from(self.unknown), self.unknown) {
                (Ok(id), _) => Unknown::Token(id),
                (_, -1) => Unknown::Dropped,
                _ => Unknown::Missing,
            },
            visible: self.visible,
            affixes: self.affixes,
            may_be_cut: !self.is_over_bytes(),
        };
        CharacterBpe::new(self.tokens, self.ids, self.ways, options)
    }

    fn flag(&self, bit: u32) -> bool {
        self.options & bit != 0
    }

    /// Whether pieces are spelled with a character for each byte.
    fn is_over_bytes(&self) -> bool {
        self.kind == BYTES || self.flag(256)
    }
}

/// What normalizes and cuts words as BERT's, as the options of a model say.
pub fn bert(options: u32) -> Option<Bert> {
    let flag = |bit: u32| options & bit != 0;
    let steps = Steps { clean: flag(16), ideographs: flag(32), strip: flag(64), lower: flag(128) };
    flag(8).then(|| Bert::new(steps))
}
