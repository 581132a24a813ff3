//! What training counts: the pieces of a corpus, and the pairs of neighbours that merges are learnt from.

pub mod count;
pub mod cutting;
pub mod learn;
