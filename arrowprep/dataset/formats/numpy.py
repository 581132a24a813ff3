"""Rows as NumPy arrays, which share the memory of the mapped file wherever the layouts agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.types as pat
from pyarrow import lib

from arrowprep.dataset.feature_kinds import Json, LargeList, List
from arrowprep.dataset.formats.python import to_list
from arrowprep.dataset.image import Image

Array = np.ndarray[Any, Any]


class NumpyFormat:
    """A batch is a dict of arrays; a row is a dict of scalars and arrays.

    numbers       the stored dtype; read-only views of the file where no value is null. `dtype=` casts them
    null          nan among floats, NaT among times. Among integers and booleans there is no such value, and
                  turning them into floats would alter large ones: the array is of objects then, with None
    text, bytes   objects: an array of fixed width takes n times the longest text, four bytes a character,
                  and loses trailing NULs. A row's text is a np.str_
    lists         of one length: one array of one more dimension, by one reshape; of several lengths, or
                  null: objects, each a view
    structs       objects, each a dict of scalars and arrays
    timestamps    datetime64 of the stored unit, in UTC where they have a zone
    """

    name: ClassVar[str] = "numpy"
    by_column: ClassVar[bool] = True

    def __init__(self, dtype: Any = None) -> None:
        self._dtype = None if dtype is None else np.dtype(dtype)

    def row(self, table: pa.Table, features: Mapping[str, Any]) -> dict[str, Any]:
        row = {name: values[0] for name, values in self.batch(table, features).items()}
        return {name: np.str_(value) if type(value) is str else value for name, value in row.items()}

    def column(self, column: pa.ChunkedArray, feature: Any) -> Array:
        if column.num_chunks == 1:
            return self._array(column.chunk(0), feature)
        chunks = [chunk for chunk in column.chunks if len(chunk)] or [pa.nulls(0, column.type)]
        return _join([self._array(chunk, feature) for chunk in chunks])

    def batch(self, table: pa.Table, features: Mapping[str, Any]) -> dict[str, Array]:
        names = table.column_names
        return {name: self.column(table.column(at), features.get(name)) for at, name in enumerate(names)}

    def gathered(self, numbers: Array) -> Array:
        """A column of numbers that NumPy has gathered already: what `column` would show of these rows."""
        if self._dtype is None:
            return numbers
        if numbers.dtype == object:
            return _objects([row.astype(self._dtype, copy=False) for row in numbers])
        return numbers.astype(self._dtype, copy=False)

    def batches(self, table: pa.Table, features: Mapping[str, Any], size: int) -> Iterator[dict[str, Array]]:
        cuts = {
            name: self.cuts(table.column(at), features.get(name), size)
            for at, name in enumerate(table.column_names)
        }
        for start in range(0, table.num_rows, size):
            yield {name: cut(start) for name, cut in cuts.items()}

    def cuts(self, column: pa.ChunkedArray, feature: Any, size: int) -> Callable[[int], Array]:
        """What makes the batch that begins at a row: from one array if a part of it is as it would be alone.

        So it is where numbers stacked. Objects may be so for rows of another batch: a null, another length.
        """
        if column.type.id in _LISTS and column.num_chunks == 1 and not column.null_count:
            values, offsets = self._elements(column.chunk(0), feature)
            if values.dtype != object and _stacked(values, offsets) is None:
                return _ragged_cuts(values, offsets, size)
        if column.type.id in _LISTS and 1 < column.num_chunks < len(column) / size:
            return self._cuts_by_chunk(column, feature, size)
        if isinstance(feature, Image):  # a batch of pictures at a time is enough
            return lambda start: self.column(column.slice(start, size), feature)
        whole = self.column(column, feature)
        if whole.dtype != object or column.type.id in _TEXT:
            return lambda start: whole[start : start + size]
        return lambda start: self.column(column.slice(start, size), feature)

    def _cuts_by_chunk(self, column: pa.ChunkedArray, feature: Any, size: int) -> Callable[[int], Array]:
        """The same, each batch from the chunk that it lies in; those over an edge are put together."""
        found: dict[int, partial[Array]] = {}
        start = 0
        for chunk in column.chunks:
            first, stop = -(-start // size) * size, start + len(chunk)
            inside = range(first, stop - size + 1, size)
            if inside:
                part = pa.chunked_array([chunk.slice(first - start, len(inside) * size)])
                cut = self.cuts(part, feature, size)
                found |= {at: partial(cut, at - first) for at in inside}
            start = stop
        return lambda at: found[at]() if at in found else self.column(column.slice(at, size), feature)

    def _array(self, array: pa.Array, feature: Any) -> Array:
        """(n, ...) values of one Arrow array."""
        if type(feature) is Json and feature.decode:
            return _objects(to_list(array, feature))
        if type(feature) is Image and feature.decode:
            return _of_one_shape([feature.pixels(value) for value in array.to_pylist()])
        rule = _RULES.get(array.type.id)
        return rule(self, array, feature) if rule else _objects(array.to_pylist())

    def _numbers(self, array: pa.Array, feature: Any) -> Array:
        if array.null_count and not pat.is_floating(array.type):
            numbers = _objects(array.to_pylist())
        else:
            numbers = array.to_numpy(zero_copy_only=False)  # a view where it can be
        if self._dtype is None or (numbers.dtype == object and self._dtype.kind not in "fcO"):
            return numbers  # None is no integer
        return numbers.astype(self._dtype, copy=False)

    def _times(self, array: pa.Array, feature: Any) -> Array:
        numbers = array.view(pa.int64())
        if numbers.null_count:
            numbers = numbers.fill_null(np.iinfo("i8").min)  # which is NaT
        letter = "m" if pat.is_duration(array.type) else "M"
        values: Array = numbers.to_numpy()
        return values.view(f"{letter}8[{array.type.unit}]")

    def _as_arrow_says(self, array: pa.Array, feature: Any) -> Array:
        found: Array = array.to_numpy(zero_copy_only=False)
        return found

    def _stored(self, array: pa.Array, feature: Any) -> Array:
        return self._array(plain_layout(array), feature)

    def _fixed_lists(self, array: pa.Array, feature: Any) -> Array:
        size = array.type.list_size
        values = self._array(
            array.values.slice(array.offset * size, len(array) * size), inner_feature(feature)
        )
        stacked = values.reshape(len(array), size, *values.shape[1:])
        return _objects(_with_nones(list(stacked), array)) if array.null_count else stacked

    def _lists(self, array: pa.Array, feature: Any) -> Array:
        values, offsets = self._elements(array, feature)
        if not array.null_count:
            return _rows_of(values, offsets)
        return _objects(_with_nones(_pieces(values, offsets), array))

    def _elements(self, array: pa.Array, feature: Any) -> tuple[Array, Array]:
        """What is in the n rows of a list array, one after the other, and n + 1 offsets into it."""
        offsets: Array = array.offsets.to_numpy() if len(array) else np.zeros(1, "i4")
        start, stop = int(offsets[0]), int(offsets[-1])
        values = self._array(array.values.slice(start, stop - start), inner_feature(feature))
        return values, offsets - start if start else offsets

    def _structs(self, array: pa.Array, feature: Any) -> Array:
        names = [field.name for field in array.type]
        inner = feature if isinstance(feature, dict) else {}
        fields = [self._array(array.field(at), inner.get(name)) for at, name in enumerate(names)]
        rows = (
            [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)]
            if names
            else [{} for _ in range(len(array))]
        )
        return _objects(_with_nones(rows, array))


_Rule = Callable[[NumpyFormat, pa.Array, Any], Array]


def _same(rule: _Rule, *kinds: str) -> dict[int, _Rule]:
    """One rule for several Arrow types, by number: to ask `is_integer` and so on costs 5 us a column."""
    return {getattr(lib, f"Type_{kind}"): rule for kind in kinds if hasattr(lib, f"Type_{kind}")}


_TEXTS = ["STRING", "LARGE_STRING", "BINARY", "LARGE_BINARY"]
_LISTS = {lib.Type_LIST, lib.Type_LARGE_LIST}
_TEXT = {getattr(lib, f"Type_{kind}") for kind in _TEXTS}
_INTEGERS = [f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
_RULES: dict[int, _Rule] = {
    **_same(NumpyFormat._numbers, *_INTEGERS, "HALF_FLOAT", "FLOAT", "DOUBLE", "BOOL"),
    **_same(NumpyFormat._times, "TIMESTAMP", "DURATION"),
    **_same(NumpyFormat._as_arrow_says, "DATE32", "DATE64", *_TEXTS),
    **_same(NumpyFormat._stored, "DICTIONARY", "STRING_VIEW", "BINARY_VIEW", "EXTENSION"),
    **_same(NumpyFormat._stored, "LIST_VIEW", "LARGE_LIST_VIEW"),
    **_same(NumpyFormat._fixed_lists, "FIXED_SIZE_LIST"),
    **_same(NumpyFormat._lists, "LIST", "LARGE_LIST"),
    **_same(NumpyFormat._structs, "STRUCT"),
}


def plain_layout(array: pa.Array) -> pa.Array:
    """The same values without an extension, a dictionary or views."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return array.storage
    if pat.is_dictionary(kind):
        return array.dictionary_decode()
    if str(kind) in ("string_view", "binary_view"):
        return array.cast(pa.large_string() if str(kind) == "string_view" else pa.large_binary())
    # casting a list view loses rows beside nulls (pyarrow 26)
    return pa.array(array.to_pylist(), pa.large_list(kind.value_field))


