//! Ids to text.

use crate::spelling::spelled;

/// The bytes of each token of a byte-level pipeline, by id.
pub struct Decoder {
    /// where an id's bytes begin and end in `bytes`, and whether it is special
    tokens: Vec<Spelled>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Spelled {
    start: u32,
    len: u32,
    special: bool,
}

/// Text of rows, one after the other; offsets: one more than there are rows.
#[derive(Default)]
pub struct Decoded {
    pub text: Vec<u8>,
    pub offsets: Vec<i32>,
}

/// As many bytes are copied for any token, and more for longer ones.
const COPIED: usize = 16;

impl Decoder {
    /// tokens: in byte characters; one with a character that spells no byte is its own UTF-8.
    /// An id that comes twice is the last token's. None for ids or bytes beyond 4 GB.
    pub fn new(tokens: &[&[u8]], ids: &[u32], special: &[u8]) -> Option<Self> {
        let highest = ids.iter().max().map_or(0, |&id| id as usize + 1);
        if highest > MOST_IDS
            || tokens.iter().map(|token| token.len()).sum::<usize>() > u32::MAX as usize - COPIED
        {
            return None;
        }
        let mut decoder = Decoder { tokens: vec![Spelled::default(); highest], bytes: Vec::new() };
        let mut bytes = Vec::new();
        for ((token, &id), &special) in tokens.iter().zip(ids).zip(special) {
            let spelling = if spelled(token, &mut bytes) { &bytes } else { *token };
            let start = decoder.bytes.len() as u32;
            decoder.bytes.extend_from_slice(spelling);
            let len = spelling.len() as u32;
            decoder.tokens[id as usize] = Spelled { start, len, special: special != 0 };
        }
        decoder.bytes.extend([0; COPIED]);
        Some(decoder)
    }

    /// Append the text of a row. Ids that no token has are passed over, bytes that are no
    /// UTF-8 become U+FFFD.
    pub fn row(&self, ids: &[i32], skip_special: bool, out: &mut Vec<u8>) {
        let first = out.len();
        for &id in ids {
            let Some(token) = self.tokens.get(id as u32 as usize) else { continue };
            if skip_special & token.special {
                continue;
            }
            let (start, len) = (token.start as usize, token.len as usize);
            if len > COPIED {
                out.extend_from_slice(&self.bytes[start..start + len]);
                continue;
            }
            let sixteen: [u8; COPIED] = self.bytes[start..start + COPIED].try_into().expect("16 bytes");
            out.extend_from_slice(&sixteen); // a copy of a known size, of which `len` stay
            out.truncate(out.len() - COPIED + len);
        }
        if let Err(error) = std::str::from_utf8(&out[first..]) {
            let valid = first + error.valid_up_to();
            let replaced = String::from_utf8_lossy(&out[valid..]).into_owned();
            out.truncate(valid);
            out.extend_from_slice(replaced.as_bytes());
        }
    }

    /// The text of rows, given as ids and where each row begins and ends.
    pub fn rows(
        &self,
        ids: &[i32],
        bounds: impl Iterator<Item = (usize, usize)>,
        skip_special: bool,
    ) -> Result<Decoded, &'static str> {
        let mut out = Decoded { text: Vec::with_capacity(ids.len() * 4), offsets: vec![0] };
        for (start, stop) in bounds {
            let row = ids.get(start..stop).ok_or("the offsets of the rows are out of order")?;
            self.row(row, skip_special, &mut out.text);
            let end = i32::try_from(out.text.len());
            out.offsets.push(end.map_err(|_| "the text is longer than 2 GB; decode fewer rows at a time")?);
        }
        Ok(out)
    }
}

const MOST_IDS: usize = 1 << 28;

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
        let decoder = Decoder::new(&tokens, &[0, 1, 2, 3, 7], &[0, 0, 0, 1, 0]).unwrap();
        let text = |ids: &[i32], skip| {
            let decoded = decoder.rows(ids, [(0, ids.len())].into_iter(), skip).unwrap();
            String::from_utf8(decoded.text).unwrap()
        };
        assert_eq!(text(&[0, 1, 2, 3], false), "é 中<s>");
        assert_eq!(text(&[3, 0, 3, 0, 5, 99, -1], true), "\u{fffd}\u{fffd}");
        assert_eq!(text(&[7], true).as_bytes(), tokens[4]);
    }
}
