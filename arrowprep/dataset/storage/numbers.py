"""Rows of number columns, gathered by NumPy from where they lie: no Arrow table in between.

32 random rows of 128 integers take 15 us this way; by Arrow's take, and then shown, 300.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import lib

from arrowprep.dataset.indices import RowArray, Rows, Span

Array = np.ndarray[Any, Any]

_INTEGERS = {f"{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
_FLOATS = {"HALF_FLOAT": "float16", "FLOAT": "float32", "DOUBLE": "float64"}
_KINDS = {getattr(lib, f"Type_{name}"): np.dtype(dtype) for name, dtype in {**_INTEGERS, **_FLOATS}.items()}
_FEW = 8  # rows a piece, where to copy one by one costs less than to look for those of each piece
_OFFSETS: dict[int, np.dtype[Any]] = {lib.Type_LIST: np.dtype("i4"), lib.Type_LARGE_LIST: np.dtype("i8")}


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numbers, or lists of them, of one record batch, none of which is null.

    values: what is in the rows, a view of the buffer
    offsets: (n + 1,) edges of the rows in values; None where row i is values[i]
    """

    values: Array
    offsets: Array | None = None

    @classmethod
    def of(cls, array: pa.Array) -> Numbers | None:
        """None for nulls and for what is no number."""
        width = _OFFSETS.get(array.type.id)
        if width is None:
            values = _flat(array)
            return None if values is None else cls(values)
        values = None if array.null_count or not len(array) else _flat(array.values)
        if values is None:
            return None
        offsets = np.frombuffer(array.buffers()[1], width, len(array) + 1, array.offset * width.itemsize)
        lengths = np.diff(offsets)
        first, length = int(offsets[0]), int(lengths[0])
        if (lengths == length).all():
            return cls(
                values[first : first + length * len(array)].reshape(len(array), length, *values.shape[1:])
            )
        return cls(values, offsets)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Of each row; None where their lengths differ."""
        return self.values.shape[1:] if self.offsets is None else None

    def row(self, place: int) -> Array:
        if self.offsets is None:
            found: Array = self.values[place]
            return found
        return self.values[self.offsets[place] : self.offsets[place + 1]]


def _flat(array: pa.Array) -> Array | None:
    """(n, ...) the numbers of an array whose rows all have one shape."""
    kind = array.type
    if kind.id == lib.Type_FIXED_SIZE_LIST:
        values = None if array.null_count else _flat(array.values)
        if values is None:
            return None
        size, start = kind.list_size, array.offset
        rows = values[start * size : (start + len(array)) * size]
        return rows.reshape(len(array), size, *values.shape[1:])
    dtype = _KINDS.get(kind.id)
    if dtype is None or array.null_count:
        return None
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype, len(array), array.offset * dtype.itemsize)


class NumberColumn:
    """A column over record batches; looks at each when a row of it is asked for first."""

    def __init__(self, arrays: Sequence[pa.Array], stops: Sequence[int]) -> None:
        self._arrays = arrays
        self._stops = np.asarray(stops)
        self._starts = np.concatenate(([0], self._stops[:-1])) if len(stops) else self._stops
        self._known: list[Numbers | bool | None] = [False] * len(arrays)  # False: not looked at

    def take(self, rows: Rows) -> Array | None:
        """(n, ...) these rows as one array, or as objects where lengths differ; neighbours are not copied.

        None where a row lies beside a null, or is no number.
        """
        return self._neighbours(rows) if isinstance(rows, Span) else self._scattered(rows.numbers)

    def _neighbours(self, span: Span) -> Array | None:
        """Those in one batch, of one shape; other layouts know the rest better."""
        piece = int(np.searchsorted(self._stops, span.start, side="right"))
        if not len(span) or span.stop > self._stops[piece]:
            return None
        known, first = self._numbers(piece), int(self._starts[piece])
        if known is None or known.offsets is not None:
            return None
        found: Array = known.values[span.start - first : span.stop - first]
        return found

    def _scattered(self, numbers: RowArray) -> Array | None:
        pieces = np.searchsorted(self._stops, numbers, side="right")
        known = {piece: self._numbers(piece) for piece in set(pieces.tolist())}
        if None in known.values() or not known:
            return None
        places = numbers - self._starts[pieces]
        shapes = {it.shape for it in known.values()}
        if len(shapes) == 1 and None not in shapes:
            return _of_one_shape(known, pieces, places)
        rows = [
            known[piece].row(place) for piece, place in zip(pieces.tolist(), places.tolist(), strict=True)
        ]
        return joined(rows)

    def _numbers(self, piece: int) -> Any:
        found = self._known[piece]
        if found is False:
            found = self._known[piece] = Numbers.of(self._arrays[piece])
        return found


def _of_one_shape(known: Mapping[int, Numbers], pieces: RowArray, places: RowArray) -> Array:
    """(n, ...) rows of pieces that are each one array."""
    if len(known) == 1:
        [only] = known.values()
        return only.values[places]
    some = next(iter(known.values())).values
    found = np.empty((len(places), *some.shape[1:]), some.dtype)
    if len(places) < _FEW * len(known):
        for at, (piece, place) in enumerate(zip(pieces.tolist(), places.tolist(), strict=True)):
            found[at] = known[piece].values[place]
        return found
    for piece, it in known.items():
        here = pieces == piece
        found[here] = it.values[places[here]]
    return found


def joined(rows: list[Array]) -> Array:
    """(n, ...) rows as one array where they have one length, else as objects."""
    lengths = set(map(len, rows))
    if len(lengths) == 1:
        return np.concatenate(rows).reshape(len(rows), *rows[0].shape)
    return np.fromiter(rows, object, len(rows))
