"""Rows of unequal length on flat values: shown as lists, stacked as NumPy, padded, and zipped into spans.

A batch of n rows is an Arrow list array. Everything here works on its flat
values and row lengths, so that no cost is paid per id in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.errors import BadArgument

Ints = npt.NDArray[np.int64]

SPAN = pa.list_(pa.int32(), 2)


def row_lengths(rows: pa.ListArray) -> npt.NDArray[np.int64]:
    """(n,) how long each row is; 0 where it is null."""
    # not value_lengths().fill_null(0): 10 µs instead of 46, which a call with one text would notice
    lengths = np.diff(row_edges(rows)).astype(np.int64)
    if rows.null_count:
        lengths[rows.is_null().to_numpy(zero_copy_only=False)] = 0
    return lengths


def row_edges(rows: pa.ListArray) -> npt.NDArray[np.integer[Any]]:
    """(n + 1,) where in `rows.values` each row begins and the last one ends: a view.

    By the buffer: `to_numpy` loads pandas the first time, 0.2 s in every process of a map.
    """
    kind: Any = np.int64 if pa.types.is_large_list(rows.type) else np.int32
    buffer = rows.buffers()[1]
    if not len(rows) and (buffer is None or not buffer.size):
        return np.zeros(1, kind)
    return np.frombuffer(buffer, kind, len(rows) + 1, rows.offset * kind().itemsize)


def from_flat(values: pa.Array | npt.NDArray[Any], lengths: npt.NDArray[np.integer[Any]]) -> pa.ListArray:
    """The rows whose lengths are given, cut one after the other from `values`."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


def positions(begins: npt.NDArray[np.integer[Any]], lengths: npt.NDArray[np.integer[Any]]) -> Ints:
    """Where the values of rows stand in a flat array, one row after the other.

    >>> positions(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    stops = np.cumsum(lengths)
    return np.repeat(begins - (stops - lengths), lengths) + np.arange(stops[-1] if len(stops) else 0)


def alongside(rows: pa.ListArray, values: pa.Array | npt.NDArray[Any]) -> pa.ListArray:
    """Other values, as many as `rows` has, in rows of its lengths; null where it is. Shares its offsets."""
    if not isinstance(values, pa.Array):
        kind = pa.from_numpy_dtype(values.dtype)
        values = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
    kind = pa.list_(values.type)
    return pa.Array.from_buffers(
        kind, len(rows), rows.buffers()[:2], rows.null_count, rows.offset, children=[values]
    )


def from_numpy(stacked: npt.NDArray[Any]) -> pa.Array:
    """An array of one or more dimensions as Arrow; all but the first become lists of fixed content."""
    if stacked.ndim <= 1:
        return pa.array(stacked)
    rows, length = stacked.shape[:2]
    if stacked.ndim == 3 and stacked.shape[2] == 2:
        values = pa.FixedSizeListArray.from_arrays(pa.array(stacked.reshape(-1)), 2)
        return from_flat(values, np.full(rows, length))
    inner = from_numpy(stacked.reshape(rows * length, *stacked.shape[2:]))
    return from_flat(inner, np.full(rows, length))


def to_python(column: pa.Array) -> list[Any]:
    """Python values of a column: numbers, lists of them, or lists of (start, end) tuples; None where null."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_list(column.type) and column.type.value_type == SPAN:
        return [row if row is None else list(map(tuple, row)) for row in values]
    return values


def to_numpy(column: pa.Array) -> npt.NDArray[Any]:
    """A column as one array: (n,), (n, length), or (n, length, 2) for spans; integers as int64, in one copy.

    Rows of unequal length are an object array (n,) of arrays, views of that one copy.
    Raises BadArgument when a row is null.
    """
    if column.null_count:
        raise BadArgument(f"{column.null_count} of {len(column)} rows are null")
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        lengths = row_lengths(column)
        flat = to_numpy(column.flatten())
        if len(set(lengths.tolist())) > 1:
            rows = np.empty(len(column), dtype=object)
            rows[:] = np.split(flat, np.cumsum(lengths)[:-1])
            return rows
        length = int(lengths[0]) if len(lengths) else 0
        return flat.reshape(len(column), length, *flat.shape[1:])
    if pa.types.is_fixed_size_list(column.type):
        flat = to_numpy(column.flatten())
        return flat.reshape(len(column), column.type.list_size, *flat.shape[1:])
    values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values.astype(np.int64) if values.dtype.kind in "iu" else values


def zip_spans(starts: pa.ListArray, ends: pa.ListArray) -> pa.ListArray:
    """(n,) lists of (start, end) from a list of starts and one of ends; null where they are."""
    pairs = np.stack([starts.flatten().to_numpy(), ends.flatten().to_numpy()], axis=1).astype(np.int32)
    spans = from_flat(pa.FixedSizeListArray.from_arrays(pa.array(pairs.reshape(-1)), 2), row_lengths(starts))
    return with_nulls_of(spans, starts)


def with_nulls_of(rows: pa.ListArray, model: pa.Array) -> pa.ListArray:
    """`rows`, null wherever `model` is."""
    if not model.null_count:
        return rows
    mask = pa.array(model.is_null().to_numpy(zero_copy_only=False))
    return pa.ListArray.from_arrays(rows.offsets, rows.values, mask=mask)


def pad_rows(rows: pa.ListArray, length: int, fill: int, side: str) -> pa.ListArray:
    """Every row made at least `length` long by `fill` on `side`; longer rows stay as they are.

    >>> pad_rows(pa.array([[1, 2], [3]]), 3, 0, "left").to_pylist()
    [[0, 1, 2], [0, 0, 3]]
    """
    before = row_lengths(rows)
    after = np.maximum(before, length)
    values = rows.flatten().to_numpy()
    padded = np.full(int(after.sum()), fill, dtype=values.dtype)
    # a row's values keep their order, so where they go differs from where they were by one number a row
    if side == "right":
        shift = (np.cumsum(after) - after) - (np.cumsum(before) - before)
    else:
        shift = np.cumsum(after) - np.cumsum(before)
    padded[np.arange(len(values)) + np.repeat(shift, before)] = values
    return from_flat(padded, after)