def inner_feature(feature: Any) -> Any:
    """The feature of what is in a list; None where nothing more is known."""
    return feature.feature if isinstance(feature, (List, LargeList)) else None


def _rows_of(values: Array, offsets: Array) -> Array:
    """Rows of lists: one array where they have one length, else objects that are views."""
    stacked = _stacked(values, offsets)
    return _objects(_pieces(values, offsets)) if stacked is None else stacked


def _ragged_cuts(values: Array, offsets: Array, size: int) -> Callable[[int], Array]:
    """The same of `size` rows from a row on, where not all have one length: those of a batch may.

    All views are made at once, and the batches to stack found: 7 us a batch of 32, one by one 12.
    """
    starts, lengths = np.arange(0, len(offsets) - 1, size), np.diff(offsets)
    alike = np.maximum.reduceat(lengths, starts) == np.minimum.reduceat(lengths, starts)
    stacked, rows = set(starts[alike].tolist()), _objects(_pieces(values, offsets))
    return lambda start: (
        _rows_of(values, offsets[start : start + size + 1])
        if start in stacked
        else rows[start : start + size]
    )


def _stacked(values: Array, offsets: Array) -> Array | None:
    count = len(offsets) - 1
    start, stop = int(offsets[0]), int(offsets[-1])
    length = int(offsets[1]) - start if count else 0
    if stop - start == length * count and bool((offsets[1:] - offsets[:-1] == length).all()):
        return values[start:stop].reshape(count, length, *values.shape[1:])
    return None


def _pieces(values: Array, offsets: Array) -> list[Any]:
    return [values[start:stop] for start, stop in pairwise(offsets.tolist())]


def _of_one_shape(arrays: list[Any]) -> Array:
    """Arrays as one of one more dimension where they have one shape and type, else as objects."""
    kinds = {(array.shape, array.dtype) if isinstance(array, np.ndarray) else None for array in arrays}
    return np.stack(arrays) if len(kinds) == 1 and None not in kinds else _objects(arrays)


def _with_nones(rows: list[Any], array: pa.Array) -> list[Any]:
    """The same list with None where the array is null."""
    if array.null_count:
        for at in np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)).tolist():
            rows[at] = None
    return rows


def _objects(rows: list[Any]) -> Array:
    """(n,) objects; by an iterator, for NumPy would stack equal ones."""
    return np.fromiter(rows, object, len(rows))


def _join(parts: list[Array]) -> Array:
    """The arrays of some chunks as that of one."""
    if len(parts) == 1:
        return parts[0]
    if len({part.shape[1:] for part in parts}) > 1:  # stacked each, but not to one shape
        return _objects([row for part in parts for row in part])
    if any(part.dtype == object for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)
