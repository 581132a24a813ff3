"""The native engine: pipelines that the kernel knows, compiled; the rest says why not."""

from __future__ import annotations

import os
import threading
from ctypes import addressof, byref, c_uint32
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.config import settings
from arrowprep.errors import NotText, TokenizerError
from arrowprep.tokenize.engine import Encoded
from arrowprep.tokenize.native_library import (
    ArrowArray,
    EncodedColumns,
    Failure,
    Handle,
    KernelFailure,
    Texts,
    address,
    call,
    cpu,
    failed,
    foreign,
    load,
    validity,
)
from arrowprep.tokenize.native_models import Unsupported
from arrowprep.tokenize.native_pipeline import compiled
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.reference import ReferenceEngine, Trace, traces_of

CACHE_BYTES = 64 << 20
ROOM = 4096  # tokens
WORTH_THREADS = 256 << 10  # bytes of text, below which the kernel starts none
_SMALL, _LARGE, _ID, _IDS = pa.string(), pa.large_string(), pa.int32(), pa.list_(pa.int32())
_OFF = {"off", "false", "f", "no", "n", "0"}


class _Room(threading.local):
    """Where the kernel puts the tokens of a text that comes alone: ids, starts, ends, words, `ROOM` each."""

    def __init__(self) -> None:
        self.columns = (c_uint32 * (4 * ROOM))()


