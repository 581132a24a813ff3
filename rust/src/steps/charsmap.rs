//! SentencePiece's character map: a double-array trie over UTF-8, and the texts that its leaves point at.
//!
//! Source: darts-clone, as SentencePiece uses it.

use crate::aligned::{Aligned, Rewriter, View};
use crate::unicode::{count, decode, is_continuation, start_before, Characters};
use crate::unicode_runs::JOINS;
use std::sync::atomic::{AtomicU32, Ordering};

/// A grapheme of so many bytes is looked up character by character, a shorter one whole.
const LONGEST_GRAPHEME: usize = 6;

/// What may join characters into one grapheme: it goes on with the character before it, or the next goes on with it.
const EXTENDS: u8 = 1;
const ATTACHES: u8 = 2;

/// From here on letters may join by more than marks behind them: India's scripts, Hangul, and what is put together by
/// invisible characters.
const BEYOND_PLAIN: u32 = 0x900;

/// What each code point may join.
static JOINING: Characters = Characters::new(JOINS);

pub struct Charsmap {
    units: Vec<u32>,
    texts: Vec<u8>,
    full: bool,
    /// of ASCII: whether it stays as it is and joins nothing
    plain: [bool; 128],
    /// others that were seen to do so, by their lower bits: most of a text are few
    seen: Box<[AtomicU32]>,
}

const SEEN: usize = 1 << 14; // 64 KB

impl Charsmap {
    /// map: as in a file; full: whether what is replaced stands for all of its characters, not for the first
    pub fn new(map: &[u8], full: bool) -> Option<Charsmap> {
        let (size, rest) = map.split_first_chunk()?;
        let size = u32::from_le_bytes(*size) as usize;
        let (units, texts) = (rest.get(..size)?, &rest[size..]);
        let unit = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        let units: Vec<u32> = units.chunks_exact(4).map(unit).collect(); // as fast as a copy, without an Option each
        units.first()?;
        let seen = (0..SEEN).map(|_| AtomicU32::new(0)).collect();
        let mut made = Charsmap { units, texts: texts.to_vec(), full, plain: [false; 128], seen };
        made.plain =
            std::array::from_fn(|code| JOINING.of(code as u32) == 0 && made.find(&[code as u8]).is_none());
        Some(made)
    }

    /// What the shortest entry that `key` begins with is replaced by.
    fn find(&self, key: &[u8]) -> Option<&[u8]> {
        let offset = |unit: u32| ((unit >> 10) << ((unit & 0x200) >> 6)) as usize;
        let mut at = offset(self.units[0]);
        for &byte in key {
            at ^= byte as usize;
            let unit = *self.units.get(at)?;
            if byte == 0 || unit & 0x8000_00ff != byte as u32 {
                return None;
            }
            at ^= offset(unit);
            if unit >> 8 & 1 != 0 {
                if let Some(leaf) = self.units.get(at) {
                    let text = self.texts.get((leaf & 0x7fff_ffff) as usize..)?;
                    return text.split(|&byte| byte == 0).next();
                }
            }
        }
        None
    }

    /// Whether a character of ASCII stays as it is, whatever stands around it.
    pub fn is_plain(&self, byte: u8) -> bool {
        self.plain[byte as usize] && (byte != b'\r' || self.find(b"\r\n").is_none())
    }

    /// Whether it becomes a space.
    pub fn makes_space(&self, byte: u8) -> bool {
        let key = if byte == b'\r' { &b"\r\n"[..] } else { &[byte] };
        JOINING.of(byte as u32) == 0 && [&key[..1], key].iter().all(|key| self.find(key) == Some(b" "))
    }

    /// Whether the character before `at` may go on with the one there.
    pub fn may_join(&self, text: &[u8], at: usize) -> bool {
        let joins = |start: usize| JOINING.of(decode(text, start).0);
        (text[..at].ends_with(b"\r") && text[at..].starts_with(b"\n"))
            || start_before(text, at).is_some_and(|start| joins(start) & ATTACHES != 0)
    }

    /// Whether all of a text is plain ASCII.
    pub fn leaves(&self, text: &[u8]) -> bool {
        text.iter().all(|&byte| byte < 0x80 && self.plain[byte as usize])
    }

