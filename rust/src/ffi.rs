//! The border: a small C ABI over Arrow buffers. include/arrowprep.h says what each function wants, and that is
//! what makes it safe to call.
//!
//! Nothing that comes in is trusted further than that a pointer and a length belong
//! together: text is seen to be UTF-8, offsets to be in order. A panic becomes an error.
//! `given` has what comes in, `results` what is handed out.

#![allow(clippy::missing_safety_doc)] // of the functions of the header, which says it

mod given;
mod results;

use crate::arrow_lists::ArrowArray;
use crate::batch::{self, Problem};
use crate::cpu::{cpu_path, CpuPath};
use crate::cut::Cut;
use crate::decode::Decoder;
use crate::lines;
use crate::model::{Kind, Model};
use crate::models;
use crate::read::{self, Parts};
use crate::tokenizer::{Tokenizer, Worker};
use crate::train::count::Counter;
use crate::train::cutting::Cutting;
use crate::train::learn::{Learner, Merge};
use crate::utf8::valid_prefix;
use given::{room, values};
pub use given::{DecoderParts, ModelParts, PipelineParts, RowLayout, Rows, Strings, Texts};
pub use results::{CountedPieces, DecodedColumn, EncodedColumns, FileParts, LineColumns};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

/// Raised with every change of the border that a caller can see.
pub const ABI: u32 = 24;

#[repr(C)]
pub struct Failure {
    row: i64,
    message: [u8; 240],
}

/// What was made, or the row that is at fault, or -1, and what to say.
type Outcome<T> = Result<T, (i64, String)>;

fn refused(problem: impl Into<String>) -> (i64, String) {
    (-1, problem.into())
}

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

/// Functions that free what others returned, once; null too.
macro_rules! free {
    ($($name:ident: $what:ty),* $(,)?) => {
        $(#[no_mangle]
        pub unsafe extern "C" fn $name(returned: *mut $what) {
            if !returned.is_null() {
                // SAFETY: it came from the function named so, and is not used again
                drop(unsafe { Box::from_raw(returned) });
            }
        })*
    };
}

free! {
    arrowprep_model_free: Arc<Model>,
    arrowprep_tokenizer_free: Tokenizer,
    arrowprep_encoded_free: EncodedColumns,
    arrowprep_decoder_free: Decoder,
    arrowprep_decoded_free: DecodedColumn,
    arrowprep_counter_free: Counter,
    arrowprep_counted_free: CountedPieces,
    arrowprep_learner_free: Learner,
    arrowprep_parts_free: FileParts,
    arrowprep_lines_free: LineColumns,
}

/// The version of this interface: a caller that knows another must not go on.
#[no_mangle]
pub extern "C" fn arrowprep_abi() -> u32 {
    ABI
}

