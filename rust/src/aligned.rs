//! A text that was changed, and the span of the original under each of its bytes.

/// The bytes [start, end) of the original text that a byte stands for; of characters that are only
/// touched all is meant.
pub type Span = (u32, u32);

/// A text as a step made it. spans: one for each byte, or none where nobody asks for places
#[derive(Default)]
pub struct Aligned {
    pub text: Vec<u8>,
    pub spans: Vec<Span>,
}

/// A part of a text, borrowed.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub text: &'a [u8],
    pub spans: Spans<'a>,
}

/// What the bytes of a text stand for.
#[derive(Clone, Copy)]
pub enum Spans<'a> {
    /// Nobody asks, or nobody knows.
    Unknown,
    /// Themselves: the text is the original from here on.
    Given(u32),
    Each(&'a [Span]),
}

impl<'a> View<'a> {
    pub fn slice(self, start: usize, stop: usize) -> View<'a> {
        let spans = match self.spans {
            Spans::Unknown => Spans::Unknown,
            Spans::Given(at) => Spans::Given(at + start as u32),
            Spans::Each(spans) => Spans::Each(&spans[start..stop]),
        };
        View { text: &self.text[start..stop], spans }
    }

    /// What text[start..stop], which is not empty, stands for; None where that is not known.
    pub fn span(self, start: usize, stop: usize) -> Option<Span> {
        match self.spans {
            Spans::Unknown => None,
            Spans::Given(at) => Some((at + start as u32, at + stop as u32)),
            Spans::Each(spans) => Some((spans.get(start)?.0, spans[stop - 1].1)),
        }
    }

    pub fn is_traced(self) -> bool {
        !matches!(self.spans, Spans::Unknown)
    }
}

impl Aligned {
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    pub fn view(&self) -> View<'_> {
        let spans = if self.spans.is_empty() { Spans::Unknown } else { Spans::Each(&self.spans) };
        View { text: &self.text, spans }
    }

    /// Append from[start..stop] as it is.
    #[inline]
    pub fn keep(&mut self, from: View, start: usize, stop: usize) {
        self.text.extend_from_slice(&from.text[start..stop]);
        match from.spans {
            Spans::Unknown => {}
            Spans::Given(at) => self.spans.extend((at + start as u32..at + stop as u32).map(|i| (i, i + 1))),
            Spans::Each(spans) => self.spans.extend_from_slice(&spans[start..stop]),
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
