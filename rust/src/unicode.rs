//! What a character is: its class for the splitters, and flags.

use crate::unicode_runs::{BERT, NORMALIZED, RUNS};

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

/// What is known of each code point, out of runs as above.
///
/// The first two planes, which nearly all text is of, are flat and made when this is compiled: a lookup is one load, and
/// no process waits for a table, nor has pages of it that its texts do not touch. Beyond are few runs.
pub struct Characters {
    flat: [u8; FLAT],
    beyond: &'static [(u32, u8)],
}

const FLAT: usize = 0x2_0000;

#[cold]
fn of_run(runs: &[(u32, u8)], code: u32) -> u8 {
    let behind = runs.partition_point(|run| run.0 <= code);
    behind.checked_sub(1).map_or(0, |run| runs[run].1)
}

/// The same of what is only known when a program runs; 0 before the first run.
pub struct Classes {
    flat: Box<[u8]>,
    beyond: Vec<(u32, u8)>,
}

impl Classes {
    /// None where the runs are in no order.
    pub fn new(runs: &[(u32, u8)]) -> Option<Classes> {
        let mut flat = vec![0u8; FLAT].into_boxed_slice();
        for (i, &(first, class)) in runs.iter().enumerate() {
            let stop = runs.get(i + 1).map_or(0x11_0000, |next| next.0);
            if first > stop {
                return None;
            }
            flat[FLAT.min(first as usize)..FLAT.min(stop as usize)].fill(class);
        }
        let beyond = runs.partition_point(|run| run.0 as usize <= FLAT).saturating_sub(1);
        Some(Classes { flat, beyond: runs[beyond..].to_vec() })
    }

    #[inline(always)]
    pub fn of(&self, code: u32) -> u8 {
        match self.flat.get(code as usize) {
            Some(&class) => class,
            None => of_run(&self.beyond, code),
        }
    }
}

pub static CHARACTERS: Characters = Characters::new(RUNS);
/// What BERT knows of each code point.
pub static KNOWN_TO_BERT: Characters = Characters::new(BERT);
/// What other normalizers do to each code point.
pub static CHANGED: Characters = Characters::new(NORMALIZED);

impl Characters {
    pub const fn new(runs: &'static [(u32, u8)]) -> Self {
        let (mut flat, mut code, mut run) = ([0; FLAT], 0, 0);
        while code < FLAT {
            if run + 1 < runs.len() && runs[run + 1].0 as usize == code {
                run += 1;
            }
            flat[code] = runs[run].1;
            code += 1;
        }
        Characters { flat, beyond: runs.split_at(run).1 }
    }

    #[inline(always)]
    pub fn of(&self, code: u32) -> u8 {
        match self.flat.get(code as usize) {
            Some(&known) => known,
            None => of_run(self.beyond, code),
        }
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
    fn knows_of_each_code_point_what_its_run_says() {
        for (table, runs) in [(&CHARACTERS, RUNS), (&KNOWN_TO_BERT, BERT), (&CHANGED, NORMALIZED)] {
            let known = by_code_point(runs, |known| known);
            let classes = Classes::new(runs).unwrap();
            let same = |code| [table.of(code), classes.of(code)] == [known[code as usize]; 2];
            assert!((0..0x11_0000).all(same));
        }
    }

    #[test]
    fn classes_are_of_runs_in_order() {
        assert!(Classes::new(&[(5, 1), (4, 2)]).is_none() && Classes::new(&[(0x11_0001, 1)]).is_none());
        for first in [0, 7, 0x1_ffff, 0x2_0000, 0x2_0001, 0x10_ffff] {
            let classes = Classes::new(&[(first, 3)]).unwrap();
            assert!((0..0x11_0000).all(|code| classes.of(code) == 3 * (code >= first) as u8));
        }
    }

    #[test]
    fn knows_a_character_of_each_class() {
        let table = &CHARACTERS;
        let found: Vec<u8> = "\0Aaあ\u{301}1 !".chars().map(|c| table.of(c as u32) & CLASS).collect();
        assert_eq!(found, [OTHER, UPPER, LOWER, CASELESS, MARK, NUMBER, SPACE, SYMBOL]);
    }
}
