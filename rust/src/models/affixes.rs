//! What tokens have beside the characters that they stand for, by where in a piece these are.

/// prefix: stands before every character of a piece but the first; suffix: stands behind the last
#[derive(Clone, Copy, Default)]
pub struct Affixes<T> {
    pub prefix: T,
    pub suffix: T,
}

/// Which of the two a character has: bits. With neither it is as in a model without affixes.
pub type Form = usize;
pub const FORMS: usize = 4;
const INSIDE: Form = 1;
const LAST: Form = 2;

/// Of the character piece[start..stop], among the forms that differ.
#[inline(always)]
pub fn form(among: Form, piece: &[u8], start: usize, stop: usize) -> Form {
    among & (INSIDE * (start > 0) as usize | LAST * (stop == piece.len()) as usize)
}

impl<T: AsRef<[u8]>> Affixes<T> {
    /// The bits of the forms that differ.
    pub fn forms(&self) -> Form {
        let is_there = |affix: &T| !affix.as_ref().is_empty() as usize;
        INSIDE * is_there(&self.prefix) | LAST * is_there(&self.suffix)
    }

    /// Append a character in a form of it.
    pub fn write(&self, form: Form, character: &[u8], out: &mut Vec<u8>) {
        if form & INSIDE != 0 {
            out.extend_from_slice(self.prefix.as_ref());
        }
        out.extend_from_slice(character);
        if form & LAST != 0 {
            out.extend_from_slice(self.suffix.as_ref());
        }
    }

    pub fn owned(&self) -> Affixes<Vec<u8>> {
        Affixes { prefix: self.prefix.as_ref().to_vec(), suffix: self.suffix.as_ref().to_vec() }
    }
}
