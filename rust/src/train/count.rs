//! The distinct pieces of a corpus, and how often each comes.

use crate::batch::{Column, Problem, WORTH_THREADS};
use crate::normal;
use crate::split::{cpu_path, Grammar, Splitter};
use crate::unicode::Characters;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// How often a piece comes, and where it came first: the number of the text, and the byte in what was cut.
#[derive(Clone, Copy)]
struct Seen {
    count: i64,
    first: (u64, u32),
}

type Pieces = HashMap<Box<[u8]>, Seen, BuildHasherDefault<BytesHasher>>;

/// Counts the pieces of the columns that it is fed, in their order.
pub struct Counter {
    grammar: Grammar,
    nfc: bool,
    prefix: bool,
    pieces: Pieces,
    fed: u64, // texts
}

/// Pieces in the order in which they came first. offsets: one more than there are pieces
pub struct Counted {
    pub data: Vec<u8>,
    pub offsets: Vec<i64>,
    pub counts: Vec<i64>,
}

impl Counter {
    /// prefix: whether a space is put before texts that begin with none
    pub fn new(grammar: Grammar, nfc: bool, prefix: bool) -> Self {
        Counter { grammar, nfc, prefix, pieces: Pieces::default(), fed: 0 }
    }

    /// Count the pieces of a column. Where a text of it is not UTF-8, some of the others were counted all the same.
    pub fn feed(&mut self, column: &Column, threads: usize) -> Result<(), Problem> {
        let Some(last) = column.len().checked_sub(1) else { return Ok(()) };
        let bytes = column.bounds(last).1.saturating_sub(column.bounds(0).0).max(0) as usize;
        let units =
            if threads > 1 && bytes >= WORTH_THREADS { column.units() } else { vec![0..column.len()] };
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
        let all = Mutex::new(std::mem::take(&mut self.pieces));
        let (this, base) = (&*self, self.fed);
        let work = || {
            let mut found = Pieces::default();
            while let Some(rows) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(problem) = this.count_rows(column, rows.clone(), base, &mut found) {
                    next.store(units.len(), Ordering::Relaxed);
                    *failed.lock().expect("no thread panics while it holds this") = Some(problem);
                    break;
                }
            }
            gather(&mut all.lock().expect("no thread panics while it holds this"), found);
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(units.len()) {
                scope.spawn(work);
            }
            work();
        });
        self.pieces = all.into_inner().expect("a panic would have ended the scope");
        self.fed += column.len() as u64;
        failed.into_inner().expect("as above").map_or(Ok(()), Err)
    }

    fn count_rows(
        &self,
        column: &Column,
        rows: Range<usize>,
        base: u64,
        found: &mut Pieces,
    ) -> Result<(), Problem> {
        let (path, table) = (cpu_path(), Characters::get());
        let (mut normalized, mut prefixed) = (Vec::new(), Vec::new());
        let mut starts = [0u32; 258];
        for row in rows {
            let mut text = &column.data[column.text(row)?];
            if self.nfc && !normal::is_stable(table, text) {
                normalized.clear();
                if normal::nfc(table, text, &mut normalized) {
                    text = &normalized;
                }
            }
            if self.prefix && !text.is_empty() && text[0] != b' ' {
                prefixed.clear();
                prefixed.push(b' ');
                prefixed.extend_from_slice(text);
                text = &prefixed;
            }
            let mut splitter = Splitter::new(self.grammar, path, text);
            let mut open = 0; // whether a piece has begun whose end is not known
            loop {
                let mut count = open + splitter.fill(&mut starts[open..256]);
                if splitter.done() {
                    starts[count] = text.len() as u32;
                } else {
                    count -= 1;
                }
                for two in starts[..=count].windows(2) {
                    add(found, &text[two[0] as usize..two[1] as usize], (base + row as u64, two[0]));
                }
                if splitter.done() {
                    break;
                }
                (starts[0], open) = (starts[count], 1);
            }
        }
        Ok(())
    }

    /// All pieces so far.
    pub fn counted(&self) -> Counted {
        let mut pieces: Vec<(&Box<[u8]>, &Seen)> = self.pieces.iter().collect();
        pieces.sort_unstable_by_key(|(_, seen)| seen.first);
        let mut counted = Counted { data: Vec::new(), offsets: vec![0], counts: Vec::new() };
        for (piece, seen) in pieces {
            counted.data.extend_from_slice(piece);
            counted.offsets.push(counted.data.len() as i64);
            counted.counts.push(seen.count);
        }
        counted
    }
}

