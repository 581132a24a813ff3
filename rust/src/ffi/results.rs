//! What the border hands out: sizes, and pointers into a result that holds until it is freed. Fields are as the
//! header has them, and the owner behind.

use crate::batch::Encoded;
use crate::decode::Decoded;
use crate::lines;
use crate::read::Parts;
use crate::train::count::Counted;

/// A string column.
#[repr(C)]
pub struct DecodedColumn {
    size: usize,
    text: *const u8,
    offsets: *const i32,
    owner: Box<Decoded>,
}

impl DecodedColumn {
    pub(super) fn of(decoded: Decoded) -> Self {
        let owner = Box::new(decoded);
        let (size, text, offsets) = (owner.text.len(), owner.text.as_ptr(), owner.offsets.as_ptr());
        DecodedColumn { size, text, offsets, owner }
    }
}

/// Columns of tokens.
#[repr(C)]
pub struct EncodedColumns {
    texts: usize,
    tokens: usize,
    left_count: usize,
    offsets: *const i32,
    ids: *const u32,
    starts: *const u32,
    ends: *const u32,
    words: *const u32,
    left: *const u32,
    owner: Box<Encoded>,
}

impl EncodedColumns {
    pub(super) fn of(texts: usize, encoded: Encoded) -> Self {
        let owner = Box::new(encoded);
        EncodedColumns {
            texts,
            tokens: owner.ids.len(),
            left_count: owner.left.len(),
            offsets: owner.offsets.as_ptr(),
            ids: owner.ids.as_ptr(),
            starts: owner.starts.as_ptr(),
            ends: owner.ends.as_ptr(),
            words: owner.words.as_ptr(),
            left: owner.left.as_ptr(),
            owner,
        }
    }
}

/// Pieces one after the other.
#[repr(C)]
pub struct CountedPieces {
    count: usize,
    size: usize,
    data: *const u8,
    offsets: *const i64,
    counts: *const i64,
    texts: *const i64,
    owner: Box<Counted>,
}

impl CountedPieces {
    pub(super) fn of(counted: Counted) -> Self {
        let owner = Box::new(counted);
        CountedPieces {
            count: owner.counts.len(),
            size: owner.data.len(),
            data: owner.data.as_ptr(),
            offsets: owner.offsets.as_ptr(),
            counts: owner.counts.as_ptr(),
            texts: owner.texts.as_ptr(),
            owner,
        }
    }
}

/// What is large in a tokenizer file.
#[repr(C)]
pub struct FileParts {
    count: usize,
    size: usize,
    data: *const u8,
    offsets: *const i64,
    ids: *const i64,
    scores: *const f64,
    merges: usize,
    ways: *const i32,
    vocab: [usize; 2],
    merges_at: [usize; 2],
    map: *const u8,
    map_size: usize,
    map_at: [usize; 2],
    owner: Box<Parts>,
}

impl FileParts {
    pub(super) fn of(parts: Parts) -> Self {
        let owner = Box::new(parts);
        FileParts {
            count: owner.tokens.len(),
            size: owner.tokens.data.len(),
            data: owner.tokens.data.as_ptr(),
            offsets: owner.tokens.offsets.as_ptr(),
            ids: owner.ids.as_ptr(),
            scores: owner.scores.as_ptr(),
            merges: owner.ways.len() / 3,
            ways: owner.ways.as_ptr(),
            vocab: [owner.vocab.start, owner.vocab.end],
            merges_at: [owner.merges.start, owner.merges.end],
            map: owner.map.as_ptr(),
            map_size: owner.map.len(),
            map_at: [owner.map_at.start, owner.map_at.end],
            owner,
        }
    }

    /// The place of a token.
    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        self.owner.tokens.find(text)
    }
}

/// One column of JSON Lines.
#[repr(C)]
pub struct LineColumn {
    nulls: usize,
    valid: *const u8,
    values: *const u8,
    size: usize,
    offsets: *const i32,
}

impl LineColumn {
    fn of(column: &lines::Column) -> Self {
        let (values, size, offsets) = match &column.values {
            lines::Values::Bools(bits) => (bits.bytes.as_ptr(), bits.bytes.len(), std::ptr::null()),
            lines::Values::Ints(numbers) => (numbers.as_ptr().cast(), numbers.len() * 8, std::ptr::null()),
            lines::Values::Floats(numbers) => (numbers.as_ptr().cast(), numbers.len() * 8, std::ptr::null()),
            lines::Values::Texts(bytes, ends) => (bytes.as_ptr(), bytes.len(), ends.as_ptr()),
        };
        LineColumn { nulls: column.nulls, valid: column.valid.bytes.as_ptr(), values, size, offsets }
    }
}

#[repr(C)]
pub struct LineColumns {
    rows: usize,
    columns: *const LineColumn,
    owner: Box<(Vec<LineColumn>, Vec<lines::Column>)>,
}

impl LineColumns {
    pub(super) fn of(rows: usize, columns: Vec<lines::Column>) -> Self {
        let owner = Box::new((columns.iter().map(LineColumn::of).collect::<Vec<_>>(), columns));
        LineColumns { rows, columns: owner.0.as_ptr(), owner }
    }
}
