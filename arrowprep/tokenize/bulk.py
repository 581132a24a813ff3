"""Work on whole vocabularies: what is done once for 200,000 texts, and not once for each of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Flat(NamedTuple):
    """Texts as one in UTF-8, and the (n + 1,) bytes where each begins and the last one ends."""

    data: bytes
    offsets: npt.NDArray[np.int64]

    def text(self, place: int) -> str:
        return self.data[self.offsets[place] : self.offsets[place + 1]].decode()

    def list(self) -> list[str]:
        """All of them; 200,000 take 30 ms."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        texts = pa.Array.from_buffers(pa.large_string(), len(self.offsets) - 1, buffers)
        found: list[str] = texts.to_pylist()
        return found

    def chosen(self, places: npt.NDArray[np.integer]) -> Flat:
        """Those at `places`."""
        begins, lengths = self.offsets[places], np.diff(self.offsets)[places]
        ends = np.zeros(len(places) + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        at = np.repeat(begins - ends[:-1], lengths) + np.arange(ends[-1])
        return Flat(np.frombuffer(self.data, np.uint8)[at].tobytes(), ends)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without garbage collection, which would look at a million new strings again and again.

    Reading a file of 28 MB takes half the time so. For work that ends soon and leaves no cycles.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def joined(parts: Sequence[bytes]) -> Flat:
    """Pieces of bytes, which need not be whole characters, made flat."""
    ends = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=ends[1:])
    return Flat(b"".join(parts), ends)


def utf8(texts: Sequence[str], errors: str = "strict") -> Flat:
    """Texts made flat."""
    return _cut("".join(texts).encode("utf-8", errors), texts)


def utf8_one_by_one(texts: Sequence[str]) -> Flat:
    """The same, slower where they are short, and without a second copy of all of them."""
    data = BytesIO()
    data.writelines(map(str.encode, texts))
    return _cut(data.getvalue(), texts)


def _cut(data: bytes, texts: Sequence[str]) -> Flat:
    """The bytes of texts with the places where each begins."""
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    if len(data) == ends[-1]:
        return Flat(data, ends)
    # the characters begin at all bytes that do not continue one
    begins = np.flatnonzero(np.frombuffer(data, np.int8) >= -64)
    return Flat(data, np.append(begins, len(data))[ends])


def utf32(text: str) -> npt.NDArray[np.uint32]:
    """(n,) the code points of its characters."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def feed_texts(update: Callable[[bytes], None], texts: Flat) -> None:
    """Give texts to a hash: how many, where each begins, all texts as one."""
    update((len(texts.offsets) - 1).to_bytes(8, "little"))
    update(little_endian(texts.offsets))
    update(texts.data)


def little_endian(numbers: npt.NDArray[np.generic]) -> bytes:
    """The bytes of an array, which are the same on every machine."""
    return numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).tobytes()
