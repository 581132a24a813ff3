//! Base64, and tokens in it with their ranks: the lines of a .tiktoken file, the entries of a tekken.json.

use super::json::Scanner;
use super::parts::Parts;
use crate::spelling::write_spelled;

/// Bytes of a token; more are refused by the reader that says what is wrong.
const LONGEST: usize = 1024;

/// Tokens in byte characters, with their ranks as ids, from lines of `base64 rank`; they rise.
///
/// None where anything is unusual, a mistake too, as in `read`.
pub fn read_ranks(lines: &[u8]) -> Option<Parts> {
    let mut parts = Parts::default();
    let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
    for line in lines.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let space = line.iter().position(|&byte| byte == b' ')?;
        let digits = &line[space + 1..];
        let mut number = Scanner::new(digits);
        let rank = number.count().filter(|_| digits[0].is_ascii_digit() && number.end() == digits.len())?;
        add(&line[..space], rank, &mut parts)?;
    }
    Some(parts)
}

/// The same of the list at "vocab" of a tekken.json, and where that is written.
pub fn read_tekken(json: &[u8]) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut scanner = Scanner::new(json);
    let (mut room, mut other) = (Vec::new(), Vec::new());
    scanner.object(|scanner, key| {
        let start = scanner.place();
        if key != b"vocab" {
            return scanner.skip();
        }
        if !parts.vocab.is_empty() {
            return None;
        }
        scanner.items(*b"[]", |scanner| {
            let (mut token, mut rank) = (None, None);
            scanner.object(|scanner, key| {
                match key {
                    b"rank" if rank.is_none() => rank = Some(scanner.count()?),
                    b"token_bytes" if token.is_none() => {
                        let text = scanner.text(&mut other)?;
                        room.clear();
                        room.extend_from_slice(text);
                        token = Some(());
                    }
                    b"token_str" if scanner.next()? == b'"' => {
                        scanner.text(&mut other)?;
                    }
                    b"token_str" => scanner.null()?,
                    _ => return None,
                }
                Some(())
            })?;
            token.and_then(|()| add(&room, rank?, &mut parts))
        })?;
        parts.vocab = start..scanner.end();
        std::str::from_utf8(&json[parts.vocab.clone()]).ok()?;
        Some(())
    })?;
    (!parts.vocab.is_empty()).then_some(parts)
}

/// A token that is new, of a rank above that before.
fn add(encoded: &[u8], rank: u32, parts: &mut Parts) -> Option<()> {
    if parts.ids.last().is_some_and(|&last| last >= rank as i64) || encoded.len() / 4 * 3 > LONGEST {
        return None;
    }
    let data = &mut parts.tokens.data;
    decode(encoded, |bytes| bytes.iter().for_each(|&byte| write_spelled(byte, data)))?;
    parts.tokens.end()?;
    parts.ids.push(rank as i64);
    Some(())
}

/// The bytes of base64 that is padded to fours, and has no bits to spare. `=` alone, which Whisper's file has, has none.
/// `put` gets bytes of broken text too, before that is seen.
pub fn decode(encoded: &[u8], mut put: impl FnMut(&[u8])) -> Option<()> {
    if encoded == b"=" {
        return Some(());
    }
    let padding = encoded.iter().rev().take_while(|&&byte| byte == b'=').count();
    if encoded.is_empty() || encoded.len() % 4 != 0 || padding > 2 {
        return None;
    }
    let (whole, last) = encoded[..encoded.len() - padding].split_at((encoded.len() - padding) / 4 * 4);
    let mut seen = 0; // all sixes together
    for fours in whole.chunks(64) {
        let mut bytes = [0; 48];
        for (four, three) in fours.chunks_exact(4).zip(bytes.chunks_exact_mut(3)) {
            let four = u32::from_le_bytes(four.try_into().expect("4 bytes"));
            let bits = (0..4).fold(0, |bits, i| bits | SIXES[i][(four >> (8 * i)) as usize & 0xff]);
            seen |= bits;
            three.copy_from_slice(&bits.to_be_bytes()[1..]);
        }
        put(&bytes[..fours.len() / 4 * 3]);
    }
    if !last.is_empty() {
        let bits =
            last.iter().zip(&SIXES).fold(0, |bits, (&character, sixes)| bits | sixes[character as usize]);
        seen |= bits;
        let bytes = bits.to_be_bytes();
        put(&bytes[1..last.len()]);
        if bytes[last.len()..].iter().any(|&byte| byte != 0) {
            return None;
        }
    }
    (seen & NO_SIX == 0).then_some(())
}

