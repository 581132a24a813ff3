//! Merges for a vocabulary: of all pairs of neighbours the one that comes most often is joined, again and again.
//!
//! The rules are those of the reference trainer, also where they are odd: of equal pairs the lowest ids win; the
//! count of a pair stays when it is joined, and its neighbours' counts change; a token that was there already keeps
//! its id, and the rule stands all the same; a pair that would be too long is never counted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A pair that may be joined: how often it came when it was noted, and the words it came in.
///
/// Counts fall between two notes, so that one that is too high is put right when it comes up.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    count: i64,
    pair: Reverse<u64>,
    words: Vec<u32>,
}

/// Words as ids. Each keeps its place; what is joined makes it shorter.
struct Words {
    ids: Vec<u32>,
    /// How many first ids each id stands for; empty where no token can be too long.
    lengths: Vec<u32>,
    starts: Vec<usize>,
    stops: Vec<usize>,
    counts: Vec<i64>,
}

/// A merge: the ids that are joined, and the id that they make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Merge {
    pub left: u32,
    pub right: u32,
    pub joined: u32,
}

/// What is being learnt.
pub struct Learner {
    words: Words,
    pairs: Pairs,
    candidates: BinaryHeap<Candidate>,
    texts: Vec<Box<[u8]>>,
    ids: HashMap<Box<[u8]>, u32>,
    prefix: Vec<u8>,
    max_length: u64,
}

impl Learner {
    /// ids, offsets: the words, one after the other; counts: how often each comes. texts: of the ids that there are;
    /// prefix: what a token that continues a word begins with. max_length: in first ids, of a token; u64::MAX for any.
    ///
    /// None where offsets are not in order, an id has no text, or there are more words than 32 bits count.
    pub fn new(
        ids: &[u32],
        offsets: &[i64],
        counts: &[i64],
        texts: &[&[u8]],
        prefix: &[u8],
        max_length: u64,
    ) -> Option<Self> {
        if offsets.len() != counts.len() + 1 || u32::try_from(counts.len()).is_err() {
            return None;
        }
        let places: Vec<usize> =
            offsets.iter().map(|&offset| usize::try_from(offset).ok()).collect::<Option<_>>()?;
        let in_order = places.windows(2).all(|pair| pair[0] <= pair[1]) && *places.last()? <= ids.len();
        if !in_order || ids.iter().any(|&id| id as usize >= texts.len()) {
            return None;
        }
        let lengths = if max_length == u64::MAX { Vec::new() } else { vec![1; ids.len()] };
        let (starts, stops) = (places[..counts.len()].to_vec(), places[1..].to_vec());
        let mut learner = Learner {
            words: Words { ids: ids.to_vec(), lengths, starts, stops, counts: counts.to_vec() },
            pairs: Pairs::new(),
            candidates: BinaryHeap::new(),
            texts: Vec::new(),
            ids: HashMap::new(),
            prefix: prefix.to_vec(),
            max_length,
        };
        for text in texts {
            learner.texts.push((*text).into());
            learner.ids.insert((*text).into(), (learner.texts.len() - 1) as u32);
        }
        learner.note_all();
        Some(learner)
    }

    /// Learn up to as many merges as there is room in `out`, until there are vocab_size tokens or no pair comes
    /// min_count times; how many. Fewer than there is room: that was all.
    pub fn step(&mut self, vocab_size: usize, min_count: i64, out: &mut [Merge]) -> usize {
        let mut made = 0;
        while made < out.len() && self.texts.len() < vocab_size {
            let Some(found) = self.commonest() else { break };
            if found.count < min_count.max(1) {
                break;
            }
            let (left, right) = halves(found.pair.0);
            let joined = self.number(left, right);
            self.join(&found, left, right, joined);
            out[made] = Merge { left, right, joined };
            made += 1;
        }
        made
    }

    /// How many tokens there are.
    pub fn tokens(&self) -> usize {
        self.texts.len()
    }

    /// Every pair that there is, with its words.
    fn note_all(&mut self) {
        let mut fresh = Fresh::default();
        for word in 0..self.words.counts.len() {
            let ids = &self.words.ids[self.words.starts[word]..self.words.stops[word]];
            for two in ids.windows(2) {
                let slot = self.pairs.slot(key(two[0], two[1]));
                slot.count += self.words.counts[word];
                fresh.add(slot, key(two[0], two[1]), word as u32);
            }
        }
        self.note(fresh);
    }

