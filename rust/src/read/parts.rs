//! The vocabulary and the merges of a tokenizer.json.

use super::json::Scanner;
use super::texts::Texts;
use std::ops::Range;

/// The large parts of a file, and where in it they are written.
#[derive(Default)]
pub struct Parts {
    pub tokens: Texts,
    /// of a vocabulary that is an object
    pub ids: Vec<i64>,
    /// of one that is a list
    pub scores: Vec<f64>,
    /// places of the left token, the right, and what they make, of each merge
    pub ways: Vec<i32>,
    pub vocab: Range<usize>,
    pub merges: Range<usize>,
    /// a map of characters, and where it is written in base64
    pub map: Vec<u8>,
    pub map_at: Range<usize>,
}

/// What stands before such a map.
const MAP: &[u8] = b"\"precompiled_charsmap\"";

/// Read the model's `vocab` and `merges`, and go past all else.
///
/// None where anything about them is unusual, a mistake too: then the file is to be read
/// by what says what is wrong. What is gone past is not looked at closer than for where it ends.
pub fn read(json: &[u8]) -> Option<Parts> {
    let mut parts = None;
    let mut normalizer = 0..0;
    let mut scanner = Scanner::new(json);
    scanner.object(|scanner, key| {
        if key != b"model" {
            let start = scanner.place();
            scanner.skip()?;
            if key == b"normalizer" {
                normalizer = start..scanner.end();
            }
            return Some(());
        }
        let found = parts.is_none().then(|| read_model(json, scanner))??;
        parts = Some(found);
        Some(())
    })?;
    let mut parts = parts.filter(|parts: &Parts| parts.vocab.start < parts.vocab.end)?;
    if let Some((map, at)) = read_map(json, normalizer) {
        (parts.map, parts.map_at) = (map, at);
    }
    Some(parts)
}

/// The one map of characters of a normalizer, and where it is written, with its quotes. None also where it is unusual.
fn read_map(json: &[u8], normalizer: Range<usize>) -> Option<(Vec<u8>, Range<usize>)> {
    let part = &json[normalizer.clone()];
    let at = crate::steps::find(part, MAP, 0)?;
    let mut scanner = Scanner::new(&part[at + MAP.len()..]);
    scanner.take(b':')?;
    let start = at + MAP.len() + scanner.place();
    let mut room = Vec::new();
    let text = scanner.text(&mut room)?;
    let stop = at + MAP.len() + scanner.end();
    // what is escaped is inside of a text
    if part[..at].ends_with(b"\\")
        || stop - start != text.len() + 2
        || crate::steps::find(part, MAP, stop).is_some()
    {
        return None;
    }
    let mut map = Vec::with_capacity(text.len() / 4 * 3);
    super::ranks::decode(text, |bytes| map.extend_from_slice(bytes))?;
    Some((map, normalizer.start + start..normalizer.start + stop))
}

fn read_model(json: &[u8], scanner: &mut Scanner) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut prefixed = false;
    scanner.object(|scanner, key| {
        let start = scanner.place();
        match key {
            b"vocab" if parts.vocab.is_empty() => {
                if scanner.next()? == b'{' {
                    read_ids(scanner, &mut parts)?;
                } else {
                    read_scores(scanner, &mut parts)?;
                }
                parts.vocab = start..scanner.end();
            }
            b"merges" if parts.merges.is_empty() && !parts.vocab.is_empty() => {
                read_merges(scanner, &mut parts)?;
                parts.merges = start..scanner.end();
            }
            b"vocab" | b"merges" => return None,
            b"continuing_subword_prefix" => {
                scanner.skip()?;
                prefixed = !matches!(&json[start..scanner.end()], b"null" | b"\"\"");
            }
            _ => scanner.skip()?,
        }
        Some(())
    })?;
    if prefixed && !parts.ways.is_empty() {
        return None; // what two tokens make is not their texts joined
    }
    let Texts { data, offsets, .. } = &parts.tokens;
    let text = std::str::from_utf8(data).ok()?;
    offsets.iter().all(|&at| text.is_char_boundary(at as usize)).then_some(parts)
}

fn read_ids(scanner: &mut Scanner, parts: &mut Parts) -> Option<()> {
    scanner.items(*b"{}", |scanner| {
        scanner.string(&mut parts.tokens.data)?;
        parts.tokens.end()?;
        scanner.take(b':')?;
        parts.ids.push(scanner.count()? as i64);
        Some(())
    })
}

fn read_scores(scanner: &mut Scanner, parts: &mut Parts) -> Option<()> {
    scanner.items(*b"[]", |scanner| {
        scanner.take(b'[')?;
        scanner.string(&mut parts.tokens.data)?;
        parts.tokens.end()?;
        scanner.take(b',')?;
        parts.scores.push(scanner.number()?);
        scanner.take(b']')
    })
}

/// Pairs of texts, or in old files texts with a space.
fn read_merges(scanner: &mut Scanner, parts: &mut Parts) -> Option<()> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut whole = Vec::new();
    let mut last = 0;
    let Parts { tokens, ways, .. } = parts;
    scanner.items(*b"[]", |scanner| {
        let (left, right) = if scanner.next()? == b'[' {
            scanner.take(b'[')?;
            let left = scanner.text(&mut first)?;
            scanner.take(b',')?;
            let right = scanner.text(&mut second)?;
            scanner.take(b']')?;
            (left, right)
        } else {
            let both = scanner.text(&mut first)?;
            let space = both.iter().position(|&byte| byte == b' ')?;
            let (left, right) = (&both[..space], &both[space + 1..]);
            if right.contains(&b' ') {
                return None;
            }
            (left, right)
        };
        whole.clear();
        whole.extend_from_slice(left);
        whole.extend_from_slice(right);
        // what merges make stands mostly in their order, once for every way to make it
        let next = (last..tokens.len().min(last + 2)).find(|&place| tokens.get(place) == whole);
        last = next.or_else(|| tokens.find(&whole).map(|place| place as usize))?;
        ways.extend([tokens.find(left)? as i32, tokens.find(right)? as i32, last as i32]);
        Some(())
    })
}

