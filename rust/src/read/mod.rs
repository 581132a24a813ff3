//! What is large in a tokenizer file, read in one pass: a vocabulary, and merges as places in it.

mod json;
mod parts;
mod texts;

pub use parts::{every_way, read, Parts};
