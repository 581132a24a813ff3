//! What comes in over the border: pointers and lengths, seen as slices. Their fields are as the header has them.

use super::{refused, Outcome};
use crate::added::{Added, Matcher};
use crate::batch::{Column, Offsets};
use crate::cut::Cut;
use crate::decode::{Decoder, Form};
use crate::frame::{Layout, Values};
use crate::model::Kind;
use crate::models::{Affixes, Parts, UNIGRAM};
use crate::split::Layers;
use crate::steps::Step;
use crate::tokenizer::{Route, Stage};
use std::slice;

/// `count` values at `from`, which may be null when there are none.
///
/// # Safety
/// The header asks that they are there as long as the call lasts.
pub(super) unsafe fn values<'a, T>(from: *const T, count: usize) -> Outcome<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if from.is_null() || from.align_offset(std::mem::align_of::<T>()) != 0 {
        return Err(refused("a buffer is missing or unaligned"));
    }
    // SAFETY: not null, aligned, and the caller's promise
    Ok(unsafe { slice::from_raw_parts(from, count) })
}

/// Room for `count` values at `from`.
///
/// # Safety
/// As `values`, and nobody else reads or writes there.
pub(super) unsafe fn room<'a, T>(from: *mut T, count: usize) -> Outcome<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    if from.is_null() || from.align_offset(std::mem::align_of::<T>()) != 0 {
        return Err(refused("a buffer is missing or unaligned"));
    }
    // SAFETY: not null, aligned, and the caller's promise
    Ok(unsafe { slice::from_raw_parts_mut(from, count) })
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

