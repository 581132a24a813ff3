//! One match of a grammar's pattern at a time: the definition that `blocks` must equal.

use super::Grammar;
use crate::unicode::*;

/// Where the piece that begins at `at` ends. `text` is UTF-8 from one cut to the next,
/// for patterns look ahead only as far as that.
pub fn advance(grammar: Grammar, table: &Characters, text: &[u8], at: usize) -> usize {
    match grammar {
        Grammar::Whole => text.len(),
        Grammar::Gpt2 => gpt2(table, text, at),
        Grammar::Cl100k { digits } => cl100k(table, text, at, digits),
        Grammar::O200k { digits, contractions } => o200k(table, text, at, digits, contractions),
    }
}

#[inline(always)]
fn is_letter(class: u8) -> bool {
    matches!(class, UPPER | LOWER | CASELESS)
}

/// [^\s\p{L}\p{N}]
#[inline(always)]
fn is_other(class: u8) -> bool {
    matches!(class, OTHER | MARK | SYMBOL)
}

#[inline(always)]
fn is_newline(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// The end of the run of characters from `at` that `belongs` holds of.
#[inline(always)]
fn run(table: &Characters, text: &[u8], mut at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    while at < text.len() {
        let (class, len) = table.at(text, at);
        if !belongs(class & CLASS) {
            break;
        }
        at += len;
    }
    at
}

/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
fn gpt2(table: &Characters, text: &[u8], at: usize) -> usize {
    if let Some(end) = contraction(text, at, false) {
        return end;
    }
    let start = after_space(table, text, at);
    match table.at(text, start).0 & CLASS {
        SPACE => spaces(table, text, at),
        NUMBER => run(table, text, start, |class| class == NUMBER),
        class if is_letter(class) => run(table, text, start, is_letter),
        _ => run(table, text, start, is_other),
    }
}

/// `(?i:'s|...)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
fn cl100k(table: &Characters, text: &[u8], at: usize, digits: u8) -> usize {
    if let Some(end) = contraction(text, at, true) {
        return end;
    }
    let (first, len) = table.at(text, at);
    let class = first & CLASS;
    if is_letter(class) {
        return run(table, text, at + len, is_letter);
    }
    if class != NUMBER && !is_newline(text[at]) {
        let end = run(table, text, at + len, is_letter);
        if end > at + len {
            return end;
        }
    }
    rest(table, text, at, digits, is_newline)
}

/// `[^\r\n\p{L}\p{N}]?[AX]*[BX]+(?i:'s|...)?|[^\r\n\p{L}\p{N}]?[AX]+[BX]*(?i:'s|...)?|\p{N}{1,3}|`
/// ` ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
/// with A = Lu Lt, B = Ll, X = Lm Lo M
fn o200k(table: &Characters, text: &[u8], at: usize, digits: u8, contractions: bool) -> usize {
    let (first, len) = table.at(text, at);
    let class = first & CLASS;
    let letter = is_letter(class);
    if letter || (class != NUMBER && !is_newline(text[at])) {
        let starts = [if letter { at } else { at + len }, at]; // first with the character in front
        let found = starts
            .iter()
            .find_map(|&start| ends_lower(table, text, start))
            .or_else(|| starts.iter().find_map(|&start| ends_upper(table, text, start)));
        if let Some(end) = found {
            return if contractions { contraction(text, end, true).unwrap_or(end) } else { end };
        }
    }
    rest(table, text, at, digits, |byte| is_newline(byte) || byte == b'/')
}

/// `[AX]*[BX]+` from `at`. Where no B follows, the last X of the run is what `[BX]+` gets.
fn ends_lower(table: &Characters, text: &[u8], at: usize) -> Option<usize> {
    let mut last_caseless = None;
    let mut end = at;
    while end < text.len() {
        let (class, len) = table.at(text, end);
        match class & CLASS {
            UPPER => {}
            CASELESS | MARK => last_caseless = Some(end + len),
            LOWER => return Some(run(table, text, end, |c| matches!(c, LOWER | CASELESS | MARK))),
            _ => break,
        }
        end += len;
    }
    last_caseless
}

/// `[AX]+[BX]*` from `at`, where `ends_lower` found nothing: no B and no X is in the run.
fn ends_upper(table: &Characters, text: &[u8], at: usize) -> Option<usize> {
    let end = run(table, text, at, |class| class == UPPER);
    (end > at).then_some(end)
}

/// `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
#[inline(always)]
fn rest(table: &Characters, text: &[u8], at: usize, digits: u8, swallowed: impl Fn(u8) -> bool) -> usize {
    if table.at(text, at).0 & CLASS == NUMBER {
        let mut end = at;
        for _ in 0..digits {
            match text.get(end).map(|_| table.at(text, end)) {
                Some((class, len)) if class & CLASS == NUMBER => end += len,
                _ => break,
            }
        }
        return end;
    }
    let start = after_space(table, text, at);
    let end = run(table, text, start, is_other);
    if end > start {
        return end + text[end..].iter().take_while(|&&byte| swallowed(byte)).count();
    }
    let end = run(table, text, at, |class| class == SPACE);
    match text[at..end].iter().rposition(|&byte| is_newline(byte)) {
        Some(last) => at + last + 1,
        None => spaces(table, text, at),
    }
}

/// ` ?` before something that is no white space.
#[inline(always)]
fn after_space(table: &Characters, text: &[u8], at: usize) -> usize {
    let joins = text[at] == b' ' && at + 1 < text.len() && table.at(text, at + 1).0 & CLASS != SPACE;
    at + joins as usize
}

/// `\s+(?!\S)|\s+`: all of the run but the last, which is left for what follows.
fn spaces(table: &Characters, text: &[u8], at: usize) -> usize {
    let mut end = at;
    let mut last = at;
    while end < text.len() {
        let (class, len) = table.at(text, end);
        if class & CLASS != SPACE {
            return if last > at { last } else { end };
        }
        last = end;
        end += len;
    }
    end
}

/// The end of a contraction at `at`. Without case `ſ` is an s.
#[inline]
pub fn contraction(text: &[u8], at: usize, any_case: bool) -> Option<usize> {
    if text.get(at) != Some(&b'\'') {
        return None;
    }
    let fold = if any_case { 0x20 } else { 0 };
    let letter = |i: usize| text.get(at + i).map_or(0, |&byte| byte | fold);
    match (letter(1), letter(2)) {
        (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
        (b'r' | b'v', b'e') | (b'l', b'l') => Some(at + 3),
        _ if any_case && text[at + 1..].starts_with("ſ".as_bytes()) => Some(at + 3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(grammar: Grammar, text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let end = advance(grammar, Characters::get(), text.as_bytes(), at);
            found.push(&text[at..end]);
            at = end;
        }
        found
    }

    const CL100K: Grammar = Grammar::Cl100k { digits: 3 };
    const O200K: Grammar = Grammar::O200k { digits: 3, contractions: true };

    #[test]
    fn cuts_words_with_their_space() {
        assert_eq!(pieces(Grammar::Gpt2, "a  1 's!\u{a0}b"), ["a", " ", " 1", " '", "s", "!", "\u{a0}", "b"]);
        assert_eq!(pieces(CL100K, "a  1\u{a0}b"), ["a", " ", " ", "1", "\u{a0}b"]);
    }

    #[test]
    fn leaves_the_last_space_to_what_follows() {
        assert_eq!(pieces(Grammar::Gpt2, "a  \n  b"), ["a", "  \n ", " b"]);
        assert_eq!(pieces(CL100K, "a  \n  b"), ["a", "  \n", " ", " b"]);
        assert_eq!(pieces(CL100K, "!\n  \n"), ["!\n", "  \n"]);
    }

    #[test]
    fn knows_contractions() {
        assert_eq!(pieces(Grammar::Gpt2, "I'll'S"), ["I", "'ll", "'", "S"]);
        assert_eq!(pieces(CL100K, "x'ſy'REz"), ["x", "'ſ", "y", "'RE", "z"]);
        assert_eq!(pieces(O200K, "a's's"), ["a's", "'s"]);
    }

    #[test]
    fn splits_at_changes_of_case() {
        assert_eq!(pieces(O200K, "camelCaseHTTPServer"), ["camel", "Case", "HTTPServer"]);
        assert_eq!(pieces(O200K, "中文ABC"), ["中文", "ABC"]);
        assert_eq!(pieces(O200K, "中文ABCd"), ["中文ABCd"]);
    }
}
