//! The border: a small C ABI over Arrow buffers. include/arrowprep.h says what each function wants.
//!
//! Nothing that comes in is trusted further than that a pointer and a length belong
//! together: text is seen to be UTF-8, offsets to be in order. A panic becomes an error.

use crate::added::{Added, Matcher};
use crate::arrow_lists::ArrowArray;
use crate::batch::{self, Column, Encoded, Offsets, Problem};
use crate::bert::{Bert, Steps};
use crate::cut::Cut;
use crate::decode::{Decoded, Decoder, Form};
use crate::frame::{Layout, Values};
use crate::lines;
use crate::model::{Kind, Model};
use crate::models::{
    Affixes, ByteBpe, CharacterBpe, Options, OverBytes, Spelling, Unigram, Unknown, WordModel,
};
use crate::read::{self, Parts};
use crate::split::{cpu_path, CpuPath, Layers};
use crate::steps::Step;
use crate::tokenizer::{Route, Stage, Tokenizer, Worker};
use crate::train::count::{Counted, Counter};
use crate::train::cutting::Cutting;
use crate::train::learn::{Learner, Merge};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::slice;
use std::sync::Arc;

/// Raised with every change of this file that a caller can see.
pub const ABI: u32 = 22;

#[repr(C)]
pub struct Failure {
    row: i64,
    message: [u8; 240],
}

/// Strings one after the other: offsets are one more than there are strings.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Strings {
    data: *const u8,
    size: usize,
    offsets: *const i64,
    count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct AddedTokens {
    contents: Strings,
    ids: *const u32,
    flags: *const u8,
}

/// Pre-tokenizers as programs: runs of code points with their classes, and what `Layers::read` wants.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayerPrograms {
    runs: *const u32,
    run_count: usize,
    words: *const u64,
    word_count: usize,
}

/// What a model is made of; the header says what of it each kind looks at.
#[repr(C)]
pub struct ModelParts {
    kind: u32,
    options: u32,
    tokens: Strings,
    ids: *const u32,
    scores: *const f64,
    ways: *const [u32; 3],
    merges: usize,
    affix: Strings,
    unknown: i64,
    longest: usize,
    cache_bytes: usize,
}

/// Steps: a number and options each, and two texts.
#[repr(C)]
pub struct StepParts {
    numbers: *const u32,
    options: *const u32,
    texts: Strings,
}

/// What is done to every piece.
#[repr(C)]
pub struct StageParts {
    steps: StepParts,
    layers: *const LayerPrograms,
}

/// What a pipeline is beside its model.
#[repr(C)]
pub struct PipelineParts {
    cut: u32,
    before: StepParts,
    stages: *const StageParts,
    stage_count: usize,
    in_raw: AddedTokens,
    in_normalized: AddedTokens,
}

/// What the tokens of a decoder become.
#[repr(C)]
pub struct DecoderParts {
    form: u32,
    tokens: Strings,
    firsts: Strings,
    ids: *const u32,
    flags: *const u8,
    strip: Strings,
    most: usize,
}

/// A string column. wide: whether its offsets are of 64 bits
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Texts {
    data: *const u8,
    size: usize,
    offsets: *const u8,
    wide: u32,
    count: usize,
    valid: *const u8,
    valid_start: usize,
}

/// A list column of ids. wide: whether its offsets are of 64 bits
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rows {
    ids: *const i32,
    size: usize,
    offsets: *const u8,
    wide: u32,
    count: usize,
}

/// A string column; the pointers hold until the result is freed.
#[repr(C)]
pub struct DecodedColumn {
    size: usize,
    text: *const u8,
    offsets: *const i32,
    owner: Box<Decoded>,
}

/// Columns of tokens; the pointers hold until the result is freed.
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

/// Pieces one after the other; the pointers hold until the result is freed.
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

/// What is large in a tokenizer file; the pointers hold until the result is freed.
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