/// Which code runs on this CPU: 0 portable, 1 AVX2, 2 AVX-512.
#[no_mangle]
pub extern "C" fn arrowprep_cpu() -> u32 {
    match cpu_path() {
        CpuPath::Portable => 0,
        CpuPath::Avx2 => 1,
        CpuPath::Avx512 => 2,
    }
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_model_new(
    parts: *const ModelParts,
    failure: *mut Failure,
) -> *mut Arc<Model> {
    guarded(failure, || {
        // SAFETY: the header asks for it
        let parts = unsafe { &*parts };
        // SAFETY: passed on
        let kind = unsafe { parts.kind()? };
        Ok(Box::new(Arc::new(Model::new(kind, parts.cache_bytes))))
    })
}

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
            unsafe { (parts.route()?, parts.in_raw.matcher()?, parts.in_normalized.matcher()?) };
        let has_words = matches!(&model.kind, Kind::Words(words) if words.bert.is_some());
        if has_words != (route.cut == Cut::Bert) {
            return Err(refused("BERT's words are cut for models that normalize them, and for no others"));
        }
        Ok(Box::new(Tokenizer::new(model, route, in_raw, in_normalized)))
    })
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
        let (tokenizer, column) = unsafe { (&*tokenizer, (*texts).column()?) };
        let encode = if trace != 0 { batch::encode::<true> } else { batch::encode::<false> };
        let encoded = encode(tokenizer, &column, threads).map_err(told)?;
        Ok(Box::new(EncodedColumns::of(column.len(), encoded)))
    })
}

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
        let (tokenizer, column) = unsafe { (&*tokenizer, (*texts).column()?) };
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
        if size >= u32::MAX as usize || valid_prefix(text) < size {
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
                1 => layout.write(column, count, fill as u8, same as u8, out, size),
                4 => layout.write::<i32>(column.cast(), count, fill, same, out.cast(), size),
                width => Err((-1, format!("there are no values of {width} bytes"))),
            }
        }
    });
    done.map_or(-1, |()| 0)
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_decoder_new(
    parts: *const DecoderParts,
    failure: *mut Failure,
) -> *mut Decoder {
    // SAFETY: the header asks for it
    guarded(failure, || Ok(Box::new(unsafe { (*parts).decoder()? })))
}

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
        let (decoder, (ids, bounds)) = unsafe { (&*decoder, (*rows).get()?) };
        let decoded = decoder.rows(ids, &bounds, skip_special != 0, threads);
        Ok(Box::new(DecodedColumn::of(decoded.map_err(refused)?)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_counter_new(
    parts: *const PipelineParts,
    options: u32,
    failure: *mut Failure,
) -> *mut Counter {
    guarded(failure, || {
        // SAFETY: the header asks for it
        let route = unsafe { (*parts).route()? };
        let cutting = Cutting::new(route, models::bert(options));
        let problem = || refused("the words of BERT are cut by options of BERT");
        Ok(Box::new(Counter::new(cutting.ok_or_else(problem)?)))
    })
}

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
        let (counter, column) = unsafe { (&mut *counter, (*texts).column()?) };
        let rows = counter.feed(&column, threads).map_err(told)?;
        for (place, &row) in rows.iter().enumerate() {
            // SAFETY: the header asks for room for every text
            unsafe { left.add(place).write(row as u32) };
        }
        Ok(rows.len() as i64)
    });
    count.unwrap_or(-1)
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_counted(
    counter: *const Counter,
    failure: *mut Failure,
) -> *mut CountedPieces {
    // SAFETY: the header asks for it, and that nobody else uses it
    guarded(failure, || Ok(Box::new(CountedPieces::of(unsafe { &*counter }.counted()))))
}

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
        learner.map(Box::new).ok_or_else(|| refused("the words of the corpus contradict themselves"))
    })
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_learn(
    learner: *mut Learner,
    vocab_size: usize,
    min_count: i64,
    out: *mut Merge,
    count: usize,
    failure: *mut Failure,
) -> usize {
    let learnt = caught(failure, || {
        // SAFETY: the header asks for these, and that nobody else uses them
        let (learner, out) = unsafe { (&mut *learner, room(out, count)?) };
        if out.is_empty() {
            return Err(refused("there is no room for merges"));
        }
        Ok(learner.step(vocab_size, min_count, out))
    });
    learnt.unwrap_or(usize::MAX)
}

fn file_parts(parts: Option<Parts>) -> Outcome<Box<FileParts>> {
    parts.map(|parts| Box::new(FileParts::of(parts))).ok_or_else(unusual)
}

fn unusual() -> (i64, String) {
    refused("not as usual")
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_read(
    json: *const u8,
    size: usize,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: passed on
    guarded(failure, || file_parts(read::read(unsafe { values(json, size)? })))
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_read_pieces(
    model: *const u8,
    size: usize,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: passed on
    guarded(failure, || file_parts(read::read_pieces(unsafe { values(model, size)? })))
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_read_ranks(
    lines: *const u8,
    size: usize,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: passed on
    guarded(failure, || file_parts(read::read_ranks(unsafe { values(lines, size)? })))
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_read_tekken(
    json: *const u8,
    size: usize,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: passed on
    guarded(failure, || file_parts(read::read_tekken(unsafe { values(json, size)? })))
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_every_way(
    tokens: *const Strings,
    failure: *mut Failure,
) -> *mut FileParts {
    // SAFETY: the header asks for it
    guarded(failure, || file_parts(read::every_way(&unsafe { (*tokens).get()? })))
}

#[no_mangle]
pub unsafe extern "C" fn arrowprep_find(parts: *const FileParts, text: *const u8, size: usize) -> i64 {
    let found = caught(std::ptr::null_mut(), || {
        // SAFETY: the header asks for these
        let (parts, text) = unsafe { (&*parts, values(text, size)?) };
        Ok(parts.find(text))
    });
    found.flatten().map_or(-1, |place| place as i64)
}

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
        let field = |(&name, &kind)| Some(lines::Field { name, kind: lines::Kind::of(kind)? });
        let fields: Vec<_> = names.iter().zip(kinds).map(field).collect::<Option<_>>().ok_or_else(unusual)?;
        let (rows, found) = lines::columns(json, &fields).ok_or_else(unusual)?;
        Ok(Box::new(LineColumns::of(rows, found)))
    })
}
