//! JSON from front to back, as far as it is written as usual. None where it is not.

/// A place in a JSON text.
pub struct Scanner<'a> {
    data: &'a [u8],
    at: usize,
}

/// Powers of ten that are exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

impl<'a> Scanner<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Scanner { data, at: 0 }
    }

    /// Where what was read last ends.
    pub fn end(&self) -> usize {
        self.at
    }

    /// Where the next value begins.
    pub fn place(&mut self) -> usize {
        while matches!(self.data.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
            while self.data[self.at..].starts_with(b"    ") {
                self.at += 4; // most files are indented
            }
        }
        self.at
    }

    /// The byte that comes next.
    #[inline]
    pub fn next(&mut self) -> Option<u8> {
        match self.data.get(self.at) {
            Some(&byte) if byte > b' ' => Some(byte),
            _ => {
                self.place();
                self.data.get(self.at).copied()
            }
        }
    }

    /// Go past a byte that must come next.
    #[inline]
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// Call `item` at each item of an array or an object, between these two brackets.
    pub fn items(
        &mut self,
        [open, close]: [u8; 2],
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.take(open)?;
        if self.next()? != close {
            loop {
                item(self)?;
                if self.next()? != b',' {
                    break;
                }
                self.at += 1;
            }
        }
        self.take(close)
    }

    /// Call `value` with the key and the scanner at the value of each item of an object.
    pub fn object(&mut self, mut value: impl FnMut(&mut Self, &[u8]) -> Option<()>) -> Option<()> {
        let mut key = Vec::new();
        self.items(*b"{}", |scanner| {
            key.clear();
            scanner.string(&mut key)?;
            scanner.take(b':')?;
            value(scanner, &key)
        })
    }

    /// Append what a string says; no halves of surrogate pairs.
    pub fn string(&mut self, out: &mut Vec<u8>) -> Option<()> {
        self.take(b'"')?;
        loop {
            let plain = find(&self.data[self.at..], ends_plain)?;
            out.extend_from_slice(&self.data[self.at..self.at + plain]);
            self.at += plain + 1;
            match self.data[self.at - 1] {
                b'"' => return Some(()),
                b'\\' => self.escaped(out)?,
                _ => return None,
            }
        }
    }

    /// What a string says, which is put into `room` where it is not as it is written.
    #[inline]
    pub fn text<'b>(&mut self, room: &'b mut Vec<u8>) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        self.take(b'"')?;
        let data: &'a [u8] = self.data;
        let stop = find(&data[self.at..], ends_plain)?;
        if data[self.at + stop] == b'"' {
            let start = self.at;
            self.at += stop + 1;
            return Some(&data[start..start + stop]);
        }
        self.at -= 1;
        room.clear();
        self.string(room)?;
        Some(room)
    }

    fn escaped(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let kind = *self.data.get(self.at)?;
        self.at += 1;
        let byte = match kind {
            b'"' | b'\\' | b'/' => kind,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut code = self.unit()?;
                if (0xd800..0xdc00).contains(&code) && self.data[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.unit()?.checked_sub(0xdc00).filter(|&low| low < 0x400)?;
                    code = 0x10000 + ((code - 0xd800) << 10) + low;
                }
                out.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(());
            }
            _ => return None,
        };
        out.push(byte);
        Some(())
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.data.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |code, &digit| Some(code << 4 | (digit as char).to_digit(16)?))
    }

    /// A number of at most 9 digits that is not negative.
    #[inline]
    pub fn count(&mut self) -> Option<u32> {
        let first = self.next()?;
        let (number, digits) = self.digits()?;
        let whole = !matches!(self.data.get(self.at), Some(b'.' | b'e' | b'E'));
        (whole && digits <= 9 && (digits == 1 || first != b'0')).then_some(number as u32)
    }

    /// A number: all digits as one integer, then the power of ten, as the reference engine reads it.
    pub fn number(&mut self) -> Option<f64> {
        let negative = self.next()? == b'-';
        self.at += negative as usize;
        let first = *self.data.get(self.at)?;
        let (mut number, mut digits) = self.digits()?;
        if first == b'0' && digits > 1 {
            return None;
        }
        let mut power = 0;
        if self.data.get(self.at) == Some(&b'.') {
            self.at += 1;
            let (fraction, places) = self.digits()?;
            (digits, power) = (digits + places, -(places as i32));
            number = if digits <= 18 { number * 10u64.pow(places as u32) + fraction } else { return None };
        }
        if let Some(b'e' | b'E') = self.data.get(self.at) {
            self.at += 1;
            let down = self.data.get(self.at) == Some(&b'-');
            self.at += matches!(self.data.get(self.at), Some(b'-' | b'+')) as usize;
            let (exponent, places) = self.digits()?;
            let exponent = if places <= 3 { exponent as i32 } else { return None };
            power += if down { -exponent } else { exponent };
        }
        let scale = *POWERS.get(power.unsigned_abs() as usize)?;
        let value = if power < 0 { number as f64 / scale } else { number as f64 * scale };
        Some(if negative { -value } else { value })
    }

    /// Digits as a number, and how many there are: at least one, and at most 18.
    #[inline]
    fn digits(&mut self) -> Option<(u64, usize)> {
        let start = self.at;
        let mut number = 0;
        while let Some(digit @ b'0'..=b'9') = self.data.get(self.at) {
            number = number * 10 + (digit - b'0') as u64;
            self.at += 1;
            if self.at - start > 18 {
                return None;
            }
        }
        (self.at > start).then_some((number, self.at - start))
    }

    /// Go past a null.
    pub fn null(&mut self) -> Option<()> {
        self.next()?;
        self.data[self.at..].starts_with(b"null").then(|| self.at += 4)
    }

    /// Go past a value, and right past it where it is one.
    pub fn skip(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.next()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => (depth, self.at) = (depth + 1, self.at + 1),
                b'}' | b']' => (depth, self.at) = (depth.checked_sub(1)?, self.at + 1),
                b',' | b':' => self.at += 1,
                _ => {
                    let ends = |byte| {
                        matches!(
                            byte,
                            b',' | b':' | b']' | b'}' | b'"' | b'[' | b'{' | b' ' | b'\n' | b'\r' | b'\t'
                        )
                    };
                    self.at += self.data[self.at..].iter().take_while(|&&byte| !ends(byte)).count();
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.at += find(&self.data[self.at..], |byte| byte == b'"' || byte == b'\\')? + 1;
            if self.data[self.at - 1] == b'"' {
                return Some(());
            }
            self.at += 1;
            self.data.get(self.at)?;
        }
    }
}