/// One column of JSON Lines; its pointers hold until the result is freed.
#[repr(C)]
pub struct LineColumn {
    nulls: usize,
    valid: *const u8,
    values: *const u8,
    size: usize,
    offsets: *const i32,
}

#[repr(C)]
pub struct LineColumns {
    rows: usize,
    columns: *const LineColumn,
    owner: Box<(Vec<LineColumn>, Vec<lines::Column>)>,
}

type Outcome<T> = Result<T, (i64, String)>;

/// Run `work`; null where it goes wrong.
fn guarded<T>(failure: *mut Failure, work: impl FnOnce() -> Outcome<Box<T>>) -> *mut T {
    caught(failure, work).map_or(std::ptr::null_mut(), Box::into_raw)
}

/// Run `work`; what goes wrong, a panic too, is written to `failure`.
fn caught<T>(failure: *mut Failure, work: impl FnOnce() -> Outcome<T>) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err((-1, format!("the kernel failed: {}", text.unwrap_or_default())))
    });
    match outcome {
        Ok(value) => Some(value),
        Err((row, text)) => {
            // SAFETY: the header asks for a place for a failure, or null
            if let Some(failure) = unsafe { failure.as_mut() } {
                let len =
                    (0..=text.len().min(failure.message.len() - 1)).rev().find(|&i| text.is_char_boundary(i));
                let len = len.unwrap_or(0);
                failure.message[..len].copy_from_slice(&text.as_bytes()[..len]);
                failure.message[len] = 0;
                failure.row = row;
            }
            None
        }
    }
}

/// `count` values at `from`, which may be null when there are none.
///
/// # Safety
/// The header asks that they are there as long as the call lasts.
unsafe fn values<'a, T>(from: *const T, count: usize) -> Outcome<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if from.is_null() || from.align_offset(std::mem::align_of::<T>()) != 0 {
        return Err((-1, "a buffer is missing or unaligned".into()));
    }
    // SAFETY: not null, aligned, and the caller's promise
    Ok(unsafe { slice::from_raw_parts(from, count) })
}

impl Strings {
    /// # Safety
    /// As `values`.
    unsafe fn get<'a>(&self) -> Outcome<Vec<&'a [u8]>> {
        // SAFETY: passed on
        let (data, offsets) =
            unsafe { (values(self.data, self.size)?, values(self.offsets, self.count + 1)?) };
        let string = |pair: &[i64]| data.get(usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?);
        let strings: Option<Vec<&[u8]>> = offsets.windows(2).map(string).collect();
        strings.ok_or((-1, "offsets of strings are out of order".into()))
    }
}

/// The version of this interface: a caller that knows another must not go on.
#[no_mangle]
pub extern "C" fn arrowprep_abi() -> u32 {
    ABI
}

/// Which code runs on this CPU: 0 portable, 1 AVX2.
#[no_mangle]
pub extern "C" fn arrowprep_cpu() -> u32 {
    match cpu_path() {
        CpuPath::Portable => 0,
        CpuPath::Avx2 => 1,
    }
}

