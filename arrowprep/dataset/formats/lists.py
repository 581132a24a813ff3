"""Python lists from Arrow arrays, by whole columns.

`to_pylist` makes a scalar object for each element; this converts the flat values of a column at once and
cuts them into rows, 5 to 20 times faster for numbers, text, and lists and structs of them.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset.feature_kinds import Json, LargeList, List


def to_list(array: pa.Array | pa.ChunkedArray, feature: Any = None) -> list[Any]:
    """The rows as Python objects, null as None; Json text is decoded where `feature` says so."""
    if isinstance(array, pa.ChunkedArray):
        if array.num_chunks == 1:
            return _rows(array.chunk(0), feature)
        return [row for chunk in array.chunks for row in _rows(chunk, feature)]
    return _rows(array, feature)


def _rows(array: pa.Array, feature: Any) -> list[Any]:
    array = storage(array)
    kind = array.type
    if isinstance(feature, Json) and feature.decode:
        return [None if text is None else json.loads(text) for text in _text(array)]
    if pat.is_integer(kind) or pat.is_floating(kind) or pat.is_boolean(kind):
        return _numbers(array)
    if is_text(kind):
        return _text(array)
    if pat.is_struct(kind):
        return _structs(array, feature)
    if is_list(kind):
        flat, offsets = list_parts(array)
        values, bounds = _rows(flat, element_feature(feature)), offsets.tolist()
        rows = [values[start:stop] for start, stop in pairwise(bounds)]
        return with_nones(rows, array)
    found: list[Any] = array.to_pylist()
    return found


def storage(array: pa.Array) -> pa.Array:
    """The plain array behind an extension, a dictionary, runs, or views of text and lists."""
    while isinstance(array, pa.ExtensionArray):
        array = array.storage
    kind = array.type
    if pat.is_dictionary(kind):
        return storage(array.dictionary_decode())
    if pat.is_run_end_encoded(kind):
        return storage(pa.compute.run_end_decode(array))
    if is_view(kind):
        return array.cast(pa.large_string() if str(kind) == "string_view" else pa.large_binary())
    if str(kind).startswith(("list_view", "large_list_view")):
        return array.cast(pa.large_list(kind.value_field))
    return array


def is_view(kind: pa.DataType) -> bool:
    """Whether this is the view layout of text or bytes."""
    return str(kind) in ("string_view", "binary_view")


def is_text(kind: pa.DataType) -> bool:
    """Whether this is text or bytes of any layout but views."""
    return bool(
        pat.is_string(kind) or pat.is_large_string(kind) or pat.is_binary(kind) or pat.is_large_binary(kind)
    )


def is_list(kind: pa.DataType) -> bool:
    """Whether rows are lists, of one length or not; a map is not meant."""
    return bool(pat.is_list(kind) or pat.is_large_list(kind) or pat.is_fixed_size_list(kind))


def element_feature(feature: Any) -> Any:
    """The feature of what is in a list; None where nothing more is known."""
    return feature.feature if isinstance(feature, (List, LargeList)) else None


def field_feature(feature: Any, name: str) -> Any:
    """The feature of a struct's field; None where nothing more is known."""
    return feature.get(name) if isinstance(feature, dict) else None


def list_parts(array: pa.Array) -> tuple[pa.Array, np.ndarray[Any, Any]]:
    """The elements of all rows of a list array in one array, and (n + 1,) int64 offsets into it.

    What lies under a null row is in the elements too.
    """
    if pat.is_fixed_size_list(array.type):
        size = array.type.list_size
        flat = array.values.slice(array.offset * size, len(array) * size)
        return flat, np.arange(len(array) + 1, dtype="i8") * size
    if not len(array):
        return array.values.slice(0, 0), np.zeros(1, "i8")
    offsets = array.offsets.to_numpy()
    start = int(offsets[0])
    return array.values.slice(start, int(offsets[-1]) - start), offsets.astype("i8") - start


def with_nones(rows: list[Any], array: pa.Array) -> list[Any]:
    """The same list with None where the array is null."""
    if array.null_count:
        for at in np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)).tolist():
            rows[at] = None
    return rows


def _numbers(array: pa.Array) -> list[Any]:
    if array.null_count:
        zero = False if pat.is_boolean(array.type) else pa.scalar(0).cast(array.type)
        return with_nones(array.fill_null(zero).to_numpy(zero_copy_only=False).tolist(), array)
    found: list[Any] = array.to_numpy(zero_copy_only=False).tolist()
    return found


def _text(array: pa.Array) -> list[Any]:
    found: list[Any] = array.to_numpy(zero_copy_only=False).tolist()
    return found


def _structs(array: pa.Array, feature: Any) -> list[Any]:
    names = [field.name for field in array.type]
    if not names:
        return with_nones([{} for _ in range(len(array))], array)
    fields = [_rows(array.field(at), field_feature(feature, name)) for at, name in enumerate(names)]
    return with_nones([dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)], array)
