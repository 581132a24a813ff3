//! Letters with cases, and marks: what o200k and Kimi see beside cl100k.

use super::bits::{below, through};
use super::runs::joining;
use super::{Carry, Splitter};
use crate::split::classify::Masks;
use crate::split::scalar::contraction;
use crate::split::Grammar;
use crate::unicode::{CASELESS, CLASS, HAN, LOWER, MARK, UPPER};

impl Splitter<'_> {
    /// Where upper case begins a piece behind letters: behind a stretch with lower case, and
    /// behind one without case where nothing but upper case follows.
    #[inline(always)]
    pub(super) fn changes_of_case<const MIXED: bool>(
        &self,
        carry: &mut Carry,
        masks: &Masks,
        len: usize,
    ) -> u64 {
        let last = len - 1;
        let Masks { upper, lower, caseless, inner, .. } = *masks;
        let (stretch, without) = if MIXED {
            let behind = carry.contraction_end.saturating_sub(self.at); // letters of a contraction do not count
            let marks = (lower & !below(behind)) | ((lower | caseless) & carry.lower);
            let stretch = through(marks, lower | caseless) & (lower | caseless);
            (stretch, caseless & !stretch)
        } else {
            (lower, 0)
        };
        let mut bits = upper & (stretch << 1 | carry.lower) & !inner;
        let mut starts = upper & (without << 1 | carry.caseless) & !inner;
        while starts != 0 {
            let start = starts.trailing_zeros();
            starts &= starts - 1;
            let end = start + (!(upper >> start)).trailing_zeros();
            let follows = if end as usize >= len {
                self.letter_after_upper(self.at + len)
            } else {
                (lower | caseless) >> end & 1 != 0
            };
            bits |= (!follows as u64) << start;
        }
        carry.lower = stretch >> last & 1;
        carry.caseless = without >> last;
        bits
    }

    /// Whether upper case from `at` on comes to another letter. Asked once a run.
    #[cold]
    fn letter_after_upper(&self, mut at: usize) -> bool {
        while at < self.text.len() {
            let (class, len) = self.table.at(self.text, at);
            if class & CLASS != UPPER {
                let apart = self.grammar == Grammar::Kimi && class & HAN != 0;
                return matches!(class & CLASS, LOWER | CASELESS | MARK) && !apart;
            }
            at += len;
        }
        false
    }

    /// Whether a mark may belong to the symbols before it, or a letter without case comes
    /// right behind a contraction.
    pub(super) fn is_odd(&self, carry: &Carry, masks: &Masks, mark: u64, valid: u64) -> bool {
        let letter = masks.upper | masks.lower | masks.caseless;
        let symbol = valid & !(letter | masks.digit | masks.white | masks.apart);
        let single = joining::<true>(carry, masks, symbol);
        if mark & ((symbol & !single) << 1 | (carry.other & !carry.joining)) != 0 {
            return true;
        }
        let mut quotes = masks.quote & (letter << 1 | carry.letter);
        while quotes != 0 {
            let quote = self.at + quotes.trailing_zeros() as usize;
            quotes &= quotes - 1;
            let behind = contraction(self.text, quote, true).filter(|&end| end < self.text.len());
            if behind.is_some_and(|end| matches!(self.table.at(self.text, end).0 & CLASS, CASELESS | MARK)) {
                return true;
            }
        }
        false
    }
}
