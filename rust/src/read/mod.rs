//! What is large in tokenizer files, read in one pass: vocabularies, and merges as places in them. A file a format.

mod json;
mod parts;
mod pieces;
mod ranks;
mod texts;

pub use parts::{every_way, read, Parts};
pub use pieces::read_pieces;
pub use ranks::{read_ranks, read_tekken};
