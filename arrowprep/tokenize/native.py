"""The native engine: pipelines that the kernel knows, compiled; the rest says why not."""

from __future__ import annotations

import os
import threading
from ctypes import byref, c_uint32
from dataclasses import fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from arrowprep.config import settings
from arrowprep.errors import NotText, TokenizerError
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.bulk import Flat, utf8
from arrowprep.tokenize.character_classes import WHITESPACE
from arrowprep.tokenize.engine import Encoded
from arrowprep.tokenize.models import BPE, Model
from arrowprep.tokenize.native_decoder import can_decode, decode
from arrowprep.tokenize.native_layers import Programs, compiled, layers_of
from arrowprep.tokenize.native_library import (
    Added,
    EncodedColumns,
    FlatStrings,
    Handle,
    KernelFailure,
    Texts,
    address,
    call,
    cpu,
    flat_strings,
    foreign,
    load,
    validity,
)
from arrowprep.tokenize.normalizers import NFC, Normalizer
from arrowprep.tokenize.pattern_syntax import Unknown
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.pre_tokenizers import ByteLevel, PreTokenizer, Split
from arrowprep.tokenize.reference import TEXT_TYPES, ReferenceEngine, Trace

CACHE_BYTES = 64 << 20
LONG, FEW = 500, 100  # characters of a text, and texts, that the kernel takes alone
ROOM = 4096  # ids
_OFF = {"off", "false", "f", "no", "n", "0"}

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"


def _cl100k(digits: str) -> str:
    return rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*{_SPACES}"


def _o200k(digits: str, contractions: str) -> str:
    before = r"[^\r\n\p{L}\p{N}]?"
    return (
        f"{before}{_UPPER}*{_LOWER}+{contractions}|{before}{_UPPER}+{_LOWER}*{contractions}"
        rf"|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*{_SPACES}"
    )


WHOLE, GPT2 = 0, 1
# pattern, exactly, to the number of the kernel's splitter
GRAMMARS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": GPT2,
    _cl100k(r"\p{N}{1,3}"): 2,
    _cl100k(r"\p{N}"): 3,
    _o200k(r"\p{N}{1,3}", f"{_CONTRACTIONS}?"): 4,
    _o200k(r"\p{N}", ""): 5,
}


class _Room(threading.local):
    """Where the kernel puts the ids of a text that comes alone."""

    def __init__(self) -> None:
        self.ids = (c_uint32 * ROOM)()


_room = _Room()


class Unsupported(Exception):
    """Why the kernel cannot run a pipeline."""


