//! White space in blocks: where a run of it ends, or begins anew.

use super::bits::{behind, first_bytes};
use super::Splitter;
use crate::split::classify::Masks;
use crate::unicode::{CLASS, SPACE};

impl Splitter<'_> {
    /// White space, each with what follows it: the last of a run that text follows.
    #[inline(always)]
    pub(super) fn before_text<const MIXED: bool>(&self, masks: &Masks, valid: u64, len: usize) -> u64 {
        let next = self.at + len;
        let text_next = next < self.text.len() && self.table.at(self.text, next).0 & CLASS != SPACE;
        let last = masks.white & behind(!masks.white & valid, text_next, len);
        first_bytes::<MIXED>(last, masks.inner)
    }

    /// Of white space that begins behind a newline, what no newline ends: `\s*[\r\n]+` would take that whole.
    #[inline(always)]
    pub(super) fn indents(&self, mut starts: u64, horizontal: u64, newline: u64, len: usize) -> u64 {
        let mut kept = starts;
        while starts != 0 {
            let start = starts.trailing_zeros();
            let run = (!(horizontal >> start)).trailing_zeros();
            let end = start + run;
            let ends_in_newline =
                if end as usize >= len { self.newline_after(self.at + len) } else { newline >> end & 1 != 0 };
            if ends_in_newline {
                kept &= !(1 << start);
            }
            starts &= starts - 1;
        }
        kept
    }

    /// Whether white space from `at` on comes to a newline. Asked once a run, so linear in the text.
    #[cold]
    fn newline_after(&self, mut at: usize) -> bool {
        while at < self.text.len() {
            if matches!(self.text[at], b'\n' | b'\r') {
                return true;
            }
            let (class, len) = self.table.at(self.text, at);
            if class & CLASS != SPACE {
                return false;
            }
            at += len;
        }
        false
    }
}
