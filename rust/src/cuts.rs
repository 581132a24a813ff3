//! Places inside a piece that no merge can cross, where it may be cut.
//!
//! Two characters that stand side by side inside no result of a merge never become one
//! token: merges to the left and to the right of such a place do not know of each other,
//! so that both sides can be encoded alone. A clause of 30 Chinese characters, which
//! never comes again, is cut into units that do. Not for merges dropped at random.

use crate::unicode::{decode, is_continuation};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What stands side by side inside results of merges.
#[derive(Default)]
pub struct Neighbours {
    whole: Vec<u64>,
    /// where at least one of the two is only a part of a character
    parts: BTreeSet<(Part, Part)>,
}

/// The last or first bytes of a character, or all of them, one after the other.
type Part = u32;

impl Neighbours {
    /// Note those inside the result of a merge.
    pub fn add(&mut self, result: &[u8]) {
        let starts = |at: usize| !is_continuation(result[at]);
        for at in (1..result.len()).filter(|&at| starts(at)) {
            let first = (0..at).rev().find(|&i| starts(i)).unwrap_or(0);
            let stop = (at + 1..result.len()).find(|&i| starts(i)).unwrap_or(result.len());
            let (left, right) = (&result[first..at], &result[at..stop]);
            if left.len() > 4 || right.len() > 4 {
                continue; // bytes that are in no text, as are those that are neither whole nor part
            }
            let whole = (is_whole(left), is_whole(right));
            let part = (is_continuation(left[0]), right.len() < length(right[0]));
            if whole == (true, true) {
                self.whole.push(hash(decode(left, 0).0, decode(right, 0).0));
            } else if (whole.0 || part.0) && (whole.1 || part.1) {
                self.parts.insert((packed(left), packed(right)));
            }
        }
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    bytes.len() == length(bytes[0]) && std::str::from_utf8(bytes).is_ok()
}

/// How many bytes a character has that begins with this one.
fn length(first: u8) -> usize {
    match first {
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

fn packed(bytes: &[u8]) -> Part {
    bytes.iter().fold(0, |word, &byte| word << 8 | byte as u32)
}

/// Pairs of neighbours inside results of merges; has some others too, which only costs cuts.
///
/// Pairs of whole characters are bits by hash. Of the others there are few, but each is of
/// many characters, those that end or begin so: characters are classed by which of these
/// parts they have, and a matrix says which classes are neighbours.
pub struct Cuts {
    whole: Box<[u64; 1 << (WHOLE_BITS - 6)]>,
    /// of each character its classes as left and as right neighbour
    classes: Box<[[u16; 2]; BEYOND]>,
    /// the same of those beyond U+FFFF, which share places: a class has all that one of them has
    lefts_beyond: Box<[u16]>,
    rights_beyond: Box<[u16]>,
    /// a bit for each pair of classes, in rows of `width` words
    parts: Box<[u64]>,
    width: usize,
}

const WHOLE_BITS: u32 = 20;
/// On a side; known vocabularies have 11 to 470. With more nothing is cut.
const MOST_CLASSES: usize = 4000;

const BEYOND: usize = 0x1_0000;

fn left_place(code: u32) -> usize {
    let code = code as usize;
    if code < BEYOND {
        code
    } else {
        BEYOND | code & 0xfff
    }
}

fn right_place(code: u32) -> usize {
    let code = code as usize;
    if code < BEYOND {
        code
    } else {
        BEYOND - (BEYOND >> 6) + (code >> 6)
    }
}

const LEFT_PLACES: usize = BEYOND + 0x1000;
const RIGHT_PLACES: usize = BEYOND + 0x4000;

impl Default for Cuts {
    fn default() -> Self {
        Neighbours::default().into()
    }
}

impl From<Neighbours> for Cuts {
    fn from(found: Neighbours) -> Self {
        let (mut lefts, mut rights) = (Classes::new(LEFT_PLACES), Classes::new(RIGHT_PLACES));
        let mut neighbours = BTreeMap::<Part, Vec<Part>>::new();
        for &(left, right) in &found.parts {
            neighbours.entry(left).or_default().push(right);
        }
        let all_rights: BTreeSet<Part> = found.parts.iter().map(|pair| pair.1).collect();
        let fits = neighbours.keys().all(|&part| lefts.add(part, places_that_end(part)))
            && all_rights.iter().all(|&part| rights.add(part, places_that_begin(part)));
        if !fits {
            let classes = (Classes::new(LEFT_PLACES), Classes::new(RIGHT_PLACES));
            return Cuts::with(found.whole, classes.0, classes.1, Box::new([!0]));
        }
        let width = rights.width();
        let mut parts = vec![0u64; lefts.sets.len() * width].into_boxed_slice();
        let with = rights.by_part();
        for (set, row) in lefts.sets.iter().zip(parts.chunks_exact_mut(width)) {
            let right_parts = set.iter().flat_map(|left| &neighbours[left]);
            for class in right_parts.filter_map(|right| with.get(right)).flatten() {
                row[class / 64] |= 1 << (class % 64);
            }
        }
        Cuts::with(found.whole, lefts, rights, parts)
    }
}

/// Places by which parts the characters there have.
struct Classes {
    of: Box<[u16]>,
    sets: Vec<Vec<Part>>,
}

impl Classes {
    fn new(places: usize) -> Self {
        Classes { of: vec![0; places].into_boxed_slice(), sets: vec![Vec::new()] }
    }

    /// Whether there are not too many classes.
    fn add(&mut self, part: Part, places: impl Iterator<Item = usize>) -> bool {
        let mut changed = HashMap::new();
        for place in places {
            let old = self.of[place];
            self.of[place] = *changed.entry(old).or_insert_with(|| {
                let set = self.sets[old as usize].iter().copied().chain([part]).collect();
                self.sets.push(set);
                (self.sets.len() - 1) as u16
            });
        }
        self.sets.len() <= MOST_CLASSES
    }

    fn width(&self) -> usize {
        self.sets.len().div_ceil(64)
    }

    /// The classes that have each part.
    fn by_part(&self) -> HashMap<Part, Vec<usize>> {
        let mut with = HashMap::<Part, Vec<usize>>::new();
        for (class, &part) in
            self.sets.iter().enumerate().flat_map(|(i, set)| set.iter().map(move |p| (i, p)))
        {
            with.entry(part).or_default().push(class);
        }
        with
    }
}

/// Where the characters have their class that end with `part`, or are it.
fn places_that_end(part: Part) -> impl Iterator<Item = usize> {
    let bytes = part.to_be_bytes();
    let bytes = &bytes[(part.leading_zeros() as usize / 8).min(3)..];
    let low = bytes.iter().fold(0, |code, byte| code << 6 | (byte & 0x3f) as usize);
    let (first, step) = match bytes.len() {
        _ if !is_continuation(bytes[0]) => (left_place(decode(bytes, 0).0), usize::MAX),
        1 => (0x80 | low, 1 << 6),
        2 => (low, 1 << 12),
        _ => (BEYOND | low & 0xfff, usize::MAX),
    };
    (first..LEFT_PLACES).step_by(step)
}

/// Where the characters have their class that begin with `part`, or are it.
fn places_that_begin(part: Part) -> impl Iterator<Item = usize> {
    let bytes = part.to_be_bytes();
    let bytes = &bytes[(part.leading_zeros() as usize / 8).min(3)..];
    let len = length(bytes[0]);
    let lead = bytes[0] as u32 & if len == 1 { 0x7f } else { 0x7f >> len };
    let known = bytes[1..].iter().fold(lead, |code, &byte| code << 6 | (byte & 0x3f) as u32);
    let missing = 6 * (len - bytes.len());
    let (first, stop) = (known << missing, (known + 1) << missing);
    if len < 4 {
        return first as usize..stop as usize;
    }
    let (first, stop) = (first.clamp(BEYOND as u32, 0x11_0000), stop.clamp(BEYOND as u32, 0x11_0000));
    right_place(first)..right_place(stop + 0x3f) // those of a place share all but their last six bits
}

impl Cuts {
    fn with(hashes: Vec<u64>, lefts: Classes, rights: Classes, parts: Box<[u64]>) -> Self {
        let mut whole = zeros();
        for hash in hashes {
            let bit = (hash >> (64 - WHOLE_BITS)) as usize;
            whole[bit / 64] |= 1 << (bit % 64);
        }
        let mut classes = zeros::<[u16; 2], BEYOND>();
        for ((both, &left), &right) in classes.iter_mut().zip(&lefts.of).zip(&rights.of) {
            *both = [left, right];
        }
        let (lefts_beyond, rights_beyond) = (lefts.of[BEYOND..].into(), rights.of[BEYOND..].into());
        Cuts { whole, classes, lefts_beyond, rights_beyond, parts, width: rights.width() }
    }

    /// Put into `out`, which has room for two, where the units of text[at..stop] begin, the first at `at`; returns how
    /// many, and where those begin that found no room.
    #[inline(always)]
    pub fn units(&self, text: &[u8], at: usize, stop: usize, out: &mut [u32]) -> (usize, usize) {
        out[0] = at as u32;
        let mut found = 1;
        let (mut left, len) = decode(text, at);
        let mut left_class = self.classes(left)[0];
        let mut at = at + len;
        while at < stop {
            if found == out.len() {
                found -= 1;
                return (found, out[found] as usize);
            }
            let (right, len) = decode(text, at);
            let [next_class, right_class] = self.classes(right);
            // written at once, counted only if it is one: no branch to mispredict
            out[found] = at as u32;
            found += !self.crossed((left, left_class), (right, right_class)) as usize;
            (left, left_class, at) = (right, next_class, at + len);
        }
        (found, stop)
    }

    /// Of a character as left and as right neighbour.
    #[inline(always)]
    fn classes(&self, code: u32) -> [u16; 2] {
        match self.classes.get(code as usize) {
            Some(&both) => both,
            None => {
                let places = (left_place(code), right_place(code));
                [self.lefts_beyond[places.0 - BEYOND], self.rights_beyond[places.1 - BEYOND]]
            }
        }
    }

    /// Whether a merge might cross the place between two characters, which come with their classes.
    #[inline(always)]
    fn crossed(&self, left: (u32, u16), right: (u32, u16)) -> bool {
        let bit = (hash(left.0, right.0) >> (64 - WHOLE_BITS)) as usize;
        let row = left.1 as usize * self.width;
        let parts = self.parts[row + right.1 as usize / 64] >> (right.1 % 64);
        (self.whole[bit / 64] >> (bit % 64) | parts) & 1 != 0
    }
}

fn zeros<T: Copy + Default, const N: usize>() -> Box<[T; N]> {
    match vec![T::default(); N].into_boxed_slice().try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("it has N elements"),
    }
}

#[inline(always)]
fn hash(left: u32, right: u32) -> u64 {
    ((left as u64) << 21 | right as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units<'a>(results: &[&[u8]], text: &'a str) -> Vec<&'a str> {
        let mut neighbours = Neighbours::default();
        results.iter().for_each(|result| neighbours.add(result));
        let cuts = Cuts::from(neighbours);
        let (mut at, mut found) = (0, Vec::new());
        while at < text.len() {
            let mut starts = [0; 3]; // more room is not needed: what is left is asked for again
            let (count, next) = cuts.units(text.as_bytes(), at, text.len(), &mut starts[..2]);
            starts[count] = next as u32;
            found.extend(starts[..=count].windows(2).map(|pair| &text[pair[0] as usize..pair[1] as usize]));
            at = next;
        }
        found
    }

    #[test]
    fn neighbours_in_a_result_stay_together() {
        let results = ["日本".as_bytes(), "ab".as_bytes()];
        assert_eq!(units(&results, "日日本日\0\0"), ["日", "日本", "日", "\0", "\0"]);
        assert_eq!(units(&results, "bab😀"), ["b", "ab", "😀"]);
    }

    #[test]
    fn parts_of_characters_count() {
        // the first byte of 中 and of 日 is not the same
        let results = [&"の中".as_bytes()[..4], &"本の".as_bytes()[2..]];
        assert_eq!(units(&results, "の中の日本のの"), ["の中", "の", "日", "本の", "の"]);
    }

    /// Whether any merge result has the last bytes of one and the first of the other side by side.
    fn crossed(results: &[Vec<u8>], left: char, right: char) -> bool {
        let text = format!("{left}{right}");
        let (bytes, place) = (text.as_bytes(), left.len_utf8());
        let inside = |result: &Vec<u8>, at: usize| {
            let (before, behind) = result.split_at(at);
            let (mine, yours) = (&bytes[..place], &bytes[place..]);
            let shared = |a: &[u8], b: &[u8]| a.ends_with(b) || b.ends_with(a);
            shared(before, mine) && (yours.starts_with(behind) || behind.starts_with(yours))
        };
        results.iter().any(|result| (1..result.len()).any(|at| inside(result, at)))
    }

    #[test]
    fn no_place_is_cut_that_a_result_crosses() {
        let characters: Vec<char> = "a\0é߿ࠀの中本日語豈\u{ffff}𐀀😀😁🤀\u{10ffff}".chars().collect();
        let texts: Vec<String> =
            characters.iter().flat_map(|a| characters.iter().map(move |b| format!("{a}{b}"))).collect();
        let mut seed = 7u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        let mut cut = 0;
        for _ in 0..300 {
            let results: Vec<Vec<u8>> = (0..4)
                .map(|_| {
                    let bytes = texts[random(texts.len())].as_bytes();
                    let start = random(bytes.len() - 1);
                    bytes[start..start + 2 + random(bytes.len() - start - 1)].to_vec()
                })
                .collect();
            let mut neighbours = Neighbours::default();
            results.iter().for_each(|result| neighbours.add(result));
            let cuts = Cuts::from(neighbours);
            for &left in &characters {
                for &right in &characters {
                    let expected = crossed(&results, left, right);
                    let classes = (cuts.classes(left as u32)[0], cuts.classes(right as u32)[1]);
                    let found = cuts.crossed((left as u32, classes.0), (right as u32, classes.1));
                    assert!(found || !expected, "{left}{right} {results:x?}");
                    cut += !found as usize;
                }
            }
        }
        assert!(cut > 300 * 200, "{cut}");
    }
}