/// Whether a string is not as it is written from here on: it ends, or something is escaped or wrong.
fn ends_plain(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Bytes that are looked at one by one, as most strings are short; then as many at once, of which compilers make vectors
/// where their number is known and what is found is a byte, not a truth.
const BLOCK: usize = 64;

/// Where the first byte is of which `is_found` is true.
#[inline]
fn find(data: &[u8], is_found: impl Fn(u8) -> bool) -> Option<usize> {
    let (near, far) = data.split_at(data.len().min(BLOCK));
    if let Some(at) = near.iter().position(|&byte| is_found(byte)) {
        return Some(at);
    }
    let passed = |block: &&[u8]| {
        let block: &[u8; BLOCK] = (*block).try_into().expect("a whole block");
        block.iter().fold(0, |found, &byte| found | is_found(byte) as u8) == 0
    };
    let far_at = BLOCK * far.chunks_exact(BLOCK).take_while(passed).count();
    let at = far[far_at..].iter().position(|&byte| is_found(byte))?;
    Some(near.len() + far_at + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(json: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        Scanner::new(json.as_bytes()).string(&mut out).map(|()| out)
    }

    #[test]
    fn strings_say_what_their_escapes_stand_for() {
        assert_eq!(string(r#" "a\"\\\/\b\f\n\r\t" "#).unwrap(), b"a\"\\/\x08\x0c\n\r\t");
        assert_eq!(string(r#""\u00e9\ud83d\ude00é""#).unwrap(), "é😀é".as_bytes());
        for broken in [r#""a"#, r#""\x""#, r#""\u12"#, r#""\ud83d""#, r#""\ud83dA""#, "\"\n\"", "a", "\"\\"] {
            assert_eq!(string(broken), None, "{broken}");
        }
        for size in (0..200).chain([1 << 12]) {
            let plain = "é!".repeat(size);
            assert_eq!(
                string(&format!(r#""{plain}\t{plain}""#)),
                Some(format!("{plain}\t{plain}").into_bytes())
            );
            assert_eq!(string(&format!("\"{plain}\n\"")), None);
            assert_eq!(Scanner::new(format!(r#"["{plain}\"", 1]"#).as_bytes()).skip(), Some(()));
        }
        let mut room = Vec::new();
        assert_eq!(Scanner::new(br#""plain""#).text(&mut room), Some(&b"plain"[..]));
        assert_eq!(Scanner::new(br#""a\tb""#).text(&mut room), Some(&b"a\tb"[..]));
    }

    #[test]
    fn numbers_are_rounded_twice() {
        let number = |json: &str| Scanner::new(json.as_bytes()).number();
        assert_eq!(number("-3.3334579467773438"), Some(-3.333457946777344));
        assert_eq!(number("25e-1 "), Some(2.5));
        assert_eq!(number("1.5E+3]"), Some(1500.0));
        assert!(number("-0.0").unwrap().is_sign_negative());
        for unusual in
            ["01", "-", ".5", "1.", "1e", "NaN", "1e40", "1234567890123456789", "1.234567890123456789"]
        {
            assert_eq!(number(unusual), None, "{unusual}");
        }
        let count = |json: &str| Scanner::new(json.as_bytes()).count();
        assert_eq!((count("0}"), count("123,"), count("100")), (Some(0), Some(123), Some(100)));
        assert_eq!(
            (count("-1"), count("01"), count("1.0"), count("1e2"), count("1234567890")),
            Default::default()
        );
    }

    #[test]
    fn values_are_skipped_whole() {
        for value in [r#"{"a":[1,"]}\"",{}],"b":null}"#, "[[],[[]]]", r#""x\\""#, "-1.5e3", "true"] {
            let json = format!(" {value} ,");
            let mut scanner = Scanner::new(json.as_bytes());
            scanner.skip().unwrap();
            assert_eq!(scanner.next(), Some(b','), "{value}");
        }
        for broken in ["", "[", "\"a", "{\"a\":[}", "]"] {
            assert_eq!(Scanner::new(broken.as_bytes()).skip(), None, "{broken}");
        }
    }
}
