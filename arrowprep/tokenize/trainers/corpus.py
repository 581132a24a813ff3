"""What a trainer is given to read: texts, lists and columns of them, and files; block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from arrowprep.errors import NotText
from arrowprep.progress import Silent, bar
from arrowprep.tokenize.reference import TEXT_TYPES

TEXTS_AT_ONCE = 1000
BLOCK_BYTES = 4 << 20  # of a column or a file: between two of them Ctrl-C is heard

Block: TypeAlias = "list[str] | pa.Array"


def blocks_of(batches: Iterable[Any], length: int | None = None, show: bool = False) -> Iterator[Block]:
    """The texts of an iterable of texts, or of lists or columns of texts; what is Arrow stays Arrow.

    length: how many elements there are, where the iterable does not know
    show: a bar of how many were read

    Raises NotText, which names the element, for anything else; what the iterable raises comes through.
    """
    total = len(batches) if length is None and isinstance(batches, Sized) else length
    with bar(total, "read texts", unit=" texts") if show else Silent() as progress:
        if (columns := _columns(batches)) is not None:
            for block in chain.from_iterable(map(_slices, columns)):
                yield block
                progress.advance(len(block))
            return
        row = 0
        for some in _together(iter(batches)):
            if set(map(type, some)) <= {str}:
                yield some
            else:
                yield from chain.from_iterable(_blocks_in(batch, row + at) for at, batch in enumerate(some))
            row += len(some)
            progress.advance(len(some))


def lines_of(files: Sequence[str | Path], show: bool = False) -> Iterator[Block]:
    """The lines of text files, each with its end, as columns.

    Raises NotText, which names the file and the line, where one is not UTF-8.
    """
    with bar(None, "read lines", unit=" lines") if show else Silent() as progress:
        for file in files:
            read = 0
            for data in _whole_lines(file):
                lines = _lines(data)
                _check(lines, file, read)
                yield lines
                read += len(lines)
                progress.advance(len(lines))


def _together(elements: Iterator[Any]) -> Iterator[list[Any]]:
    """All of them, many at a time where they are texts, of which a loop would take longer than the kernel."""
    for first in elements:
        yield [first, *islice(elements, TEXTS_AT_ONCE - 1)] if isinstance(first, str) else [first]


def _blocks_in(batch: Any, row: int) -> Iterator[Block]:
    """The texts of one element."""
    if isinstance(batch, str):
        yield [batch]
    elif (columns := _columns(batch)) is not None:
        yield from chain.from_iterable(map(_slices, columns))
    else:
        yield list(_texts_in(batch, row))


def _columns(texts: Any) -> list[pa.Array] | None:
    """A column of texts as its chunks, of offsets and bytes; None for what is none."""
    if hasattr(texts, "__arrow_c_stream__") and not isinstance(texts, pa.ChunkedArray):
        texts = pa.chunked_array(texts)
    if not isinstance(texts, pa.Array | pa.ChunkedArray):
        return None
    if not any(is_text(texts.type) for is_text in TEXT_TYPES):
        raise NotText(f"a trainer reads texts, and this column holds {texts.type}")
    if texts.type not in (pa.string(), pa.large_string()):
        texts = texts.cast(pa.large_string())
    return texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]


def _slices(column: pa.Array) -> Iterator[pa.Array]:
    """Rows of up to BLOCK_BYTES, or one that is longer."""
    kind = np.int64 if column.type == pa.large_string() else np.int32
    buffer = column.buffers()[1]
    offsets = np.frombuffer(buffer or b"", kind)[column.offset :][: len(column) + 1]
    start = 0
    while start < len(column):
        fitting = int(np.searchsorted(offsets, int(offsets[start]) + BLOCK_BYTES, "right")) - 1
        stop = max(fitting, start + 1)
        yield column.slice(start, stop - start)
        start = stop


def _texts_in(batch: Any, row: int) -> Iterator[str]:
    if isinstance(batch, bytes) or not isinstance(batch, Iterable):
        raise NotText(f"a trainer reads texts or lists of texts; {_said(row, batch)}", row=row)
    for text in batch:
        if not isinstance(text, str):
            raise NotText(f"a trainer reads texts or lists of texts; {_said(row, text)}", row=row)
        yield text


def _said(row: int, value: object) -> str:
    return f"element {row} has {type(value).__name__} {str(value)[:40]!r}"


def _whole_lines(file: str | Path) -> Iterator[bytes]:
    """A file in stretches of whole lines of about BLOCK_BYTES."""
    with open(file, "rb") as source:
        rest = b""
        while data := source.read(max(BLOCK_BYTES, len(rest))):  # so that a long line is not copied often
            data = rest + data
            # behind the last \r there may be a \n
            stop = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
            rest = data[stop:]
            if stop:
                yield data[:stop]
        if rest:
            yield rest


def _lines(data: bytes) -> pa.LargeStringArray:
    """Lines that end as Python's do: by \\n, \\r\\n or \\r."""
    numbers = np.frombuffer(data, np.uint8)
    ends = numbers == 10
    if b"\r" in data:
        ends[:-1] |= (numbers[:-1] == 13) & ~ends[1:]
    ends[-1] = True
    offsets = np.concatenate(([0], np.flatnonzero(ends) + 1))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def _check(lines: pa.LargeStringArray, file: str | Path, before: int) -> None:
    """before: how many lines of the file came earlier"""
    try:
        lines.validate(full=True)
    except pa.ArrowInvalid:
        for number, line in enumerate(lines.cast(pa.large_binary()).to_pylist(), before + 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                raise NotText(f"{file}, line {number}: {error}", file=str(file), line=number) from error
