//! A column of texts to columns of tokens, on one thread or several.

use crate::rooms::{Lent, Rooms};
use crate::threads::from_both_ends;
use crate::tokenizer::{Tokenizer, Worker};
use crate::tokens::Tokens;
use crate::unicode::is_continuation;
use crate::utf8::valid_prefix;
use std::ops::Range;
use std::sync::Arc;

/// An Arrow string column as it lies in memory.
///
/// offsets: one more than there are texts. valid: bit i + valid_start says whether text i
/// is there; None where all are
pub struct Column<'a> {
    pub data: &'a [u8],
    pub offsets: Offsets<'a>,
    pub valid: Option<&'a [u8]>,
    pub valid_start: usize,
}

#[derive(Clone, Copy)]
pub enum Offsets<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
}

#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// The offsets of this text are not in order, or beyond the data.
    Offsets(usize),
    /// This text is not UTF-8.
    Utf8(usize),
    /// This text is longer than 4 GB.
    TooLong(usize),
    /// More tokens than offsets of 32 bits can count.
    TooManyTokens,
}

/// Tokens as Arrow wants them. offsets: one more than there are texts
pub struct Encoded {
    pub offsets: Vec<i32>,
    pub ids: Lent,
    pub starts: Lent,
    pub ends: Lent,
    pub words: Lent,
    pub left: Vec<u32>,
}

/// Work of one thread at a time: so many bytes of text.
const UNIT: usize = 128 << 10;
/// Less than this is not worth a second thread.
pub const WORTH_THREADS: usize = 2 * UNIT;

/// A part of the data that is UTF-8: short texts are looked at many at once.
#[derive(Default)]
pub struct Checked(Range<usize>);

/// So many bytes behind a text are looked at with it.
const AHEAD: usize = 4 << 10;

impl Checked {
    fn is_text(&mut self, data: &[u8], range: &Range<usize>) -> bool {
        if range.is_empty() {
            return true;
        }
        if !(self.0.start..=self.0.end).contains(&range.start) {
            self.0 = range.start..range.start;
        }
        if self.0.end < range.end {
            let ahead = (range.end + AHEAD).min(data.len());
            self.0.end += valid_prefix(&data[self.0.end..ahead]);
        }
        // what begins and ends with characters of valid text is valid
        let is_edge = |at: usize| at == self.0.end || !is_continuation(data[at]);
        range.end <= self.0.end && is_edge(range.start) && is_edge(range.end)
    }
}

