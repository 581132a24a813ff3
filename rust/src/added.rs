//! Added tokens: texts that are taken whole, before anything else sees them.

use crate::unicode::{Characters, CLASS, SPACE, WORD};

/// A text that becomes one token wherever it stands; the flags are those of the API.
///
/// ignored: it is found, and takes its place from others, but counts as text
#[derive(Clone, Debug, Default)]
pub struct Added {
    pub content: Vec<u8>,
    pub id: u32,
    pub single_word: bool,
    pub lstrip: bool,
    pub rstrip: bool,
    pub ignored: bool,
}

/// `text[start..stop]` is an added token, white space that it takes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub start: usize,
    pub stop: usize,
    pub id: u32,
}

/// Finds added tokens in a text: the leftmost, the longest of those.
pub struct Matcher {
    tokens: Vec<Added>,
    nodes: Vec<Node>,
    starts: [bool; 256],
    /// the first bytes, where there are few; one more than once fills the places up
    few_starts: Option<[u8; FEW]>,
}

/// So many bytes are looked for at once.
const FEW: usize = 4;

/// A node of the tree of contents: the token that ends here, and what may follow, by byte.
#[derive(Default)]
struct Node {
    token: Option<usize>,
    next: Vec<(u8, usize)>,
}

impl Matcher {
    /// For tokens in matching order: of equal contents the first counts. None where there are none.
    pub fn new(tokens: Vec<Added>) -> Option<Matcher> {
        let mut matcher =
            Matcher { tokens, nodes: vec![Node::default()], starts: [false; 256], few_starts: None };
        for number in 0..matcher.tokens.len() {
            matcher.insert(number);
        }
        let firsts = &matcher.nodes[0].next;
        let last = firsts.last()?.0;
        let nth = |i: usize| firsts.get(i).map_or(last, |next| next.0);
        matcher.few_starts = (firsts.len() <= FEW).then(|| std::array::from_fn(nth));
        Some(matcher)
    }

    fn insert(&mut self, number: usize) {
        let content = &self.tokens[number].content;
        // in text, which is UTF-8, it could only be found inside of characters
        if std::str::from_utf8(content).is_err() {
            return;
        }
        let Some(&first) = content.first() else { return };
        self.starts[first as usize] = true;
        let mut at = 0;
        for &byte in content {
            at = match self.nodes[at].next.iter().find(|next| next.0 == byte) {
                Some(next) => next.1,
                None => {
                    let new = self.nodes.len();
                    self.nodes.push(Node::default());
                    self.nodes[at].next.push((byte, new));
                    new
                }
            };
        }
        self.nodes[at].token.get_or_insert(number);
    }

    /// The matches in order; none begins its content before `at`. One that is refused is not tried again from a shorter token.
    pub fn find(&self, table: &Characters, text: &[u8], mut at: usize, found: &mut Vec<Match>) {
        found.clear();
        let mut last = 0;
        while let Some(from) = self.candidate(text, at) {
            at = from + 1;
            let Some(token) = self.longest(&text[from..]) else { continue };
            let (mut start, mut stop) = (from, from + token.content.len());
            at = stop;
            if token.ignored || (token.single_word && touches_word(table, text, start, stop)) {
                continue;
            }
            if token.lstrip {
                start = before_space(table, text, start).max(last).min(from); // never behind its own text
            }
            if token.rstrip {
                stop = after_space(table, text, stop);
            }
            found.push(Match { start, stop, id: token.id });
            last = stop;
        }
    }

    /// The first place from `at` on where a token may begin.
    #[inline]
    pub fn candidate(&self, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        let place = match self.few_starts {
            Some([first, others @ ..]) if others == [first; FEW - 1] => find_byte(rest, first),
            Some(few) => find(rest, |byte| few.iter().fold(false, |any, &start| any | (byte == start))),
            None => rest.iter().position(|&byte| self.starts[byte as usize]),
        };
        place.map(|place| at + place)
    }

    fn longest(&self, text: &[u8]) -> Option<&Added> {
        let mut best = None;
        let mut node = &self.nodes[0];
        for &byte in text {
            let Some(next) = node.next.iter().find(|next| next.0 == byte) else { break };
            node = &self.nodes[next.1];
            best = node.token.or(best);
        }
        best.map(|number| &self.tokens[number])
    }
}