    fn note(&mut self, fresh: Fresh) {
        for (pair, words) in fresh.pairs {
            let slot = self.pairs.slot(pair);
            slot.fresh = 0;
            if slot.count > 0 {
                self.candidates.push(Candidate { count: slot.count, pair: Reverse(pair), words });
            }
        }
    }

    /// The pair that comes most often, taken off; None when there is none.
    fn commonest(&mut self) -> Option<Candidate> {
        while let Some(mut top) = self.candidates.pop() {
            let count = self.pairs.slot(top.pair.0).count;
            if count == top.count {
                return Some(top);
            }
            if count > 0 {
                top.count = count;
                self.candidates.push(top);
            }
        }
        None
    }

    /// The id of two tokens joined; a new one where no token has that text.
    fn number(&mut self, left: u32, right: u32) -> u32 {
        let (left, right) = (&self.texts[left as usize], &self.texts[right as usize]);
        let tail = right.strip_prefix(&self.prefix[..]).unwrap_or(right);
        let text: Box<[u8]> = [left, tail].concat().into();
        if let Some(&id) = self.ids.get(&text) {
            return id;
        }
        let id = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        id
    }

    /// Put `joined` in place of the pair in the words where it was seen.
    fn join(&mut self, found: &Candidate, left: u32, right: u32, joined: u32) {
        let mut fresh = Fresh::default();
        for &number in &found.words {
            let word = number as usize;
            let (start, stop) = (self.words.starts[word], self.words.stops[word]);
            let count = self.words.counts[word];
            let ids = &mut self.words.ids[start..stop];
            let lengths = self.words.lengths.get_mut(start..stop).unwrap_or_default();
            let (mut read, mut write) = (0, 0);
            while read < ids.len() {
                if ids[read] != left || ids.get(read + 1) != Some(&right) {
                    ids[write] = ids[read];
                    if let Some(&length) = lengths.get(read) {
                        lengths[write] = length;
                    }
                    (read, write) = (read + 1, write + 1);
                    continue;
                }
                let mut length = 0;
                if !lengths.is_empty() {
                    length = lengths[read] + lengths[read + 1];
                    lengths[write] = length;
                }
                let fits = |other: Option<&u32>| {
                    other.map_or(true, |&other| ((length + other) as u64) < self.max_length)
                };
                // each neighbour loses the pair that it made, and makes a new one unless that would be too long
                if write > 0 {
                    let before = ids[write - 1];
                    self.pairs.slot(key(before, left)).count -= count;
                    if fits(lengths.get(write - 1)) {
                        let slot = self.pairs.slot(key(before, joined));
                        slot.count += count;
                        fresh.add(slot, key(before, joined), number);
                    }
                }
                if let Some(&after) = ids.get(read + 2) {
                    self.pairs.slot(key(right, after)).count -= count;
                    if fits(lengths.get(read + 2)) {
                        let slot = self.pairs.slot(key(joined, after));
                        slot.count += count;
                        fresh.add(slot, key(joined, after), number);
                    }
                }
                ids[write] = joined;
                (read, write) = (read + 2, write + 1);
            }
            self.words.stops[word] = start + write;
        }
        self.note(fresh);
    }
}

fn key(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
}