/// # Safety
/// As `values`.
unsafe fn kind(parts: &ModelParts) -> Outcome<Kind> {
    // SAFETY: passed on; as many ids as tokens
    let (tokens, ids, ways, affix) = unsafe {
        let tokens = parts.tokens.get()?;
        let ids = values(parts.ids, tokens.len())?;
        (tokens, ids, values(parts.ways, parts.merges)?, parts.affix.get()?)
    };
    let flag = |bit: u32| parts.options & bit != 0;
    let affix = |number: usize| affix.get(number).copied().unwrap_or_default();
    let affixes = Affixes { prefix: affix(1), suffix: affix(2) };
    let over_bytes = parts.kind == 0 || flag(256);
    let made = match parts.kind {
        0 if affixes.forms() == 0 && ByteBpe::has_all_bytes(&tokens) => {
            let bpe = ByteBpe::new(&tokens, ids, ways, flag(1)).map_err(refused)?;
            return Ok(Kind::Bytes(Box::new(bpe)));
        }
        0 | 1 => {
            let options = Options {
                ignore_merges: flag(1),
                fuse_unknown: flag(2),
                byte_fallback: flag(4),
                unknown: match (u32::try_from(parts.unknown), parts.unknown) {
                    (Ok(id), _) => Unknown::Token(id),
                    (_, -1) => Unknown::Dropped,
                    _ => Unknown::Missing,
                },
                visible: affix(0),
                affixes,
                may_be_cut: !over_bytes,
            };
            CharacterBpe::new(&tokens, ids, ways, options).map(|bpe| Kind::Characters(Box::new(bpe)))
        }
        2 => {
            // SAFETY: as many scores as tokens
            let scores = unsafe { values(parts.scores, tokens.len())? };
            let unknown = u32::try_from(parts.unknown).ok();
            Unigram::new(&tokens, scores, unknown, flag(4), affix(0))
                .map(|unigram| Kind::Unigram(Box::new(unigram)))
        }
        3 | 4 => {
            let spelling = match parts.kind {
                3 => Spelling::Pieces { longest: parts.longest },
                _ => Spelling::Level,
            };
            let unknown = u32::try_from(parts.unknown).ok();
            WordModel::new(&tokens, ids, spelling, affix(0), unknown, bert(parts.options))
                .map(|words| Kind::Words(Box::new(words)))
        }
        kind => Err(format!("there is no kind of model {kind}")),
    };
    let model = made.map_err(refused)?;
    Ok(if over_bytes { Kind::OverBytes(Box::new(OverBytes::new(model))) } else { model })
}

/// What normalizes and cuts words as BERT's, as the options of a model say.
fn bert(options: u32) -> Option<Bert> {
    let flag = |bit: u32| options & bit != 0;
    let steps = Steps { clean: flag(16), ideographs: flag(32), strip: flag(64), lower: flag(128) };
    flag(8).then(|| Bert::new(steps))
}