class NativeEngine:
    """An Engine over a compiled pipeline.

    Single texts, and what the kernel leaves, are worked on by the reference engine.
    """

    name = "native"

    def __init__(self, pipeline: Pipeline, library: Any, handle: Handle, reference: ReferenceEngine) -> None:
        self.pipeline = pipeline
        self._library = library
        self._handle = handle
        self._reference = reference
        self._singles = 0  # texts that came alone

    def ids(self, text: str) -> list[int]:
        """The ids of one text."""
        data = text.encode()
        room = _room.ids
        count = self._library.arrowprep_ids(self._handle.pointer, data, len(data), room, ROOM, None)
        if 0 <= count <= ROOM:
            found: list[int] = room[:count]
            return found
        ids: list[int] = self._encode(_one(text), False, False).ids.values.to_pylist()
        return ids

    def trace(self, text: str) -> Trace:
        """Ids of one text with where they came from."""
        if not self.pipeline.full_offsets and self._better_at(text):
            encoded = self._encode(_one(text), True, True)
            columns = (encoded.ids, encoded.starts, encoded.ends, encoded.words)
            ids, starts, ends, words = (column.values.to_pylist() for column in columns if column is not None)
            # an added token's text is what it was found as, with white space that it took
            if not any(map(self.pipeline.added.tokens.__contains__, ids)):
                values: list[Any] = list(map(self.pipeline.model.id_to_token, ids))
                return Trace(ids, starts, ends, words, values)
        return self._reference.trace(text)

    def traces(self, texts: list[str]) -> list[Trace]:
        """The same of several texts."""
        if self.pipeline.full_offsets:
            return self._reference.traces(texts)
        encoded = self._encode(pa.array(texts, pa.large_string()), True, True)
        columns = (encoded.ids, encoded.starts, encoded.ends, encoded.words)
        flat = [column.flatten().to_pylist() for column in columns if column is not None]
        values = list(map(self.pipeline.model.id_to_token, flat[0]))
        stops = encoded.ids.offsets.to_pylist()
        found = []
        added = self.pipeline.added.tokens
        for text, start, stop in zip(texts, stops, stops[1:], strict=False):
            ids, *places = (part[start:stop] for part in (*flat, values))
            found.append(self._reference.trace(text) if added.keys() & ids else Trace(ids, *places))
        return found

    def _better_at(self, text: str) -> bool:
        """Whether the kernel gives one text sooner.

        A short one takes it 30 µs, and the reference engine 10; but that makes tables
        of the whole vocabulary first, which take as long as some thousand texts.
        """
        self._singles += 1
        return len(text) > LONG or self._singles <= FEW

    def decode(self, ids: pa.ListArray, *, skip_special_tokens: bool = False) -> pa.StringArray:
        """The text of each list of ids."""
        if not can_decode(self.pipeline, ids):
            return self._reference.decode(ids, skip_special_tokens=skip_special_tokens)
        return decode(self._library, self.pipeline, ids, skip_special_tokens)

    def decode_row(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        """The text of ids. Ids that are in no vocabulary are passed over."""
        return self._reference.decode_row(ids, skip_special_tokens)

    def encode(self, texts: pa.Array, *, offsets: bool = False, words: bool = False) -> Encoded:
        """Ids of each text without the post-processor's tokens, truncation or padding."""
        if pa.types.is_dictionary(texts.type):
            encoded = self.encode(texts.dictionary, offsets=offsets, words=words)
            columns = (getattr(encoded, field.name) for field in fields(encoded))
            return Encoded(*(None if column is None else column.take(texts.indices) for column in columns))
        if pa.types.is_null(texts.type):
            texts = texts.cast(pa.string())
        if not any(is_text(texts.type) for is_text in TEXT_TYPES):
            raise NotText(f"texts are Arrow strings, not {texts.type}", given=str(texts.type))
        if pa.types.is_string_view(texts.type):
            texts = texts.cast(pa.large_string())
        if not len(texts):
            return self._reference.encode(texts, offsets=offsets, words=words)
        return self._encode(texts, offsets, words)

    def _encode(self, texts: pa.Array, offsets: bool, words: bool) -> Encoded:
        texts = aligned(texts)
        column = text_column(texts)
        try:
            handle = call(
                self._library,
                "arrowprep_encode",
                "arrowprep_encoded_free",
                self._handle.pointer,
                byref(column),
                offsets or words,
                threads(),
            )
        except KernelFailure as failure:
            if failure.row < 0:
                raise TokenizerError(failure.message) from failure
            raise NotText(f"row {failure.row}: {failure.message}", row=failure.row) from failure
        result = EncodedColumns.from_address(handle.pointer)
        rows = _Rows(result, handle, texts)
        encoded = Encoded(
            ids=rows.column(result.ids),
            starts=rows.column(result.starts) if offsets else None,
            ends=rows.column(result.ends) if offsets else None,
            words=rows.column(result.words) if words else None,
        )
        return self._with_left(encoded, rows.left(), texts) if result.left_count else encoded

    def _with_left(self, encoded: Encoded, left: pa.Array, texts: pa.Array) -> Encoded:
        """The rows that the kernel left put in their places."""
        by_reference = self._reference.encode(
            texts.take(left), offsets=encoded.starts is not None, words=encoded.words is not None
        )
        places = np.arange(len(texts))
        places[left.to_numpy()] = len(texts) + np.arange(len(left))
        columns = ((getattr(encoded, f.name), getattr(by_reference, f.name)) for f in fields(encoded))
        return Encoded(*(None if a is None else pa.concat_arrays([a, b]).take(places) for a, b in columns))


class _Rows:
    """Arrow columns over the kernel's result, which lives as long as they do."""

    def __init__(self, result: EncodedColumns, owner: Handle, texts: pa.Array) -> None:
        self._owner = owner
        self._result = result
        self._nulls = texts.null_count
        self._shape = [validity(texts), foreign(result.offsets, 4 * (result.texts + 1), owner)]

    def column(self, pointer: int) -> pa.ListArray:
        tokens = self._result.tokens
        buffers = [None, foreign(pointer, 4 * tokens, self._owner)]
        values = pa.Array.from_buffers(pa.int32(), tokens, buffers)
        type = pa.list_(pa.int32())
        return pa.Array.from_buffers(type, self._result.texts, self._shape, self._nulls, 0, children=[values])

    def left(self) -> pa.Array:
        count = self._result.left_count
        buffers = [None, foreign(self._result.left, 4 * count, self._owner)]
        return pa.Array.from_buffers(pa.uint32(), count, buffers)


def _one(text: str) -> pa.LargeStringArray:
    """A column of one text; not by pa.array, which imports pandas before it looks at a list."""
    data = text.encode()
    offsets = pa.py_buffer(np.array([0, len(data)]))
    return pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])