const NO_SIX: u32 = 1 << 31;

/// What each character of base64 stands for, by its place among four, or that it is none.
static SIXES: [[u32; 256]; 4] = {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut tables = [[NO_SIX; 256]; 4];
    let mut i = 0;
    while i < 4 * 64 {
        tables[i / 64][letters[i % 64] as usize] = (i as u32 % 64) << (18 - 6 * (i / 64));
        i += 1;
    }
    tables
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_tokens_in_byte_characters() {
        let parts = read_ranks(b"IQ== 0\nIGE= 2\r\n= 5\nw6kh 7").unwrap();
        assert_eq!(parts.tokens.data, "!ĠaÃ©!".as_bytes());
        assert_eq!((parts.tokens.offsets, parts.ids), (vec![0, 1, 4, 4, 9], vec![0, 2, 5, 7]));
    }

    #[test]
    fn base64_is_seen_to_be_that_wherever_it_breaks() {
        let good = "QUFB".repeat(40);
        let decoded = |text: &str| {
            let mut bytes = Vec::new();
            decode(text.as_bytes(), |some| bytes.extend_from_slice(some)).map(|()| bytes)
        };
        assert_eq!(decoded(&good), Some(b"AAA".repeat(40)));
        assert_eq!(decoded(&(good.clone() + "QUE=")), Some([b"AAA".repeat(40), b"AA".to_vec()].concat()));
        for at in 0..good.len() {
            for wrong in [b'=', b'-', b'\n', 0x80] {
                let mut broken = good.clone().into_bytes();
                broken[at] = wrong;
                // the last one may be padding, which has no bits to spare here
                assert_eq!(decode(&broken, |_| {}), None, "{wrong} at {at}");
            }
        }
    }

    #[test]
    fn entries_are_the_same() {
        let json = br#"{"config":{"a":1},"vocab":[{"rank":0,"token_bytes":"IQ==","token_str":"!"},
            {"token_str":null,"token_bytes":"/w==","rank":1}],"image":null}"#;
        let parts = read_tekken(json).unwrap();
        assert_eq!((&parts.tokens.data[..], &parts.ids[..]), ("!ÿ".as_bytes(), &[0, 1][..]));
        assert!(json[parts.vocab.clone()].starts_with(b"[{") && json[parts.vocab].ends_with(b"}]"));
    }

    #[test]
    fn what_is_unusual_is_left() {
        let broken: [&[u8]; 14] = [
            b"",
            b"IQ==",
            b"IQ== x",
            b"IQ==  0",
            b"IQ== 0 ",
            b"IQ 0",
            b"I=== 0",
            b"I$== 0",
            b"IR== 0",
            b" 0",
            b"IQ== 0\nIQ== 1",
            b"IQ== 1\nIg== 1",
            b"IQ== 0\n\nIg== 1",
            b"IQ== -1",
        ];
        for lines in broken {
            assert!(read_ranks(lines).is_none(), "{lines:?}");
        }
        assert!(read_ranks(&["QUFB".repeat(342).as_bytes(), b" 0"].concat()).is_none());
        for json in [
            r#"{}"#,
            r#"{"vocab":{}}"#,
            r#"{"vocab":[{"rank":0}]}"#,
            r#"{"vocab":[{"rank":0,"token_bytes":"IQ==","x":1}]}"#,
            r#"{"vocab":[{"rank":0,"token_bytes":"IQ==","token_str":nul}]}"#,
            r#"{"vocab":[{"rank":0,"rank":0,"token_bytes":"IQ=="}]}"#,
            r#"{"vocab":[{"rank":0,"token_bytes":"IQ=="}],"vocab":[]}"#,
            r#"{"vocab":[{"rank":0,"token_bytes":"IQ=="}]"#,
        ] {
            assert!(read_tekken(json.as_bytes()).is_none(), "{json}");
        }
    }
}
