//! A column of texts to columns of tokens, on one thread or several.

use crate::tokenizer::{Tokenizer, Worker};
use crate::tokens::Tokens;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

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
#[derive(Default)]
pub struct Encoded {
    pub offsets: Vec<i32>,
    pub ids: Vec<u32>,
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
    pub words: Vec<u32>,
    pub left: Vec<u32>,
}

/// Work of one thread at a time: so many bytes of text.
const UNIT: usize = 128 << 10;
/// Less than this is not worth a second thread.
pub const WORTH_THREADS: usize = 2 * UNIT;

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

    /// Where text `row` is, seen to be UTF-8; empty where it is null, whatever lies there.
    pub fn text(&self, row: usize) -> Result<Range<usize>, Problem> {
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
        match std::str::from_utf8(&self.data[range.clone()]) {
            Ok(_) => Ok(range),
            Err(_) => Err(Problem::Utf8(row)),
        }
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
    let (first, last) = match column.len() {
        0 => (0, 0),
        n => (column.bounds(0).0, column.bounds(n - 1).1),
    };
    if threads <= 1 || last.saturating_sub(first) < WORTH_THREADS as i64 {
        let mut worker = Worker::<TRACE>::new(tokenizer, column.data);
        worker.expect((last.saturating_sub(first).max(0) as usize).min(column.data.len()));
        let tokens = encode_rows(&mut worker, column, 0..column.len())?;
        worker.finish();
        return Encoded::from_one(tokens);
    }
    let units = column.units();
    Encoded::from_many(encode_units::<TRACE>(tokenizer, column, &units, threads.min(units.len()))?, &units)
}

fn encode_rows<const TRACE: bool>(
    worker: &mut Worker<TRACE>,
    column: &Column,
    rows: Range<usize>,
) -> Result<Tokens, Problem> {
    for row in rows {
        let text = column.text(row)?;
        worker.text(text.start, text.end);
    }
    Ok(worker.take())
}

/// The tokens of each unit; the threads end with the call.
fn encode_units<const TRACE: bool>(
    tokenizer: &Tokenizer,
    column: &Column,
    units: &[Range<usize>],
    threads: usize,
) -> Result<Vec<Tokens>, Problem> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0..units.len()).map(|_| None).collect::<Vec<_>>());
    let work = || {
        let mut worker = Worker::<TRACE>::new(tokenizer, column.data);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(rows) = units.get(number) else { break };
            let tokens = encode_rows(&mut worker, column, rows.clone());
            let failed = tokens.is_err();
            done.lock().expect("no thread panics while it holds this")[number] = Some(tokens);
            if failed {
                next.store(units.len(), Ordering::Relaxed);
                return;
            }
        }
        worker.finish();
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let done = done.into_inner().expect("a panic would have ended the scope");
    // units are taken in order: those before a failed one are there
    done.into_iter().map_while(|tokens| tokens).collect()
}

impl Encoded {
    fn from_one(tokens: Tokens) -> Result<Self, Problem> {
        if tokens.ids.len() > i32::MAX as usize {
            return Err(Problem::TooManyTokens);
        }
        let offsets = [0].into_iter().chain(tokens.stops.iter().map(|&stop| stop as i32)).collect();
        let left = tokens.left.iter().map(|&row| row as u32).collect();
        let Tokens { ids, starts, ends, words, .. } = tokens;
        Ok(Encoded { offsets, ids, starts, ends, words, left })
    }

    fn from_many(parts: Vec<Tokens>, units: &[Range<usize>]) -> Result<Self, Problem> {
        let total: usize = parts.iter().map(|part| part.ids.len()).sum();
        if total > i32::MAX as usize {
            return Err(Problem::TooManyTokens);
        }
        let traced: usize = parts.iter().map(|part| part.starts.len()).sum();
        let mut all = Encoded { offsets: vec![0], ..Encoded::default() };
        all.ids.reserve(total);
        for column in [&mut all.starts, &mut all.ends, &mut all.words] {
            column.reserve(traced);
        }
        for (part, unit) in parts.iter().zip(units) {
            let before = all.ids.len();
            all.offsets.extend(part.stops.iter().map(|&stop| (before + stop) as i32));
            all.left.extend(part.left.iter().map(|&row| (unit.start + row) as u32));
            all.ids.extend_from_slice(&part.ids);
            all.starts.extend_from_slice(&part.starts);
            all.ends.extend_from_slice(&part.ends);
            all.words.extend_from_slice(&part.words);
        }
        Ok(all)
    }
}
