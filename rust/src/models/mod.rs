//! Models: what turns a piece into tokens, a file each.

mod affixes;
mod byte_bpe;
mod character_bpe;
mod over_bytes;
mod parts;
mod placed;
mod short_words;
mod unigram;
mod unigram_parts;
mod words;

pub use affixes::Affixes;
pub use byte_bpe::{Bench, ByteBpe};
pub use character_bpe::{spaced, CharacterBpe, Options, Unknown};
pub use over_bytes::OverBytes;
pub use parts::{bert, Parts, UNIGRAM};
pub use unigram::{Best, Unigram};
pub use unigram_parts::KnownParts;
pub use words::{Spelling, WordModel};
