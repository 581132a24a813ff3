"""Counting words and learning merges by the kernel; the reference trainer defines what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import byref
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.errors import NotText
from arrowprep.tokenize.bulk import utf32
from arrowprep.tokenize.byte_characters import BYTE_CHARACTERS
from arrowprep.tokenize.native import text_column, threads
from arrowprep.tokenize.native_library import (
    Added,
    CountedPieces,
    Failure,
    Handle,
    KernelFailure,
    call,
    flat_strings,
    foreign,
)
from arrowprep.tokenize.native_models import Unsupported
from arrowprep.tokenize.native_pipeline import Route, RouteParts, route_to_words
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.pre_tokenizers import ByteLevel, PreTokenizer
from arrowprep.tokenize.trainers.words import Words

MERGES_AT_ONCE = 500  # between two of them a bar moves on, and Ctrl-C is heard
UNLIMITED = (1 << 64) - 1
FAILED = (1 << 64) - 1

Ids = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]
_BYTE_CODES = np.array(list(map(ord, BYTE_CHARACTERS)), np.uint32)


def learn(
    library: Any,
    ids: Ids,
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


class WordCounter:
    """Counts the words that a route of the kernel leads texts to.

    bert: what of BERT is done to them. byte_level: whether words are spelled in byte characters
    """

    def __init__(self, library: Any, route: Route, bert: int, *, byte_level: bool) -> None:
        self._library = library
        self._space = route.space
        self._byte_level = byte_level
        made = RouteParts(route, Added(), Added())
        self._handle: Handle = call(
            library, "arrowprep_counter_new", "arrowprep_counter_free", byref(made.parts), bert
        )

    def feed(self, texts: pa.Array) -> list[int]:
        """Count a string or large_string column; the rows that must be counted in another way.

        Nulls have no words. Raises NotText for a broken text.
        """
        column, failure, left = text_column(texts), Failure(), np.empty(len(texts), np.uint32)
        count = self._library.arrowprep_counter_feed(
            self._handle.pointer, byref(column), threads(), left.ctypes.data, byref(failure)
        )
        if count < 0:
            raise NotText(failure.message.decode("utf-8", "replace"), row=failure.row)
        rows: list[int] = left[:count].tolist()
        return rows

    def counted(self) -> tuple[Words, Numbers]:
        """Words in the order in which they first came, and (w,) in which text each did."""
        handle = call(self._library, "arrowprep_counted", "arrowprep_counted_free", self._handle.pointer)
        found = CountedPieces.from_address(handle.pointer)
        data = foreign(found.data, found.size, handle)
        offsets, counts, texts = (
            np.frombuffer(foreign(pointer, 8 * size, handle), np.int64)
            for pointer, size in (
                (found.offsets, found.count + 1),
                (found.counts, found.count),
                (found.texts, found.count),
            )
        )
        if self._byte_level:
            return Words(_BYTE_CODES[np.frombuffer(data, np.uint8)], offsets, counts), texts
        starts = np.frombuffer(data, np.uint8) & 0xC0 != 0x80
        codes = utf32(data.to_pybytes().decode().replace(" ", self._space or " "))
        offsets = np.concatenate(([0], np.cumsum(starts)))[offsets]
        return Words(codes, offsets, counts), texts


def counter_of(
    library: Any, normalizer: Normalizer | None, leaves: tuple[PreTokenizer, ...]
) -> WordCounter | None:
    """A counter that normalizes and cuts as these do; None where the kernel cannot."""
    try:
        route, bert = route_to_words(normalizer, leaves)
        byte_level = bool(leaves) and type(leaves[-1]) is ByteLevel
        return WordCounter(library, route, bert, byte_level=byte_level)
    except (Unsupported, KernelFailure):
        return None


def _ends(texts: Sequence[bytes]) -> Numbers:
    return np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.int64)))
