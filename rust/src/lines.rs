//! JSON Lines to Arrow columns, where each line is an object of values whose types are known.
//!
//! It takes what is written as usual and nothing else: a key that is not known or comes twice,
//! a value of another type, a number that might be rounded, half of a surrogate pair. Who reads
//! such lines otherwise knows what they mean, or says what is wrong with them. So it does of what is no UTF-8.

use crate::utf8::valid_prefix;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int,
    Float,
    Text,
}

impl Kind {
    pub fn of(number: u8) -> Option<Kind> {
        [Kind::Bool, Kind::Int, Kind::Float, Kind::Text].get(number as usize).copied()
    }
}

/// A column and its name, which is the key of its values.
pub struct Field<'a> {
    pub name: &'a [u8],
    pub kind: Kind,
}

/// Bits as Arrow has them, the lowest of a byte first.
#[derive(Default)]
pub struct Bits {
    pub bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    #[inline]
    fn push(&mut self, bit: bool) {
        if self.len % 8 == 0 {
            self.bytes.push(0);
        }
        self.bytes[self.len / 8] |= (bit as u8) << (self.len % 8);
        self.len += 1;
    }
}

pub enum Values {
    Bools(Bits),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    /// bytes one after the other, and where each text ends, from 0 on
    Texts(Vec<u8>, Vec<i32>),
}

/// One value or null for each row. valid: empty where nothing is null
pub struct Column {
    pub values: Values,
    pub valid: Bits,
    pub nulls: usize,
    rows: usize,
}

impl Column {
    /// most: bytes that all texts together can have
    fn new(kind: Kind, most: usize) -> Self {
        let values = match kind {
            Kind::Bool => Values::Bools(Bits::default()),
            Kind::Int => Values::Ints(Vec::new()),
            Kind::Float => Values::Floats(Vec::new()),
            Kind::Text => {
                Values::Texts(Vec::with_capacity(most + BLOCK), vec![0]) // not touched before it is written
            }
        };
        Column { values, valid: Bits::default(), nulls: 0, rows: 0 }
    }

    fn push_null(&mut self) {
        if self.nulls == 0 {
            (0..self.rows).for_each(|_| self.valid.push(true));
        }
        self.valid.push(false);
        self.nulls += 1;
        self.rows += 1;
        match &mut self.values {
            Values::Bools(bits) => bits.push(false),
            Values::Ints(numbers) => numbers.push(0),
            Values::Floats(numbers) => numbers.push(0.0),
            Values::Texts(bytes, ends) => ends.push(bytes.len() as i32),
        }
    }

    /// Append the value that comes next in the line.
    #[inline]
    fn push(&mut self, line: &mut Scanner) -> Option<()> {
        if line.left().first() == Some(&b'n') {
            line.word(b"null")?;
            self.push_null();
            return Some(());
        }
        match &mut self.values {
            Values::Bools(bits) => bits.push(line.bool()?),
            Values::Ints(numbers) => numbers.push(line.int()?),
            Values::Floats(numbers) => numbers.push(line.float()?),
            Values::Texts(bytes, ends) => {
                let start = bytes.len();
                line.text(bytes)?;
                // escapes give whole characters, so what they stand between is UTF-8 where all is
                let len = bytes.len() - start;
                (valid_prefix(&bytes[start..]) == len).then_some(())?;
                ends.push(bytes.len() as i32);
            }
        }
        if self.nulls > 0 {
            self.valid.push(true);
        }
        self.rows += 1;
        Some(())
    }
}

/// The columns of all lines but blank ones; a key that a line lacks is null. None where anything is unusual.
pub fn columns(data: &[u8], fields: &[Field]) -> Option<(usize, Vec<Column>)> {
    let is_plain = |name: &[u8]| !name.iter().any(|&byte| is_special(byte));
    if data.len() > i32::MAX as usize || !fields.iter().all(|field| is_plain(field.name)) {
        return None;
    }
    let mut columns: Vec<Column> = fields.iter().map(|field| Column::new(field.kind, data.len())).collect();
    let mut line = Scanner { data, at: 0 };
    let mut rows = 0;
    while let Some(byte) = line.next() {
        if byte == b'{' {
            read_object(&mut line, fields, &mut columns, rows)?;
            rows += 1;
            columns.iter_mut().filter(|column| column.rows < rows).for_each(Column::push_null);
        }
        match line.next() {
            Some(b'\n') => line.at += 1,
            Some(_) => return None,
            None => break,
        }
    }
    Some((rows, columns))
}

