//! What a character is: its class for the splitters, and flags.

use crate::unicode_runs::{BERT, NORMALIZED, RUNS};
use std::sync::OnceLock;

pub const OTHER: u8 = 0;
pub const UPPER: u8 = 1; // and title case
pub const LOWER: u8 = 2;
pub const CASELESS: u8 = 3; // the other letters
pub const MARK: u8 = 4;
pub const NUMBER: u8 = 5;
pub const SPACE: u8 = 6;
pub const SYMBOL: u8 = 7; // and punctuation

pub const CLASS: u8 = 0x0f;
/// In `[一-龥぀-ゟ゠-ヿ]`.
pub const EAST: u8 = 0x10;
pub const HAN: u8 = 0x20;
pub const WORD: u8 = 0x40;
/// May change under NFC, alone or with its neighbours.
pub const UNSTABLE: u8 = 0x80;

// what BERT knows of a character: bits of `BERT`
pub const DROPPED: u8 = 1;
pub const PUNCTUATION: u8 = 2;
pub const NONSPACING: u8 = 4;
pub const IDEOGRAPH: u8 = 8;
pub const BLANK: u8 = 16;

// what other normalizers do to it: bits of `NORMALIZED`
pub const LOWERED: u8 = 1;
pub const STRIPPED: u8 = 2;
pub const NMT_DROPPED: u8 = 4;
pub const NMT_BLANK: u8 = 8;
/// May change under the form, alone or with its neighbours, and so on.
pub const NFD_UNSTABLE: u8 = 16;
pub const NFKC_UNSTABLE: u8 = 32;
pub const NFKD_UNSTABLE: u8 = 64;

/// A byte for each code point, out of runs of (first code point, what is known), up to the next.
///
/// Of zeros at first, so pages where nothing is known are never touched.
pub fn by_code_point(runs: &[(u32, u8)], value: impl Fn(u8) -> u8) -> Box<[u8]> {
    let mut table = vec![0u8; 0x11_0000].into_boxed_slice();
    for (i, &(first, known)) in runs.iter().enumerate() {
        let stop = runs.get(i + 1).map_or(table.len(), |next| next.0 as usize);
        match value(known) {
            0 => {}
            byte => table[first as usize..stop].fill(byte),
        }
    }
    table
}

/// What BERT knows of each code point: the table of this process, made at first use.
pub fn known_to_bert() -> &'static [u8] {
    static TABLE: OnceLock<Box<[u8]>> = OnceLock::new();
    TABLE.get_or_init(|| by_code_point(BERT, |facts| facts))
}

/// What other normalizers do to each code point, likewise.
pub fn normalized() -> &'static [u8] {
    static TABLE: OnceLock<Box<[u8]>> = OnceLock::new();
    TABLE.get_or_init(|| by_code_point(NORMALIZED, |facts| facts))
}

/// Class and flags of each code point.
///
/// Flat, 1.1 MB: a script touches the few cache lines that its characters are in, and
/// a lookup is one load. Two levels would be 40 KB and two dependent loads.
pub struct Characters(Box<[u8]>);

impl Characters {
    /// The table of this process, built at first use.
    pub fn get() -> &'static Characters {
        static TABLE: OnceLock<Characters> = OnceLock::new();
        TABLE.get_or_init(|| Characters(by_code_point(RUNS, |value| value)))
    }

    #[inline(always)]
    pub fn of(&self, code: u32) -> u8 {
        self.0[code as usize]
    }

    pub fn by_code(&self) -> &[u8] {
        &self.0
    }

    /// Properties and length in bytes of the character that begins at `at`; the text is UTF-8.
    #[inline(always)]
    pub fn at(&self, text: &[u8], at: usize) -> (u8, usize) {
        let first = text[at];
        if first < 0x80 {
            return (self.of(first as u32), 1);
        }
        let (code, len) = decode(text, at);
        (self.of(code), len)
    }

    /// Properties of the character that ends before `at`, if there is one.
    pub fn before(&self, text: &[u8], at: usize) -> Option<u8> {
        Some(self.at(text, start_before(text, at)?).0)
    }
}

#[inline(always)]
pub fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The character at `at`, and its length; the text is UTF-8.
#[inline(always)]
pub fn decode(text: &[u8], at: usize) -> (u32, usize) {
    let low = |i: usize| (text[at + i] & 0x3f) as u32;
    let first = text[at] as u32;
    if first < 0x80 {
        (first, 1)
    } else if first < 0xe0 {
        ((first & 0x1f) << 6 | low(1), 2)
    } else if first < 0xf0 {
        ((first & 0x0f) << 12 | low(1) << 6 | low(2), 3)
    } else {
        ((first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4)
    }
}

/// Where the character begins that ends before `at`, if there is one.
#[inline]
pub fn start_before(text: &[u8], at: usize) -> Option<usize> {
    (0..at).rev().find(|&i| !is_continuation(text[i]))
}

/// The character of a code point; U+FFFD for a surrogate, which no text has.
pub fn character(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// How many characters begin in `text`.
pub fn count(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| !is_continuation(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_std_encodes() {
        for code in (0..0x11_0000).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let text = code.encode_utf8(&mut bytes).as_bytes();
            assert_eq!(decode(text, 0), (code as u32, text.len()));
        }
    }

    #[test]
    fn knows_a_character_of_each_class() {
        let table = Characters::get();
        let found: Vec<u8> = "\0Aaあ\u{301}1 !".chars().map(|c| table.of(c as u32) & CLASS).collect();
        assert_eq!(found, [OTHER, UPPER, LOWER, CASELESS, MARK, NUMBER, SPACE, SYMBOL]);
    }
}
