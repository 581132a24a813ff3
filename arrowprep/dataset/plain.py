"""Arrow arrays of plain Python values and of NumPy numbers, by their buffers.

pyarrow's own `pa.array` and `to_numpy` load pandas when they first see a value (0.2 s, and again
in every worker process), only to know whether the value is one of its. What these functions
make is what pyarrow makes; what they do not know they leave to it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_OFFSET_LIMIT = 2**31


def plain_array(values: list[Any]) -> pa.Array | None:
    """What `pa.array(values)` gives for int, float, bool, str, lists of them, and None.

    None where there is another type, or more than one.
    """
    kinds = set(map(type, values))
    valid = None
    if type(None) in kinds:
        kinds.discard(type(None))
        if not kinds:
            return pa.nulls(len(values))
        valid = np.fromiter((value is not None for value in values), bool, len(values))
    if not kinds:
        return pa.nulls(0)
    make = _MAKERS.get(kinds.pop()) if len(kinds) == 1 else None
    return None if make is None else make(values, valid)


def int64_array(numbers: npt.NDArray[np.int64]) -> pa.Array:
    """(n,) int64 over the same memory."""
    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, data])


def uint64_numbers(column: pa.Array) -> npt.NDArray[np.uint64]:
    """The numbers of a uint64 array without nulls: a view of its buffer."""
    numbers = np.frombuffer(column.buffers()[1], np.uint64, column.offset + len(column))
    return numbers[column.offset :]


def valid_flags(array: pa.Array) -> npt.NDArray[np.bool_]:
    """(n,) which rows are not null, as the array's own bitmap says."""
    if not array.null_count:
        return np.ones(len(array), bool)
    bitmap = array.buffers()[0]
    return np.zeros(len(array), bool) if bitmap is None else _bits(bitmap, array.offset, len(array))


def bool_flags(array: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """(n,) the values; anything where one is null."""
    return _bits(array.buffers()[1], array.offset, len(array))


def _bits(bitmap: pa.Buffer, offset: int, count: int) -> npt.NDArray[np.bool_]:
    packed = np.frombuffer(bitmap, np.uint8, -(-(offset % 8 + count) // 8), offset // 8)
    return np.unpackbits(packed, bitorder="little")[offset % 8 : offset % 8 + count].view(bool)


def _numbers(
    kind: pa.DataType, code: str, values: Sequence[float], valid: npt.NDArray[np.bool_] | None
) -> pa.Array:
    """By `struct`, which takes half the time of `np.array`. code: of the type, as `struct` knows it"""
    packed = struct.pack(f"{len(values)}{code}", *values)
    return pa.Array.from_buffers(kind, len(values), [_bitmap(valid), pa.py_buffer(packed)])


def _filled(values: list[Any], valid: npt.NDArray[np.bool_] | None, absent: Any) -> list[Any]:
    """The values with `absent` where there is None."""
    return values if valid is None else [absent if value is None else value for value in values]


def _bitmap(flags: npt.NDArray[np.bool_] | None) -> pa.Buffer | None:
    return None if flags is None else pa.py_buffer(np.packbits(flags, bitorder="little"))


def _ints(values: list[int | None], valid: npt.NDArray[np.bool_] | None) -> pa.Array | None:
    try:
        return _numbers(pa.int64(), "q", _filled(values, valid, 0), valid)
    except struct.error:  # of more than 64 bits
        return None


def _floats(values: list[float | None], valid: npt.NDArray[np.bool_] | None) -> pa.Array:
    return _numbers(pa.float64(), "d", _filled(values, valid, 0.0), valid)


def _bools(values: list[bool | None], valid: npt.NDArray[np.bool_] | None) -> pa.Array:
    flags = np.frombuffer(bytes(_filled(values, valid, False)), np.bool_)
    return pa.Array.from_buffers(pa.bool_(), len(values), [_bitmap(valid), _bitmap(flags)])


def _texts(values: list[str | None], valid: npt.NDArray[np.bool_] | None) -> pa.Array | None:
    given: list[str] = _filled(values, valid, "")
    joined = "".join(given)
    try:
        data = joined.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return None
    lengths = map(len, given) if len(data) == len(joined) else (len(text.encode()) for text in given)
    offsets = _offsets(np.fromiter(lengths, np.int64, len(given)))
    if offsets is None:
        return None
    return pa.Array.from_buffers(pa.string(), len(given), [_bitmap(valid), offsets, pa.py_buffer(data)])


def _lists(values: list[list[Any] | None], valid: npt.NDArray[np.bool_] | None) -> pa.Array | None:
    given: list[list[Any]] = _filled(values, valid, [])
    inner = plain_array(list(chain.from_iterable(given)))
    lengths = np.fromiter(map(len, given), np.int64, len(given))
    offsets = _offsets(lengths)
    if inner is None or offsets is None:
        return None
    kind = pa.list_(inner.type)
    return pa.Array.from_buffers(kind, len(values), [_bitmap(valid), offsets], children=[inner])


def _offsets(lengths: npt.NDArray[np.int64]) -> pa.Buffer | None:
    """(n + 1,) int32 edges; None where 32 bits do not hold them."""
    edges = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=edges[1:])
    return None if edges[-1] >= _OFFSET_LIMIT else pa.py_buffer(edges.astype(np.int32))


_MAKERS: dict[type, Any] = {int: _ints, float: _floats, bool: _bools, str: _texts, list: _lists}
