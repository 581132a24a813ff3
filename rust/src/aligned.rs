//! A text that was changed, and the span of the original under each of its bytes.

use crate::unicode::{is_continuation, start_before};

/// The bytes [start, end) of the original text that a byte stands for; of characters that are only
/// touched all is meant.
pub type Span = (u32, u32);

/// A text as a step made it. spans: one for each byte, or none where nobody asks for places; led: in place of them, where
/// all that was done to the original is that something was put in front
#[derive(Default)]
pub struct Aligned {
    pub text: Vec<u8>,
    pub spans: Vec<Span>,
    led: Option<Led>,
}

/// What the bytes of a text stand for that is the original from `at` on behind `len` bytes, which stand for its first.
#[derive(Clone, Copy)]
pub struct Led {
    at: u32,
    len: u32,
}

impl Led {
    /// What text[start..stop] stands for, which is not empty.
    #[inline(always)]
    pub fn span(self, start: u32, stop: u32) -> Span {
        let Led { at, len } = self;
        (at + start.max(len) - len, at + stop.max(len + 1) - len)
    }
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
    Led(Led),
    Each(&'a [Span]),
}

impl<'a> View<'a> {
    pub fn slice(self, start: usize, stop: usize) -> View<'a> {
        let spans = match self.spans {
            Spans::Unknown => Spans::Unknown,
            Spans::Given(at) => Spans::Given(at + start as u32),
            Spans::Led(Led { at, len }) => match len.checked_sub(start as u32) {
                Some(len) => Spans::Led(Led { at, len }),
                None => Spans::Given(at + start as u32 - len),
            },
            Spans::Each(spans) => Spans::Each(&spans[start..stop]),
        };
        View { text: &self.text[start..stop], spans }
    }

    /// What text[start..stop], which is not empty, stands for; None where that is not known.
    pub fn span(self, start: usize, stop: usize) -> Option<Span> {
        match self.spans {
            Spans::Unknown => None,
            Spans::Given(at) => Some((at + start as u32, at + stop as u32)),
            Spans::Led(led) => Some(led.span(start as u32, stop as u32)),
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
        self.led = None;
    }

    pub fn view(&self) -> View<'_> {
        let spans = match self.led {
            Some(led) => Spans::Led(led),
            None if self.spans.is_empty() => Spans::Unknown,
            None => Spans::Each(&self.spans),
        };
        View { text: &self.text, spans }
    }

    /// Be `from`, which is not empty, behind `content`, which stands for its first character.
    pub fn lead(&mut self, content: &[u8], from: View) {
        if let Spans::Given(at) = from.spans {
            self.text.extend_from_slice(content);
            self.text.extend_from_slice(from.text);
            self.led = Some(Led { at, len: content.len() as u32 });
        } else {
            self.put(content, from.span(0, 1));
            self.keep(from, 0, from.text.len());
        }
    }

    /// Append from[start..stop] as it is.
    #[inline]
    pub fn keep(&mut self, from: View, start: usize, stop: usize) {
        self.text.extend_from_slice(&from.text[start..stop]);
        match from.spans {
            Spans::Unknown => {}
            Spans::Given(at) => self.spans.extend((at + start as u32..at + stop as u32).map(|i| (i, i + 1))),
            Spans::Led(led) => {
                self.spans.extend((start as u32..stop as u32).map(|byte| led.span(byte, byte + 1)))
            }
            Spans::Each(spans) => self.spans.extend_from_slice(&spans[start..stop]),
        }
    }

    /// Append bytes that all stand for the same.
    #[inline]
    pub fn put(&mut self, bytes: &[u8], span: Option<Span>) {
        self.text.extend_from_slice(bytes);
        self.stand(span);
    }

    /// What bytes without a span, the last of the text, all stand for.
    #[inline]
    pub fn stand(&mut self, span: Option<Span>) {
        if let Some(span) = span {
            self.spans.resize(self.text.len(), span);
        }
    }
}

/// Makes a text anew, character by character; each says what it is in place of, as in `Aligned.changed` of the
/// reference engine.
///
/// full: whether what is in place of several characters stands for all of them, not for the first.
/// at: where the first character of `from` is that nothing was put in place of yet
pub struct Rewriter<'v, 't> {
    from: View<'v>,
    to: &'t mut Aligned,
    full: bool,
    at: usize,
    /// where the last character begins in `to`, and its change
    last: Option<(usize, i32)>,
}

impl<'v, 't> Rewriter<'v, 't> {
    pub fn new(from: View<'v>, full: bool, to: &'t mut Aligned) -> Self {
        Rewriter { from, to, full, at: 0, last: None }
    }

    /// Append a character. change: 1 where it stands for what the character before it stands for; 0 in
    /// place of the next, -n of the n behind that too
    #[inline]
    pub fn put(&mut self, character: &[u8], change: i32) {
        if self.from.is_traced() {
            self.last = Some((self.to.text.len(), change));
            self.to.text.extend_from_slice(character);
            self.stand(change, 1 - change);
        } else {
            self.to.text.extend_from_slice(character);
        }
    }

    /// Append from[start..stop] as it is, each character in place of the next.
    pub fn keep(&mut self, start: usize, stop: usize) {
        if !self.from.is_traced() || (start == self.at && start < stop) {
            self.to.keep(self.from, start, stop);
            self.at = stop;
            self.last = start_before(&self.to.text, self.to.text.len()).map(|last| (last, 0));
            return;
        }
        let mut at = start;
        while at < stop {
            let next = forward(self.from.text, at, 1);
            self.put(&self.from.text[at..next], 0);
            at = next;
        }
    }

    /// Take so many more characters out behind the last one put; nothing notes that of the first.
    pub fn remove(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        if let Some((place, change)) = self.last.filter(|_| self.from.is_traced()) {
            let changed = change - count as i32;
            self.last = Some((place, changed));
            self.to.spans.truncate(place);
            self.at = if change > 0 { self.at } else { back(self.from.text, self.at, 1 - change) };
            self.stand(changed, 1 - changed);
        }
    }

    /// The span of the last character, which takes so many of `from`.
    fn stand(&mut self, change: i32, takes: i32) {
        let text = self.from.text;
        let first = if change > 0 { start_before(text, self.at) } else { Some(self.at) };
        let stop = forward(text, self.at, takes);
        let span = match first {
            None => self.from.span(0, 1).map(|(start, _)| (start, start)),
            Some(first) if self.full && takes > 0 => self.from.span(first, stop),
            Some(first) => self.from.span(first, forward(text, first, 1)),
        };
        self.at = stop;
        self.to.stand(span);
    }
}

/// The place so many characters further on.
fn forward(text: &[u8], mut at: usize, characters: i32) -> usize {
    for _ in 0..characters {
        at += 1;
        while at < text.len() && is_continuation(text[at]) {
            at += 1;
        }
    }
    at.min(text.len())
}

/// The place so many characters before.
fn back(text: &[u8], at: usize, characters: i32) -> usize {
    (0..characters).fold(at, |at, _| start_before(text, at).unwrap_or(0))
}
