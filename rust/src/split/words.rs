//! Words between white space in text that no step changes: 64 bytes at a time, without a copy.

use super::blocks::bits::{block_at, put_places};
use crate::cpu::CpuPath;

/// What a byte is: a part of a word that stays as it is, white space between words, or neither.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Byte {
    Word,
    White,
    Other,
}

/// What each byte is. By its lower half, the upper halves that make it one of a word, or white: a bit each.
pub struct Bytes {
    all: Box<[Byte; 256]>,
    word: [u8; 16],
    white: [u8; 16],
}

impl Bytes {
    /// Those of ASCII as told, all others neither.
    pub fn new(of: impl Fn(u8) -> Byte) -> Self {
        let all: [Byte; 256] =
            std::array::from_fn(|code| if code < 128 { of(code as u8) } else { Byte::Other });
        let halves = |wanted: Byte| {
            let bit = |low: usize, high: usize| ((all[high << 4 | low] == wanted) as u8) << high;
            std::array::from_fn(|low| (0..8).map(|high| bit(low, high)).sum())
        };
        Bytes { word: halves(Byte::Word), white: halves(Byte::White), all: Box::new(all) }
    }

    #[inline(always)]
    pub fn of(&self, byte: u8) -> Byte {
        self.all[byte as usize]
    }
}

/// What of 64 bytes is of words, and white.
#[derive(Default, Debug, PartialEq)]
struct Masks {
    word: u64,
    white: u64,
}

/// The words of one text, up to what is neither.
pub struct WordFinder<'a> {
    bytes: &'a Bytes,
    path: CpuPath,
    text: &'a [u8],
    at: usize,
    /// where a word begins whose end is not known
    open: Option<u32>,
    stopped: bool,
}

/// Words that are found at once.
pub const WORDS: usize = 256;
/// As many may be begun beyond them as fill a block.
pub type Edges = [u32; WORDS + 64];

impl<'a> WordFinder<'a> {
    pub fn new(bytes: &'a Bytes, path: CpuPath, text: &'a [u8]) -> Self {
        WordFinder { bytes, path, text, at: 0, open: None, stopped: false }
    }

    pub fn done(&self) -> bool {
        self.at == self.text.len()
    }

    /// Where a word or white space begins that what is neither stands in or behind, once that has been met.
    pub fn stop(&self) -> Option<usize> {
        let before = self.at.saturating_sub(1);
        let white = if self.bytes.of(*self.text.get(before)?) == Byte::White { before } else { self.at };
        self.stopped.then(|| self.open.map_or(white, |start| start as usize))
    }

    /// Go on from there.
    pub fn go_on(&mut self, at: usize) {
        (self.at, self.open, self.stopped) = (at, None, false);
    }

    /// Where the next words begin and end; returns how many.
    pub fn fill(&mut self, starts: &mut Edges, stops: &mut Edges) -> usize {
        match self.path {
            #[cfg(simd)]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 | CpuPath::Avx512 => unsafe { self.fill_avx2(starts, stops) },
            _ => self.fill_with(starts, stops, portable),
        }
    }

    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn fill_avx2(&mut self, starts: &mut Edges, stops: &mut Edges) -> usize {
        // SAFETY: this function has the feature
        self.fill_with(starts, stops, |block, bytes| unsafe { avx2(block, bytes) })
    }

    #[inline(always)]
    fn fill_with(
        &mut self,
        starts: &mut Edges,
        stops: &mut Edges,
        masks: impl Fn(&[u8; 64], &Bytes) -> Masks,
    ) -> usize {
        starts[0] = self.open.unwrap_or_default();
        let (mut begun, mut ended) = (self.open.is_some() as usize, 0);
        while self.at < self.text.len() && begun < WORDS && !self.stopped {
            let mut padded = [0; 64];
            let (block, left) = block_at(self.text, self.at, &mut padded);
            let Masks { word, white } = masks(block, self.bytes);
            let other = !(word | white);
            let len = left.min(64).min(other.trailing_zeros() as usize);
            let valid = (1u64 << (len / 2) << (len - len / 2)).wrapping_sub(1);
            let after_word = word << 1 | (begun > ended) as u64;
            begun += put(word & !after_word & valid, self.at, starts, begun);
            ended += put(!word & after_word & valid, self.at, stops, ended);
            self.at += len;
            self.stopped = len < left.min(64);
        }
        if self.done() && begun > ended {
            stops[ended] = self.at as u32;
            ended += 1;
        }
        self.open = (begun > ended).then(|| starts[ended]);
        ended
    }
}

/// The places of bits from `first` on; returns how many.
#[inline(always)]
pub(super) fn put(bits: u64, base: usize, out: &mut Edges, first: usize) -> usize {
    if bits == 0 {
        return 0;
    }
    let places: &mut [u32; 64] = (&mut out[first..first + 64]).try_into().expect("64 places");
    put_places(bits, base as u32, places)
}