/// Every way to make a token of two others: by the place of that, then of the left, then of the right.
///
/// None where texts are given twice, or are no UTF-8.
pub fn every_way(tokens: &[&[u8]]) -> Option<Parts> {
    let mut parts = Parts::default();
    for token in tokens {
        parts.tokens.data.extend_from_slice(token);
        parts.tokens.end()?;
    }
    let mut found = Vec::new();
    for (made, token) in tokens.iter().enumerate() {
        let text = std::str::from_utf8(token).ok()?;
        found.clear();
        for (at, _) in text.char_indices().skip(1) {
            if let Some(left) = parts.tokens.find(&token[..at]) {
                found.extend(parts.tokens.find(&token[at..]).map(|right| (left as i32, right as i32)));
            }
        }
        found.sort_unstable();
        parts.ways.extend(found.iter().flat_map(|&(left, right)| [left, right, made as i32]));
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(model: &str) -> Option<Parts> {
        read(format!(r#"{{"version":"1.0","added_tokens":[{{"a":"}}"}}],"model":{model},"x":1}}"#).as_bytes())
    }

    #[test]
    fn merges_become_places() {
        let json =
            r#"{"type":"BPE","vocab":{"b":7,"a":0,"ab":3,"\"":4,"ab\"":5},"merges":[["a","b"],["ab","\""]]}"#;
        let parts = model(json).unwrap();
        assert_eq!(parts.tokens.data, b"baab\"ab\"");
        assert_eq!(parts.tokens.offsets, [0, 1, 2, 4, 5, 8]);
        assert_eq!(parts.ids, [7, 0, 3, 4, 5]);
        assert_eq!(parts.ways, [1, 0, 2, 2, 3, 4]);
        let old = model(&json.replace(r#"["a","b"],["ab","\""]"#, r#""a b","ab \"""#)).unwrap();
        assert_eq!(old.ways, parts.ways);
    }

    #[test]
    fn lists_have_scores() {
        let parts = model(r#"{"vocab":[["a",-1.5],["é",-2]],"unk_id":0}"#).unwrap();
        assert_eq!((parts.tokens.data, parts.scores), ("aé".as_bytes().to_vec(), vec![-1.5, -2.0]));
        assert!(parts.ids.is_empty() && parts.merges.is_empty());
    }

    #[test]
    fn what_is_unusual_is_left() {
        for json in [
            r#"{"vocab":{"a":0,"a":1}}"#,
            r#"{"vocab":{"a":0},"vocab":{"a":0}}"#,
            r#"{"vocab":{"a":-1}}"#,
            r#"{"vocab":{"a":1.0}}"#,
            r#"{"vocab":{"a":true}}"#,
            r#"{"vocab":{"a":0},"merges":[["a","b"]]}"#,
            r#"{"vocab":{"a":0,"b":1,"ab":2},"merges":[["a"]]}"#,
            r#"{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b c"]}"#,
            r#"{"merges":[],"vocab":{"a":0}}"#,
            r#"{"continuing_subword_prefix":"x","vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]]}"#,
            r#"{"vocab":[["a"]]}"#,
            r#"{"vocab":[["a",1,2]]}"#,
            r#"{"vocab":null}"#,
            r#"{"vocab":{"a":0}"#,
            r#"{}"#,
            "[]",
        ] {
            assert!(model(json).is_none(), "{json}");
        }
        assert!(read(br#"{"model":{"vocab":{"a":0}},"model":{"vocab":{"a":0}}}"#).is_none());
        assert!(read(b"{\"model\":{\"vocab\":{\"\xff\":0}}}").is_none());
        assert!(read(b"{\"model\":{\"vocab\":{\"\xc3\":0,\"\xa9\":1}}}").is_none());
    }

    #[test]
    fn a_map_of_characters_is_decoded() {
        let read = |normalizer: &str| {
            let json = format!(r#"{{"normalizer":{normalizer},"model":{{"vocab":{{"a":0}}}}}}"#);
            read(json.as_bytes()).map(|parts| (json[parts.map_at].to_string(), parts.map)).unwrap()
        };
        let map = r#"{"type":"Precompiled","precompiled_charsmap" : "YWJj"}"#;
        assert_eq!(read(map), ("\"YWJj\"".into(), b"abc".to_vec()));
        assert_eq!(
            read(&format!(r#"{{"normalizers":[{{"x":1}},{map}]}}"#)),
            ("\"YWJj\"".into(), b"abc".to_vec())
        );
        for unusual in [
            format!("[{map},{map}]"),
            map.replace("YWJj", "YWJ"),
            map.replace("YWJj", r"YW\u004aj"),
            map.replace(r#""YWJj""#, "5"),
            map.replace(" : ", ", "),
            r#"{"x":"\"precompiled_charsmap\":"}"#.into(),
            "null".into(),
        ] {
            assert_eq!(read(&unusual), (String::new(), vec![]), "{unusual}");
        }
    }

    #[test]
    fn every_way_is_found() {
        let parts = every_way(&[b"a", b"b", b"ab", b"aab", b"aa", "é".as_bytes()]).unwrap();
        assert_eq!(parts.ways, [0, 1, 2, 0, 2, 3, 4, 1, 3, 0, 0, 4]);
        assert!(every_way(&[b"a", b"a"]).is_none() && every_way(&[b"\xff"]).is_none());
    }
}
