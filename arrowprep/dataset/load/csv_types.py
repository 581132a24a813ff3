"""The type that text fields are written in: numbers, true and false, or text.

A number is what is spelled as one and can be spelled again the same way: "007",
"+49 30" and "nan" are text, "12345678901234567890123" keeps its digits.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset.compute import pc
from arrowprep.dataset.load import natural
from arrowprep.errors import ArrowprepWarning

_TRUE, _FALSE = ["true", "True", "TRUE"], ["false", "False", "FALSE"]
_FRACTION = r"^[+-]?(0|[1-9]\d*)?\.\d*([eE][+-]?\d+)?$|^[+-]?(0|[1-9]\d*)[eE][+-]?\d+$|^-?(0|[1-9]\d*)$"
_INTEGER = r"^-?(0|[1-9]\d*)$"
_LOOK_AT = 1000  # rows of numbers after which a word is a surprise


def narrowed(column: pa.Array) -> pa.Array:
    """A text column in the narrowest natural type that all its values are written in.

    >>> narrowed(pa.array(["1", "2.5", None])).type, narrowed(pa.array(["007"])).type
    (DataType(double), DataType(string))
    """
    first = next((value.as_py().strip() for value in column if value.is_valid), None)
    if first is None:
        return pa.nulls(len(column))
    found = None
    if re.match(_FRACTION, first):  # a cast that fails tries all values, and fails slowly
        trimmed = pc.utf8_trim_whitespace(column)
        may_be_whole = re.match(_INTEGER, first) is not None
        if may_be_whole and not pc.any(pc.match_substring(trimmed, ".")).as_py():
            found = _as_integers(trimmed)
        found = _as_floats(trimmed, may_be_whole) if found is None else found
    elif first in _TRUE or first in _FALSE:
        found = _as_booleans(column)
    return column if found is None else found


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array | None:
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return None


def _as_integers(column: pa.Array) -> pa.Array | None:
    numbers = _cast(column, pa.int64())
    return numbers if numbers is not None and numbers.cast(pa.string()).equals(column) else None


def _as_floats(column: pa.Array, may_be_whole: bool) -> pa.Array | None:
    numbers = _cast(column, pa.float64())
    if numbers is None or not _all(pc.is_finite(numbers)):  # infinite: more digits than a float can hold
        return None
    if not _all(pc.match_substring_regex(column, _FRACTION)):
        return None
    if may_be_whole and _all(pc.match_substring_regex(column, _INTEGER)):
        large = _cast(column, pa.uint64())
        return _cast(column, natural.BIG) if large is None else large
    return numbers


def _as_booleans(column: pa.Array) -> pa.Array | None:
    if not _all(pc.is_in(column, pa.array([*_TRUE, *_FALSE, None]))):
        return None
    return pc.if_else(pc.is_valid(column), pc.is_in(column, pa.array(_TRUE)), pa.scalar(None, pa.bool_()))


def _all(mask: pa.Array) -> bool:
    return pc.all(mask).as_py() is not False


class LateText:
    """Tells of a column that looked like numbers for many rows, until a word made it text.

    known: columns that are meant to be text
    """

    def __init__(self, path: Path, known: Collection[str]) -> None:
        self._path = path
        self._done = set(known)
        self._before: dict[str, pa.DataType] = {}
        self._row = 0

    def look(self, fields: pa.RecordBatch, columns: dict[str, pa.Array]) -> None:
        """See the next rows, as they were written and as they were taken."""
        for (name, taken), written in zip(columns.items(), fields.columns, strict=True):
            if name in self._done or pat.is_null(taken.type):
                continue
            if not pat.is_string(taken.type):
                self._before[name] = taken.type
                continue
            self._done.add(name)
            before = self._before.get(name) or narrowed(written[:_LOOK_AT]).type
            if len(written) > _LOOK_AT and not pat.is_string(before) and not pat.is_null(before):
                self._warn(name, written, before)
        self._row += fields.num_rows

    def _warn(self, name: str, written: pa.Array, before: pa.DataType) -> None:
        row = _first_text(written)
        word = written[row].as_py()
        warnings.warn(
            f"{self._path}: column {name!r} is text because row {self._row + row} holds {word!r}, "
            f"where the rows before are {before}; features= with a type for {name!r} says what is meant",
            ArrowprepWarning,
            stacklevel=2,
        )


def _first_text(column: pa.Array) -> int:
    """The first row with which the rows so far are text."""
    low, high = 0, len(column)
    while low < high:
        middle = (low + high) // 2
        if narrowed(column.slice(0, middle + 1)).type == pa.string():
            high = middle
        else:
            low = middle + 1
    return low