def aligned(texts: pa.Array) -> pa.Array:
    """`texts`, with a copy of the offsets where they lie where no number can be read."""
    valid, offsets, data = texts.buffers()
    if not offsets.address % 8:
        return texts
    buffers = [valid, pa.py_buffer(offsets.to_pybytes()), data]
    return pa.Array.from_buffers(texts.type, len(texts), buffers, offset=texts.offset)


def text_column(texts: pa.Array) -> Texts:
    """A string column as the kernel reads it; `texts` must outlive it."""
    valid, offsets, data = texts.buffers()
    wide = pa.types.is_large_string(texts.type)
    return Texts(
        address(data),
        data.size if data else 0,
        offsets.address + texts.offset * (8 if wide else 4),
        wide,
        len(texts),
        address(valid) if texts.null_count else None,
        texts.offset,
    )


def threads() -> int:
    """How many threads a call may use."""
    chosen = settings().threads
    if chosen:
        return chosen
    if os.environ.get("TOKENIZERS_PARALLELISM", "").strip().lower() in _OFF:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---------------------------------------------------------------------- compiling


def compile_pipeline(pipeline: Pipeline, cache_bytes: int | None = None) -> tuple[NativeEngine | None, str]:
    """The native engine of a pipeline and what runs it; or None, and why."""
    library = load()
    if isinstance(library, str):
        return None, library
    try:
        grammar, prefix, programs = cuts_of(pipeline.leaves)
        options = is_nfc(pipeline.normalizer) + 2 * prefix
        in_raw, in_normalized = _Matched(pipeline, False), _Matched(pipeline, True)
        model = _model(library, pipeline.model, CACHE_BYTES if cache_bytes is None else cache_bytes)
        handle = call(
            library,
            "arrowprep_tokenizer_new",
            "arrowprep_tokenizer_free",
            model.pointer,
            grammar,
            options,
            byref(programs.structure()) if programs else None,
            byref(in_raw.added),
            byref(in_normalized.added),
        )
    except (Unsupported, KernelFailure) as problem:
        return None, f"the native kernel cannot run it: {problem}"
    reference = ReferenceEngine(pipeline) if cache_bytes is None else ReferenceEngine(pipeline, cache_bytes)
    return NativeEngine(
        pipeline, library, handle, reference
    ), f"the kernel knows this pipeline ({cpu(library)})"


def cuts_of(leaves: tuple[PreTokenizer, ...]) -> tuple[int, bool, Programs | None]:
    """As `grammar_of`; where no splitter was written for the pre-tokenizers, what runs before one."""
    try:
        return *grammar_of(leaves), None
    except Unsupported:
        *first, last = leaves or (None,)
        if type(last) is not ByteLevel or (last.add_prefix_space and first):
            raise
    try:
        programs = compiled(tuple(layer for leaf in first if leaf for layer in layers_of(leaf)))
    except Unknown as problem:
        raise Unsupported(str(problem)) from problem
    return GPT2 if last.use_regex else WHOLE, False, programs


