"""What the kernel has for tokenizers: its structures and functions, as ctypes knows them.

rust/include/arrowprep.h describes every function. A call releases the interpreter lock.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep import kernel
from arrowprep.kernel import Failure, Handle, KernelFailure, Strings, call, failed

__all__ = [
    "Failure",
    "Handle",
    "KernelFailure",
    "Strings",
    "call",
    "failed",
    "load",
]  # and what is defined here

CPU = ("portable", "AVX2", "AVX-512")


class Added(Structure):
    _fields_ = [("contents", Strings), ("ids", c_void_p), ("flags", c_void_p)]


class LayerPrograms(Structure):
    _fields_ = [("runs", c_void_p), ("run_count", c_size_t), ("words", c_void_p), ("word_count", c_size_t)]


class ModelParts(Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("options", c_uint32),
        ("tokens", Strings),
        ("ids", c_void_p),
        ("scores", c_void_p),
        ("ways", c_void_p),
        ("merges", c_size_t),
        ("affix", Strings),
        ("unknown", c_int64),
        ("longest", c_size_t),
        ("cache_bytes", c_size_t),
    ]


class StepParts(Structure):
    _fields_ = [("numbers", c_void_p), ("options", c_void_p), ("texts", Strings)]


class StageParts(Structure):
    _fields_ = [("steps", StepParts), ("layers", c_void_p)]


class PipelineParts(Structure):
    _fields_ = [
        ("cut", c_uint32),
        ("before", StepParts),
        ("stages", c_void_p),
        ("stage_count", c_size_t),
        ("in_raw", Added),
        ("in_normalized", Added),
    ]


class DecoderParts(Structure):
    _fields_ = [
        ("form", c_uint32),
        ("tokens", Strings),
        ("firsts", Strings),
        ("ids", c_void_p),
        ("flags", c_void_p),
        ("strip", Strings),
        ("most", c_size_t),
    ]


class Texts(Structure):
    """kept: what the column points to beside the texts that it is of"""

    kept: pa.Buffer | None = None
    _fields_ = [
        ("data", c_void_p),
        ("size", c_size_t),
        ("offsets", c_void_p),
        ("wide", c_uint32),
        ("count", c_size_t),
        ("valid", c_void_p),
        ("valid_start", c_size_t),
    ]


ArrowArray = c_uint64 * 10  # of the C data interface, which pyarrow reads


class EncodedColumns(Structure):
    _fields_ = [
        ("texts", c_size_t),
        ("tokens", c_size_t),
        ("left_count", c_size_t),
        ("offsets", c_void_p),
        ("ids", c_void_p),
        ("starts", c_void_p),
        ("ends", c_void_p),
        ("words", c_void_p),
        ("left", c_void_p),
        ("owner", c_void_p),
    ]


class Rows(Structure):
    _fields_ = [
        ("ids", c_void_p),
        ("size", c_size_t),
        ("offsets", c_void_p),
        ("wide", c_uint32),
        ("count", c_size_t),
    ]


class Layout(Structure):
    _fields_ = [
        ("rows", c_size_t),
        ("takes", c_void_p),
        ("counts", c_void_p),
        ("lengths", c_void_p),
        ("lefts", c_void_p),
        ("before", c_void_p),
        ("before_count", c_size_t),
        ("after", c_void_p),
        ("after_count", c_size_t),
        ("width", c_uint32),
    ]


class DecodedColumn(Structure):
    _fields_ = [("size", c_size_t), ("text", c_void_p), ("offsets", c_void_p), ("owner", c_void_p)]


class CountedPieces(Structure):
    _fields_ = [
        ("count", c_size_t),
        ("size", c_size_t),
        ("data", c_void_p),
        ("offsets", c_void_p),
        ("counts", c_void_p),
        ("texts", c_void_p),
        ("owner", c_void_p),
    ]


class FileParts(Structure):
    _fields_ = [
        ("count", c_size_t),
        ("size", c_size_t),
        ("data", c_void_p),
        ("offsets", c_void_p),
        ("ids", c_void_p),
        ("scores", c_void_p),
        ("merges", c_size_t),
        ("ways", c_void_p),
        ("vocab", c_size_t * 2),
        ("merges_at", c_size_t * 2),
        ("map", c_void_p),
        ("map_size", c_size_t),
        ("map_at", c_size_t * 2),
        ("owner", c_void_p),
    ]


SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "arrowprep_cpu": (c_uint32, []),
    "arrowprep_model_new": (c_void_p, [POINTER(ModelParts), POINTER(Failure)]),
    "arrowprep_model_free": (None, [c_void_p]),
    "arrowprep_tokenizer_new": (c_void_p, [c_void_p, POINTER(PipelineParts), POINTER(Failure)]),
    "arrowprep_tokenizer_free": (None, [c_void_p]),
    "arrowprep_encode": (c_void_p, [c_void_p, POINTER(Texts), c_uint32, c_size_t, POINTER(Failure)]),
    "arrowprep_encode_lists": (
        c_int32,
        [c_void_p, POINTER(Texts), c_size_t, POINTER(ArrowArray), POINTER(Failure)],
    ),
    "arrowprep_encoded_free": (None, [c_void_p]),
    "arrowprep_ids": (c_int64, [c_void_p, c_char_p, c_size_t, c_void_p, c_size_t, c_void_p]),
    "arrowprep_trace": (c_int64, [c_void_p, c_char_p, c_size_t, c_void_p, c_size_t, c_void_p]),
    "arrowprep_lay_out": (
        c_int64,
        [POINTER(Layout), c_void_p, c_size_t, c_int32, c_int32, c_void_p, c_size_t, c_void_p],
    ),
    "arrowprep_decoder_new": (c_void_p, [POINTER(DecoderParts), POINTER(Failure)]),
    "arrowprep_decoder_free": (None, [c_void_p]),
    "arrowprep_decode": (c_void_p, [c_void_p, POINTER(Rows), c_uint32, c_size_t, POINTER(Failure)]),
    "arrowprep_decoded_free": (None, [c_void_p]),
    "arrowprep_counter_new": (c_void_p, [POINTER(PipelineParts), c_uint32, POINTER(Failure)]),
    "arrowprep_counter_free": (None, [c_void_p]),
    "arrowprep_counter_feed": (
        c_int64,
        [c_void_p, POINTER(Texts), c_size_t, c_void_p, POINTER(Failure)],
    ),
    "arrowprep_counted": (c_void_p, [c_void_p, POINTER(Failure)]),
    "arrowprep_counted_free": (None, [c_void_p]),
    "arrowprep_learner_new": (
        c_void_p,
        [
            c_void_p,
            c_size_t,
            c_void_p,
            c_void_p,
            c_size_t,
            POINTER(Strings),
            POINTER(Strings),
            c_uint64,
            POINTER(Failure),
        ],
    ),
    "arrowprep_learner_free": (None, [c_void_p]),
    "arrowprep_read": (c_void_p, [c_char_p, c_size_t, POINTER(Failure)]),
    "arrowprep_read_pieces": (c_void_p, [c_char_p, c_size_t, POINTER(Failure)]),
    "arrowprep_read_ranks": (c_void_p, [c_char_p, c_size_t, POINTER(Failure)]),
    "arrowprep_read_tekken": (c_void_p, [c_char_p, c_size_t, POINTER(Failure)]),
    "arrowprep_every_way": (c_void_p, [POINTER(Strings), POINTER(Failure)]),
    "arrowprep_find": (c_int64, [c_void_p, c_char_p, c_size_t]),
    "arrowprep_parts_free": (None, [c_void_p]),
    "arrowprep_learn": (c_size_t, [c_void_p, c_size_t, c_int64, c_void_p, c_size_t, POINTER(Failure)]),
}


@cache
def load() -> ctypes.CDLL | str:
    """The library, or why there is none to use."""
    library = kernel.load()
    if not isinstance(library, str):
        kernel.declare(library, SIGNATURES)
    return library


def cpu(library: ctypes.CDLL) -> str:
    """Which code of the library runs on this machine."""
    return CPU[library.arrowprep_cpu()]


@dataclass(frozen=True, slots=True)
class FlatStrings:
    """Strings for the kernel, with what keeps them: they hold as long as this does.

    Not made by pa.array, which imports pandas before it looks at a list.
    """

    data: bytes
    offsets: npt.NDArray[np.int64] | array[int]
    strings: Strings


def flat_strings(data: bytes, offsets: npt.NDArray[np.int64]) -> FlatStrings:
    """Of their bytes one after the other, and the (n + 1,) places where each begins and the last one ends."""
    return FlatStrings(data, offsets, _strings(data, offsets.ctypes.data, len(offsets) - 1))


def flat_list(texts: Sequence[bytes]) -> FlatStrings:
    """Of a few texts, for which NumPy would take longer to begin than all of this does."""
    data = b"".join([text for text in texts if text])  # of one there is no copy
    offsets = array("q", accumulate(map(len, texts), initial=0))
    return FlatStrings(data, offsets, _strings(data, offsets.buffer_info()[0], len(texts)))


def _strings(data: bytes, offsets: int, count: int) -> Strings:
    pointer = ctypes.cast(ctypes.c_char_p(data), c_void_p).value
    return Strings(pointer if data else None, len(data), offsets, count)


def foreign(pointer: int, size: int, owner: Handle) -> pa.Buffer:
    """`size` bytes of the library's, which live as long as the buffer does."""
    return pa.foreign_buffer(pointer, size, owner) if size else pa.py_buffer(b"")


def validity(array: pa.Array) -> pa.Buffer | None:
    """The bitmap of `array` from bit 0 on; None where nothing is null."""
    if not array.null_count:
        return None
    return array.buffers()[0] if not array.offset else pa.concat_arrays([array.is_valid()]).buffers()[1]


def address(buffer: pa.Buffer | None) -> int | None:
    return buffer.address if buffer is not None and buffer.size else None
