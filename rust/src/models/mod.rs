//! Models: what turns a piece into tokens, a file each.

mod byte_bpe;
mod character_bpe;

pub use byte_bpe::{Bench, ByteBpe};
pub use character_bpe::{spaced, CharacterBpe, Options, Unknown};
