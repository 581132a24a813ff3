//! Lines of the table: two pieces each, and their tokens.

use super::{len_of, Key, ID_MASK};
use crate::memory::Plain;
use crate::merge::Token;

/// The tokens of a piece, of each its id in the lower 24 bits, then in 4 bits each where in the piece it ends and begins;
/// the first begins with the piece, and says instead how many there are. With a count of 0 there are more than four:
/// lanes 1 and 2 are the place in `spill` and the number of lanes there, one a token where lane 3 is 0.
#[repr(C, align(16))]
#[derive(Clone, Copy, Default)]
pub struct Lanes(pub [u32; 4]);

impl Lanes {
    /// How many tokens there are, of at most four; 0 where there are more.
    #[inline(always)]
    pub fn count(&self) -> usize {
        (self.0[0] >> 28) as usize
    }

    /// Of the tokens that cover a piece one after the other, of which there are one to four; none of any other number.
    pub fn of(key: Key, tokens: &[Token]) -> Option<Self> {
        let mut lanes = [0; 4];
        if !(1..=lanes.len()).contains(&tokens.len()) {
            return None;
        }
        put_lanes(key, tokens, &mut lanes[..tokens.len()]);
        lanes[0] |= (tokens.len() as u32) << 28;
        Some(Lanes(lanes))
    }

    /// Token `i` of at most four.
    pub fn token(&self, i: usize) -> Token {
        Token { start: if i == 0 { 0 } else { start_of(self.0[i]) }, ..token_of(self.0[i]) }
    }
}

/// Tokens in 32 bits each. A piece with a key is short, and ids are below 1 << 24.
#[inline(always)]
pub(super) fn put_lanes(key: Key, tokens: &[Token], lanes: &mut [u32]) {
    let mut end = len_of(key);
    for (lane, token) in lanes.iter_mut().zip(tokens).rev() {
        *lane = token.id | end << 24 | token.start << 28;
        end = token.start;
    }
}

pub fn token_of(lane: u32) -> Token {
    Token { id: lane & ID_MASK, start: start_of(lane) }
}

/// Where in its piece a token begins, that is not the first of at most four.
#[inline(always)]
pub fn start_of(lane: u32) -> u32 {
    lane >> 28
}

/// Where in its piece a token ends.
#[inline(always)]
pub fn end_of(lane: u32) -> u32 {
    lane >> 24 & 15
}

/// The keys stand side by side, so that one comparison is of both. A place whose key is 0 is free.
#[repr(C, align(64))]
#[derive(Clone, Copy, Default)]
pub struct Line {
    keys: [Key; 2],
    lanes: [Lanes; 2],
}

// SAFETY: numbers, of which zeroes are a line with two free places
unsafe impl Plain for Line {}

impl Line {
    /// The lanes of a piece that is here.
    ///
    /// Computed, not branched on: which of the two it is cannot be predicted.
    #[inline(always)]
    pub fn find(&self, key: Key) -> Option<&Lanes> {
        let [in_first, in_second] = [same(&self.keys[0], &key), same(&self.keys[1], &key)];
        (in_first | in_second).then_some(&self.lanes[in_second as usize])
    }

    /// The same by one comparison.
    ///
    /// # Safety
    /// The CPU must have AVX2.
    #[cfg(simd)]
    #[inline(always)]
    pub unsafe fn find_avx2(&self, key: &Key) -> Option<&Lanes> {
        use std::arch::x86_64::*;
        /// By which words of both keys are the wanted one's: how many bytes of a line are before the lanes; 0 where none are.
        static LANES_AT: [u8; 16] = [0, 0, 0, 32, 0, 0, 0, 32, 0, 0, 0, 32, 48, 48, 48, 48];
        // SAFETY: the caller's promise; the keys are 32 bytes, and so are the lanes behind them
        unsafe {
            let wanted = _mm256_broadcastsi128_si256(_mm_loadu_si128(key.as_ptr().cast()));
            let equal = _mm256_cmpeq_epi64(_mm256_load_si256(self.keys.as_ptr().cast()), wanted);
            let words = _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as usize & 15;
            let at = LANES_AT[words] as usize;
            (at != 0).then(|| &*std::ptr::from_ref(self).byte_add(at).cast::<Lanes>())
        }
    }

