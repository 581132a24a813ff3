"""Rows as NumPy arrays, which share the memory of the mapped file wherever the layouts agree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset.feature_kinds import Json
from arrowprep.dataset.formats.lists import (
    element_feature,
    field_feature,
    is_list,
    is_text,
    list_parts,
    storage,
    to_list,
    with_nones,
)

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
        chunks = [chunk for chunk in column.chunks if len(chunk)] or [pa.nulls(0, column.type)]
        return _join([self._array(chunk, feature) for chunk in chunks])

    def batch(self, table: pa.Table, features: Mapping[str, Any]) -> dict[str, Array]:
        names = table.column_names
        return {name: self.column(table.column(at), features.get(name)) for at, name in enumerate(names)}

    def _array(self, array: pa.Array, feature: Any) -> Array:
        """(n, ...) values of one Arrow array."""
        array = storage(array)
        kind = array.type
        if isinstance(feature, Json) and feature.decode:
            return _objects(to_list(array, feature))
        if pat.is_integer(kind) or pat.is_floating(kind) or pat.is_boolean(kind):
            return self._cast(_numbers(array))
        if pat.is_timestamp(kind) or pat.is_duration(kind):
            return _times(array)
        if pat.is_date(kind) or is_text(kind):
            found: Array = array.to_numpy(zero_copy_only=False)
            return found
        if is_list(kind):
            return self._lists(array, feature)
        if pat.is_struct(kind):
            return self._structs(array, feature)
        return _objects(array.to_pylist())

    def _cast(self, numbers: Array) -> Array:
        if self._dtype is None or (numbers.dtype == object and self._dtype.kind not in "fcO"):
            return numbers  # None is no integer
        return numbers.astype(self._dtype, copy=False)

    def _lists(self, array: pa.Array, feature: Any) -> Array:
        flat, offsets = list_parts(array)
        values = self._array(flat, element_feature(feature))
        length = _one_length(array, offsets)
        if length is not None:
            return values.reshape(len(array), length, *values.shape[1:])
        bounds = offsets.tolist()
        rows = [values[start:stop] for start, stop in pairwise(bounds)]
        return _objects(with_nones(rows, array))

    def _structs(self, array: pa.Array, feature: Any) -> Array:
        names = [field.name for field in array.type]
        fields = [self._array(array.field(at), field_feature(feature, name)) for at, name in enumerate(names)]
        rows = [
            {name: values[at] for name, values in zip(names, fields, strict=True)} for at in range(len(array))
        ]
        return _objects(with_nones(rows, array))


def _numbers(array: pa.Array) -> Array:
    if array.null_count and not pat.is_floating(array.type):
        return _objects(to_list(array))
    found: Array = array.to_numpy(zero_copy_only=False)  # a view where it can be
    return found


def _times(array: pa.Array) -> Array:
    letter = "m" if pat.is_duration(array.type) else "M"
    numbers = array.view(pa.int64())
    if numbers.null_count:
        numbers = numbers.fill_null(np.iinfo("i8").min)  # which is NaT
    values: Array = numbers.to_numpy()
    return values.view(f"{letter}8[{array.type.unit}]")


def _one_length(array: pa.Array, offsets: Array) -> int | None:
    """How long each row is; None where they differ or one is null."""
    if array.null_count:
        return None
    if pat.is_fixed_size_list(array.type):
        return int(array.type.list_size)
    lengths = np.diff(offsets)
    if not len(lengths):
        return 0
    return int(lengths[0]) if bool((lengths == lengths[0]).all()) else None


def _objects(rows: list[Any]) -> Array:
    """(n,) objects; one by one, for NumPy would stack equal ones."""
    found = np.empty(len(rows), object)
    for at, row in enumerate(rows):
        found[at] = row
    return found


def _join(parts: list[Array]) -> Array:
    """The arrays of some chunks as that of one."""
    if len(parts) == 1:
        return parts[0]
    if len({part.shape[1:] for part in parts}) > 1:  # stacked each, but not to one shape
        return _objects([row for part in parts for row in part])
    if any(part.dtype == object for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)
