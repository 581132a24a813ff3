//! The pieces of a SentencePiece model, which its file begins with: messages of a text, a score and a kind.

use super::parts::Parts;

/// As in the Python reader: sums of real ones stay far below.
const LARGEST_SCORE: f64 = 1e30;
const NORMAL: i64 = 1;
const KINDS: std::ops::RangeInclusive<i64> = 1..=6;
// keys of protobuf's wire format: the number of a field and how its value is written
const PIECE: u8 = 1 << 3 | 2;
const TEXT: u8 = 1 << 3 | 2;
const SCORE: u8 = 2 << 3 | 5;
const KIND: u8 = 3 << 3;

/// Texts with scores, their kinds as ids, and up to which byte they are written.
///
/// None where anything about them is unusual, a mistake too: as in `read`. What follows them is not looked at.
pub fn read_pieces(model: &[u8]) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut rest = model;
    while rest.first() == Some(&PIECE) {
        let message = field(&mut rest)?;
        read_piece(message, &mut parts)?;
    }
    parts.vocab = 0..model.len() - rest.len();
    (!parts.tokens.is_empty()).then_some(parts)
}

fn read_piece(mut message: &[u8], parts: &mut Parts) -> Option<()> {
    let text = field(&mut message).filter(|text| !text.is_empty())?;
    std::str::from_utf8(text).ok()?;
    parts.tokens.data.extend_from_slice(text);
    parts.tokens.end()?;
    let (mut score, mut kind) = (0.0, NORMAL);
    if let [SCORE, a, b, c, d, rest @ ..] = message {
        score = f32::from_le_bytes([*a, *b, *c, *d]) as f64;
        message = rest;
    }
    if let [KIND, number, rest @ ..] = message {
        kind = *number as i64;
        message = rest;
    }
    parts.scores.push(score);
    parts.ids.push(kind);
    (message.is_empty() && KINDS.contains(&kind) && score.abs() < LARGEST_SCORE).then_some(())
}

/// Go past a field that has its length before it; None where it is none of number 1, or goes on beyond the end.
fn field<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let data = rest.strip_prefix(&[TEXT])?;
    let (mut size, mut at) = (0usize, 0);
    loop {
        let byte = *data.get(at)?;
        size |= (byte as usize & 0x7f) << (7 * at);
        at += 1;
        if byte < 0x80 {
            break;
        }
        if at == 4 {
            return None; // 256 MB, which no piece has
        }
    }
    let value = data[at..].get(..size)?;
    *rest = &data[at + size..];
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_as_far_as_they_go() {
        let model =
            b"\x0a\x0c\x0a\x03\xe2\x96\x81\x15\0\0\xc0\xbf\x18\x04\x0a\x03\x0a\x01a\x12\x00\x0a\x03\x0a\x01b";
        let parts = read_pieces(&[&model[..2], b"\x0a", &model[3..]].concat());
        assert!(parts.is_some_and(|parts| {
            parts.tokens.data == "▁a".as_bytes()
                && parts.scores == [-1.5, 0.0]
                && parts.ids == [4, 1]
                && parts.vocab == (0..19)
        }));
    }

    #[test]
    fn what_is_unusual_is_left() {
        let usual = b"\x0a\x0a\x0a\x01a\x15\0\0\0\0\x18\x01".to_vec();
        assert!(read_pieces(&usual).is_some());
        let twice = [&usual[..], &usual].concat();
        let no_text = b"\x0a\x02\x0a\x00";
        let no_kind = b"\x0a\x05\x0a\x01a\x18\x07";
        let no_number = b"\x0a\x08\x0a\x01a\x15\0\0\xc0\x7f";
        let other_order = b"\x0a\x05\x18\x01\x0a\x01a";
        let no_utf8 = b"\x0a\x03\x0a\x01\xff";
        let claims = b"\x0a\xff\xff\xff\xff\xff\x0f\x0a";
        let broken: [&[u8]; 9] = [
            b"",
            &twice,
            no_text,
            no_kind,
            no_number,
            other_order,
            no_utf8,
            claims,
            &usual[..usual.len() - 1],
        ];
        for model in broken {
            assert!(read_pieces(model).is_none(), "{model:?}");
        }
    }
}
