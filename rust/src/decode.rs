//! Ids to text.

use crate::spelling::spelled;
use crate::threads::from_both_ends;
use crate::utf8::valid_prefix;
use std::ops::Range;

/// What the tokens of a pipeline become, by id.
pub struct Decoder {
    tokens: Vec<Spelled>,
    /// of the first token of a row; empty where that is no different
    firsts: Vec<Spelled>,
    bytes: Vec<u8>,
    form: Form,
}

/// Where an id's bytes begin and end in `bytes`; whether there is such a token, a special one, one byte of a character
#[derive(Clone, Copy, Default)]
struct Spelled {
    start: u32,
    len: u32,
    known: bool,
    special: bool,
    is_byte: bool,
}

/// How tokens make a text.
pub enum Form {
    /// They are in byte characters, and the bytes of a row are decoded at once.
    Bytes,
    /// They are texts. Neighbours that are bytes are decoded together; one that is no UTF-8 makes each
    /// of them U+FFFD. strip: taken off the start of a row, so many times at most
    Texts { strip: Vec<u8>, most: usize },
}

const SPECIAL: u8 = 1;
const BYTE: u8 = 2;

/// Text of rows, one after the other; offsets: one more than there are rows.
#[derive(Default)]
pub struct Decoded {
    pub text: Vec<u8>,
    pub offsets: Vec<i32>,
}

/// As many bytes are copied for any token, and more for longer ones.
const COPIED: usize = 16;

impl Decoder {
    /// firsts: what tokens become at the start of a row; none where that is no different. flags: 1 for a special
    /// token, 2 for a byte. Of `Bytes` one with a character that spells no byte is its own UTF-8.
    /// An id that comes twice is the last token's. None for ids or bytes beyond 4 GB.
    pub fn new(tokens: &[&[u8]], firsts: &[&[u8]], ids: &[u32], flags: &[u8], form: Form) -> Option<Self> {
        let highest = ids.iter().max().map_or(0, |&id| id as usize + 1);
        let size: usize = tokens.iter().chain(firsts).map(|token| token.len()).sum();
        if highest > MOST_IDS || size > u32::MAX as usize - COPIED {
            return None;
        }
        let mut bytes = Vec::with_capacity(size + COPIED);
        let mut table = |texts: &[&[u8]]| {
            let mut table = vec![Spelled::default(); if texts.is_empty() { 0 } else { highest }];
            let mut spelling = Vec::new();
            for ((token, &id), &flags) in texts.iter().zip(ids).zip(flags) {
                let in_bytes = matches!(form, Form::Bytes) && spelled(token, &mut spelling);
                let spelling = if in_bytes { &spelling } else { *token };
                let (start, len) = (bytes.len() as u32, spelling.len() as u32);
                bytes.extend_from_slice(spelling);
                let (special, is_byte) = (flags & SPECIAL != 0, flags & BYTE != 0);
                table[id as usize] = Spelled { start, len, known: true, special, is_byte };
            }
            table
        };
        let (tokens, firsts) = (table(tokens), table(firsts));
        bytes.extend([0; COPIED]);
        Some(Decoder { tokens, firsts, bytes, form })
    }

    /// Append the text of a row. Ids that no token has are passed over.
    fn row(&self, ids: &[i32], skip_special: bool, out: &mut Vec<u8>) {
        match &self.form {
            Form::Bytes => self.row_of_bytes(ids, skip_special, out),
            Form::Texts { strip, most } => {
                let first = out.len();
                self.row_of_texts(ids, skip_special, out);
                let times = out[first..]
                    .chunks_exact(strip.len().max(1))
                    .take_while(|part| part == &strip.as_slice())
                    .count();
                out.drain(first..first + times.min(*most) * strip.len());
            }
        }
    }

    #[inline(always)]
    fn put(&self, token: Spelled, out: &mut Vec<u8>) {
        let (start, len) = (token.start as usize, token.len as usize);
        if len > COPIED {
            out.extend_from_slice(&self.bytes[start..start + len]);
            return;
        }
        let sixteen: [u8; COPIED] = self.bytes[start..start + COPIED].try_into().expect("16 bytes");
        out.extend_from_slice(&sixteen); // a copy of a known size, of which `len` stay
        out.truncate(out.len() - COPIED + len);
    }

    /// Bytes that are no UTF-8 become U+FFFD.
    fn row_of_bytes(&self, ids: &[i32], skip_special: bool, out: &mut Vec<u8>) {
        let first = out.len();
        for &id in ids {
            let Some(&token) = self.tokens.get(id as u32 as usize) else { continue };
            if !(skip_special & token.special) {
                self.put(token, out);
            }
        }
        let valid = first + valid_prefix(&out[first..]);
        if valid < out.len() {
            let replaced = String::from_utf8_lossy(&out[valid..]).into_owned();
            out.truncate(valid);
            out.extend_from_slice(replaced.as_bytes());
        }
    }

    fn row_of_texts(&self, ids: &[i32], skip_special: bool, out: &mut Vec<u8>) {
        let mut table = if self.firsts.is_empty() { &self.tokens } else { &self.firsts };
        let mut bytes_from = None;
        for &id in ids {
            let Some(&token) = table.get(id as u32 as usize) else { continue };
            if !token.known | (skip_special & token.special) {
                continue;
            }
            if token.is_byte {
                bytes_from.get_or_insert(out.len());
            } else if let Some(from) = bytes_from.take() {
                settle(out, from);
            }
            self.put(token, out);
            table = &self.tokens;
        }
        if let Some(from) = bytes_from {
            settle(out, from);
        }
    }