/// One object into row `row`; its keys are expected in the order of the fields.
fn read_object(line: &mut Scanner, fields: &[Field], columns: &mut [Column], row: usize) -> Option<()> {
    line.at += 1;
    if line.next()? == b'}' {
        line.at += 1;
        return Some(());
    }
    let mut place = 0;
    loop {
        place = line.key(fields, place)?;
        line.take(b':')?;
        line.next()?;
        let column = &mut columns[place];
        if column.rows > row {
            return None; // twice in this object
        }
        column.push(line)?;
        place += 1;
        match line.next()? {
            b',' => line.at += 1,
            b'}' => break,
            _ => return None,
        }
    }
    line.at += 1;
    Some(())
}

/// Whether a byte cannot stand in a text as it is.
fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

struct Scanner<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    #[inline]
    fn left(&self) -> &'a [u8] {
        &self.data[self.at..]
    }

    /// The byte that comes next, behind spaces; lines end where they end.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            match *self.data.get(self.at)? {
                b' ' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// The place of the field whose name comes next as a key, which is most often the one expected.
    #[inline]
    fn key(&mut self, fields: &[Field], expected: usize) -> Option<usize> {
        self.next()?;
        let is_next = |name: &[u8]| {
            let rest = self.left().strip_prefix(b"\"").and_then(|key| key.strip_prefix(name));
            rest.is_some_and(|rest| rest.first() == Some(&b'"'))
        };
        if let Some(Field { name, .. }) = fields.get(expected).filter(|field| is_next(field.name)) {
            self.at += name.len() + 2;
            return Some(expected);
        }
        let mut key = Vec::new();
        self.text(&mut key)?;
        fields.iter().position(|field| field.name == key)
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.left().starts_with(word).then(|| self.at += word.len())
    }

    fn bool(&mut self) -> Option<bool> {
        let is_true = self.left().first() == Some(&b't');
        self.word(if is_true { b"true" } else { b"false" })?;
        Some(is_true)
    }

    /// Go past digits; how many there were.
    #[inline]
    fn digits(&mut self) -> usize {
        let count = self.left().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    /// Go past a sign, and digits that do not begin with a 0 but for 0 itself.
    #[inline]
    fn whole(&mut self) -> Option<()> {
        self.at += (self.left().first() == Some(&b'-')) as usize;
        let leading = *self.left().first()?;
        let count = self.digits();
        (count == 1 || count > 1 && leading != b'0').then_some(())
    }

    /// A whole number of at most 18 digits.
    #[inline]
    fn int(&mut self) -> Option<i64> {
        let start = self.at;
        self.whole()?;
        let digits = &self.data[start..self.at];
        let (negative, digits) = digits.strip_prefix(b"-").map_or((false, digits), |rest| (true, rest));
        let number =
            digits.iter().fold(0, |number: i64, &digit| number.wrapping_mul(10) + (digit - b'0') as i64);
        (digits.len() <= 18 && !(negative && number == 0)).then_some(if negative { -number } else { number })
    }

    /// The nearest number that is not infinite.
    #[inline]
    fn float(&mut self) -> Option<f64> {
        let start = self.at;
        self.whole()?;
        if self.left().first() == Some(&b'.') {
            self.at += 1;
            (self.digits() > 0).then_some(())?;
        }
        if matches!(self.left().first(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += matches!(self.left().first(), Some(b'+' | b'-')) as usize;
            (self.digits() > 0).then_some(())?;
        }
        let text = std::str::from_utf8(&self.data[start..self.at]).ok()?;
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Append what a text says.
    #[inline]
    fn text(&mut self, out: &mut Vec<u8>) -> Option<()> {
        self.take(b'"')?;
        while let Some(window) = self.left().first_chunk() {
            if self.block_of_text(window, out)? {
                return Some(());
            }
        }
        loop {
            let byte = *self.data.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'\\' => self.escape(out)?,
                byte if is_special(byte) => return None,
                byte => out.push(byte),
            }
        }
    }

    /// Append what the next block of a text says, and an escape that begins in it; whether the text ends there.
    ///
    /// All that is special is looked for once a block, not behind each escape: how far it is to the next one cannot be
    /// predicted, and every branch on it costs 20 bytes.
    #[inline]
    fn block_of_text(&mut self, window: &[u8; 2 * BLOCK], out: &mut Vec<u8>) -> Option<bool> {
        let mut special = special_bytes(window.first_chunk().expect("half of it"));
        let mut from = 0;
        while from < BLOCK {
            special &= u64::MAX << from;
            let place = BLOCK.min(special.trailing_zeros() as usize);
            // a block is copied without a call, and what is too much of it dropped again
            let len = out.len() + place - from;
            out.extend_from_slice(&window[from..from + BLOCK]);
            out.truncate(len);
            if special == 0 {
                from = BLOCK;
                break;
            }
            match (window[place], ESCAPES[window[place + 1] as usize]) {
                (b'"', _) => {
                    self.at += place + 1;
                    return Some(true);
                }
                (b'\\', 0) => {
                    self.at += place + 1;
                    return self.escape(out).map(|()| false);
                }
                (b'\\', byte) => out.push(byte),
                _ => return None,
            }
            from = place + 2;
        }
        self.at += from;
        Some(false)
    }

    /// Append what an escape stands for, whose backslash was read.
    #[inline]
    fn escape(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let kind = *self.data.get(self.at)?;
        self.at += 1;
        match ESCAPES[kind as usize] {
            0 if kind == b'u' => self.character(out),
            0 => None,
            byte => {
                out.push(byte);
                Some(())
            }
        }
    }

    /// Append the character whose number comes next.
    fn character(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let mut code = self.unit()?;
        if (0xd800..0xdc00).contains(&code) {
            self.word(b"\\u")?;
            let low = self.unit()?.checked_sub(0xdc00).filter(|&low| low < 0x400)?;
            code = 0x10000 + ((code - 0xd800) << 10) + low;
        }
        out.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
        Some(())
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.data.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |code, &digit| Some(code << 4 | (digit as char).to_digit(16)?))
    }
}

