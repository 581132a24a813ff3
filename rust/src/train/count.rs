//! The distinct pieces of a corpus, and how often each comes.

use super::cutting::{Cutting, Room};
use crate::batch::{Checked, Column, Problem, WORTH_THREADS};
use crate::bert::{Bert, Words};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Where a piece came first: the number of the text, the byte in what was cut, and the number of the word in the piece.
type First = (u64, u32, u32);

/// How often a piece comes, and where it came first.
#[derive(Clone, Copy)]
struct Seen {
    count: i64,
    first: First,
}

type Pieces = HashMap<Box<[u8]>, Seen, BuildHasherDefault<BytesHasher>>;

/// Counts the pieces of the columns that it is fed, in their order.
pub struct Counter {
    cutting: Cutting,
    pieces: Pieces,
    fed: u64, // texts
}

/// Pieces in the order in which they came first. offsets: one more than there are pieces; texts: the number of
/// the text where each came first
#[derive(Default)]
pub struct Counted {
    pub data: Vec<u8>,
    pub offsets: Vec<i64>,
    pub counts: Vec<i64>,
    pub texts: Vec<i64>,
}

impl Counter {
    pub fn new(cutting: Cutting) -> Self {
        Counter { cutting, pieces: Pieces::default(), fed: 0 }
    }

    /// Count the pieces of a column; the numbers of those texts in it, in order, that must be counted in another way.
    /// Where a text of it is not UTF-8, some of the others were counted all the same.
    pub fn feed(&mut self, column: &Column, threads: usize) -> Result<Vec<usize>, Problem> {
        let Some(last) = column.len().checked_sub(1) else { return Ok(Vec::new()) };
        let bytes = column.bounds(last).1.saturating_sub(column.bounds(0).0).max(0) as usize;
        let units =
            if threads > 1 && bytes >= WORTH_THREADS { column.units() } else { vec![0..column.len()] };
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
        let all = Mutex::new((std::mem::take(&mut self.pieces), Vec::new()));
        let (this, base) = (&*self, self.fed);
        let work = || {
            // the first thread goes on with what was counted before: nothing is put into a table twice
            let mut found = std::mem::take(&mut all.lock().expect("no thread panics while it holds this").0);
            let mut left = Vec::new();
            while let Some(rows) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(problem) = this.count_rows(column, rows.clone(), base, &mut found, &mut left) {
                    next.store(units.len(), Ordering::Relaxed);
                    *failed.lock().expect("no thread panics while it holds this") = Some(problem);
                    break;
                }
            }
            let mut all = all.lock().expect("no thread panics while it holds this");
            gather(&mut all.0, found);
            all.1.append(&mut left);
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(units.len()) {
                scope.spawn(work);
            }
            work();
        });
        let (pieces, mut left) = all.into_inner().expect("a panic would have ended the scope");
        left.sort_unstable();
        self.pieces = pieces;
        self.fed += column.len() as u64;
        failed.into_inner().expect("as above").map_or(Ok(left), Err)
    }

    fn count_rows(
        &self,
        column: &Column,
        rows: Range<usize>,
        base: u64,
        found: &mut Pieces,
        left: &mut Vec<usize>,
    ) -> Result<(), Problem> {
        let (mut room, mut checked) = (Room::default(), Checked::default());
        for row in rows {
            let text = &column.data[column.text(row, &mut checked)?];
            let number = base + row as u64;
            let counted = self.cutting.pieces(text, &mut room, |piece, at| {
                add(found, piece, Seen { count: 1, first: (number, at, 0) })
            });
            if !counted {
                left.push(row);
            }
        }
        Ok(())
    }

    /// All pieces so far.
    pub fn counted(&self) -> Counted {
        let words = self.cutting.bert.as_ref().map(|bert| self.words(bert));
        let mut pieces: Vec<(&Box<[u8]>, &Seen)> = words.as_ref().unwrap_or(&self.pieces).iter().collect();
        pieces.sort_unstable_by_key(|(_, seen)| seen.first);
        let mut counted = Counted { offsets: vec![0], ..Counted::default() };
        for (piece, seen) in pieces {
            counted.data.extend_from_slice(piece);
            counted.offsets.push(counted.data.len() as i64);
            counted.counts.push(seen.count);
            counted.texts.push(seen.first.0 as i64);
        }
        counted
    }

    /// The words of BERT that the pieces are of.
    fn words(&self, bert: &Bert) -> Pieces {
        let (mut all, mut words) = (Pieces::default(), Words::default());
        for (piece, &seen) in &self.pieces {
            bert.words(piece, &mut words);
            for (&(start, stop), number) in words.spans.iter().zip(0..) {
                let (text, at, _) = seen.first;
                add(&mut all, &words.text[start..stop], Seen { first: (text, at, number), ..seen });
            }
        }
        all
    }
}

fn add(pieces: &mut Pieces, piece: &[u8], new: Seen) {
    match pieces.get_mut(piece) {
        Some(seen) => seen.join(new),
        None => {
            pieces.insert(piece.into(), new);
        }
    }
}

impl Seen {
    fn join(&mut self, other: Seen) {
        self.count += other.count;
        self.first = self.first.min(other.first);
    }
}

/// The smaller of both goes into the larger.
fn gather(all: &mut Pieces, mut found: Pieces) {
    if all.len() < found.len() {
        std::mem::swap(all, &mut found);
    }
    for (piece, new) in found {
        all.entry(piece).and_modify(|seen| seen.join(new)).or_insert(new);
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
    use crate::bert::Steps;
    use crate::cut::Cut;
    use crate::split::Grammar;
    use crate::steps::Step;
    use crate::tokenizer::{Route, Stage};

    fn counted(texts: &[&str], grammar: Grammar, prefix: bool, threads: usize) -> Vec<(String, i64)> {
        let after =
            if prefix { vec![Step::Lead { content: b" ".to_vec(), first: false }] } else { Vec::new() };
        let route = Route {
            before: vec![Step::from_parts(4, 0, b"", b"").unwrap()],
            stages: vec![Stage { steps: after, layers: None }],
            cut: Cut::Grammar(grammar),
        };
        counted_by(Cutting::new(route, None).unwrap(), texts, threads)
    }

    fn counted_by(cutting: Cutting, texts: &[&str], threads: usize) -> Vec<(String, i64)> {
        let mut counter = Counter::new(cutting);
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
        let Counted { data, offsets, counts, .. } = counter.counted();
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
    fn words_of_bert_are_counted_as_they_are_normalized() {
        let steps = Steps { clean: true, ideographs: true, strip: true, lower: true };
        let route = Route { before: Vec::new(), stages: Vec::new(), cut: Cut::Bert };
        let cutting = Cutting::new(route, Some(Bert::new(steps))).unwrap();
        let found = counted_by(cutting, &["É, e", "\u{1100}x \u{300}\u{200b} e", "E中e"], 1);
        let expected = [("e", 5), (",", 1), ("\u{1100}x", 1), ("中", 1)];
        assert_eq!(found, expected.map(|(piece, count)| (piece.to_string(), count)));
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