/// The first place of a byte.
#[inline]
pub fn find_byte(text: &[u8], wanted: u8) -> Option<usize> {
    find(text, |byte| byte == wanted)
}

/// The first place of a byte that is one; 32 at a time, in a form that compilers make vectors of.
#[inline(always)]
fn find(text: &[u8], is_one: impl Fn(u8) -> bool) -> Option<usize> {
    let mut at = 0;
    for chunk in text.chunks_exact(32) {
        if chunk.iter().fold(0u8, |any, &byte| any | is_one(byte) as u8) != 0 {
            break;
        }
        at += 32;
    }
    text[at..].iter().position(|&byte| is_one(byte)).map(|place| at + place)
}

fn touches_word(table: &Characters, text: &[u8], start: usize, stop: usize) -> bool {
    table.before(text, start).is_some_and(|class| class & WORD != 0)
        || (stop < text.len() && table.at(text, stop).0 & WORD != 0)
}

/// Where the white space that ends at `at` begins.
fn before_space(table: &Characters, text: &[u8], mut at: usize) -> usize {
    while let Some(class) = table.before(text, at) {
        if class & CLASS != SPACE {
            break;
        }
        at -= 1;
        while crate::unicode::is_continuation(text[at]) {
            at -= 1;
        }
    }
    at
}

/// Where the white space that begins at `at` ends.
fn after_space(table: &Characters, text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        let (class, len) = table.at(text, at);
        if class & CLASS != SPACE {
            break;
        }
        at += len;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(tokens: &[Added], text: &str) -> Vec<(usize, usize, u32)> {
        let mut found = Vec::new();
        let matcher = Matcher::new(tokens.to_vec()).unwrap();
        matcher.find(&crate::unicode::CHARACTERS, text.as_bytes(), 0, &mut found);
        found.iter().map(|m| (m.start, m.stop, m.id)).collect()
    }

    fn added(content: &str, id: u32) -> Added {
        Added { content: content.into(), id, ..Added::default() }
    }

    #[test]
    fn the_longest_at_the_leftmost_place_is_taken() {
        let tokens = [added("<a", 1), added("<a>", 2), added("a>b", 3)];
        assert_eq!(find(&tokens, "x<a>b<a"), [(1, 4, 2), (5, 7, 1)]);
    }

    #[test]
    fn what_is_no_utf8_is_found_in_no_character() {
        let inside = Added { content: vec![0x81], id: 1, ..Added::default() };
        assert_eq!(find(&[inside, added("い", 2)], "あい"), [(3, 6, 2)]);
    }

    #[test]
    fn white_space_goes_with_a_token_that_takes_it() {
        let tokens = [Added { lstrip: true, rstrip: true, ..added("<m>", 1) }];
        assert_eq!(find(&tokens, "a \u{3000}<m> \n<m>b"), [(1, 10, 1), (10, 13, 1)]);
    }

    #[test]
    fn white_space_that_the_last_one_took_is_not_taken_again() {
        let tokens = [Added { rstrip: true, ..added("a", 1) }, Added { lstrip: true, ..added(" b", 2) }];
        assert_eq!(find(&tokens, "a   b"), [(0, 4, 1), (3, 5, 2)]);
    }

    #[test]
    fn candidates_are_found_whatever_stands_before() {
        for count in 1..=FEW + 2 {
            let tokens: Vec<Added> = (0..count).map(|i| added(&"<[~|#@"[i..=i], i as u32)).collect();
            let matcher = Matcher::new(tokens.clone()).unwrap();
            for len in 0..100 {
                for token in &tokens {
                    let text = [&b"x".repeat(len), &token.content[..], b"yy<"].concat();
                    assert_eq!(matcher.candidate(&text, 0), Some(len));
                    assert_eq!(matcher.candidate(&text, len), Some(len));
                    assert_eq!(matcher.candidate(&text, len + 1), Some(len + 3));
                    assert_eq!(matcher.candidate(&text, len + 4), None);
                }
            }
        }
    }

    #[test]
    fn words_and_ignored_tokens_are_passed_over_with_all_that_they_cover() {
        let tokens = [Added { single_word: true, ..added("ab", 1) }, added("b", 2)];
        assert_eq!(find(&tokens, "xab ab b"), [(4, 6, 1), (7, 8, 2)]);
        assert_eq!(find(&[Added { ignored: true, ..added("ab", 1) }, added("b", 2)], "abb"), [(2, 3, 2)]);
    }
}
