//! NFC by the tables of the reference engine (Unicode 9.0): whether a text is normalized, and its normal form.

use crate::unicode::{decode, is_continuation, Characters, UNSTABLE};
use crate::unicode_runs::{COMBINING, COMPOSITIONS, DECOMPOSITIONS};

// Hangul syllables: arithmetic of the Unicode Standard, section 3.12
const S_BASE: u32 = 0xac00;
const L_BASE: u32 = 0x1100;
const V_BASE: u32 = 0x1161;
const T_BASE: u32 = 0x11a7;
const L_COUNT: u32 = 19;
const V_COUNT: u32 = 21;
const T_COUNT: u32 = 28;
const S_COUNT: u32 = L_COUNT * V_COUNT * T_COUNT;

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

const AT_ONCE: usize = 64;

/// Where the first character of `text` from `at` on is that may change, or change another.
fn unstable(table: &Characters, text: &[u8], mut at: usize) -> Option<(usize, usize)> {
    while let Some(some) = text.get(at..at + AT_ONCE + 2) {
        // the first question alone answers most of Latin text, and costs a tenth of the second
        let latin = some.iter().fold(0, |highest, &byte| byte.max(highest)) < 0xcc;
        let bytes = some.iter().zip(&some[1..]).zip(&some[2..]);
        if !latin && bytes.fold(0, |any, ((&a, &b), &c)| any | is_suspect(a, b, c) as u8) != 0 {
            let found = unstable_within(table, text, at, at + AT_ONCE);
            if found.is_some() {
                return found;
            }
        }
        at += AT_ONCE;
    }
    unstable_within(table, text, at, text.len())
}

fn unstable_within(table: &Characters, text: &[u8], start: usize, stop: usize) -> Option<(usize, usize)> {
    let characters = (start..stop).filter(|&at| text[at] >= 0xcc).map(|at| (at, table.at(text, at)));
    let mut unstable = characters.filter(|(_, (class, _))| class & UNSTABLE != 0);
    unstable.next().map(|(at, (_, len))| (at, len))
}

/// Whether no character of `text` can change under NFC, nor change another.
pub fn is_stable(table: &Characters, text: &[u8]) -> bool {
    unstable(table, text, 0).is_none()
}

/// Append the normal form of `text`; whether it differs from it.
///
/// Only runs of unstable characters are worked on, each with the character before it:
/// one that is not unstable is no mark and joins nothing to its left.
pub fn nfc(table: &Characters, text: &[u8], out: &mut Vec<u8>) -> bool {
    let first = out.len();
    let mut last = 0;
    let mut window = Vec::new();
    while let Some((found, len)) = unstable(table, text, last) {
        let start = (last..found).rev().find(|&i| !is_continuation(text[i])).unwrap_or(found);
        let mut stop = found + len;
        while stop < text.len() {
            let (class, len) = table.at(text, stop);
            if class & UNSTABLE == 0 {
                break;
            }
            stop += len;
        }
        out.extend_from_slice(&text[last..start]);
        decompose(&text[start..stop], &mut window);
        for &(code, _) in compose(&mut window) {
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        last = stop;
    }
    out.extend_from_slice(&text[last..]);
    out[first..] != *text
}

type Classed = (u32, u8); // a character and its combining class

/// All characters decomposed as far as they go, marks in canonical order.
fn decompose(text: &[u8], out: &mut Vec<Classed>) {
    out.clear();
    let mut at = 0;
    while at < text.len() {
        let (code, len) = decode(text, at);
        push_decomposed(code, out);
        at += len;
    }
    for marks in out.chunk_by_mut(|_, right| right.1 != 0) {
        let first = (marks[0].1 == 0) as usize; // a starter stays in front of its marks
        marks[first..].sort_by_key(|mark| mark.1);
    }
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
        Err(_) => {
            let class = COMBINING.binary_search_by_key(&code, |entry| entry.0).map_or(0, |i| COMBINING[i].1);
            out.push((code, class));
        }
    }
}

/// Starters and what follows them put together, in place. Source: the Unicode Standard, D117.
fn compose(characters: &mut [Classed]) -> &[Classed] {
    let mut kept = 0;
    let mut starter = None;
    let mut blocked = -1; // highest class since the starter; -1: nothing stands between
    for i in 0..characters.len() {
        let (code, class) = characters[i];
        if let Some(place) = starter.filter(|_| blocked == -1 || blocked < class as i32) {
            let first: &mut Classed = &mut characters[place];
            if let Some(whole) = pair(first.0, code) {
                first.0 = whole;
                continue;
            }
        }
        if class == 0 {
            (starter, blocked) = (Some(kept), -1);
        } else {
            blocked = class as i32;
        }
        characters[kept] = (code, class);
        kept += 1;
    }
    &characters[..kept]
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

    fn normalized(text: &str) -> String {
        let mut out = Vec::new();
        let changed = nfc(Characters::get(), text.as_bytes(), &mut out);
        assert_eq!(changed, out != text.as_bytes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_unstable_character_is_found() {
        for character in (0..0x11_0000).filter_map(char::from_u32) {
            let text = format!("{}{character}中a", "é中a".repeat(character as usize % 17)).repeat(2);
            let unstable = Characters::get().of(character as u32) & UNSTABLE != 0;
            assert_eq!(is_stable(Characters::get(), text.as_bytes()), !unstable, "{character:?}");
        }
    }

    #[test]
    fn composes_what_belongs_together() {
        assert_eq!(normalized("xe\u{301}y"), "xéy");
        assert_eq!(normalized("\u{1112}\u{1161}\u{11ab}글"), "한글");
        assert_eq!(normalized("q\u{307}\u{323}"), "q\u{323}\u{307}");
        assert_eq!(normalized("\u{212b}\u{300}"), "Å\u{300}");
        assert_eq!(normalized("\u{958}"), "\u{915}\u{93c}"); // excluded from composition
        assert_eq!(normalized("\u{32ff}"), "\u{32ff}");
        assert!(is_stable(Characters::get(), "Ünïcödé 中文 かな".as_bytes()));
    }
}
