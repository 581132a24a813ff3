//! Unicode's normal forms by the tables of the reference engine (Unicode 9.0): whether a text has one, and how it is then.

use crate::aligned::{Aligned, Rewriter, View};
use crate::unicode::{self, character, decode, start_before, Characters, CHANGED, CHARACTERS, UNSTABLE};
use crate::unicode_runs::{COMBINING, COMPATIBLE, COMPATIBLE_PARTS, COMPOSITIONS, DECOMPOSITIONS};

// Hangul syllables: arithmetic of the Unicode Standard, section 3.12
const S_BASE: u32 = 0xac00;
const L_BASE: u32 = 0x1100;
const V_BASE: u32 = 0x1161;
const T_BASE: u32 = 0x11a7;
const L_COUNT: u32 = 19;
const V_COUNT: u32 = 21;
const T_COUNT: u32 = 28;
const S_COUNT: u32 = L_COUNT * V_COUNT * T_COUNT;

/// One of the forms.
///
/// compose: whether decomposed characters are put together again; compatible: whether compatibility characters
/// (ligatures, widths, circles) are decomposed
pub struct Form {
    compose: bool,
    compatible: bool,
    /// of code points: whether `unstable` is set where a character may change, or change another
    table: &'static Characters,
    unstable: u8,
}

impl Form {
    pub fn new(compose: bool, compatible: bool) -> Form {
        let (table, unstable) = match (compose, compatible) {
            (true, false) => (&CHARACTERS, UNSTABLE),
            (true, true) => (&CHANGED, unicode::NFKC_UNSTABLE),
            (false, false) => (&CHANGED, unicode::NFD_UNSTABLE),
            (false, true) => (&CHANGED, unicode::NFKD_UNSTABLE),
        };
        Form { compose, compatible, table, unstable }
    }

    /// Whether no character of `text` can change, nor change another.
    pub fn leaves(&self, text: &[u8]) -> bool {
        self.unstable(text, 0).is_none()
    }

    /// Write the form of a text; whether it differs from it.
    ///
    /// Only runs of unstable characters are worked on, to compose each with the character before it:
    /// one that is not unstable is no mark and joins nothing to its left.
    pub fn apply(&self, from: View, full: bool, to: &mut Aligned) -> bool {
        let text = from.text;
        let mut out = Rewriter::new(from, full, to);
        let mut last = 0;
        let mut window = Vec::new();
        while let Some((found, len)) = self.unstable(text, last) {
            let before = if self.compose { start_before(text, found) } else { None };
            let start = before.map_or(found, |start| start.max(last));
            let mut stop = found + len;
            while stop < text.len() {
                let (is_unstable, len) = self.at(text, stop);
                if !is_unstable {
                    break;
                }
                stop += len;
            }
            out.keep(last, start);
            self.decompose(&text[start..stop], &mut window);
            let made = if self.compose { compose(&mut window) } else { &window };
            for part in made {
                out.put(character(part.code).encode_utf8(&mut [0; 4]).as_bytes(), part.change);
            }
            last = stop;
        }
        out.keep(last, text.len());
        to.text != text
    }

    #[inline(always)]
    fn at(&self, text: &[u8], at: usize) -> (bool, usize) {
        let (code, len) = decode(text, at);
        (self.table.of(code) & self.unstable != 0, len)
    }

    /// Where the first character of `text` from `at` on is that may change, or change another, and its bytes.
    fn unstable(&self, text: &[u8], mut at: usize) -> Option<(usize, usize)> {
        while let Some(some) = text.get(at..at + AT_ONCE + 2) {
            let highest = some.iter().fold(0, |highest, &byte| byte.max(highest));
            let suspect = if self.compose && !self.compatible {
                // the first question alone answers most of Latin text, and costs a tenth of the second
                let bytes = some.iter().zip(&some[1..]).zip(&some[2..]);
                highest >= 0xcc && bytes.fold(0, |any, ((&a, &b), &c)| any | is_suspect(a, b, c) as u8) != 0
            } else {
                highest >= 0x80
            };
            if suspect {
                let found = self.unstable_within(text, at, at + AT_ONCE);
                if found.is_some() {
                    return found;
                }
            }
            at += AT_ONCE;
        }
        self.unstable_within(text, at, text.len())
    }

