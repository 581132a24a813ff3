//! Where texts are cut into pieces.

use crate::bigrams::Bigrams;
use crate::cpu::{cpu_path, CpuPath};
use crate::split::{put_places, Grammar, Splitter};
use crate::unicode::decode;

/// How a text becomes pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Grammar(Grammar),
    /// Before every space.
    Spaces,
    /// Into the words of BERT, which the model normalizes.
    Bert,
}

impl Cut {
    /// By the number that the border uses.
    pub fn from_number(number: u32) -> Option<Cut> {
        match number {
            64 => Some(Cut::Spaces),
            65 => Some(Cut::Bert),
            _ => Grammar::from_number(number).map(Cut::Grammar),
        }
    }
}

/// The places where the pieces of a text begin, some at a time.
pub trait Places {
    /// Put the next places into `out`, which is not empty; returns how many.
    fn fill(&mut self, out: &mut [u32]) -> usize;

    /// Whether no more will come: the last piece goes on to the end.
    fn done(&self) -> bool;
}

impl Places for Splitter<'_> {
    fn fill(&mut self, out: &mut [u32]) -> usize {
        Splitter::fill(self, out)
    }

    fn done(&self) -> bool {
        Splitter::done(self)
    }
}

/// The places before spaces, and wherever no merge crosses.
pub struct Cutter<'a> {
    spaces: bool,
    bigrams: Option<&'a Bigrams>,
    path: CpuPath,
    text: &'a [u8],
    at: usize,
    last: u32, // the character before `at`
}

impl<'a> Cutter<'a> {
    /// For a text that is not empty. spaces: whether pieces begin before spaces; bigrams: where else
    pub fn new(spaces: bool, bigrams: Option<&'a Bigrams>, text: &'a [u8]) -> Self {
        Cutter { spaces, bigrams, path: cpu_path(), text, at: 0, last: 0 }
    }

    fn fill_by_spaces(&mut self, out: &mut [u32]) -> usize {
        let mut found = 0;
        while self.at < self.text.len() && found < out.len() {
            out[found] = self.at as u32;
            found += (self.at == 0 || self.text[self.at] == b' ') as usize;
            self.at += 1;
        }
        found
    }

    /// SPACES: also before every space
    fn fill_by_bigrams<const SPACES: bool>(&mut self, bigrams: &Bigrams, out: &mut [u32]) -> usize {
        let (text, mut at, mut last) = (self.text, self.at, self.last);
        let mut found = 0;
        if at == 0 && !text.is_empty() {
            let (code, len) = decode(text, 0);
            (out[0], found, at, last) = (0, 1, len, code);
        }
        let mut slowly = 0; // to here one by one
        while at < text.len() && found < out.len() {
            let byte = text[at];
            #[cfg(target_arch = "x86_64")]
            if self.path != CpuPath::Portable
                && at >= slowly
                && text.len() - at >= 64
                && out.len() - found >= 64
            {
                // SAFETY: `cpu_path` chose this one, so the CPU has the features
                match unsafe { cuts_avx2::<SPACES>(bigrams, text, at, &mut out[found..]) } {
                    Some(count) => {
                        (found, at, last) = (found + count, at + 64, text[at + 63] as u32);
                        continue;
                    }
                    None => slowly = at + 64,
                }
            }
            out[found] = at as u32;
            if byte < 0x80 && last < 0x80 {
                let space = SPACES && byte == b' ';
                found += (bigrams.cuts_ascii(last as u8, byte) | space) as usize;
                (last, at) = (byte as u32, at + 1);
            } else {
                let (code, len) = decode(text, at);
                found += (bigrams.cuts(last, code) || (SPACES && byte == b' ')) as usize;
                (last, at) = (code, at + len);
            }
        }
        (self.at, self.last) = (at, last);
        found
    }
}

/// Put places of text[at..at + 64] into `out`, which has room for 64; returns how many. None where not all are ASCII.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn cuts_avx2<const SPACES: bool>(
    bigrams: &Bigrams,
    text: &[u8],
    at: usize,
    out: &mut [u32],
) -> Option<usize> {
    // SAFETY: this function has the features
    let mut bits = unsafe { bigrams.ascii.apart(text, at)? };
    if SPACES {
        let block: &[u8; 64] = text[at..at + 64].try_into().expect("64 bytes");
        bits |= block.iter().zip(0..).fold(0, |bits, (&byte, i)| bits | ((byte == b' ') as u64) << i);
    }
    let places: &mut [u32; 64] = (&mut out[..64]).try_into().expect("room for 64");
    Some(put_places(bits, at as u32, places))
}

impl Places for Cutter<'_> {
    fn fill(&mut self, out: &mut [u32]) -> usize {
        match (self.bigrams, self.spaces) {
            (Some(bigrams), false) => self.fill_by_bigrams::<false>(bigrams, out),
            (Some(bigrams), true) => self.fill_by_bigrams::<true>(bigrams, out),
            (None, true) => self.fill_by_spaces(out),
            (None, false) => {
                self.at = self.text.len();
                out[0] = 0;
                1
            }
        }
    }

    fn done(&self) -> bool {
        self.at == self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bigrams::Neighbours;

    fn places(mut cutter: Cutter, path: CpuPath) -> Vec<u32> {
        cutter.path = path;
        let (mut starts, mut out) = (Vec::new(), [0; 150]);
        while !cutter.done() {
            let found = cutter.fill(&mut out);
            starts.extend(&out[..found]);
        }
        starts
    }

    #[test]
    fn blocks_are_cut_where_single_pairs_are() {
        let alphabet: Vec<char> = "aabcde  \n.é中😀".chars().collect();
        let mut seed = 7u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for round in 0..3000 {
            let letters = if round % 3 == 0 { alphabet.len() } else { 10 };
            let neighbours: Vec<(char, char)> =
                (0..30).map(|_| (alphabet[random(letters)], alphabet[random(letters)])).collect();
            let solid = (round % 2 == 0).then(|| "abc é中".chars());
            let mut beside = Neighbours::default();
            beside.extend(neighbours.iter().copied());
            let bigrams = Bigrams::new(beside, solid);
            let text: String = (0..round % 400).map(|_| alphabet[random(letters)]).collect();
            for spaces in [false, true] {
                let cutter = || Cutter::new(spaces, Some(&bigrams), text.as_bytes());
                let expected = places(cutter(), CpuPath::Portable);
                for path in CpuPath::here() {
                    assert_eq!(places(cutter(), path), expected, "{path:?} {text:?}");
                }
                for &(left, right) in &neighbours {
                    let joined = |&&at: &&u32| {
                        let (before, behind) = text.split_at(at as usize);
                        !(spaces && right == ' ') && before.ends_with(left) && behind.starts_with(right)
                    };
                    assert_eq!(expected.iter().find(joined), None, "{left}{right} {text:?}");
                }
            }
        }
    }
}
