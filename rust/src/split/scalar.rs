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
        Grammar::O200k { digits, contractions } => {
            let slash = |byte| is_newline(byte) || byte == b'/';
            o200k(table, text, at, digits, contractions, 0, slash)
        }
        Grammar::Kimi => kimi(table, text, at),
        Grammar::DeepSeek => deepseek(table, text, at),
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

/// The end of the run of characters from `at` whose class `belongs` holds of.
#[inline(always)]
fn run(table: &Characters, text: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    run_of(table, text, at, |known| belongs(known & CLASS))
}

/// The same of all that is known of a character.
#[inline(always)]
fn run_of(table: &Characters, text: &[u8], mut at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    while at < text.len() {
        let (known, len) = table.at(text, at);
        if !belongs(known) {
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
/// with A = Lu Lt, B = Ll, X = Lm Lo M, none of which is `apart`, a flag
#[inline(always)]
fn o200k(
    table: &Characters,
    text: &[u8],
    at: usize,
    digits: u8,
    contractions: bool,
    apart: u8,
    swallowed: impl Fn(u8) -> bool,
) -> usize {
    let (first, len) = table.at(text, at);
    let class = first & CLASS;
    let letter = is_letter(class);
    if letter || (class != NUMBER && !is_newline(text[at])) {
        let starts = [if letter { at } else { at + len }, at]; // first with the character in front
        let found = starts
            .iter()
            .find_map(|&start| ends_lower(table, text, start, apart))
            .or_else(|| starts.iter().find_map(|&start| ends_upper(table, text, start)));
        if let Some(end) = found {
            return if contractions { contraction(text, end, true).unwrap_or(end) } else { end };
        }
    }
    rest(table, text, at, digits, swallowed)
}

/// `[AX]*[BX]+` from `at`. Where no B follows, the last X of the run is what `[BX]+` gets.
fn ends_lower(table: &Characters, text: &[u8], at: usize, apart: u8) -> Option<usize> {
    let mut last_caseless = None;
    let mut end = at;
    while end < text.len() {
        let (known, len) = table.at(text, end);
        match known & CLASS {
            _ if known & apart != 0 => break,
            UPPER => {}
            CASELESS | MARK => last_caseless = Some(end + len),
            LOWER => {
                let belongs = |known| matches!(known & CLASS, LOWER | CASELESS | MARK) && known & apart == 0;
                return Some(run_of(table, text, end, belongs));
            }
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

/// `[\p{Han}]+`, or as o200k with the letters less \p{Han}, and without the `/`
fn kimi(table: &Characters, text: &[u8], at: usize) -> usize {
    let end = run_of(table, text, at, |known| known & HAN != 0);
    if end > at {
        return end;
    }
    o200k(table, text, at, 3, true, HAN, is_newline)
}

/// `\p{N}{1,3}`, then `[一-龥぀-ゟ゠-ヿ]+`, then in what is left
/// ``[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|``
/// ` ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
/// and what none of them matches.
///
/// For the last pattern a text ends where the first two cut it.
fn deepseek(table: &Characters, text: &[u8], at: usize) -> usize {
    let letters = |from| run_of(table, text, from, is_deepseek_letter);
    let (first, len) = table.at(text, at);
    let class = first & CLASS;
    if first & EAST != 0 {
        return run_of(table, text, at, |known| known & EAST != 0);
    }
    if class == NUMBER {
        return numbers(table, text, at, 3);
    }
    if text[at].is_ascii_punctuation() && text.get(at + 1).is_some_and(u8::is_ascii_alphabetic) {
        return at + 1 + text[at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    }
    if class != SYMBOL && !is_newline(text[at]) {
        let start = if is_deepseek_letter(first) { at } else { at + len };
        let end = letters(start);
        if end > start {
            return end;
        }
    }
    let start = at + (text[at] == b' ') as usize;
    let end = run_of(table, text, start, |known| known & CLASS == SYMBOL && known & EAST == 0);
    if end > start {
        return end + text[end..].iter().take_while(|&&byte| is_newline(byte)).count();
    }
    if class != SPACE {
        let end = run_of(table, text, at, |known| known & CLASS == OTHER && known & EAST == 0);
        let last = (at..end).rev().find(|&place| !is_continuation(text[place])).unwrap_or(at);
        return if letters(end) > end { last } else { end }; // which the letters take
    }
    let end = run(table, text, at, |class| class == SPACE);
    match text[at..end].iter().rposition(|&byte| is_newline(byte)) {
        Some(last) => at + last + 1,
        None if end < text.len() && is_deepseek_cut(table.at(text, end).0) => end,
        None => spaces(table, text, at),
    }
}

#[inline(always)]
pub fn is_deepseek_letter(known: u8) -> bool {
    (is_letter(known & CLASS) || known & CLASS == MARK) && known & EAST == 0
}

/// Whether DeepSeek's first two patterns cut out a character.
#[inline(always)]
pub fn is_deepseek_cut(known: u8) -> bool {
    known & CLASS == NUMBER || known & EAST != 0
}

/// `\p{N}{1,most}`, where there is one.
#[inline(always)]
fn numbers(table: &Characters, text: &[u8], at: usize, most: u8) -> usize {
    let mut end = at;
    for _ in 0..most {
        match text.get(end).map(|_| table.at(text, end)) {
            Some((class, len)) if class & CLASS == NUMBER => end += len,
            _ => break,
        }
    }
    end
}

/// `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
#[inline(always)]
fn rest(table: &Characters, text: &[u8], at: usize, digits: u8, swallowed: impl Fn(u8) -> bool) -> usize {
    if table.at(text, at).0 & CLASS == NUMBER {
        return numbers(table, text, at, digits);
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
            let end = advance(grammar, &CHARACTERS, text.as_bytes(), at);
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
    fn cuts_ideographs_out_of_letters() {
        assert_eq!(
            pieces(Grammar::Kimi, "abc中文Ab's/\n12\u{3007}4"),
            ["abc", "中文", "Ab's", "/\n", "12\u{3007}", "4"]
        );
        assert_eq!(pieces(Grammar::Kimi, "!⺀ ⺀中、"), ["!⺀", " ⺀", "中", "、"]);
        assert_eq!(pieces(Grammar::DeepSeek, "abかな!aé 漢"), ["ab", "かな", "!a", "é", " ", "漢"]);
    }

    #[test]
    fn ends_looks_ahead_where_deepseek_cuts() {
        assert_eq!(pieces(Grammar::DeepSeek, "a  1"), ["a", "  ", "1"]);
        assert_eq!(pieces(Grammar::DeepSeek, "a  \n  b  !"), ["a", "  \n", " ", " b", " ", " !"]);
        assert_eq!(pieces(Grammar::DeepSeek, "\0\0\0a\0 \0"), ["\0\0", "\0a", "\0", " ", "\0"]);
    }

    #[test]
    fn splits_at_changes_of_case() {
        assert_eq!(pieces(O200K, "camelCaseHTTPServer"), ["camel", "Case", "HTTPServer"]);
        assert_eq!(pieces(O200K, "中文ABC"), ["中文", "ABC"]);
        assert_eq!(pieces(O200K, "中文ABCd"), ["中文ABCd"]);
    }
}
