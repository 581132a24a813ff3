"""Which columns of a returned table are those that the function was given: the same memory, not equal values.

So a function that appends a column to its table costs that column alone, in time and on disk.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import pyarrow as pa
import pyarrow.types as pat


def untouched(returned: pa.Table, given: pa.Table, order: Collection[str]) -> frozenset[str]:
    """The columns that were passed through; none where rows changed, or columns do not come in their order.

    order: of all columns before; those that were there come first, in it
    """
    names = returned.column_names
    known = [name for name in order if name in names]
    if returned.num_rows != given.num_rows or names[: len(known)] != known or len(set(names)) < len(names):
        return frozenset()
    before = {name: given.column(at) for at, name in enumerate(given.column_names)}
    return frozenset(
        name
        for at, name in enumerate(names)
        if name in before and _is_same_column(returned.column(at), before[name])
    )


def _is_same_column(a: pa.ChunkedArray, b: pa.ChunkedArray) -> bool:
    if a.type != b.type or a.num_chunks != b.num_chunks:
        return False
    return all(_is_same(a.chunk(at), b.chunk(at)) for at in range(a.num_chunks))


def _is_same(a: pa.Array, b: pa.Array) -> bool:
    """Whether two arrays of one type are the same memory, at every depth. False where that is hard to say."""
    if a.offset != b.offset or len(a) != len(b):
        return False
    kind = a.type
    if _is_flat(kind):
        return _addresses(a.buffers()) == _addresses(b.buffers())
    if isinstance(kind, pa.BaseExtensionType):
        return _is_same(a.storage, b.storage)
    if pat.is_struct(kind):
        return _own_buffers(a) == _own_buffers(b) and all(
            _is_same(a.field(at), b.field(at)) for at in range(kind.num_fields)
        )
    if pat.is_list(kind) or pat.is_large_list(kind) or pat.is_fixed_size_list(kind):
        return _own_buffers(a) == _own_buffers(b) and _is_same(a.values, b.values)
    return False


@lru_cache
def _is_flat(kind: pa.DataType) -> bool:
    """Whether all that arrays of a type hold is in buffers of their own."""
    is_open = kind.num_fields or isinstance(kind, pa.BaseExtensionType) or pat.is_dictionary(kind)
    return not (is_open or pat.is_struct(kind) or str(kind).endswith("_view"))


def _own_buffers(array: pa.Array) -> list[int | None]:
    """Without those of what is inside."""
    return _addresses(array.buffers()[: 1 if array.type.id in _NO_OFFSETS else 2])


def _addresses(buffers: list[pa.Buffer | None]) -> list[int | None]:
    return [None if buffer is None else buffer.address for buffer in buffers]


_NO_OFFSETS = {pa.struct([]).id, pa.list_(pa.null(), 1).id}