fn halves(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// Pairs that came anew, each with the words where: not twice, for words come one after the other.
#[derive(Default)]
struct Fresh {
    pairs: Vec<(u64, Vec<u32>)>,
}

impl Fresh {
    fn add(&mut self, slot: &mut Slot, pair: u64, word: u32) {
        if slot.fresh == 0 {
            self.pairs.push((pair, vec![word]));
            slot.fresh = self.pairs.len() as u32;
            return;
        }
        let words = &mut self.pairs[slot.fresh as usize - 1].1;
        if words.last() != Some(&word) {
            words.push(word);
        }
    }
}

/// How often a pair comes. fresh: its place among those that came anew, from 1; 0 where it is none of them
#[derive(Clone, Copy, Default)]
struct Slot {
    count: i64,
    fresh: u32,
}

/// Slots by pair, never taken away: open addressing over a power of two, at most half full.
struct Pairs {
    keys: Vec<u64>,
    slots: Vec<Slot>,
    used: usize,
}

const NO_PAIR: u64 = u64::MAX;

impl Pairs {
    fn new() -> Self {
        Pairs { keys: vec![NO_PAIR; 1 << 10], slots: vec![Slot::default(); 1 << 10], used: 0 }
    }

    fn slot(&mut self, pair: u64) -> &mut Slot {
        let mut at = self.find(pair);
        if self.keys[at] == NO_PAIR {
            if self.used * 2 >= self.keys.len() {
                self.grow();
                at = self.find(pair);
            }
            self.keys[at] = pair;
            self.used += 1;
        }
        &mut self.slots[at]
    }

    /// Where a pair is, or would be.
    fn find(&self, pair: u64) -> usize {
        let mask = self.keys.len() - 1;
        let mut at = (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.keys[at] != pair && self.keys[at] != NO_PAIR {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let size = self.keys.len() * 2;
        let keys = std::mem::replace(&mut self.keys, vec![NO_PAIR; size]);
        let slots = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for (pair, slot) in keys.into_iter().zip(slots).filter(|(pair, _)| *pair != NO_PAIR) {
            let at = self.find(pair);
            (self.keys[at], self.slots[at]) = (pair, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(words: &[(&str, i64)], room: usize, prefix: &str, max_length: u64) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        let (mut ids, mut offsets, mut counts) = (Vec::new(), vec![0], Vec::new());
        let alphabet: std::collections::BTreeSet<char> =
            words.iter().flat_map(|word| word.0.chars()).collect();
        texts.extend(alphabet.iter().map(|c| c.to_string()));
        for (word, count) in words {
            for (at, c) in word.chars().enumerate() {
                let text = if at > 0 { format!("{prefix}{c}") } else { c.to_string() };
                let id = texts.iter().position(|known| *known == text).unwrap_or_else(|| {
                    texts.push(text);
                    texts.len() - 1
                });
                ids.push(id as u32);
            }
            offsets.push(ids.len() as i64);
            counts.push(*count);
        }
        let known: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let mut learner =
            Learner::new(&ids, &offsets, &counts, &known, prefix.as_bytes(), max_length).unwrap();
        let mut out = [Merge { left: 0, right: 0, joined: 0 }; 50];
        let size = learner.tokens() + room;
        let made = learner.step(size, 1, &mut out);
        let text = |id: u32| String::from_utf8(learner.texts[id as usize].to_vec()).unwrap();
        out[..made].iter().map(|m| format!("{} {} {}", text(m.left), text(m.right), text(m.joined))).collect()
    }

    #[test]
    fn the_commonest_pair_is_joined_first_and_of_equal_ones_the_lowest() {
        assert_eq!(learn(&[("abab", 2), ("abc", 1)], 9, "", u64::MAX), ["a b ab", "ab ab abab", "ab c abc"]);
        assert_eq!(learn(&[("ba", 1), ("ab", 1)], 9, "", u64::MAX), ["a b ab", "b a ba"]);
    }

    #[test]
    fn runs_are_joined_from_the_left() {
        // "aa aa a" holds "aa aa" and "aa a" once each, and "a" has the lower id
        assert_eq!(learn(&[("aaaaa", 1)], 9, "", u64::MAX), ["a a aa", "aa a aaa", "aa aaa aaaaa"]);
    }

    #[test]
    fn a_prefix_stands_once_in_what_is_joined() {
        assert_eq!(learn(&[("abc", 1)], 9, "##", u64::MAX), ["a ##b ab", "ab ##c abc"]);
    }

    #[test]
    fn no_pair_is_counted_that_would_be_too_long() {
        assert_eq!(learn(&[("abcd", 5)], 9, "", 3), ["a b ab", "c d cd"]);
    }

    #[test]
    fn words_that_make_no_sense_are_refused() {
        for (ids, offsets) in
            [(&[0u32, 7][..], [0i64, 2]), (&[0, 0], [0, 3]), (&[0, 0], [-1, 2]), (&[0, 0], [2, 1])]
        {
            assert!(Learner::new(ids, &offsets, &[1], &[b"a"], b"", u64::MAX).is_none());
        }
    }
}
