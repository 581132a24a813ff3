"""Counting pieces and learning merges by the kernel; the reference trainer defines what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import byref
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.errors import NotText
from arrowprep.tokenize.native import aligned, text_column, threads
from arrowprep.tokenize.native_library import (
    CountedPieces,
    Failure,
    Handle,
    KernelFailure,
    call,
    flat_strings,
)
from arrowprep.tokenize.native_models import Unsupported
from arrowprep.tokenize.native_pipeline import grammar_of, is_nfc
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.pre_tokenizers import PreTokenizer

MERGES_AT_ONCE = 500  # between two of them a bar moves on, and Ctrl-C is heard
UNLIMITED = (1 << 64) - 1
FAILED = (1 << 64) - 1

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]


def learn(
    library: Any,
    ids: Words,
    offsets: Numbers,
    counts: Numbers,
    tokens: Sequence[str],
    *,
    vocab_size: int,
    min_frequency: int,
    prefix: str = "",
    max_length: int | None = None,
) -> Iterator[npt.NDArray[np.uint32]]:
    """Merges in their order, some at a time: (k, 3) ids of the left half, the right half, and what they make.

    ids, offsets: the words, one after the other, and the (n + 1,) places where they begin and the last ends
    counts: (n,) how often each word comes
    tokens: the texts of the ids; new ones take the next
    prefix: what tokens inside a word begin with; it is left out where they are joined to others
    max_length: in ids of the words; longer tokens are not made
    """
    texts = [token.encode() for token in tokens]
    known = flat_strings(b"".join(texts), _ends(texts))
    inner = flat_strings(prefix.encode(), np.array([0, len(prefix.encode())], np.int64))
    learner = call(
        library,
        "arrowprep_learner_new",
        "arrowprep_learner_free",
        ids.ctypes.data,
        len(ids),
        offsets.ctypes.data,
        counts.ctypes.data,
        len(counts),
        byref(known.strings),
        byref(inner.strings),
        UNLIMITED if max_length is None else max_length,
    )
    made = MERGES_AT_ONCE
    while made == MERGES_AT_ONCE:
        out, failure = np.empty((MERGES_AT_ONCE, 3), np.uint32), Failure()
        made = library.arrowprep_learn(
            learner.pointer, vocab_size, min_frequency, out.ctypes.data, len(out), byref(failure)
        )
        if made == FAILED:
            raise KernelFailure(failure.message.decode("utf-8", "replace"), failure.row)
        yield out[:made]


class PieceCounter:
    """Counts the pieces that a grammar of the kernel cuts texts into.

    grammar: number of a splitter. nfc: texts are normalized first; prefix: a space is put before
        texts that begin with none
    """

    def __init__(self, library: Any, grammar: int, *, nfc: bool, prefix: bool) -> None:
        self._library = library
        self._handle: Handle = call(
            library, "arrowprep_counter_new", "arrowprep_counter_free", grammar, nfc + 2 * prefix
        )

    def feed(self, texts: pa.Array) -> None:
        """Count a string or large_string column; nulls have no pieces. Raises NotText for a broken text."""
        texts, failure = aligned(texts), Failure()
        column = text_column(texts)
        if not self._library.arrowprep_counter_feed(
            self._handle.pointer, byref(column), threads(), byref(failure)
        ):
            raise NotText(failure.message.decode("utf-8", "replace"), row=failure.row)

    def counted(self) -> tuple[bytes, Numbers, Numbers]:
        """Pieces in the order in which they first came: their UTF-8, (n + 1,) offsets, (n,) counts."""
        handle = call(self._library, "arrowprep_counted", "arrowprep_counted_free", self._handle.pointer)
        found = CountedPieces.from_address(handle.pointer)
        buffers = [
            pa.foreign_buffer(address, size, handle) if size else pa.py_buffer(b"")
            for address, size in (
                (found.data, found.size),
                (found.offsets, 8 * (found.count + 1)),
                (found.counts, 8 * found.count),
            )
        ]
        data, offsets, counts = buffers
        return data.to_pybytes(), np.frombuffer(offsets, np.int64), np.frombuffer(counts, np.int64)


def counter_of(
    library: Any, normalizer: Normalizer | None, leaves: tuple[PreTokenizer, ...]
) -> PieceCounter | None:
    """A counter that normalizes and cuts as these do; None where the kernel cannot."""
    try:
        grammar, prefix = grammar_of(leaves)
        return PieceCounter(library, grammar, nfc=is_nfc(normalizer), prefix=prefix)
    except Unsupported:
        return None


def _ends(texts: Sequence[bytes]) -> Numbers:
    return np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.int64)))
