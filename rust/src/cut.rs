//! Where texts are cut into pieces.

use crate::bigrams::Bigrams;
use crate::cpu::{cpu_path, CpuPath};
#[cfg(simd)]
use crate::split::{Avx2, Avx512, Classify};
use crate::split::{Grammar, Splitter};
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
            if at >= slowly {
                let (count, stop) = self.blocks::<SPACES>(bigrams, at, &mut out[found..]);
                slowly = stop + 64;
                if stop > at {
                    (found, at, last) = (found + count, stop, text[stop - 1] as u32);
                    if found + 64 > out.len() {
                        break;
                    }
                    continue;
                }
            }
            let byte = text[at];
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

    /// Put the places of 64 bytes at a time into `out`, from `at` on, which is not the start of the text: up to a block that
    /// is not all ASCII, or as far as `out` has room. How many, and up to where.
    #[inline(always)]
    fn blocks<const SPACES: bool>(&self, bigrams: &Bigrams, at: usize, out: &mut [u32]) -> (usize, usize) {
        match self.path {
            #[cfg(simd)]
            // SAFETY, of both: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { blocks_avx2::<SPACES>(bigrams, self.text, at, out) },
            #[cfg(simd)]
            CpuPath::Avx512 => unsafe { blocks_avx512::<SPACES>(bigrams, self.text, at, out) },
            _ => (0, at),
        }
    }
}

#[cfg(simd)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn blocks_avx2<const SPACES: bool>(
    bigrams: &Bigrams,
    text: &[u8],
    at: usize,
    out: &mut [u32],
) -> (usize, usize) {
    // SAFETY: this function has the features
    unsafe { blocks::<Avx2, SPACES>(text, at, out, |bytes| bigrams.ascii.apart_avx2(bytes)) }
}

#[cfg(simd)]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
)]
unsafe fn blocks_avx512<const SPACES: bool>(
    bigrams: &Bigrams,
    text: &[u8],
    at: usize,
    out: &mut [u32],
) -> (usize, usize) {
    // SAFETY: this function has the features
    unsafe { blocks::<Avx512, SPACES>(text, at, out, |bytes| bigrams.ascii.apart_avx512(bytes)) }
}

/// apart: of 64 bytes behind one more, which are not related to the one before; None where not all are ASCII
///
/// # Safety
/// The CPU must have what `C` is named after.
#[cfg(simd)]
#[inline(always)]
unsafe fn blocks<C: Classify, const SPACES: bool>(
    text: &[u8],
    at: usize,
    out: &mut [u32],
    apart: impl Fn(&[u8; 65]) -> Option<u64>,
) -> (usize, usize) {
    let (mut found, mut at) = (0, at);
    while let (Some(bytes), Some(places)) = (text[at - 1..].first_chunk(), out[found..].first_chunk_mut()) {
        let Some(mut bits) = apart(bytes) else { break };
        // SAFETY: the caller's promise
        unsafe {
            if SPACES {
                bits |= C::masks::<false, false>(bytes[1..].try_into().expect("64 bytes")).space;
            }
            found += C::put_places(bits, at as u32, places);
        }
        at += 64;
    }
    (found, at)
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