    fn unstable_within(&self, text: &[u8], start: usize, stop: usize) -> Option<(usize, usize)> {
        let characters = (start..stop).filter(|&at| text[at] >= 0xc2).map(|at| (at, self.at(text, at)));
        let mut unstable = characters.filter(|(_, (is_unstable, _))| *is_unstable);
        unstable.next().map(|(at, (_, len))| (at, len))
    }

    /// All characters decomposed as far as they go, marks in canonical order.
    fn decompose(&self, text: &[u8], out: &mut Vec<Part>) {
        out.clear();
        let mut at = 0;
        let mut parts = Vec::new();
        while at < text.len() {
            let (code, len) = decode(text, at);
            parts.clear();
            match COMPATIBLE.binary_search_by_key(&code, |entry| entry.0) {
                Ok(i) if self.compatible => {
                    let (_, place, count) = COMPATIBLE[i];
                    let codes = &COMPATIBLE_PARTS[place as usize..][..count as usize];
                    parts.extend(codes.iter().map(|&code| (code, combining(code))));
                }
                _ => push_decomposed(code, &mut parts),
            }
            let changes = std::iter::once(0).chain(std::iter::repeat(1));
            let part = |(&(code, class), change): (&Classed, i32)| Part { code, class, change };
            out.extend(parts.iter().zip(changes).map(part));
            at += len;
        }
        for marks in out.chunk_by_mut(|_, right| right.class != 0) {
            let first = (marks[0].class == 0) as usize; // a starter stays in front of its marks
            marks[first..].sort_by_key(|mark| mark.class);
        }
    }
}

const AT_ONCE: usize = 64;

/// Whether a character may be unstable whose bytes begin so; the last byte does not matter in all.
///
/// Said of what much text has, in comparisons alone, so that it is asked of many places
/// at once: nothing below U+0300 is unstable, little of Chinese, Japanese and Korean.
#[inline(always)]
fn is_suspect(first: u8, second: u8, third: u8) -> bool {
    let within = |byte: u8, low: u8, high: u8| byte.wrapping_sub(low) <= high - low;
    let quotes = (first == 0xe2) & (second == 0x80) & (third > 0x81);
    let punctuation = (first == 0xe3) & (second == 0x80) & (third < 0xaa);
    let kana = (first == 0xe3) & within(second, 0x81, 0x83) & !within(third, 0x99, 0x9a);
    let ideographs = within(first, 0xe4, 0xe9);
    let hangul =
        within(first, 0xeb, 0xec) | (first == 0xea) & (second >= 0xb0) | (first == 0xed) & (second < 0x9e);
    let wide = (first == 0xef) & within(second, 0xbc, 0xbd);
    (first >= 0xcc) & !(quotes | punctuation | kana | ideographs | hangul | wide)
}

type Classed = (u32, u8); // a character and its combining class

/// A character of a text that is made anew, its combining class, and what it is in place of: see `Rewriter`.
#[derive(Clone, Copy)]
struct Part {
    code: u32,
    class: u8,
    change: i32,
}

/// Append a character decomposed as far as it goes, each part with its combining class.
pub fn push_decomposed(code: u32, out: &mut Vec<Classed>) {
    if (S_BASE..S_BASE + S_COUNT).contains(&code) {
        let index = code - S_BASE;
        out.push((L_BASE + index / (V_COUNT * T_COUNT), 0));
        out.push((V_BASE + index / T_COUNT % V_COUNT, 0));
        if index % T_COUNT != 0 {
            out.push((T_BASE + index % T_COUNT, 0));
        }
        return;
    }
    match DECOMPOSITIONS.binary_search_by_key(&code, |step| step.0) {
        Ok(i) => {
            push_decomposed(DECOMPOSITIONS[i].1, out);
            if DECOMPOSITIONS[i].2 != 0 {
                push_decomposed(DECOMPOSITIONS[i].2, out);
            }
        }
        Err(_) => out.push((code, combining(code))),
    }
}

fn combining(code: u32) -> u8 {
    COMBINING.binary_search_by_key(&code, |entry| entry.0).map_or(0, |i| COMBINING[i].1)
}