    /// Whether the text changed; None where it may hold a grapheme that is replaced whole, and more than a letter and
    /// marks of Europe's and the Near East's scripts: for these the reference engine is asked.
    pub fn apply(&self, from: View, to: &mut Aligned) -> Option<bool> {
        let text = from.text;
        let mut out = Rewriter::new(from, self.full, to);
        let mut kept = 0;
        let mut at = 0;
        let mut cluster = 0; // where what may be a grapheme began
        let mut before = 0u8;
        while at < text.len() {
            let byte = text[at];
            if byte < 0x80 && self.plain[byte as usize] && before & ATTACHES == 0 {
                (before, cluster) = (0, at);
                at += 1;
                continue;
            }
            let (code, mut len) = decode(text, at);
            if byte >= 0x80 && before & ATTACHES == 0 && self.stays(code, &text[at..at + len]) {
                (before, cluster) = (0, at);
                at += len;
                continue;
            }
            let mut joins = JOINING.of(code);
            if text[at..].starts_with(b"\r\n") {
                // one grapheme, whatever stands around it
                (joins, cluster) = (0, at);
                len += self.find(b"\r\n").is_some() as usize;
            } else if at == 0 || (before & ATTACHES == 0 && joins & EXTENDS == 0) {
                cluster = at;
            } else if let Some(end) = self.end_of_marks(text, cluster, at).filter(|_| kept <= cluster) {
                let is_whole = end - cluster < LONGEST_GRAPHEME
                    && self.replace(text, cluster, end, &mut kept, &mut out)?;
                while at < end && !is_whole {
                    let len = decode(text, at).1;
                    self.replace(text, at, at + len, &mut kept, &mut out)?;
                    at += len;
                }
                (at, before) = (end, 0);
                continue;
            } else if self.may_be_replaced_whole(&text[cluster..at + len], at - cluster) {
                return None;
            }
            self.replace(text, at, at + len, &mut kept, &mut out)?;
            before = joins;
            at += len;
        }
        out.keep(kept, text.len());
        Some(kept > 0)
    }

    /// Whether a character that is not ASCII stays as it is, whatever stands around it, unless what is before it joins it.
    #[inline]
    fn stays(&self, code: u32, character: &[u8]) -> bool {
        let seen = &self.seen[code as usize % SEEN];
        if seen.load(Ordering::Relaxed) == code {
            return true;
        }
        let stays = JOINING.of(code) == 0 && self.find(character).is_none();
        if stays {
            seen.store(code, Ordering::Relaxed);
        }
        stays
    }

    /// Put what text[start..stop] is replaced by behind all from `kept` on; whether it is.
    fn replace(
        &self,
        text: &[u8],
        start: usize,
        stop: usize,
        kept: &mut usize,
        out: &mut Rewriter,
    ) -> Option<bool> {
        let Some(new) = self.find(&text[start..stop]) else { return Some(false) };
        out.keep(*kept, start);
        *kept = stop;
        replace(out, count(&text[start..stop]), std::str::from_utf8(new).ok()?);
        Some(true)
    }

    /// Where the grapheme ends that is the character at `start` and the marks from `at` on, as far as that is plain.
    fn end_of_marks(&self, text: &[u8], start: usize, at: usize) -> Option<usize> {
        let joins = |code: u32| JOINING.of(code);
        let (first, len) = decode(text, start);
        let is_control = matches!(first, 0..=0x1f | 0x7f..=0x9f | 0xad | 0x61c);
        if is_control || first >= BEYOND_PLAIN || joins(first) != 0 || start + len != at {
            return None;
        }
        let mut end = at;
        while end < text.len() {
            let (code, len) = decode(text, end);
            if joins(code) & EXTENDS == 0 {
                break;
            }
            if code >= BEYOND_PLAIN {
                return None;
            }
            end += len;
        }
        Some(end)
    }

    /// Whether a grapheme that ends with `cluster` may be, which begins before `last` there.
    fn may_be_replaced_whole(&self, cluster: &[u8], last: usize) -> bool {
        let first = (cluster.len() + 1).saturating_sub(LONGEST_GRAPHEME);
        let mut starts = (first..last).filter(|&at| !is_continuation(cluster[at]));
        starts.any(|at| self.find(&cluster[at..]).is_some())
    }
}

/// Put `new` in place of so many characters: one for one, what is left of it beside the last.
fn replace(out: &mut Rewriter, old: usize, new: &str) {
    let mut put = 0;
    for character in new.chars() {
        out.put(character.encode_utf8(&mut [0; 4]).as_bytes(), (put >= old) as i32);
        put += 1;
    }
    out.remove(old.saturating_sub(put));
}
