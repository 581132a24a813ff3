//! Tokens and merges out of what a tokenizer file says, spelled as texts have them.

use crate::cache::LONGEST_KEY;
use crate::pairs::{Pairs, MOST_IDS, MOST_RANKS};
use crate::vocabulary::Vocabulary;

/// Merges by rank: the places of the left token and the right one, and of what they make.
pub type Ways<'a> = &'a [[u32; 3]];

/// Tokens as `spell` gives them, which says of some that no text has them.
pub fn vocabulary(
    tokens: &[&[u8]],
    ids: &[u32],
    spell: impl Fn(&[u8], &mut Vec<u8>) -> bool,
) -> Result<Vocabulary, String> {
    let size = tokens.iter().map(|token| token.len()).sum();
    if size >= u32::MAX as usize || tokens.len() >= MOST_IDS as usize {
        return Err("the vocabulary is too large".into());
    }
    let short = tokens.iter().filter(|token| token.len() <= 2 * LONGEST_KEY).count();
    let long = tokens.iter().filter(|token| token.len() > LONGEST_KEY).count();
    let mut vocabulary = Vocabulary::new(short, long, size);
    let mut bytes = Vec::new();
    for (token, &id) in tokens.iter().zip(ids) {
        if id >= MOST_IDS {
            return Err(format!("the id {id} is larger than {}", MOST_IDS - 1));
        }
        if !token.is_empty() && spell(token, &mut bytes) {
            vocabulary.add(&bytes, id);
        }
    }
    Ok(vocabulary)
}

/// Merges as numbers. pairs: (left, right, rank); results: ids by rank
pub struct Joins {
    pub pairs: Vec<(u32, u32, u32)>,
    pub results: Vec<u32>,
}

/// The merges whose tokens `spell` does not refuse. each_result: sees the text that a merge makes,
/// once for merges that stand together
pub fn joins(
    tokens: &[&[u8]],
    ids: &[u32],
    ways: Ways,
    spell: impl Fn(&[u8], &mut Vec<u8>) -> bool,
    mut each_result: impl FnMut(&[u8]),
) -> Result<Joins, String> {
    if ways.len() >= MOST_RANKS as usize {
        return Err("there are too many merges".into());
    }
    let mut joins = Joins { pairs: Vec::with_capacity(ways.len()), results: vec![0; ways.len()] };
    let mut text = Vec::new();
    let known: Vec<bool> = tokens.iter().map(|token| !token.is_empty() && spell(token, &mut text)).collect();
    let mut last = None;
    for (rank, way) in ways.iter().enumerate() {
        let [left, right, made] = way.map(|place| place as usize);
        if left.max(right).max(made) >= tokens.len() {
            return Err(format!("merge {rank} has a token that is not in the vocabulary"));
        }
        if !known[left] || !known[right] || !known[made] {
            continue;
        }
        joins.pairs.push((ids[left], ids[right], rank as u32));
        joins.results[rank] = ids[made];
        if last.replace(made) != Some(made) {
            spell(tokens[made], &mut text);
            each_result(&text);
        }
    }
    Ok(joins)
}

impl Joins {
    pub fn table(&self) -> Result<Pairs, String> {
        Pairs::new(&self.pairs).ok_or("the merges cannot be put in a table".into())
    }
}

/// The bytes that the characters of `token` spell; false where one spells none.
///
/// Printable Latin-1 stands for itself, the rest for U+0100 and on. Source: GPT-2's encoder.
pub fn spelled(token: &[u8], bytes: &mut Vec<u8>) -> bool {
    bytes.clear();
    let Ok(text) = std::str::from_utf8(token) else { return false };
    for character in text.chars() {
        match (character as u32, character as u32 % 256) {
            (code @ (0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff), _) => bytes.push(code as u8),
            // 0x00..=0x20, 0x7f..=0xa0 and 0xad are the 68 bytes that are left, in this order
            (0x100..=0x120, low) => bytes.push(low as u8),
            (0x121..=0x142, low) => bytes.push((low + 0x7f - 0x21) as u8),
            (0x143, _) => bytes.push(0xad),
            _ => return false,
        }
    }
    true
}

/// Append the character that spells a byte: the way back of `spelled`.
pub fn write_spelled(byte: u8, token: &mut Vec<u8>) {
    let code = match byte {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => byte as u32,
        0x00..=0x20 => 0x100 + byte as u32,
        0x7f..=0xa0 => 0x121 + (byte - 0x7f) as u32,
        0xad => 0x143,
    };
    let character = char::from_u32(code).expect("below the surrogates");
    token.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_spelled_once() {
        let mut found: Vec<u8> = Vec::new();
        let mut bytes = Vec::new();
        for character in (0..0x11_0000).filter_map(char::from_u32) {
            if spelled(character.to_string().as_bytes(), &mut bytes) {
                found.extend(&bytes);
            }
        }
        found.sort_unstable();
        assert_eq!(found, (0..=255).collect::<Vec<u8>>());
        for byte in found {
            let mut token = Vec::new();
            write_spelled(byte, &mut token);
            assert!(spelled(&token, &mut bytes) && bytes == [byte]);
        }
        assert!(spelled("Ġé".as_bytes(), &mut bytes) && bytes == [0x20, 0xe9]);
    }
}
