//! Short pieces whose tokens do not cover them one after the other.

use super::{Cache, Key, Lanes};

/// A token that says where in its piece it begins and ends, and of which of the piece's words it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub id: u32,
    pub start: u32,
    pub end: u32,
    pub word: u32,
}

impl Placed {
    /// As two lanes of a short piece.
    fn lanes(&self) -> [u32; 2] {
        [self.id, self.start | self.end << 8 | self.word << 16]
    }

    fn of(lanes: &[u32]) -> Self {
        let [id, place] = [lanes[0], lanes[1]];
        Placed { id, start: place & 0xff, end: place >> 8 & 0xff, word: place >> 16 }
    }
}

impl Lanes {
    /// How many words the piece has, where its tokens are placed: lane 3 has one more.
    #[inline(always)]
    pub fn words(&self) -> Option<u32> {
        if self.count() == 0 {
            self.0[3].checked_sub(1)
        } else {
            None
        }
    }
}

impl Cache {
    /// Keep the tokens of a short piece of so many words.
    pub fn insert_placed(&mut self, key: Key, tokens: &[Placed], words: u32) {
        let bytes = tokens.len() * 8;
        if !self.keeps() || bytes > self.rest_limit / 2 {
            return;
        }
        self.make_room_to_spill(bytes);
        let lanes = Lanes([0, self.spill.len() as u32, 2 * tokens.len() as u32, words + 1]);
        self.spill.extend(tokens.iter().flat_map(Placed::lanes));
        self.add(key, lanes);
    }

    /// The tokens of a piece that has words.
    pub fn placed<'c>(&'c self, lanes: &Lanes) -> impl Iterator<Item = Placed> + 'c {
        self.spilled(lanes).chunks_exact(2).map(Placed::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key_of;
    use crate::merge::Token;

    #[test]
    fn tokens_are_kept_with_their_places() {
        let mut cache = Cache::new(1 << 20);
        let places = [(0, 3, 0), (4, 15, 0), (14, 15, 14)];
        let tokens = places.map(|(start, end, word)| Placed { id: 0x1f_ffff, start, end, word });
        for count in 0..=3 {
            let key = key_of(&b"abcde"[..count + 1]);
            cache.insert_placed(key, &tokens[..count], count as u32);
            let lanes = cache.find(key).unwrap();
            assert_eq!(lanes.words(), Some(count as u32));
            assert_eq!(cache.placed(&lanes).collect::<Vec<_>>(), tokens[..count]);
        }
        for count in [1, 4, 5] {
            let key = key_of(&b"12345"[..count]);
            cache.insert(key, &vec![Token { id: 1, start: 0 }; count]);
            assert_eq!(cache.find(key).unwrap().words(), None);
        }
    }
}