fn add(pieces: &mut Pieces, piece: &[u8], first: (u64, u32)) {
    match pieces.get_mut(piece) {
        Some(seen) => seen.count += 1,
        None => {
            pieces.insert(piece.into(), Seen { count: 1, first });
        }
    }
}

fn gather(all: &mut Pieces, found: Pieces) {
    if all.is_empty() {
        *all = found;
        return;
    }
    for (piece, new) in found {
        let seen = all.entry(piece).or_insert(Seen { count: 0, first: new.first });
        seen.count += new.count;
        seen.first = seen.first.min(new.first);
    }
}

/// Eight bytes at a time, each multiplied in: pieces are short, and the usual hash takes longer than the rest.
#[derive(Default)]
struct BytesHasher(u64);

impl Hasher for BytesHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.write_u64(u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        }
        let mut rest = [0; 8];
        rest[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.write_u64(u64::from_le_bytes(rest));
    }

    fn write_u64(&mut self, value: u64) {
        let product = (self.0 ^ value ^ 0x9e37_79b9_7f4a_7c15) as u128 * 0xf39c_c060_5ced_c835;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Offsets;

    fn counted(texts: &[&str], grammar: Grammar, prefix: bool, threads: usize) -> Vec<(String, i64)> {
        let mut counter = Counter::new(grammar, true, prefix);
        for half in texts.chunks(texts.len().div_ceil(2).max(1)) {
            let mut offsets = vec![0i32];
            offsets.extend(half.iter().scan(0, |end, text| {
                *end += text.len() as i32;
                Some(*end)
            }));
            let data = half.concat();
            let column = Column {
                data: data.as_bytes(),
                offsets: Offsets::Small(&offsets),
                valid: None,
                valid_start: 0,
            };
            counter.feed(&column, threads).unwrap();
        }
        let Counted { data, offsets, counts } = counter.counted();
        let piece = |at: usize| {
            String::from_utf8(data[offsets[at] as usize..offsets[at + 1] as usize].to_vec()).unwrap()
        };
        counts.iter().enumerate().map(|(at, &count)| (piece(at), count)).collect()
    }

    #[test]
    fn pieces_come_in_the_order_of_their_first_place() {
        let found = counted(&["b a b", " a b"], Grammar::Gpt2, false, 1);
        let expected = [("b", 1), (" a", 2), (" b", 2)];
        assert_eq!(found, expected.map(|(piece, count)| (piece.to_string(), count)));
    }

    #[test]
    fn a_space_is_put_before_texts_that_begin_with_none() {
        assert_eq!(counted(&["b", " b", ""], Grammar::Gpt2, true, 1), [(" b".to_string(), 2)]);
    }

    #[test]
    fn normal_forms_are_what_is_counted() {
        assert_eq!(counted(&["e\u{301}", "é"], Grammar::Gpt2, false, 1), [("é".to_string(), 2)]);
    }

    #[test]
    fn threads_count_what_one_counts() {
        let texts: Vec<String> =
            (0..40_000).map(|n| format!("word{} and {} more", n % 7919, n * n % 104_729)).collect();
        let texts: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
        let one = counted(&texts, Grammar::Cl100k { digits: 3 }, false, 1);
        assert!(one.len() > 1000);
        assert_eq!(counted(&texts, Grammar::Cl100k { digits: 3 }, false, 3), one);
    }
}