def grammar_of(leaves: tuple[PreTokenizer, ...]) -> tuple[int, bool]:
    """The number of the splitter that does what the pre-tokenizers do, and whether a space goes first."""
    last = leaves[-1] if leaves else None
    if type(last) is not ByteLevel:
        raise Unsupported("it is not byte-level")
    splits = leaves[:-1]
    if not splits:
        return GPT2 if last.use_regex else WHOLE, last.add_prefix_space
    if last.add_prefix_space:
        raise Unsupported("it puts a space before every piece")
    split = splits[0]
    if len(splits) > 1 or last.use_regex or type(split) is not Split:
        raise Unsupported("it cuts a text more than once")
    whole = split.behavior == "isolated" or (split.behavior == "removed" and split.invert)
    if split.pattern.literal or split.pattern.source not in GRAMMARS or not whole:
        raise Unsupported("it has no splitter for the pattern")
    return GRAMMARS[split.pattern.source], False


def is_nfc(normalizer: Normalizer | None) -> bool:
    if normalizer is None:
        return False
    parts = normalizer.parts or (normalizer,)
    if any(type(part) is not NFC for part in parts):
        raise Unsupported(f"it has no {type(normalizer).__name__} normalizer")
    return True


class _Matched:
    """The added tokens that are looked for in raw text, or in normalized text, for the kernel."""

    def __init__(self, pipeline: Pipeline, normalized: bool) -> None:
        vocabulary = pipeline.added
        tokens = [token for token in vocabulary.in_matching_order() if token.normalized == normalized]
        ignored = vocabulary.special if vocabulary.encode_special_tokens else {}
        spaced = any(token.content[:1] in WHITESPACE for token in tokens)
        if spaced and any(token.rstrip for token in tokens):
            raise Unsupported("an added token begins with the white space that another takes")
        normalize = pipeline.normalizer.normalize_str if normalized and pipeline.normalizer else str
        self._contents = _strings([normalize(token.content) for token in tokens])
        self._ids = np.array([vocabulary.ids[token.content] for token in tokens], np.uint32)
        self._flags = np.array([_flags(token, token.content in ignored) for token in tokens], np.uint8)
        self.added = Added(self._contents.strings, self._ids.ctypes.data, self._flags.ctypes.data)


def _flags(token: AddedToken, ignored: bool) -> int:
    return token.single_word + 2 * token.lstrip + 4 * token.rstrip + 8 * ignored


# compiled models by the tables that copies of a model share
_models: WeakKeyDictionary[Any, dict[tuple[bool, int], Handle]] = WeakKeyDictionary()


def _model(library: Any, model: Model, cache_bytes: int) -> Handle:
    """The compiled model; made once for all pipelines that share its vocabulary."""
    if type(model) is not BPE:
        raise Unsupported(f"it has no {type(model).__name__} model")
    if model.is_random:
        raise Unsupported("merges are dropped at random")
    if model.continuing_subword_prefix or model.end_of_word_suffix:
        raise Unsupported("tokens have a prefix or a suffix")
    made = _models.setdefault(model._tables, {})
    key = (model.ignore_merges, cache_bytes)
    if key not in made:
        tables = model._tables
        if tables.order is not None and len(np.unique(tables.numbers)) < len(tables.numbers):
            raise Unsupported("two tokens have the same id")
        tokens, merges = _checked(tables.flat), flat_strings(*tables.flat.chosen(tables.parts))
        numbers = tables.numbers.astype(np.uint32)
        made[key] = call(
            library,
            "arrowprep_model_new",
            "arrowprep_model_free",
            byref(tokens.strings),
            numbers.ctypes.data,
            byref(merges.strings),
            model.ignore_merges,
            cache_bytes,
        )
    return made[key]


def _checked(texts: Flat) -> FlatStrings:
    """The same for those of a vocabulary."""
    try:
        texts.data.decode()
    except UnicodeDecodeError as error:
        raise Unsupported("a token has half of a surrogate pair") from error
    return flat_strings(*texts)


def _strings(texts: list[str]) -> FlatStrings:
    """For the kernel."""
    try:
        return flat_strings(*utf8(texts))
    except UnicodeEncodeError as error:
        raise Unsupported("a token has half of a surrogate pair") from error
