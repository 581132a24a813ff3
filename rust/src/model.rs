//! A model: how pieces become tokens, and the spaces that remember what became of them.

use crate::cache::{bytes_of, Cache, Key};
use crate::merge::{Scratch, Token};
use crate::models::{Bench, ByteBpe, CharacterBpe, OverBytes, Unigram, WordModel};
use crate::rooms::Rooms;
use crate::tokenizer::Space;
use std::sync::{Arc, Mutex};

/// How pieces become tokens. Every kind gives a piece the same tokens wherever it stands.
pub enum Kind {
    Bytes(Box<ByteBpe>),
    Characters(Box<CharacterBpe>),
    Unigram(Box<Unigram>),
    Words(Box<WordModel>),
    OverBytes(Box<OverBytes>),
}

/// Whether the tokens of a piece were found, and cover it one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelled {
    Whole,
    /// The tokens are right, where they begin and end is not.
    Uneven,
    /// It cannot be spelled, which is an error that the caller words.
    Failed,
}

impl Kind {
    /// Where pieces may be cut before their tokens are asked for.
    pub fn cutting(&self) -> Option<&ByteBpe> {
        match self {
            Kind::Bytes(bpe) => Some(bpe),
            _ => None,
        }
    }

    /// Work out short pieces that are not known, and keep them in the cache. `unknown` is used up.
    ///
    /// Changes no result, for what is kept may be lost again, and what is not whole is left: it only makes asking
    /// for one rare.
    pub fn learn(&self, unknown: &mut Vec<Key>, cache: &mut Cache, bench: &mut Bench, scratch: &mut Scratch) {
        match self {
            Kind::Bytes(bpe) => bpe.learn(unknown, cache, bench),
            Kind::Characters(bpe) => bpe.learn(unknown, cache, bench),
            Kind::Unigram(unigram) => unigram.learn(unknown, cache, bench, scratch),
            Kind::Words(words) => {
                words.learn(unknown, cache, bench);
                self.learn_one_by_one(unknown, cache, bench, scratch);
            }
            _ => self.learn_one_by_one(unknown, cache, bench, scratch),
        }
    }

    fn learn_one_by_one(&self, unknown: &[Key], cache: &mut Cache, bench: &mut Bench, scratch: &mut Scratch) {
        for &key in unknown {
            let (bytes, len) = bytes_of(key);
            if !cache.has(key)
                && self.spell(&bytes[..len], Some(key), scratch, &mut bench.unit) == Spelled::Whole
            {
                cache.insert(key, &bench.unit);
            }
        }
    }

    /// The same of a long piece.
    pub fn spell_long(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) -> Spelled {
        match self {
            Kind::Unigram(unigram) => unigram.spell_by_parts(piece, scratch, out),
            kind => kind.spell(piece, None, scratch, out),
        }
    }

    /// The tokens of a piece, in the place of what `out` has. key: its key, where it is short
    pub fn spell(
        &self,
        piece: &[u8],
        key: Option<Key>,
        scratch: &mut Scratch,
        out: &mut Vec<Token>,
    ) -> Spelled {
        out.clear();
        match self {
            Kind::Bytes(bpe) => {
                bpe.spell(piece, key, scratch, out);
                Spelled::Whole
            }
            Kind::Characters(bpe) => bpe.spell(piece, scratch, out),
            Kind::Unigram(unigram) => unigram.spell(piece, scratch, out),
            Kind::Words(words) => words.spell(piece, &mut scratch.words, out),
            Kind::OverBytes(model) => model.spell(piece, scratch, out),
        }
    }
}

/// A kind of model with its vocabulary, and what threads that use it work in.
pub struct Model {
    pub kind: Kind,
    pub rooms: Arc<Rooms>,
    spaces: Mutex<Vec<Box<Space>>>,
    cache_limit: usize,
}

/// How many spaces a model keeps between calls: as many threads start warm.
const SPACES: usize = 4;

impl Model {
    /// cache_limit: bytes of all caches together
    pub fn new(kind: Kind, cache_limit: usize) -> Self {
        let rooms = Arc::new(Rooms::new(cache_limit / 2));
        Model { kind, rooms, spaces: Mutex::default(), cache_limit: cache_limit / SPACES }
    }

    /// What one thread works with; with a warm cache when there is one.
    ///
    /// The lock is only tried: where another thread holds it, or held it in the process
    /// that this one was forked from, a new one does as well.
    pub fn take_space(&self) -> Box<Space> {
        let kept = self.spaces.try_lock().ok().and_then(|mut spaces| spaces.pop());
        kept.unwrap_or_else(|| Box::new(Space::new(self.cache_limit)))
    }

    /// What several threads work with. Where fewer are kept than there are threads, the others begin with a copy of one's
    /// cache, so that no thread has to learn what another knows; those that are too many to be kept begin with nothing.
    pub fn take_spaces(&self, count: usize) -> Vec<Box<Space>> {
        let mut spaces = vec![self.take_space()];
        while spaces.len() < count {
            let kept = self.spaces.try_lock().ok().and_then(|mut spaces| spaces.pop());
            let space = kept.unwrap_or_else(|| {
                let is_kept = spaces.len() < SPACES;
                Box::new(if is_kept { spaces[0].with_a_copy() } else { Space::new(self.cache_limit) })
            });
            spaces.push(space);
        }
        spaces
    }

    pub fn return_space(&self, space: Box<Space>) {
        if let Ok(mut spaces) = self.spaces.try_lock() {
            if spaces.len() < SPACES {
                spaces.push(space);
            }
        }
    }
}
