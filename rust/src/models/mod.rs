//! Models: what turns a piece into tokens, a file each.

mod byte_bpe;
mod character_bpe;
mod unigram;
mod words;

pub use byte_bpe::{Bench, ByteBpe};
pub use character_bpe::{spaced, CharacterBpe, Options, Unknown};
pub use unigram::{Best, Unigram};
pub use words::{Spelling, WordModel};