    /// Whether both places are taken: the second is after the first.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.keys[1] != [0, 0]
    }

    /// Put a piece into a free place; whether there was one.
    #[inline(always)]
    pub fn put(&mut self, key: Key, lanes: Lanes) -> bool {
        let place = (self.keys[0] != [0, 0]) as usize;
        let is_free = self.keys[place] == [0, 0];
        if is_free {
            (self.keys[place], self.lanes[place]) = (key, lanes);
        }
        is_free
    }

    /// Put a piece into a place; what was there.
    pub fn replace(&mut self, place: usize, key: Key, lanes: Lanes) -> (Key, Lanes) {
        let before = (self.keys[place], self.lanes[place]);
        (self.keys[place], self.lanes[place]) = (key, lanes);
        before
    }

    /// In which place a piece is.
    pub fn place_of(&self, key: Key) -> Option<usize> {
        self.keys.iter().position(|other| *other == key)
    }

    /// The pieces that are here.
    #[inline(always)]
    pub fn pieces(&self) -> impl Iterator<Item = (Key, &Lanes)> {
        [0, 1]
            .into_iter()
            .map(|place| (self.keys[place], &self.lanes[place]))
            .take_while(|(key, _)| *key != [0, 0])
    }

    /// The same, to change their lanes.
    pub fn pieces_mut(&mut self) -> impl Iterator<Item = (Key, &mut Lanes)> {
        self.keys.iter().copied().zip(&mut self.lanes).filter(|(key, _)| *key != [0, 0])
    }
}

#[cfg(simd)]
#[inline(always)]
fn same(a: &Key, b: &Key) -> bool {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64; both are 16 bytes
    unsafe {
        let equal = _mm_cmpeq_epi8(_mm_loadu_si128(a.as_ptr().cast()), _mm_loadu_si128(b.as_ptr().cast()));
        _mm_movemask_epi8(equal) == 0xffff
    }
}

#[cfg(not(simd))]
#[inline(always)]
fn same(a: &Key, b: &Key) -> bool {
    (a[0] ^ b[0]) | (a[1] ^ b[1]) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key_of;

    #[test]
    fn tokens_begin_where_the_ones_before_them_end() {
        let key = key_of(b"abcdefghijklmno");
        for starts in [&[0][..], &[0, 14], &[0, 1, 8], &[0, 3, 3, 9], &[0, 1, 2, 3, 15]] {
            let tokens: Vec<Token> = starts.iter().map(|&start| Token { id: ID_MASK, start }).collect();
            let mut lanes = vec![0; tokens.len()];
            put_lanes(key, &tokens, &mut lanes);
            let ends: Vec<u32> = lanes.iter().map(|&lane| end_of(lane)).collect();
            assert_eq!(ends, [&starts[1..], &[15]].concat());
            assert_eq!(lanes.iter().map(|&lane| token_of(lane)).collect::<Vec<_>>(), tokens);
            let four = Lanes::of(key, &tokens);
            assert_eq!(four.map_or(0, |lanes| lanes.count()), tokens.len() % 5);
            assert_eq!(four.map(|lanes| lanes.0.map(end_of)[tokens.len() - 1]), four.map(|_| 15));
        }
        assert!(Lanes::of(key, &[]).is_none());
    }

    #[test]
    fn a_piece_is_found_where_both_words_of_its_key_are() {
        let words = [[1, 2], [1, 3], [4, 2], [4, 3], [2, 1], [5, 6]];
        for (first, second) in words.iter().flat_map(|a| words.iter().map(move |b| (*a, *b))) {
            let mut line = Line::default();
            assert!(line.put(first, Lanes([7; 4])) && !line.is_full());
            assert!(line.put(second, Lanes([8; 4])) && line.is_full() && !line.put([9, 9], Lanes([9; 4])));
            for key in words {
                let expected = if key == second { Some(8) } else { (key == first).then_some(7) };
                assert_eq!(line.find(key).map(|lanes| lanes.0[0]), expected);
                #[cfg(simd)]
                if crate::cpu::CpuPath::Avx2.is_here() {
                    // SAFETY: just asked
                    assert_eq!(unsafe { line.find_avx2(&key) }.map(|lanes| lanes.0[0]), expected);
                }
            }
        }
    }
}