fn refused(problem: String) -> (i64, String) {
    (-1, problem)
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_model_new(
    parts: *const ModelParts,
    failure: *mut Failure,
) -> *mut Arc<Model> {
    guarded(failure, || {
        // SAFETY: the header asks for it
        let parts = unsafe { &*parts };
        // SAFETY: passed on
        let kind = unsafe { kind(parts)? };
        Ok(Box::new(Arc::new(Model::new(kind, parts.cache_bytes))))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_model_free(model: *mut Arc<Model>) {
    if !model.is_null() {
        // SAFETY: it came from `arrowprep_model_new`, and is not used again
        drop(unsafe { Box::from_raw(model) });
    }
}

/// # Safety
/// As `values`.
unsafe fn matcher(tokens: &AddedTokens) -> Outcome<Option<Matcher>> {
    // SAFETY: passed on
    let (contents, ids, flags) = unsafe {
        let contents = tokens.contents.get()?;
        (contents, values(tokens.ids, tokens.contents.count)?, values(tokens.flags, tokens.contents.count)?)
    };
    let added = contents.iter().zip(ids).zip(flags).map(|((content, &id), &flags)| Added {
        content: content.to_vec(),
        id,
        single_word: flags & 1 != 0,
        lstrip: flags & 2 != 0,
        rstrip: flags & 4 != 0,
        ignored: flags & 8 != 0,
    });
    Ok(Matcher::new(added.collect()))
}

/// # Safety
/// As `values`.
unsafe fn layers_of(programs: &LayerPrograms) -> Outcome<Layers> {
    // SAFETY: passed on
    let (runs, words) = unsafe {
        (
            values(programs.runs.cast::<[u32; 2]>(), programs.run_count)?,
            values(programs.words, programs.word_count)?,
        )
    };
    Layers::read(runs, words).ok_or((-1, "the programs of the layers make no sense".into()))
}

/// # Safety
/// As `values`.
unsafe fn steps(parts: &StepParts) -> Outcome<Vec<Step>> {
    // SAFETY: passed on; two texts for each step
    let (texts, numbers, options) = unsafe {
        let texts = parts.texts.get()?;
        let count = texts.len() / 2;
        (texts, values(parts.numbers, count)?, values(parts.options, count)?)
    };
    let parts = texts.chunks_exact(2).zip(numbers).zip(options);
    let steps = parts.map(|((pair, &number), &options)| Step::from_parts(number, options, pair[0], pair[1]));
    steps.collect::<Result<_, _>>().map_err(refused)
}

/// # Safety
/// As `values`.
unsafe fn route(parts: &PipelineParts) -> Outcome<Route> {
    let cut = Cut::from_number(parts.cut).ok_or((-1, format!("there is no cut {}", parts.cut)))?;
    // SAFETY: passed on
    let (before, stages) = unsafe { (steps(&parts.before)?, values(parts.stages, parts.stage_count)?) };
    // SAFETY: passed on; the layers may be null
    let stages = stages.iter().map(|stage| unsafe {
        let layers = stage.layers.as_ref().map(|programs| layers_of(programs)).transpose()?;
        Ok(Stage { steps: steps(&stage.steps)?, layers })
    });
    Ok(Route { before, stages: stages.collect::<Outcome<_>>()?, cut })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_tokenizer_new(
    model: *const Arc<Model>,
    parts: *const PipelineParts,
    failure: *mut Failure,
) -> *mut Tokenizer {
    guarded(failure, || {
        // SAFETY: the header asks for these
        let (model, parts) = unsafe { (Arc::clone(&*model), &*parts) };
        // SAFETY: passed on
        let (route, in_raw, in_normalized) =
            unsafe { (route(parts)?, matcher(&parts.in_raw)?, matcher(&parts.in_normalized)?) };
        Ok(Box::new(Tokenizer::new(model, route, in_raw, in_normalized)))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_tokenizer_free(tokenizer: *mut Tokenizer) {
    if !tokenizer.is_null() {
        // SAFETY: it came from `arrowprep_tokenizer_new`, and is not used again
        drop(unsafe { Box::from_raw(tokenizer) });
    }
}

/// # Safety
/// As `values`.
unsafe fn column<'a>(texts: &Texts) -> Outcome<Column<'a>> {
    // SAFETY: passed on
    unsafe {
        let offsets = if texts.wide != 0 {
            Offsets::Large(values(texts.offsets.cast(), texts.count + 1)?)
        } else {
            Offsets::Small(values(texts.offsets.cast(), texts.count + 1)?)
        };
        let bits = (texts.valid_start + texts.count).div_ceil(8);
        let valid = if texts.valid.is_null() { None } else { Some(values(texts.valid, bits)?) };
        Ok(Column { data: values(texts.data, texts.size)?, offsets, valid, valid_start: texts.valid_start })
    }
}

/// A problem with a column, as the row and what to say of it.
fn told(problem: Problem) -> (i64, String) {
    match problem {
        Problem::Offsets(row) => (row as i64, "the offsets of the text are out of order".to_string()),
        Problem::Utf8(row) => (row as i64, "the text is not UTF-8".to_string()),
        Problem::TooLong(row) => (row as i64, "the text is longer than 4 GB".to_string()),
        Problem::TooManyTokens => {
            (-1, "more than 2**31 - 1 tokens; encode fewer texts at a time".to_string())
        }
    }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_encode(
    tokenizer: *const Tokenizer,
    texts: *const Texts,
    trace: u32,
    threads: usize,
    failure: *mut Failure,
) -> *mut EncodedColumns {
    guarded(failure, || {
        // SAFETY: the header asks for these
        let (tokenizer, column) = unsafe { (&*tokenizer, column(&*texts)?) };
        let encode = if trace != 0 { batch::encode::<true> } else { batch::encode::<false> };
        let encoded = encode(tokenizer, &column, threads).map_err(told)?;
        let owner = Box::new(encoded);
        Ok(Box::new(EncodedColumns {
            texts: column.len(),
            tokens: owner.ids.len(),
            left_count: owner.left.len(),
            offsets: owner.offsets.as_ptr(),
            ids: owner.ids.as_ptr(),
            starts: owner.starts.as_ptr(),
            ends: owner.ends.as_ptr(),
            words: owner.words.as_ptr(),
            left: owner.left.as_ptr(),
            owner,
        }))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_encode_lists(
    tokenizer: *const Tokenizer,
    texts: *const Texts,
    threads: usize,
    lists: *mut ArrowArray,
    failure: *mut Failure,
) -> i32 {
    let is_whole = caught(failure, || {
        // SAFETY: the header asks for these
        let (tokenizer, column) = unsafe { (&*tokenizer, column(&*texts)?) };
        let encoded = batch::encode::<false>(tokenizer, &column, threads).map_err(told)?;
        let is_whole = encoded.left.is_empty();
        if is_whole {
            // SAFETY: the header asks for room for one
            unsafe { lists.write(ArrowArray::lists(encoded.offsets, encoded.ids)) };
        }
        Ok(is_whole)
    });
    is_whole.map_or(-1, |is_whole| is_whole as i32)
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_ids(
    tokenizer: *const Tokenizer,
    text: *const u8,
    size: usize,
    ids: *mut u32,
    room: usize,
    failure: *mut Failure,
) -> i64 {
    // SAFETY: passed on
    unsafe { alone::<false>(tokenizer, text, size, ids, room, failure) }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_trace(
    tokenizer: *const Tokenizer,
    text: *const u8,
    size: usize,
    columns: *mut u32,
    room: usize,
    failure: *mut Failure,
) -> i64 {
    // SAFETY: passed on
    unsafe { alone::<true>(tokenizer, text, size, columns, room, failure) }
}

/// The tokens of one text.
///
/// # Safety
/// As `arrowprep_ids`, or where traced `arrowprep_trace`.
unsafe fn alone<const TRACE: bool>(
    tokenizer: *const Tokenizer,
    text: *const u8,
    size: usize,
    columns: *mut u32,
    room: usize,
    failure: *mut Failure,
) -> i64 {
    let count = caught(failure, || {
        // SAFETY: the header asks for these
        let (tokenizer, text) = unsafe { (&*tokenizer, values(text, size)?) };
        if size >= u32::MAX as usize || std::str::from_utf8(text).is_err() {
            return Err((0, "the text is not UTF-8, or longer than 4 GB".into()));
        }
        let mut worker = Worker::<TRACE>::new(tokenizer, text);
        worker.text(0, size);
        let Some(found) = worker.tokens() else {
            worker.finish();
            return Err((0, "the text must be encoded in another way".into()));
        };
        let count = found.ids.len();
        if count <= room {
            for (i, column) in found.columns::<TRACE>().enumerate() {
                // SAFETY: the header asks for so much room
                unsafe { columns.add(i * room).copy_from_nonoverlapping(column.as_ptr(), count) };
            }
        }
        worker.finish();
        Ok(count as i64)
    });
    count.unwrap_or(-1)
}

/// How rows are laid out; width: bytes of a value, 1 or 4
#[repr(C)]
pub struct RowLayout {
    rows: usize,
    takes: *const i64,
    counts: *const i64,
    lengths: *const i64,
    lefts: *const i64,
    before: *const u8,
    before_count: usize,
    after: *const u8,
    after_count: usize,
    width: u32,
}

/// # Safety
/// As `values`.
unsafe fn write_rows<T: Copy>(
    layout: &RowLayout,
    column: *const T,
    count: usize,
    fill: T,
    same: T,
    out: *mut T,
    size: usize,
) -> Outcome<()> {
    // SAFETY: passed on
    let (rows, column, out) = unsafe {
        let rows = Layout {
            takes: values(layout.takes, layout.rows)?,
            counts: values(layout.counts, layout.rows)?,
            lengths: values(layout.lengths, layout.rows)?,
            lefts: values(layout.lefts, layout.rows)?,
            before: values(layout.before.cast::<T>(), layout.before_count)?,
            after: values(layout.after.cast::<T>(), layout.after_count)?,
        };
        let column =
            if column.is_null() { Values::Same(same) } else { Values::Column(values(column, count)?) };
        let out = if size == 0 { &mut [] } else { slice::from_raw_parts_mut(out, size) };
        (rows, column, out)
    };
    let fits = rows.write(column, fill, out);
    fits.then_some(()).ok_or((-1, "the rows do not fit together".into()))
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_lay_out(
    layout: *const RowLayout,
    column: *const u8,
    count: usize,
    fill: i32,
    same: i32,
    out: *mut u8,
    size: usize,
    failure: *mut Failure,
) -> i64 {
    let done = caught(failure, || {
        // SAFETY: the header asks for these
        unsafe {
            let layout = &*layout;
            match layout.width {
                1 => write_rows(layout, column, count, fill as u8, same as u8, out, size),
                4 => write_rows::<i32>(layout, column.cast(), count, fill, same, out.cast(), size),
                width => Err((-1, format!("there are no values of {width} bytes"))),
            }
        }
    });
    done.map_or(-1, |()| 0)
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_encoded_free(encoded: *mut EncodedColumns) {
    if !encoded.is_null() {
        // SAFETY: it came from `arrowprep_encode`, and is not used again
        drop(unsafe { Box::from_raw(encoded) });
    }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_decoder_new(
    parts: *const DecoderParts,
    failure: *mut Failure,
) -> *mut Decoder {
    guarded(failure, || {
        // SAFETY: the header asks for these
        let (parts, tokens, firsts, strip) = unsafe {
            let parts = &*parts;
            (parts, parts.tokens.get()?, parts.firsts.get()?, parts.strip.get()?)
        };
        // SAFETY: as many as tokens
        let (ids, flags) = unsafe { (values(parts.ids, tokens.len())?, values(parts.flags, tokens.len())?) };
        if !firsts.is_empty() && firsts.len() != tokens.len() {
            return Err((-1, "there are not as many first tokens as tokens".into()));
        }
        let form = match parts.form {
            0 => Form::Bytes,
            _ => Form::Texts {
                strip: strip.first().map_or(Vec::new(), |text| text.to_vec()),
                most: parts.most,
            },
        };
        let decoder = Decoder::new(&tokens, &firsts, ids, flags, form);
        decoder.map(Box::new).ok_or((-1, "the vocabulary is too large".into()))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_decoder_free(decoder: *mut Decoder) {
    if !decoder.is_null() {
        // SAFETY: it came from `arrowprep_decoder_new`, and is not used again
        drop(unsafe { Box::from_raw(decoder) });
    }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_decode(
    decoder: *const Decoder,
    rows: *const Rows,
    skip_special: u32,
    threads: usize,
    failure: *mut Failure,
) -> *mut DecodedColumn {
    guarded(failure, || {
        // SAFETY: the header asks for these
        let (decoder, rows) = unsafe { (&*decoder, &*rows) };
        // SAFETY: as many ids as it says, and one offset more than rows
        let ids = unsafe { values(rows.ids, rows.size)? };
        let bounds: Vec<(usize, usize)> = if rows.wide != 0 {
            // SAFETY: as above
            let offsets: &[i64] = unsafe { values(rows.offsets.cast(), rows.count + 1)? };
            offsets.windows(2).map(|pair| (pair[0] as usize, pair[1] as usize)).collect()
        } else {
            // SAFETY: as above
            let offsets: &[i32] = unsafe { values(rows.offsets.cast(), rows.count + 1)? };
            offsets.windows(2).map(|pair| (pair[0] as usize, pair[1] as usize)).collect()
        };
        let decoded = decoder.rows(ids, &bounds, skip_special != 0, threads);
        let owner = Box::new(decoded.map_err(|problem| (-1, problem.to_string()))?);
        let (size, text, offsets) = (owner.text.len(), owner.text.as_ptr(), owner.offsets.as_ptr());
        Ok(Box::new(DecodedColumn { size, text, offsets, owner }))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_decoded_free(decoded: *mut DecodedColumn) {
    if !decoded.is_null() {
        // SAFETY: it came from `arrowprep_decode`, and is not used again
        drop(unsafe { Box::from_raw(decoded) });
    }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_counter_new(
    parts: *const PipelineParts,
    options: u32,
    failure: *mut Failure,
) -> *mut Counter {
    guarded(failure, || {
        // SAFETY: the header asks for it
        let route = unsafe { route(&*parts)? };
        let cutting = Cutting::new(route, bert(options));
        let problem = || refused("the words of BERT are cut by options of BERT".into());
        Ok(Box::new(Counter::new(cutting.ok_or_else(problem)?)))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_counter_free(counter: *mut Counter) {
    if !counter.is_null() {
        // SAFETY: it came from `arrowprep_counter_new`, and is not used again
        drop(unsafe { Box::from_raw(counter) });
    }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_counter_feed(
    counter: *mut Counter,
    texts: *const Texts,
    threads: usize,
    left: *mut u32,
    failure: *mut Failure,
) -> i64 {
    let count = caught(failure, || {
        // SAFETY: the header asks for these, and that nobody else uses the counter
        let (counter, column) = unsafe { (&mut *counter, column(&*texts)?) };
        let rows = counter.feed(&column, threads).map_err(told)?;
        for (place, &row) in rows.iter().enumerate() {
            // SAFETY: the header asks for room for every text
            unsafe { left.add(place).write(row as u32) };
        }
        Ok(rows.len() as i64)
    });
    count.unwrap_or(-1)
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_counted(
    counter: *const Counter,
    failure: *mut Failure,
) -> *mut CountedPieces {
    guarded(failure, || {
        // SAFETY: the header asks for it, and that nobody else uses it
        let owner = Box::new(unsafe { &*counter }.counted());
        Ok(Box::new(CountedPieces {
            count: owner.counts.len(),
            size: owner.data.len(),
            data: owner.data.as_ptr(),
            offsets: owner.offsets.as_ptr(),
            counts: owner.counts.as_ptr(),
            texts: owner.texts.as_ptr(),
            owner,
        }))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_counted_free(counted: *mut CountedPieces) {
    if !counted.is_null() {
        // SAFETY: it came from `arrowprep_counted`, and is not used again
        drop(unsafe { Box::from_raw(counted) });
    }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_learner_new(
    ids: *const u32,
    size: usize,
    offsets: *const i64,
    counts: *const i64,
    words: usize,
    tokens: *const Strings,
    prefix: *const Strings,
    max_length: u64,
    failure: *mut Failure,
) -> *mut Learner {
    guarded(failure, || {
        // SAFETY: the header asks for these
        let (ids, offsets, counts) =
            unsafe { (values(ids, size)?, values(offsets, words + 1)?, values(counts, words)?) };
        // SAFETY: as above
        let (tokens, prefix) = unsafe { ((*tokens).get()?, (*prefix).get()?) };
        let prefix = prefix.first().copied().unwrap_or_default();
        let learner = Learner::new(ids, offsets, counts, &tokens, prefix, max_length);
        learner.map(Box::new).ok_or((-1, "the words of the corpus contradict themselves".into()))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_learner_free(learner: *mut Learner) {
    if !learner.is_null() {
        // SAFETY: it came from `arrowprep_learner_new`, and is not used again
        drop(unsafe { Box::from_raw(learner) });
    }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_learn(
    learner: *mut Learner,
    vocab_size: usize,
    min_count: i64,
    out: *mut Merge,
    room: usize,
    failure: *mut Failure,
) -> usize {
    caught(failure, || {
        if room == 0 || out.is_null() || out.align_offset(std::mem::align_of::<Merge>()) != 0 {
            return Err((-1, "there is no room for merges".into()));
        }
        // SAFETY: not null, aligned; the header asks for the room, and that nobody else uses these
        let (learner, out) = unsafe { (&mut *learner, slice::from_raw_parts_mut(out, room)) };
        Ok(learner.step(vocab_size, min_count, out))
    })
    .unwrap_or(usize::MAX)
}

fn file_parts(parts: Option<Parts>) -> Outcome<Box<FileParts>> {
    let owner = Box::new(parts.ok_or((-1, "not as usual".to_string()))?);
    Ok(Box::new(FileParts {
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
    }))
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_read(
    json: *const u8,
    size: usize,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: passed on
    guarded(failure, || file_parts(read::read(unsafe { values(json, size)? })))
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_read_pieces(
    model: *const u8,
    size: usize,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: passed on
    guarded(failure, || file_parts(read::read_pieces(unsafe { values(model, size)? })))
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_read_ranks(
    lines: *const u8,
    size: usize,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: passed on
    guarded(failure, || file_parts(read::read_ranks(unsafe { values(lines, size)? })))
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_read_tekken(
    json: *const u8,
    size: usize,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: passed on
    guarded(failure, || file_parts(read::read_tekken(unsafe { values(json, size)? })))
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_every_way(
    tokens: *const Strings,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: the header asks for it
    guarded(failure, || file_parts(read::every_way(&unsafe { (*tokens).get()? })))
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_find(parts: *const FileParts, text: *const u8, size: usize) -> i64 {
    let found = caught(std::ptr::null_mut(), || {
        // SAFETY: the header asks for these
        let (parts, text) = unsafe { (&*parts, values(text, size)?) };
        Ok(parts.owner.tokens.find(text))
    });
    found.flatten().map_or(-1, |place| place as i64)
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_parts_free(parts: *mut FileParts) {
    if !parts.is_null() {
        // SAFETY: it came from one of those above, and is not used again
        drop(unsafe { Box::from_raw(parts) });
    }
}

fn line_column(column: &lines::Column) -> LineColumn {
    let (values, size, offsets) = match &column.values {
        lines::Values::Bools(bits) => (bits.bytes.as_ptr(), bits.bytes.len(), std::ptr::null()),
        lines::Values::Ints(numbers) => (numbers.as_ptr().cast(), numbers.len() * 8, std::ptr::null()),
        lines::Values::Floats(numbers) => (numbers.as_ptr().cast(), numbers.len() * 8, std::ptr::null()),
        lines::Values::Texts(bytes, ends) => (bytes.as_ptr(), bytes.len(), ends.as_ptr()),
    };
    LineColumn { nulls: column.nulls, valid: column.valid.bytes.as_ptr(), values, size, offsets }
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_read_lines(
    json: *const u8,
    size: usize,
    names: *const Strings,
    kinds: *const u8,
    failure: *mut Failure,
) -> *mut LineColumns {
    guarded(failure, || {
        // SAFETY: the header asks for these
        let (json, names) = unsafe { (values(json, size)?, (*names).get()?) };
        // SAFETY: one for each name
        let kinds = unsafe { values(kinds, names.len())? };
        let unusual = || (-1, "not as usual".to_string());
        let field = |(&name, &kind)| Some(lines::Field { name, kind: lines::Kind::of(kind)? });
        let fields: Vec<_> = names.iter().zip(kinds).map(field).collect::<Option<_>>().ok_or_else(unusual)?;
        let (rows, found) = lines::columns(json, &fields).ok_or_else(unusual)?;
        let owner = Box::new((found.iter().map(line_column).collect::<Vec<_>>(), found));
        Ok(Box::new(LineColumns { rows, columns: owner.0.as_ptr(), owner }))
    })
}

/// # Safety
/// See the header.
#[no_mangle]
pub unsafe extern "C" fn arrowprep_lines_free(lines: *mut LineColumns) {
    if !lines.is_null() {
        // SAFETY: it came from arrowprep_read_lines, and is not used again
        drop(unsafe { Box::from_raw(lines) });
    }
}