_room = _Room()


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

    def ids(self, text: str) -> list[int]:
        """The ids of one text."""
        data = text.encode()
        room = _room.columns
        count = self._library.arrowprep_ids(self._handle.pointer, data, len(data), room, ROOM, None)
        if 0 <= count <= ROOM:
            found: list[int] = room[:count]
            return found
        if count < 0:
            return self._reference.ids(text)
        ids: list[int] = self._encode(_one(text), False, False).ids.values.to_pylist()
        return ids

    def trace(self, text: str) -> Trace:
        """Ids of one text with where they came from."""
        data = text.encode()
        room = _room.columns
        count = self._library.arrowprep_trace(self._handle.pointer, data, len(data), room, ROOM, None)
        if 0 <= count <= ROOM:
            ids, starts, ends, words = (room[at : at + count] for at in range(0, 4 * ROOM, ROOM))
            if self.pipeline.tells(ids):
                values: list[Any] = list(map(self.pipeline.value_of, ids))
                return Trace(ids, starts, ends, words, values)
        elif count > ROOM:
            return self.traces([text])[0]
        return self._reference.trace(text)

    def traces(self, texts: list[str]) -> list[Trace]:
        """The same of several texts."""
        try:
            encoded = self._encode(pa.array(texts, pa.large_string()), True, True)
        except TokenizerError:
            return self._reference.traces(texts)
        return traces_of(encoded, texts, self.pipeline, self._reference.trace)

    def decode(self, ids: pa.ListArray, *, skip_special_tokens: bool = False) -> pa.StringArray:
        """The text of each list of ids."""
        from arrowprep.tokenize.native_decoder import can_decode, decode

        if not can_decode(self.pipeline, ids):
            return self._reference.decode(ids, skip_special_tokens=skip_special_tokens)
        return decode(self._library, self.pipeline, ids, skip_special_tokens)

    def decode_row(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        """The text of ids. Ids that are in no vocabulary are passed over."""
        return self._reference.decode_row(ids, skip_special_tokens)

    def encode(self, texts: pa.Array, *, offsets: bool = False, words: bool = False) -> Encoded:
        """Ids of each text without the post-processor's tokens, truncation or padding."""
        kind = texts.type
        if kind in (_LARGE, _SMALL):
            return self._encode(texts, offsets, words) if len(texts) else self._none(offsets, words)
        if pa.types.is_dictionary(kind):
            encoded = self.encode(texts.dictionary, offsets=offsets, words=words)
            return Encoded(*(None if column is None else column.take(texts.indices) for column in encoded))
        if pa.types.is_null(kind) or pa.types.is_string_view(kind):
            return self.encode(texts.cast(_LARGE), offsets=offsets, words=words)
        raise NotText(f"texts are Arrow strings, not {kind}", given=str(kind))

    def _none(self, offsets: bool, words: bool) -> Encoded:
        """Of no texts."""
        return self._reference.encode(pa.array([], _SMALL), offsets=offsets, words=words)

    def _encode(self, texts: pa.Array, offsets: bool, words: bool) -> Encoded:
        column = text_column(texts)
        count = threads() if column.size >= WORTH_THREADS else 1
        try:
            if not (offsets or words or texts.null_count):
                ids = self._lists(column, count)
                if ids is not None:
                    return Encoded(ids)
            handle = call(
                self._library,
                "arrowprep_encode",
                "arrowprep_encoded_free",
                self._handle.pointer,
                byref(column),
                offsets or words,
                count,
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

    def _lists(self, column: Texts, count: int) -> pa.ListArray | None:
        """The ids of texts of which none is null, as one array at once; None where the kernel left a text."""
        lists, failure = ArrowArray(), Failure()
        code = self._library.arrowprep_encode_lists(
            self._handle.pointer, byref(column), count, byref(lists), byref(failure)
        )
        if code < 0:
            raise failed(failure)
        return pa.Array._import_from_c(addressof(lists), _IDS) if code else None

    def _with_left(self, encoded: Encoded, left: pa.Array, texts: pa.Array) -> Encoded:
        """The rows that the kernel left put in their places."""
        wanted = {"offsets": encoded.starts is not None, "words": encoded.words is not None}
        try:
            by_reference = self._reference.encode(texts.take(left), **wanted)
        except TokenizerError:
            places = np.full(len(texts), -1)
            places[left.to_numpy()] = left.to_numpy()
            alone = texts.take(pa.array(places, mask=places < 0))  # the others null
            self._reference.encode(alone, **wanted)  # fails with its row
            raise
        places = np.arange(len(texts))
        places[left.to_numpy()] = len(texts) + np.arange(len(left))
        both = zip(encoded, by_reference, strict=True)
        return Encoded(*(None if a is None else pa.concat_arrays([a, b]).take(places) for a, b in both))


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
        values = pa.Array.from_buffers(_ID, tokens, buffers, 0)
        return pa.Array.from_buffers(_IDS, self._result.texts, self._shape, self._nulls, 0, children=[values])

    def left(self) -> pa.Array:
        count = self._result.left_count
        buffers = [None, foreign(self._result.left, 4 * count, self._owner)]
        return pa.Array.from_buffers(pa.uint32(), count, buffers)


def _one(text: str) -> pa.LargeStringArray:
    """A column of one text; not by pa.array, which imports pandas before it looks at a list."""
    data = text.encode()
    offsets = pa.py_buffer(np.array([0, len(data)]))
    return pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])


def text_column(texts: pa.Array) -> Texts:
    """A string column as the kernel reads it; `texts` must outlive it."""
    valid, offsets, data = texts.buffers()
    wide = texts.type == _LARGE
    copied = offsets.address % 8 != 0  # no number can be read there
    if copied:
        offsets = pa.py_buffer(offsets.to_pybytes())
    column = Texts(
        address(data),
        data.size if data else 0,
        offsets.address + texts.offset * (8 if wide else 4),
        wide,
        len(texts),
        address(valid) if texts.null_count else None,
        texts.offset,
    )
    if copied:
        column.kept = offsets
    return column


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
        handle = compiled(library, pipeline, CACHE_BYTES if cache_bytes is None else cache_bytes)
    except (Unsupported, KernelFailure) as problem:
        return None, f"the native kernel cannot run it: {problem}"
    reference = ReferenceEngine(pipeline) if cache_bytes is None else ReferenceEngine(pipeline, cache_bytes)
    return NativeEngine(
        pipeline, library, handle, reference
    ), f"the kernel knows this pipeline ({cpu(library)})"
