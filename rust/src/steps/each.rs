//! Steps that do something to each character by itself.

use crate::aligned::{Aligned, Span, View};
use crate::unicode::{self, character, decode, Characters, CHANGED, KNOWN_TO_BERT};
use crate::unicode_runs::LOWERCASE;

/// What becomes of characters, by bits that a table has of each.
pub struct Each {
    table: &'static Characters,
    /// taken out
    dropped: u8,
    /// a space in their place
    blank: u8,
    /// with a space on both sides
    apart: u8,
    /// in lower case
    lowered: u8,
}

const AT_ONCE: usize = 32;

impl Each {
    /// What does nothing yet.
    fn leaving(table: &'static Characters) -> Each {
        Each { table, dropped: 0, blank: 0, apart: 0, lowered: 0 }
    }

    /// From the number that the border uses: 1 lower case, 2 no marks, 3 as Nmt, 4 as BERT cleans,
    /// 5 ideographs apart, 6 no nonspacing marks.
    pub fn from_number(number: u32) -> Option<Each> {
        let (others, bert) = (Each::leaving(&CHANGED), Each::leaving(&KNOWN_TO_BERT));
        Some(match number {
            1 => Each { lowered: unicode::LOWERED, ..others },
            2 => Each { dropped: unicode::STRIPPED, ..others },
            3 => Each { dropped: unicode::NMT_DROPPED, blank: unicode::NMT_BLANK, ..others },
            4 => Each { dropped: unicode::DROPPED, blank: unicode::BLANK, ..bert },
            5 => Each { apart: unicode::IDEOGRAPH, ..bert },
            6 => Each { dropped: unicode::NONSPACING, ..bert },
            _ => return None,
        })
    }

    pub fn leaves(&self, text: &[u8]) -> bool {
        !(self.lowered != 0 && has_upper(text)) && self.next(text, 0).is_none()
    }

    /// All characters of a text, each in its place or what becomes of it, which stands for the same.
    pub fn apply(&self, from: View, to: &mut Aligned) {
        let mut kept = 0;
        while let Some((at, len, facts)) = self.next(from.text, kept) {
            to.keep(from, kept, at);
            kept = at + len;
            let span = from.span(at, kept);
            if facts & self.dropped != 0 {
                continue; // some of these are white space too
            }
            if facts & self.blank != 0 {
                to.put(b" ", span);
            } else if facts & self.apart != 0 {
                to.put(b" ", span);
                to.put(&from.text[at..kept], span);
                to.put(b" ", span);
            } else if facts & self.lowered != 0 {
                put_lower(decode(from.text, at).0, span, to);
            }
        }
        to.keep(from, kept, from.text.len());
        if self.lowered != 0 {
            to.text.make_ascii_lowercase(); // all at once: `next` passes over letters of ASCII
        }
    }

    /// The next character to which something is done, its bytes, and what; capital letters of ASCII apart.
    fn next(&self, text: &[u8], mut at: usize) -> Option<(usize, usize, u8)> {
        let any = self.dropped | self.blank | self.apart | self.lowered;
        while at < text.len() {
            if let Some(some) = text.get(at..at + AT_ONCE) {
                // printable ASCII is left alone by all
                if some.iter().fold(0, |any, &byte| any | (byte.wrapping_sub(0x20) > 0x5e) as u8) == 0 {
                    at += AT_ONCE;
                    continue;
                }
            }
            let stop = text.len().min(at + AT_ONCE);
            while at < stop {
                if (0x20..0x7f).contains(&text[at]) {
                    at += 1;
                    continue;
                }
                let (code, len) = decode(text, at);
                let facts = self.table.of(code) & any;
                if facts != 0 {
                    return Some((at, len, facts));
                }
                at += len;
            }
        }
        None
    }
}

/// Whether there is a capital letter of ASCII.
fn has_upper(text: &[u8]) -> bool {
    let upper = |some: &[u8]| some.iter().fold(0, |any, byte| any | byte.is_ascii_uppercase() as u8) != 0;
    text.chunks(4 * AT_ONCE).any(upper)
}

fn put_lower(code: u32, span: Option<Span>, to: &mut Aligned) {
    let Ok(i) = LOWERCASE.binary_search_by_key(&code, |entry| entry.0) else { return };
    let (_, first, second) = LOWERCASE[i];
    for code in [first, second].into_iter().take(1 + (second != 0) as usize) {
        to.put(character(code).encode_utf8(&mut [0; 4]).as_bytes(), span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned::Spans;

    fn made(number: u32, text: &str) -> (String, Vec<(u32, u32)>) {
        let each = Each::from_number(number).unwrap();
        let mut out = Aligned::default();
        each.apply(View { text: text.as_bytes(), spans: Spans::Given(0) }, &mut out);
        assert_eq!(each.leaves(text.as_bytes()), out.text == text.as_bytes(), "{text:?}");
        assert_eq!(out.spans.len(), out.text.len());
        (String::from_utf8(out.text).unwrap(), out.spans)
    }

    #[test]
    fn each_character_becomes_what_the_number_says() {
        assert_eq!(made(1, "aBİΣ").0, "abi\u{307}σ");
        assert_eq!(made(2, "a\u{301}é\u{20dd}").0, "aé");
        assert_eq!(made(3, "a\u{1}\tb\u{feff}").0, "a b ");
        assert_eq!(made(4, "a\u{0}\u{b}\u{ad}\t中\u{fffd}").0, "a 中");
        assert_eq!(made(5, "a中b").0, "a 中 b");
        assert_eq!(made(6, "a\u{301}é\u{20dd}\u{903}").0, "aé\u{20dd}\u{903}");
    }

    #[test]
    fn what_stands_for_a_character_has_its_place() {
        assert_eq!(made(5, "a中").1, [(0, 1), (1, 4), (1, 4), (1, 4), (1, 4), (1, 4)]);
        assert_eq!(made(1, "İ").1, [(0, 2); 3]);
        assert_eq!(made(2, "a\u{301}b").1, [(0, 1), (3, 4)]);
    }

    #[test]
    fn letters_are_found_wherever_they_stand() {
        for at in 0..140 {
            let text = "x".repeat(at) + "É" + &"y".repeat(at % 7);
            assert_eq!(made(1, &text).0, text.to_lowercase());
            let text = "x".repeat(at) + "Q" + &"y".repeat(at % 7);
            assert_eq!(made(1, &text).0, text.to_lowercase());
        }
    }
}