/// Starters and what follows them put together, in place. Source: the Unicode Standard, D117.
fn compose(parts: &mut [Part]) -> &[Part] {
    let mut kept = 0;
    let mut starter = None;
    let mut blocked = -1; // highest class since the starter; -1: nothing stands between
    for i in 0..parts.len() {
        let part = parts[i];
        if let Some(place) = starter.filter(|_| blocked == -1 || blocked < part.class as i32) {
            let first: &mut Part = &mut parts[place];
            if let Some(whole) = pair(first.code, part.code) {
                first.code = whole;
                first.change += part.change - 1;
                continue;
            }
        }
        if part.class == 0 {
            (starter, blocked) = (Some(kept), -1);
        } else {
            blocked = part.class as i32;
        }
        parts[kept] = part;
        kept += 1;
    }
    &parts[..kept]
}

fn pair(first: u32, second: u32) -> Option<u32> {
    let (lead, vowel) = (first.wrapping_sub(L_BASE), second.wrapping_sub(V_BASE));
    if lead < L_COUNT && vowel < V_COUNT {
        return Some(S_BASE + (lead * V_COUNT + vowel) * T_COUNT);
    }
    let (syllable, tail) = (first.wrapping_sub(S_BASE), second.wrapping_sub(T_BASE));
    if syllable < S_COUNT && syllable % T_COUNT == 0 && (1..T_COUNT).contains(&tail) {
        return Some(first + tail);
    }
    let found = COMPOSITIONS.binary_search_by_key(&(first, second), |entry| (entry.0, entry.1));
    found.ok().map(|i| COMPOSITIONS[i].2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned::Spans;

    fn normalized(form: &Form, text: &str) -> String {
        let mut out = Aligned::default();
        let changed = form.apply(View { text: text.as_bytes(), spans: Spans::Unknown }, false, &mut out);
        assert_eq!(changed, out.text != text.as_bytes());
        String::from_utf8(out.text).unwrap()
    }

    #[test]
    fn every_unstable_character_is_found() {
        // of the forms that look at each character that is not ASCII, some
        for (compose, compatible, step) in
            [(true, false, 1), (true, true, 9), (false, false, 9), (false, true, 9)]
        {
            let form = Form::new(compose, compatible);
            for character in (0..0x11_0000).step_by(step).filter_map(char::from_u32) {
                let text = format!("{}{character}中a", "ł中a".repeat(character as usize % 17)).repeat(2);
                let unstable = form.table.of(character as u32) & form.unstable != 0;
                assert_eq!(form.leaves(text.as_bytes()), !unstable, "{character:?}");
            }
        }
    }

    #[test]
    fn composes_what_belongs_together() {
        let nfc = Form::new(true, false);
        assert_eq!(normalized(&nfc, "xe\u{301}y"), "xéy");
        assert_eq!(normalized(&nfc, "\u{1112}\u{1161}\u{11ab}글"), "한글");
        assert_eq!(normalized(&nfc, "q\u{307}\u{323}"), "q\u{323}\u{307}");
        assert_eq!(normalized(&nfc, "\u{212b}\u{300}"), "Å\u{300}");
        assert_eq!(normalized(&nfc, "\u{958}"), "\u{915}\u{93c}"); // excluded from composition
        assert_eq!(normalized(&nfc, "\u{32ff}"), "\u{32ff}");
        assert!(nfc.leaves("Ünïcödé 中文 かな".as_bytes()));
    }

    #[test]
    fn decomposes_what_stands_for_several() {
        assert_eq!(
            normalized(&Form::new(false, false), "é\u{323}글ﬁ"),
            "e\u{323}\u{301}\u{1100}\u{1173}\u{11af}ﬁ"
        );
        assert_eq!(normalized(&Form::new(false, true), "ﬁ２é"), "fi2e\u{301}");
        assert_eq!(normalized(&Form::new(true, true), "ﬁ２e\u{301}㌔"), "fi2éキロ");
    }

    #[test]
    fn characters_have_the_places_of_those_they_are_of() {
        let spans = |form: &Form, text: &str, full| {
            let mut out = Aligned::default();
            form.apply(View { text: text.as_bytes(), spans: Spans::Given(0) }, full, &mut out);
            assert_eq!(out.spans.len(), out.text.len());
            out.spans
        };
        let (nfc, nfkd) = (Form::new(true, false), Form::new(false, true));
        assert_eq!(spans(&nfc, "ae\u{301}b", false), [(0, 1), (1, 2), (1, 2), (4, 5)]);
        assert_eq!(spans(&nfc, "ae\u{301}b", true), [(0, 1), (1, 4), (1, 4), (4, 5)]);
        assert_eq!(spans(&nfkd, "ﬁb", false), [(0, 3), (0, 3), (3, 4)]);
    }
}
