//! The hot loops of arrowprep: text in Arrow buffers to token ids in Arrow buffers.
//!
//! The reference engine in Python defines every result; this crate equals it on every
//! input it takes, and takes only pipelines it knows. Its border is `ffi`, the rest is
//! safe to call from Rust: `tokenizer` puts the parts together.

#![cfg_attr(not(simd), allow(dead_code, unused_imports, unused_variables))] // what only code for vectors uses

pub mod added;
pub mod aligned;
pub mod arrow_lists;
pub mod batch;
pub mod bert;
pub mod bigrams;
pub mod cache;
mod characters;
pub mod cpu;
mod cut;
pub mod cuts;
pub mod decode;
pub mod ffi;
pub mod four;
pub mod frame;
pub mod grouped;
pub mod lines;
pub mod memory;
pub mod merge;
pub mod model;
pub mod models;
pub mod normal;
pub mod pairs;
pub mod queue;
pub mod read;
mod rooms;
pub mod spelling;
pub mod split;
pub mod steps;
mod threads;
mod tokenizer;
pub mod tokens;
pub mod train;
pub mod trie;
pub mod unicode;
mod unicode_runs;
mod utf8;
pub mod vocabulary;
