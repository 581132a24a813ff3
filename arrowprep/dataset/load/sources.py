"""The bytes of a file: decompressed, in UTF-8, in blocks that end where a line ends."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arrowprep.errors import BadArgument, MissingFile, UnreadableFile

BLOCK_BYTES = 8 << 20  # a record batch of what is written; twice as much takes a third longer, in page faults
_PIECE_BYTES = 256 << 10
_LINE_END = ord("\n")
_BOM = codecs.BOM_UTF8
_BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error, pa.ArrowInvalid)


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file.

    data: UTF-8; ends with a line end, except perhaps at the end of the file
    first_line: number of its first line, from 1
    num_ends: of lines in data
    counted: what the numbers count, for messages: "line", or "row" where lines mean nothing
    """

    data: bytes | memoryview
    first_line: int
    num_ends: int
    counted: str = "line"

    @classmethod
    def of(cls, data: bytes, first_line: int, counted: str = "line") -> Block:
        return cls(data, first_line, _count_ends(np.frombuffer(data, np.uint8)), counted)

    @property
    def ends(self) -> NDArray[np.intp]:
        """Places of its line ends in data; to find them takes four times as long as to count them."""
        return np.flatnonzero(np.frombuffer(self.data, np.uint8) == _LINE_END)

    def has_line_of(self, size: int) -> bool:
        """Whether a line has so many bytes; says so of some that have half as many too."""
        half = size // 2
        places = range(0, len(self.data) - half + 1, half)
        return any(b"\n" not in bytes(self.data[place : place + half]) for place in places)


def _open_by_arrow(codec: str, path: Path) -> Any:
    return pa.CompressedInputStream(pa.OSFile(str(path)), codec)


_OPENERS: dict[str, Callable[[Path], Any]] = {  # the suffixes are those of suffixes.COMPRESSED
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": partial(_open_by_arrow, "zstd"),
    ".lz4": partial(_open_by_arrow, "lz4"),
}


@contextmanager
def opened(path: Path, encoding: str = "utf-8", errors: str = "strict") -> Iterator[IO[bytes]]:
    """The file's bytes as UTF-8, without a byte order mark; UnreadableFile for what breaks while reading."""
    opener = _OPENERS.get(path.suffix.lower(), partial(open, mode="rb", buffering=0))
    try:
        stream = opener(path)
    except FileNotFoundError as error:
        raise MissingFile(f"{path} does not exist", path=path) from error
    with stream:
        checked = _Checked(stream, path)
        utf8 = io.BufferedReader(checked if _is_utf8(encoding) else _Recoded(checked, path, encoding, errors))
        if utf8.peek(len(_BOM)).startswith(_BOM):
            utf8.read(len(_BOM))
        yield utf8


@contextmanager
def opened_range(path: Path, start: int, stop: int) -> Iterator[IO[bytes]]:
    """As `opened`, bytes start..stop of a file that is UTF-8 and not compressed."""
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        part = io.BufferedReader(_Checked(_Part(file, stop - start), path))
        if start == 0 and part.peek(len(_BOM)).startswith(_BOM):
            part.read(len(_BOM))
        yield part


def line_starts(path: Path, count: int) -> list[int]:
    """Places that part a file into `count` ranges or fewer: 0, starts of lines, and its size."""
    size = path.stat().st_size
    starts = {0, size}
    with path.open("rb") as file:
        for number in range(1, count):
            file.seek(size * number // count - 1)
            file.readline()
            starts.add(file.tell())
    return sorted(starts)


def blocks(stream: IO[bytes], path: Path, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """The stream cut into blocks of about `size` bytes, each ending where a line does.

    A line longer than `size` makes a longer block. Raises UnreadableFile where there is nothing at all.
    """
    line, rest, at_end = 1, b"", False
    while not at_end:
        # not zeroed, filled in place: each copy or pass costs as much as reading
        space = np.empty(len(rest) + max(size, len(rest)), np.uint8)
        space[: len(rest)] = np.frombuffer(rest, np.uint8)
        filled = len(rest) + stream.readinto(space[len(rest) :].data)  # type: ignore[attr-defined]
        at_end = filled < len(space)
        stop = filled if at_end else _last_end(space[:filled])
        rest = space[stop:filled].tobytes()
        if stop:
            ends = _count_ends(space[:stop])
            yield Block(space[:stop].data, line, ends)
            line += ends
        elif at_end and line == 1:
            raise UnreadableFile(f"{path} is empty", path=path)


def _count_ends(data: NDArray[np.uint8]) -> int:
    """Of lines, a piece at a time that stays in the processor's cache."""
    pieces = range(0, len(data), _PIECE_BYTES)
    return sum(int(np.count_nonzero(data[at : at + _PIECE_BYTES] == _LINE_END)) for at in pieces)


def _last_end(data: NDArray[np.uint8]) -> int:
    """Where the last whole line ends; 0 where none does."""
    for start in range(len(data) - _PIECE_BYTES, -_PIECE_BYTES, -_PIECE_BYTES):
        first = max(start, 0)
        if at := data[first : start + _PIECE_BYTES].tobytes().rfind(b"\n") + 1:
            return first + at
    return 0


def check_utf8(block: Block, path: Path) -> None:
    """Raise UnreadableFile, which names the line, where a block is not UTF-8."""
    offsets = pa.py_buffer(np.array([0, len(block.data)], np.int64))
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(block.data)])
    try:
        text.validate(full=True)  # 4 GB/s; bytes.decode reaches 0.5
    except pa.ArrowInvalid:
        raise _not_utf8(block, path) from None


def _not_utf8(block: Block, path: Path) -> UnreadableFile:
    data = bytes(block.data)
    try:
        data.decode()
        raise AssertionError("valid after all")
    except UnicodeDecodeError as error:
        line = block.first_line + data.count(b"\n", 0, error.start)
        return UnreadableFile(
            f"{path}: line {line} is not UTF-8 (byte 0x{data[error.start]:02x}); "
            'where the file has another encoding, name it: encoding="latin-1"',
            path=path,
            line=line,
        )


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError as error:
        raise BadArgument(f"encoding {encoding!r} is not known to Python", encoding=encoding) from error


class _Part(io.RawIOBase):
    """The next bytes of a file, and no more."""

    def __init__(self, file: io.FileIO, left: int) -> None:
        self._file, self._left = file, left

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        count = self._file.readinto(memoryview(into)[: self._left])
        self._left -= count
        return count


class _Checked(io.RawIOBase):
    """Reads on, telling broken compression and disks with the file's name."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream, self._path = stream, path

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        try:
            return self._stream.readinto(into)  # type: ignore[no-any-return]
        except _BROKEN as error:
            raise UnreadableFile(f"{self._path} is truncated or broken: {error}", path=self._path) from error


class _Recoded(io.RawIOBase):
    """Text of another encoding, as UTF-8."""

    def __init__(self, stream: _Checked, path: Path, encoding: str, errors: str) -> None:
        self._text = io.TextIOWrapper(io.BufferedReader(stream), encoding, errors, newline="")
        self._path, self._encoding = path, encoding
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        if not self._ready:
            try:
                self._ready = self._text.read(1 << 20).encode()
            except UnicodeError as error:
                raise UnreadableFile(
                    f"{self._path} is not {self._encoding}: {error}", path=self._path
                ) from error
        count = min(len(into), len(self._ready))
        into[:count], self._ready = self._ready[:count], self._ready[count:]
        return count