impl Column<'_> {
    pub fn len(&self) -> usize {
        match self.offsets {
            Offsets::Small(offsets) => offsets.len() - 1,
            Offsets::Large(offsets) => offsets.len() - 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn bounds(&self, row: usize) -> (i64, i64) {
        match self.offsets {
            Offsets::Small(offsets) => (offsets[row] as i64, offsets[row + 1] as i64),
            Offsets::Large(offsets) => (offsets[row], offsets[row + 1]),
        }
    }

    fn is_valid(&self, row: usize) -> bool {
        let bit = row + self.valid_start;
        self.valid.map_or(true, |bits| bits[bit / 8] >> (bit % 8) & 1 == 1)
    }

    /// Where text `row` is, seen to be UTF-8; empty where it is null, whatever lies there. checked: of this column
    pub fn text(&self, row: usize, checked: &mut Checked) -> Result<Range<usize>, Problem> {
        if !self.is_valid(row) {
            return Ok(0..0);
        }
        let (start, stop) = self.bounds(row);
        if start < 0 || stop < start || stop as usize > self.data.len() {
            return Err(Problem::Offsets(row));
        }
        let range = start as usize..stop as usize;
        if range.len() >= u32::MAX as usize {
            return Err(Problem::TooLong(row));
        }
        if checked.is_text(self.data, &range) {
            Ok(range)
        } else {
            Err(Problem::Utf8(row))
        }
    }

    /// Bytes of some rows, one after the other, whose offsets need not make sense.
    fn size(&self, rows: Range<usize>) -> usize {
        let bytes = self.bounds(rows.end - 1).1.saturating_sub(self.bounds(rows.start).0);
        (bytes.max(0) as usize).min(self.data.len())
    }

    /// Rows cut into units of about UNIT bytes.
    pub fn units(&self) -> Vec<Range<usize>> {
        let mut units = Vec::new();
        let (mut first, mut begun) = (0, self.bounds(0).0);
        for row in 0..self.len() {
            let stop = self.bounds(row).1;
            if stop.saturating_sub(begun) >= UNIT as i64 || row + 1 == self.len() {
                units.push(first..row + 1);
                (first, begun) = (row + 1, stop);
            }
        }
        units
    }
}

/// The tokens of a column. threads: at most so many, at least 1; the caller's is one of them
pub fn encode<const TRACE: bool>(
    tokenizer: &Tokenizer,
    column: &Column,
    threads: usize,
) -> Result<Encoded, Problem> {
    let bytes = if column.is_empty() { 0 } else { column.size(0..column.len()) };
    if threads > 1 && bytes >= WORTH_THREADS {
        let tokens = encode_by_units::<TRACE>(tokenizer, column, bytes, threads)?;
        return Encoded::of(tokens, &tokenizer.model.rooms);
    }
    let mut worker = Worker::<TRACE>::new(tokenizer, column.data);
    worker.expect(bytes);
    encode_rows(&mut worker, column, 0..column.len())?;
    let tokens = worker.take();
    worker.finish();
    Encoded::of(tokens, &tokenizer.model.rooms)
}

fn encode_rows<const TRACE: bool>(
    worker: &mut Worker<TRACE>,
    column: &Column,
    rows: Range<usize>,
) -> Result<(), Problem> {
    let mut checked = Checked::default();
    for row in rows {
        let text = column.text(row, &mut checked)?;
        worker.text(text.start, text.end);
    }
    Ok(())
}

/// The tokens of units, on several threads.
fn encode_by_units<const TRACE: bool>(
    tokenizer: &Tokenizer,
    column: &Column,
    bytes: usize,
    threads: usize,
) -> Result<Tokens, Problem> {
    let units = column.units();
    let spaces = tokenizer.model.take_spaces(threads.min(units.len()));
    let mut helpers: Vec<Worker<TRACE>> =
        spaces.into_iter().map(|space| Worker::within(tokenizer, column.data, space)).collect();
    let mut worker = helpers.pop().expect("there is one at least");
    worker.expect(bytes);
    let help = |helper: &mut Worker<TRACE>, unit: usize| {
        helper.expect(column.size(units[unit].clone()));
        encode_rows(helper, column, units[unit].clone())?;
        Ok(helper.take())
    };
    let own = |unit: usize| encode_rows(&mut worker, column, units[unit].clone());
    let parts = from_both_ends(units.len(), helpers, own, help, Worker::finish)?;
    let mut tokens = worker.take();
    worker.finish();
    for part in parts {
        tokens.append(&part);
        part.into_columns().into_iter().for_each(|column| tokenizer.model.rooms.give_back(column));
    }
    Ok(tokens)
}

impl Encoded {
    fn of(tokens: Tokens, rooms: &Arc<Rooms>) -> Result<Self, Problem> {
        if tokens.ids.len() > i32::MAX as usize {
            return Err(Problem::TooManyTokens);
        }
        let offsets = [0].into_iter().chain(tokens.stops.iter().map(|&stop| stop as i32)).collect();
        let left = tokens.left.iter().map(|&row| row as u32).collect();
        let [ids, starts, ends, words] = tokens.into_columns().map(|column| Lent::new(column, rooms));
        Ok(Encoded { offsets, ids, starts, ends, words, left })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_utf8_whatever_stands_around_it() {
        let parts: [&[u8]; 9] = [
            b"a",
            "é".as_bytes(),
            "中".as_bytes(),
            "😀".as_bytes(),
            b"\x80",
            b"\xc3",
            b"\xf0\x9f",
            b"\xff",
            b"",
        ];
        let mut seed = 5u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for round in 0..300 {
            let kinds = if round % 2 == 0 { 4 } else { parts.len() };
            let data: Vec<u8> = (0..random(60)).flat_map(|_| parts[random(kinds)].to_vec()).collect();
            let mut checked = Checked::default();
            let mut at = 0;
            for _ in 0..40 {
                // mostly side by side, sometimes anywhere
                let start = if random(8) == 0 { random(data.len() + 1) } else { at };
                let stop = (start + random(6)).min(data.len());
                let expected = std::str::from_utf8(&data[start..stop]).is_ok();
                assert_eq!(checked.is_text(&data, &(start..stop)), expected, "{data:?} {start}..{stop}");
                at = stop;
            }
        }
    }
}