/// What a letter behind a backslash stands for; 0: nothing, or more must be read.
const ESCAPES: [u8; 256] = {
    let mut escapes = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0cn\nr\rt\t";
    let mut at = 0;
    while at < pairs.len() {
        escapes[pairs[at] as usize] = pairs[at + 1];
        at += 2;
    }
    escapes
};

const BLOCK: usize = 64;

/// Which bytes of a block are special, as bits, the lowest for the first.
#[cfg(simd)]
#[inline]
fn special_bytes(block: &[u8; BLOCK]) -> u64 {
    use std::arch::x86_64::*;
    let special = |at: usize| {
        // SAFETY: SSE2 is part of x86-64, and there are 16 bytes from `at` on, which is 48 at most
        unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().add(at).cast());
            let equal = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
            let below = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
            _mm_movemask_epi8(_mm_or_si128(below, _mm_or_si128(equal(b'"'), equal(b'\\')))) as u16 as u64
        }
    };
    special(0) | special(16) << 16 | special(32) << 32 | special(48) << 48
}

#[cfg(not(simd))]
#[inline]
fn special_bytes(block: &[u8; BLOCK]) -> u64 {
    special_by_words(block)
}

/// The same, eight bytes at a time.
#[cfg(any(test, not(simd)))]
fn special_by_words(block: &[u8; BLOCK]) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    // the highest bit of each byte that is less; no sum is carried into the next byte
    let below = |word: u64, least: u8| !((word & !HIGHS) + ONES * (0x80 - least) as u64 | word) & HIGHS;
    let special = |bytes: &[u8]| {
        let word = u64::from_le_bytes(bytes.try_into().expect("eight"));
        let equal = |byte: u8| below(word ^ (ONES * byte as u64), 1);
        let highs = below(word, b' ') | equal(b'"') | equal(b'\\');
        (highs >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 // one bit of each byte, side by side
    };
    block.chunks_exact(8).zip(0..).map(|(bytes, number)| special(bytes) << (8 * number)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields<'a>(of: &[(&'a str, Kind)]) -> Vec<Field<'a>> {
        of.iter().map(|&(name, kind)| Field { name: name.as_bytes(), kind }).collect()
    }

    fn texts(json: &str) -> Option<Vec<String>> {
        let (_, columns) = columns(json.as_bytes(), &fields(&[("t", Kind::Text)]))?;
        let Values::Texts(bytes, ends) = &columns[0].values else { return None };
        let text =
            |pair: &[i32]| String::from_utf8(bytes[pair[0] as usize..pair[1] as usize].to_vec()).unwrap();
        Some(ends.windows(2).map(text).collect())
    }

    #[test]
    fn special_bytes_are_told_by_their_place() {
        for filler in [b' ', b'!', b'#', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
            let plain = [filler; BLOCK];
            assert_eq!([special_bytes(&plain), special_by_words(&plain)], [0; 2]);
            for at in 0..BLOCK {
                for special in [0, 9, 0x1f, b'"', b'\\'] {
                    let mut block = plain;
                    block[at] = special;
                    block[BLOCK - 1 - at / 2] = special;
                    let bits = 1 << at | 1 << (BLOCK - 1 - at / 2);
                    let found = [special_bytes(&block), special_by_words(&block)];
                    assert_eq!(found, [bits; 2], "{filler} {special}");
                }
            }
        }
    }

    #[test]
    fn a_text_is_whole_wherever_its_blocks_end() {
        for before in 0..140 {
            for (escape, meant) in [("", ""), ("\\n", "\n"), ("\\\\\\\"", "\\\""), ("\\u00e9", "é")] {
                let plain = "x".repeat(before);
                let line = format!("{{\"t\":\"{plain}{escape}{plain}{escape}\"}}");
                let found = [texts(&line), texts(&(line + &"\n".repeat(2 * BLOCK)))];
                assert_eq!(found, [(); 2].map(|()| Some(vec![format!("{plain}{meant}{plain}{meant}")])));
            }
        }
    }

    #[test]
    fn a_text_says_what_its_escapes_mean() {
        assert_eq!(
            texts(r#"{"t":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z"}"#).unwrap(),
            ["a\"\\/\u{8}\u{c}\n\r\té😀z"]
        );
        for wrong in [r"\ud83d", r"\ud83d\u0041", r"\ude00", r"\x", r"\u12g4", r"\u12", "\t", "\n"] {
            assert_eq!(texts(&format!("{{\"t\":\"{wrong}\"}}")), None, "{wrong}");
        }
    }

    #[test]
    fn a_text_that_is_no_utf8_is_not_taken_wherever_it_goes_wrong() {
        for before in 0..140 {
            for wrong in
                [&b"\x80"[..], b"\xc3", b"\xc3\\n\xa9", b"\xc3\\u00e9", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"]
            {
                let json = [b"{\"t\":\"", "é".repeat(before).as_bytes(), wrong, b"\"}"].concat();
                assert!(columns(&json, &fields(&[("t", Kind::Text)])).is_none(), "{before} {wrong:?}");
            }
        }
        assert!(columns(b"{\"\xff\":1}", &fields(&[("t", Kind::Int)])).is_none());
    }

    #[test]
    fn a_line_cut_anywhere_is_not_taken() {
        let of = fields(&[("a", Kind::Int), ("b", Kind::Text), ("c", Kind::Float), ("d", Kind::Bool)]);
        let line = br#" { "a" : -12 , "b" : "x\u00e9" , "c" : -1.5e-3 , "d" : true }"#;
        let (rows, found) = columns(line, &of).unwrap();
        assert!(rows == 1 && found.iter().all(|column| column.nulls == 0 && column.rows == 1));
        for stop in 2..line.len() {
            assert!(columns(&line[..stop], &of).is_none(), "{stop}");
        }
    }

    #[test]
    fn what_a_line_lacks_is_null() {
        let of = fields(&[("a", Kind::Int), ("b", Kind::Int)]);
        let (rows, found) = columns(b"\n{\"b\":1,\"a\":2}\r\n{}\n \n{\"a\":null,\"b\":3}", &of).unwrap();
        assert_eq!(rows, 3);
        let Values::Ints(numbers) = &found[1].values else { panic!() };
        assert_eq!(
            (numbers.as_slice(), found[1].nulls, found[1].valid.bytes.as_slice()),
            (&[1, 0, 3][..], 1, &[5][..])
        );
        assert_eq!((found[0].nulls, found[0].valid.bytes.as_slice()), (2, &[1][..]));
    }

    #[test]
    fn numbers_are_those_that_are_exact() {
        let is_taken = |kind, text: &str| {
            columns(format!("{{\"n\":{text}}}").as_bytes(), &fields(&[("n", kind)])).is_some()
        };
        for good in ["0", "7", "-7", "999999999999999999"] {
            assert!(is_taken(Kind::Int, good) && is_taken(Kind::Float, good), "{good}");
        }
        for bad in ["-0", "1.0", "1e3", "1000000000000000000", "01", "-", "", "+1", "true", "\"1\"", "NaN"] {
            assert!(!is_taken(Kind::Int, bad), "{bad}");
        }
        for bad in ["1.", ".5", "1e", "1e+", "00.5", "1e999", "Infinity", "NaN", "-", "\"1\""] {
            assert!(!is_taken(Kind::Float, bad), "{bad}");
        }
    }

    #[test]
    fn keys_come_in_any_order_and_may_be_escaped() {
        let of = fields(&[("a", Kind::Int), ("é", Kind::Int)]);
        for line in [r#"{"a":1,"é":2}"#, r#"{"é":2,"a":1}"#, r#"{"\u00e9":2,"\u0061":1}"#] {
            let (_, found) = columns(line.as_bytes(), &of).unwrap();
            for (column, number) in found.iter().zip([1, 2]) {
                assert!(matches!(&column.values, Values::Ints(numbers) if numbers == &[number]), "{line}");
            }
        }
    }

    #[test]
    fn only_keys_that_are_known_come_once() {
        for wrong in [r#"{"t":"a","t":"b"}"#, r#"{"t":"a","u":1}"#, r#"{"t":"a",}"#, r#"{"t":"a"}{}"#] {
            assert_eq!(texts(wrong), None, "{wrong}");
        }
        assert!(columns(b"{\"a\"b\":1}", &fields(&[("a\"b", Kind::Int)])).is_none());
    }
}
