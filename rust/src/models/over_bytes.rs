//! A model of characters behind a byte-level pre-tokenizer: its pieces are bytes, and it sees the characters that
//! spell them.

use crate::merge::{Scratch, Token};
use crate::model::{Kind, Spelled};
use crate::spelling::write_spelled;

pub struct OverBytes {
    model: Kind,
}

impl OverBytes {
    pub fn new(model: Kind) -> Self {
        OverBytes { model }
    }

    /// Append the tokens of a piece.
    pub fn spell(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) -> Spelled {
        let room = 2 * piece.len();
        let (mut text, mut sources) = (Vec::with_capacity(room), Vec::with_capacity(room));
        for (&byte, place) in piece.iter().zip(0..) {
            write_spelled(byte, &mut text);
            sources.resize(text.len(), place);
        }
        let spelled = self.model.spell(&text, None, scratch, out);
        for token in &mut *out {
            token.start = sources.get(token.start as usize).copied().unwrap_or_default();
        }
        // of tokens for the bytes of one character none is at a place of its own
        let is_even = out.windows(2).all(|pair| pair[0].start < pair[1].start);
        match spelled {
            Spelled::Whole if !is_even => Spelled::Uneven,
            other => other,
        }
    }
}