fn portable(block: &[u8; 64], bytes: &Bytes) -> Masks {
    let mut masks = Masks::default();
    for (i, &byte) in block.iter().enumerate() {
        masks.word |= ((bytes.of(byte) == Byte::Word) as u64) << i;
        masks.white |= ((bytes.of(byte) == Byte::White) as u64) << i;
    }
    masks
}

#[cfg(simd)]
#[target_feature(enable = "avx2")]
unsafe fn avx2(block: &[u8; 64], bytes: &Bytes) -> Masks {
    use std::arch::x86_64::*;
    // SAFETY: loads of 16 bytes from 16, and of 32 from 64; the rest works on registers
    unsafe {
        let table = |halves: &[u8; 16]| {
            _mm256_broadcastsi128_si256(_mm_loadu_si128(halves.as_ptr().cast::<__m128i>()))
        };
        let (word, white) = (table(&bytes.word), table(&bytes.white));
        let bits = table(&[1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0]);
        let parts =
            [_mm256_loadu_si256(block.as_ptr().cast()), _mm256_loadu_si256(block.as_ptr().add(32).cast())];
        let high = parts.map(|x| {
            let half = _mm256_and_si256(_mm256_srli_epi16::<4>(x), _mm256_set1_epi8(0x0f));
            _mm256_shuffle_epi8(bits, half)
        });
        let mask = |halves: __m256i| {
            let missing = |i: usize| {
                let found = _mm256_and_si256(_mm256_shuffle_epi8(halves, parts[i]), high[i]);
                _mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())) as u32 as u64
            };
            !(missing(0) | missing(1) << 32)
        };
        Masks { word: mask(word), white: mask(white) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes() -> Bytes {
        Bytes::new(|byte| match byte {
            b' ' | b'\n' => Byte::White,
            b'!'..=b'~' => Byte::Word,
            _ => Byte::Other,
        })
    }

    /// The words, and where something else was met or the text ended.
    fn found(path: CpuPath, bytes: &Bytes, text: &[u8]) -> (Vec<(usize, usize)>, usize) {
        let mut finder = WordFinder::new(bytes, path, text);
        let (mut starts, mut stops) = ([0; WORDS + 64], [0; WORDS + 64]);
        let mut words = Vec::new();
        loop {
            let count = finder.fill(&mut starts, &mut stops);
            words.extend(starts[..count].iter().zip(&stops).map(|(&a, &b)| (a as usize, b as usize)));
            if finder.stop().is_some() || finder.done() {
                return (words, finder.stop().unwrap_or(text.len()));
            }
        }
    }

    fn one_by_one(bytes: &Bytes, text: &[u8]) -> (Vec<(usize, usize)>, usize) {
        let first = text.iter().position(|&byte| bytes.of(byte) == Byte::Other);
        let stop = first.unwrap_or(text.len());
        let (mut words, mut at) = (Vec::new(), 0);
        for word in text[..stop].split(|&byte| bytes.of(byte) == Byte::White) {
            words.extend((!word.is_empty()).then_some((at, at + word.len())));
            at += word.len() + 1;
        }
        let open = words.last().copied().filter(|word| first.is_some() && word.1 == stop);
        let white = stop.saturating_sub((first.is_some() && stop > 0) as usize);
        match open {
            Some(word) => (words[..words.len() - 1].to_vec(), word.0),
            None => (words, white),
        }
    }

    #[test]
    fn blocks_agree_with_single_bytes() {
        let bytes = bytes();
        let mut seed = 88172645463325252u64;
        for round in 0..20_000 {
            let mut text = Vec::new();
            for _ in 0..round % 700 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                text.push(b"aaaaZ~!  \n\0\x7f\xc3"[seed as usize % if round % 3 > 0 { 10 } else { 13 }]);
            }
            for path in CpuPath::here() {
                assert_eq!(found(path, &bytes, &text), one_by_one(&bytes, &text), "{text:?}");
            }
        }
    }

    #[test]
    fn every_byte_is_what_it_is_in_every_place() {
        let bytes = bytes();
        for byte in 0..=255u8 {
            for place in 0..64 {
                let mut block = [b'a'; 64];
                block[place] = byte;
                let expected = portable(&block, &bytes);
                assert_eq!(expected.word >> place & 1 == 1, bytes.of(byte) == Byte::Word);
                assert_eq!(expected.white >> place & 1 == 1, bytes.of(byte) == Byte::White);
                #[cfg(simd)]
                if CpuPath::Avx2.is_here() {
                    // SAFETY: the CPU has the feature
                    assert_eq!(unsafe { avx2(&block, &bytes) }, expected);
                }
            }
        }
    }
}
