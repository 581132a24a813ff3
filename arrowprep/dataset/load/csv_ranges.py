"""A large CSV file in ranges of bytes: where a line end is the end of a row, and not part of a quoted field.

A line end is inside of quotes after an odd number of them; so ranges are cut by counting. That is true only
where quotes stand around fields, and are doubled within them. Each range is therefore looked through before
it is read: where a quote stands elsewhere, or one is left open, one process reads the file.
"""

from __future__ import annotations

import codecs
import csv as python_csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arrowprep.dataset.load import csv
from arrowprep.dataset.load.sources import line_starts, opened_range
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.load.suffixes import is_compressed
from arrowprep.errors import UnreadableFile

Bytes: TypeAlias = NDArray[np.uint8]

_MOST_SKIPPED = 100  # lines before the rows, which the first range must hold
_BLOCK = 4 << 20
_LINE_ENDS = b"\r\n"


def cuts(path: Path, spec: ReadSpec, count: int) -> list[int]:
    """Where rows begin that part a file into about `count` ranges; none where that cannot be told."""
    if not _can_be_cut(path, spec.options):
        return []
    quote = _quote(spec.options)
    if quote is None:
        return line_starts(path, count)
    size = path.stat().st_size
    starts = {0, size}
    quotes = 0
    with path.open("rb") as file:
        for number in range(1, count):
            place = size * number // count
            quotes += _count(file, quote, place - file.tell())
            ahead = file.read(_BLOCK)
            file.seek(place)
            at = _row_end(np.frombuffer(ahead, np.uint8), quote, quotes % 2)
            if at is not None:
                starts.add(place + at + 1)
    return sorted(starts)


def read_range(path: Path, spec: ReadSpec, start: int, stop: int) -> Iterator[pa.Table]:
    """As `csv.read`, of the rows in these bytes alone. Raises UnreadableFile where they are not whole."""
    quote = _quote(spec.options)
    if quote is not None and not _has_whole_rows(path, start, stop, quote, _separator(spec.options)):
        raise UnreadableFile(f"{path}: bytes {start}..{stop} do not hold whole rows", path=path)
    if start:
        names = csv.names_in(path, spec.options)
        spec = replace(spec, options={**spec.options, "names": names, "header": None, "skiprows": 0})
    with opened_range(path, start, stop) as stream:
        yield from csv.tables(stream, path, spec)


def _can_be_cut(path: Path, options: Mapping[str, Any]) -> bool:
    dialect = csv.dialect_of(options)
    header = options.get("header", "infer")
    skipped = [options.get("skiprows") or 0, header if isinstance(header, int) else 0]
    return not (
        is_compressed(path)
        or (options.get("encoding") or "utf-8").lower() not in ("utf-8", "utf8")
        or (options.get("encoding_errors") or "strict") != "strict"
        or dialect["escapechar"]
        or not dialect["doublequote"]
        or len(str(dialect["quotechar"]).encode()) != 1
        or not all(isinstance(lines, int) and lines <= _MOST_SKIPPED for lines in skipped)
    )


def _quote(options: Mapping[str, Any]) -> int | None:
    """The byte of a quote; None where there are none."""
    dialect = csv.dialect_of(options)
    return None if dialect["quoting"] == python_csv.QUOTE_NONE else ord(dialect["quotechar"])


def _separator(options: Mapping[str, Any]) -> int:
    return ord(csv.dialect_of(options)["delimiter"])


def _count(file: IO[bytes], byte: int, left: int) -> int:
    """How often a byte is in the next ones, which are read."""
    found = 0
    while left > 0 and (data := file.read(min(left, _BLOCK))):
        found += data.count(byte)
        left -= len(data)
    return found


def _row_end(data: Bytes, quote: int, inside: int) -> int | None:
    """The place of the first line end that no quotes are around. inside: 1 where data begins within them."""
    ends = np.flatnonzero(data == _LINE_ENDS[1])
    before = np.searchsorted(np.flatnonzero(data == quote), ends)
    outside = ends[(before + inside) % 2 == 0]
    return int(outside[0]) if len(outside) else None


def _has_whole_rows(path: Path, start: int, stop: int, quote: int, separator: int) -> bool:
    """Whether all quotes stand around fields or are doubled in them, and none is open at the end.

    The first of the bytes begins a row, so by this the next range's does.
    """
    data = np.memmap(path, np.uint8, "r", start, stop - start)
    around = np.array([quote, separator, *_LINE_ENDS], np.uint8)
    text_start = 3 if start == 0 and data[:3].tobytes() == codecs.BOM_UTF8 else 0
    seen = 0
    for first in range(0, len(data), _BLOCK):
        places = np.flatnonzero(data[first : first + _BLOCK] == quote) + first
        opening, closing = places[seen % 2 :: 2], places[1 - seen % 2 :: 2]
        before = data[opening[opening > text_start] - 1]
        after = data[closing[closing < len(data) - 1] + 1]
        if not (np.isin(before, around).all() and np.isin(after, around).all()):
            return False
        seen += len(places)
    return seen % 2 == 0
