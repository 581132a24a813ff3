//! Pieces: where the pattern of a tokenizer cuts a text.
//!
//! `scalar` is each grammar as its pattern reads, one match at a time, and right by
//! being simple; `blocks` finds the same boundaries of ASCII text 64 bytes at a time.
//! `layers` cuts by patterns that have no grammar here, `pattern` matches them.

mod bert;
mod blocks;
mod classify;
mod layers;
mod pattern;
mod scalar;
mod words;

pub use bert::BertWords;
pub use blocks::Splitter;
#[cfg(simd)]
pub use classify::{Avx2, Avx512, Classify};
pub use layers::{Layers, Pieces};
pub use words::{Byte, Bytes, Edges, WordFinder, WORDS};

/// The patterns that are known, by the name of their family.
///
/// digits: how many numbers make a piece
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// The whole text is one piece.
    Whole,
    /// GPT-2, r50k.
    Gpt2,
    /// cl100k, Llama 3 (3 digits); Qwen 2 and 3 (1).
    Cl100k { digits: u8 },
    /// o200k (3 digits, contractions), Tekken (1, none).
    O200k { digits: u8, contractions: bool },
    /// Kimi K2.
    Kimi,
    /// DeepSeek V3, three patterns one after the other.
    DeepSeek,
}

impl Grammar {
    /// By the number that the border uses.
    pub fn from_number(number: u32) -> Option<Grammar> {
        Some(match number {
            0 => Grammar::Whole,
            1 => Grammar::Gpt2,
            2 => Grammar::Cl100k { digits: 3 },
            3 => Grammar::Cl100k { digits: 1 },
            4 => Grammar::O200k { digits: 3, contractions: true },
            5 => Grammar::O200k { digits: 1, contractions: false },
            6 => Grammar::Kimi,
            7 => Grammar::DeepSeek,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuPath;
    use crate::unicode::CHARACTERS;

    const GRAMMARS: [Grammar; 7] = [
        Grammar::Gpt2,
        Grammar::Cl100k { digits: 3 },
        Grammar::Cl100k { digits: 1 },
        Grammar::O200k { digits: 3, contractions: true },
        Grammar::O200k { digits: 1, contractions: false },
        Grammar::Kimi,
        Grammar::DeepSeek,
    ];

    fn one_by_one(grammar: Grammar, text: &str) -> Vec<u32> {
        let mut starts = Vec::new();
        let mut at = 0;
        while at < text.len() {
            starts.push(at as u32);
            at = scalar::advance(grammar, &CHARACTERS, text.as_bytes(), at);
        }
        starts
    }

    fn in_blocks(grammar: Grammar, path: CpuPath, text: &str) -> Vec<u32> {
        let mut splitter = Splitter::new(grammar, path, text.as_bytes());
        let mut starts = Vec::new();
        let mut out = [0; 70];
        while !splitter.done() {
            let found = splitter.fill(&mut out);
            starts.extend(&out[..found]);
        }
        starts
    }

    fn check(grammars: &[Grammar], text: &str) {
        for &grammar in grammars {
            let expected = one_by_one(grammar, text);
            for path in CpuPath::here() {
                assert_eq!(in_blocks(grammar, path, text), expected, "{grammar:?} {path:?} {text:?}");
            }
        }
    }

    /// All texts of up to `len` characters of the alphabet.
    fn worlds(alphabet: &[&str], len: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..len {
            last = last.iter().flat_map(|text| alphabet.iter().map(move |c| format!("{text}{c}"))).collect();
            all.extend_from_slice(&last);
        }
        all
    }

    #[test]
    fn blocks_agree_on_small_worlds() {
        for text in
            worlds(&["s", "R", "'", " ", "\n", "1", "!", "/", "é", "É", "中", "\u{301}", "ſ", "\0"], 4)
        {
            check(&GRAMMARS, &text);
        }
    }

    #[test]
    fn blocks_agree_at_every_edge() {
        let of_letters =
            ["s", "E", "'", " ", "\n", "1", "!", "\u{3000}", "中", "ſ", "—", "\u{301}", "²", "😀"];
        let of_scripts = ["s", "E", "'", " ", "\n", "1", "!", "中", "⺀", "\u{301}", "\0", "\u{e0001}"];
        let (letters, scripts) = (worlds(&of_letters, 3), worlds(&of_scripts, 3));
        for filler in ["x", "X", "7", " ", "\n", "!", "\t"] {
            for offset in 0..=70 {
                for (worlds, grammars) in [(&letters, &GRAMMARS[..5]), (&scripts, &GRAMMARS[5..])] {
                    for world in worlds {
                        check(grammars, &format!("{}{world}", filler.repeat(offset)));
                        check(grammars, &format!("{}{world}b", filler.repeat(offset)));
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_agree_on_random_text() {
        let alphabet = [
            "a",
            "s",
            "l",
            "L",
            "T",
            "re",
            "'",
            "'",
            " ",
            " ",
            "  ",
            "\t",
            "\r\n",
            "\n",
            "1",
            "22",
            "!",
            "/",
            "-",
            "\0",
            "é",
            "É",
            "中",
            "ʰ",
            "ǅ",
            "\u{3000}",
            "ſ",
            "—",
            "\u{85}",
            "😀",
            "\u{301}",
            "\u{200b}",
            "ABCd",
            "AB",
            "²",
            "か",
            "・",
            "々",
            "\u{3007}",
            "⺀",
            "\u{e0001}",
            "한",
        ];
        let mut seed = 88172645463325252u64;
        for round in 0..20_000 {
            let ascii = round % 3 != 0;
            let mut text = String::new();
            for _ in 0..round % 150 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let choice = seed as usize % if ascii && seed >> 60 != 0 { 20 } else { alphabet.len() };
                text.push_str(alphabet[choice]);
            }
            check(&GRAMMARS, &text);
        }
    }
}