impl Strings {
    /// # Safety
    /// As `values`.
    pub(super) unsafe fn get<'a>(&self) -> Outcome<Vec<&'a [u8]>> {
        // SAFETY: passed on
        let (data, offsets) =
            unsafe { (values(self.data, self.size)?, values(self.offsets, self.count + 1)?) };
        let string = |pair: &[i64]| data.get(usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?);
        let strings: Option<Vec<&[u8]>> = offsets.windows(2).map(string).collect();
        strings.ok_or_else(|| refused("offsets of strings are out of order"))
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct AddedTokens {
    contents: Strings,
    ids: *const u32,
    flags: *const u8,
}

impl AddedTokens {
    /// # Safety
    /// As `values`.
    pub(super) unsafe fn matcher(&self) -> Outcome<Option<Matcher>> {
        // SAFETY: passed on
        let (contents, ids, flags) = unsafe {
            let contents = self.contents.get()?;
            (contents, values(self.ids, self.contents.count)?, values(self.flags, self.contents.count)?)
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

impl LayerPrograms {
    /// # Safety
    /// As `values`.
    unsafe fn layers(&self) -> Outcome<Layers> {
        // SAFETY: passed on
        let (runs, words) = unsafe {
            (values(self.runs.cast::<[u32; 2]>(), self.run_count)?, values(self.words, self.word_count)?)
        };
        Layers::read(runs, words).ok_or_else(|| refused("the programs of the layers make no sense"))
    }
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
    pub(super) cache_bytes: usize,
}

impl ModelParts {
    /// # Safety
    /// As `values`.
    pub(super) unsafe fn kind(&self) -> Outcome<Kind> {
        // SAFETY: passed on; as many ids as tokens, and scores where they count
        let (tokens, ids, scores, ways, affix) = unsafe {
            let tokens = self.tokens.get()?;
            let ids = values(self.ids, tokens.len())?;
            let scores = if self.kind == UNIGRAM { values(self.scores, tokens.len())? } else { &[] };
            (tokens, ids, scores, values(self.ways, self.merges)?, self.affix.get()?)
        };
        let affix = |number: usize| affix.get(number).copied().unwrap_or_default();
        let parts = Parts {
            kind: self.kind,
            options: self.options,
            tokens: &tokens,
            ids,
            scores,
            ways,
            visible: affix(0),
            affixes: Affixes { prefix: affix(1), suffix: affix(2) },
            unknown: self.unknown,
            longest: self.longest,
        };
        parts.kind().map_err(refused)
    }
}

/// Steps: a number and options each, and two texts.
#[repr(C)]
pub struct StepParts {
    numbers: *const u32,
    options: *const u32,
    texts: Strings,
}

impl StepParts {
    /// # Safety
    /// As `values`.
    unsafe fn steps(&self) -> Outcome<Vec<Step>> {
        // SAFETY: passed on; two texts for each step
        let (texts, numbers, options) = unsafe {
            let texts = self.texts.get()?;
            let count = texts.len() / 2;
            (texts, values(self.numbers, count)?, values(self.options, count)?)
        };
        let parts = texts.chunks_exact(2).zip(numbers).zip(options);
        let steps =
            parts.map(|((pair, &number), &options)| Step::from_parts(number, options, pair[0], pair[1]));
        steps.collect::<Result<_, _>>().map_err(refused)
    }
}

/// What is done to every piece.
#[repr(C)]
pub struct StageParts {
    steps: StepParts,
    layers: *const LayerPrograms,
}

impl StageParts {
    /// # Safety
    /// As `values`; the layers may be null.
    unsafe fn stage(&self) -> Outcome<Stage> {
        // SAFETY: passed on
        unsafe {
            let layers = self.layers.as_ref().map(|programs| programs.layers()).transpose()?;
            Ok(Stage { steps: self.steps.steps()?, layers })
        }
    }
}

/// What a pipeline is beside its model.
#[repr(C)]
pub struct PipelineParts {
    cut: u32,
    before: StepParts,
    stages: *const StageParts,
    stage_count: usize,
    pub(super) in_raw: AddedTokens,
    pub(super) in_normalized: AddedTokens,
}

impl PipelineParts {
    /// # Safety
    /// As `values`.
    pub(super) unsafe fn route(&self) -> Outcome<Route> {
        let cut =
            Cut::from_number(self.cut).ok_or_else(|| refused(format!("there is no cut {}", self.cut)))?;
        // SAFETY: passed on
        let (before, stages) = unsafe { (self.before.steps()?, values(self.stages, self.stage_count)?) };
        // SAFETY: passed on
        let stages = stages.iter().map(|stage| unsafe { stage.stage() });
        Ok(Route { before, stages: stages.collect::<Outcome<_>>()?, cut })
    }
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

impl DecoderParts {
    /// # Safety
    /// As `values`.
    pub(super) unsafe fn decoder(&self) -> Outcome<Decoder> {
        // SAFETY: passed on
        let (tokens, firsts, strip) = unsafe { (self.tokens.get()?, self.firsts.get()?, self.strip.get()?) };
        // SAFETY: as many as tokens
        let (ids, flags) = unsafe { (values(self.ids, tokens.len())?, values(self.flags, tokens.len())?) };
        if !firsts.is_empty() && firsts.len() != tokens.len() {
            return Err(refused("there are not as many first tokens as tokens"));
        }
        let form = match self.form {
            0 => Form::Bytes,
            _ => {
                Form::Texts { strip: strip.first().map_or(Vec::new(), |text| text.to_vec()), most: self.most }
            }
        };
        Decoder::new(&tokens, &firsts, ids, flags, form).ok_or_else(|| refused("the vocabulary is too large"))
    }
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

impl Texts {
    /// # Safety
    /// As `values`.
    pub(super) unsafe fn column<'a>(&self) -> Outcome<Column<'a>> {
        // SAFETY: passed on
        unsafe {
            let offsets = if self.wide != 0 {
                Offsets::Large(values(self.offsets.cast(), self.count + 1)?)
            } else {
                Offsets::Small(values(self.offsets.cast(), self.count + 1)?)
            };
            let bits = (self.valid_start + self.count).div_ceil(8);
            let valid = if self.valid.is_null() { None } else { Some(values(self.valid, bits)?) };
            Ok(Column { data: values(self.data, self.size)?, offsets, valid, valid_start: self.valid_start })
        }
    }
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

impl Rows {
    /// The ids, and which of them each row has: not looked at yet.
    ///
    /// # Safety
    /// As `values`.
    pub(super) unsafe fn get<'a>(&self) -> Outcome<(&'a [i32], Vec<(usize, usize)>)> {
        // SAFETY: passed on; one offset more than rows
        unsafe {
            let bounds = if self.wide != 0 {
                bounds::<i64>(values(self.offsets.cast(), self.count + 1)?, |offset| offset as usize)
            } else {
                bounds::<i32>(values(self.offsets.cast(), self.count + 1)?, |offset| offset as usize)
            };
            Ok((values(self.ids, self.size)?, bounds))
        }
    }
}

fn bounds<T: Copy>(offsets: &[T], size: impl Fn(T) -> usize) -> Vec<(usize, usize)> {
    offsets.windows(2).map(|pair| (size(pair[0]), size(pair[1]))).collect()
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
    pub(super) width: u32,
}

impl RowLayout {
    /// Write the rows; `same` as often as there are values, where `column` is null.
    ///
    /// # Safety
    /// As `values`, and `room` of `out`.
    pub(super) unsafe fn write<T: Copy>(
        &self,
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
                takes: values(self.takes, self.rows)?,
                counts: values(self.counts, self.rows)?,
                lengths: values(self.lengths, self.rows)?,
                lefts: values(self.lefts, self.rows)?,
                before: values(self.before.cast::<T>(), self.before_count)?,
                after: values(self.after.cast::<T>(), self.after_count)?,
            };
            let column =
                if column.is_null() { Values::Same(same) } else { Values::Column(values(column, count)?) };
            (rows, column, room(out, size)?)
        };
        rows.write(column, fill, out).then_some(()).ok_or_else(|| refused("the rows do not fit together"))
    }
}
