//! A text that was changed, and the span of the original under each of its bytes.

use crate::unicode::is_continuation;

/// The bytes [start, end) of the original text that a byte stands for: those of whole characters.
pub type Span = (u32, u32);

/// A text as a step made it. spans: one for each byte, or none where nobody asks for places
#[derive(Default)]
pub struct Aligned {
    pub text: Vec<u8>,
    pub spans: Vec<Span>,
}

/// A part of a text, borrowed. spans: as in `Aligned`
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub text: &'a [u8],
    pub spans: &'a [Span],
}

impl<'a> View<'a> {
    pub fn slice(self, start: usize, stop: usize) -> View<'a> {
        let spans = if self.spans.is_empty() { self.spans } else { &self.spans[start..stop] };
        View { text: &self.text[start..stop], spans }
    }

    /// What text[start..stop], which is not empty, stands for; None where nobody asks.
    pub fn span(self, start: usize, stop: usize) -> Option<Span> {
        Some((self.spans.get(start)?.0, self.spans[stop - 1].1))
    }
}

impl Aligned {
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    pub fn view(&self) -> View<'_> {
        View { text: &self.text, spans: &self.spans }
    }

    /// The text as it was given. at: where it begins in the original
    pub fn original(&mut self, text: &[u8], at: usize) {
        self.clear();
        self.text.extend_from_slice(text);
        let mut start = 0;
        for i in 1..=text.len() {
            if i == text.len() || !is_continuation(text[i]) {
                self.spans.resize(i, ((at + start) as u32, (at + i) as u32));
                start = i;
            }
        }
    }

    /// Append from[start..stop] as it is.
    #[inline]
    pub fn keep(&mut self, from: View, start: usize, stop: usize) {
        self.text.extend_from_slice(&from.text[start..stop]);
        if !from.spans.is_empty() {
            self.spans.extend_from_slice(&from.spans[start..stop]);
        }
    }

    /// Append bytes that all stand for the same.
    #[inline]
    pub fn put(&mut self, bytes: &[u8], span: Option<Span>) {
        self.text.extend_from_slice(bytes);
        if let Some(span) = span {
            self.spans.resize(self.text.len(), span);
        }
    }
}