    /// The text of rows, given as ids and where each row begins and ends. threads: at most so many, at least 1
    pub fn rows(
        &self,
        ids: &[i32],
        bounds: &[(usize, usize)],
        skip_special: bool,
        threads: usize,
    ) -> Result<Decoded, &'static str> {
        let mut all = Decoded { text: Vec::with_capacity(ids.len() * 4), offsets: vec![0] };
        let units = if threads > 1 && ids.len() >= 2 * UNIT { units(bounds) } else { vec![0..bounds.len()] };
        let own = |unit: usize| self.append(ids, &bounds[units[unit].clone()], skip_special, &mut all);
        let help = |_: &mut (), unit: usize| {
            let rows = &bounds[units[unit].clone()];
            let mut part = Decoded { text: Vec::with_capacity(UNIT * 5), offsets: vec![0] };
            self.append(ids, rows, skip_special, &mut part).map(|()| part)
        };
        let helpers = vec![(); threads.min(units.len()).max(1) - 1];
        for part in from_both_ends(units.len(), helpers, own, help, |()| ())? {
            let first = all.text.len();
            all.text.extend_from_slice(&part.text);
            i32::try_from(all.text.len()).map_err(|_| TOO_LONG)?;
            all.offsets.extend(part.offsets[1..].iter().map(|&end| first as i32 + end));
        }
        Ok(all)
    }

    fn append(
        &self,
        ids: &[i32],
        bounds: &[(usize, usize)],
        skip_special: bool,
        out: &mut Decoded,
    ) -> Result<(), &'static str> {
        for &(start, stop) in bounds {
            let row = ids.get(start..stop).ok_or("the offsets of the rows are out of order")?;
            self.row(row, skip_special, &mut out.text);
            out.offsets.push(i32::try_from(out.text.len()).map_err(|_| TOO_LONG)?);
        }
        Ok(())
    }
}

/// Rows cut into units of UNIT ids or somewhat more.
fn units(bounds: &[(usize, usize)]) -> Vec<Range<usize>> {
    let (mut units, mut first, mut ids) = (Vec::new(), 0, 0);
    for (row, (start, stop)) in bounds.iter().enumerate() {
        ids += stop.saturating_sub(*start);
        if ids >= UNIT || row + 1 == bounds.len() {
            units.push(first..row + 1);
            (first, ids) = (row + 1, 0);
        }
    }
    units
}

/// Bytes from `from` on to what they spell, or each to U+FFFD.
fn settle(out: &mut Vec<u8>, from: usize) {
    if std::str::from_utf8(&out[from..]).is_err() {
        let count = out.len() - from;
        out.truncate(from);
        out.extend("\u{fffd}".repeat(count).bytes());
    }
}

const MOST_IDS: usize = 1 << 28;
/// Work of one thread at a time: so many ids.
const UNIT: usize = 32 << 10;
const TOO_LONG: &str = "the text is longer than 2 GB; decode fewer rows at a time";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_all_tokens_are_decoded_at_once() {
        let tokens: [&[u8]; 5] = [
            "Ã".as_bytes(),
            "©Ġ".as_bytes(),
            "中".as_bytes(),
            b"<s>",
            b"a-long-token-of-more-bytes-than-are-copied",
        ];
        let decoder = Decoder::new(&tokens, &[], &[0, 1, 2, 3, 7], &[0, 0, 0, 1, 0], Form::Bytes).unwrap();
        let text = |ids: &[i32], skip| {
            let decoded = decoder.rows(ids, &[(0, ids.len())], skip, 1).unwrap();
            String::from_utf8(decoded.text).unwrap()
        };
        assert_eq!(text(&[0, 1, 2, 3], false), "é 中<s>");
        assert_eq!(text(&[3, 0, 3, 0, 5, 99, -1], true), "\u{fffd}\u{fffd}");
        assert_eq!(text(&[7], true).as_bytes(), tokens[4]);
    }

    #[test]
    fn texts_join_as_their_decoder_says() {
        let tokens: [&[u8]; 5] = [b" a", b"b", b"\xc3", b"\xa9", b""];
        let firsts: [&[u8]; 5] = [b"a", b"b", b"\xc3", b"\xa9", b""];
        let flags = [0, 1, 2, 2, 0];
        let text = |firsts: &[&[u8]], most, ids: &[i32], skip| {
            let form = Form::Texts { strip: b" ".to_vec(), most };
            let decoder = Decoder::new(&tokens, firsts, &[0, 1, 2, 3, 4], &flags, form).unwrap();
            let decoded = decoder.rows(ids, &[(0, 0), (0, ids.len())], skip, 1).unwrap();
            assert_eq!(decoded.offsets[1], 0);
            String::from_utf8(decoded.text).unwrap()
        };
        assert_eq!(text(&firsts, 0, &[9, 0, 0, 2, 3, 1, 2], false), "a aéb\u{fffd}");
        assert_eq!(text(&firsts, 0, &[1, 0, 2, 1, 3, 2, 2], true), "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(text(&[], 1, &[0, 0], false), "a a");
        assert_eq!(text(&[], 0, &[0, 2, 3], false), " aé");
        assert_eq!(text(&firsts, 0, &[4, 0], false), " a");
    }
}
