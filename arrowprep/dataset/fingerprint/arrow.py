"""Names of Arrow data by what they hold: however chunked, sliced or offset, and whatever lies under a null.

A column is hashed as a few runs of bytes, each fed chunk after chunk: which rows are there, how long
each one is, and the values. So two chunks of one row and one chunk of two give the same runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from arrowprep.dataset.compute import pc
from arrowprep.dataset.fingerprint.digest import digest, digest_plain
from arrowprep.dataset.fingerprint.namer import Namer, Rule
from arrowprep.dataset.plain import bool_flags, valid_flags

_ROWS_AT_ONCE = 1 << 18  # bounds the copies that masked values need


def rule_for(base: type) -> Rule | None:
    """The rule for a pyarrow class; None for those that `__reduce_ex__` describes well enough."""
    for kind, found in _RULES:
        if issubclass(base, kind):
            return found
    return None


def column_digest(column: pa.Array | pa.ChunkedArray) -> bytes:
    """16 bytes over type, length and values."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    runs = _Runs(column.type)
    for chunk in chunks:
        for start in range(0, len(chunk), _ROWS_AT_ONCE):
            runs.feed(chunk.slice(start, _ROWS_AT_ONCE))
    return digest("column", [_type_digest(column.type), runs.digest()])


class _Runs:
    """The runs of bytes of one column, and of the columns inside of it."""

    def __init__(self, kind: pa.DataType) -> None:
        self._present = xxhash.xxh3_128()
        self._lengths = xxhash.xxh3_128()
        self._values = xxhash.xxh3_128()
        self._inner: list[_Runs] = []
        self._rows = 0
        self._kind = kind

    def digest(self) -> bytes:
        own = [self._present.digest(), self._lengths.digest(), self._values.digest()]
        inner = [runs.digest() for runs in self._inner]
        return digest("runs", [digest_plain((self._rows, len(inner))), *own, *inner])

    def feed(self, array: pa.Array) -> None:
        """Add rows; `array` may be a slice."""
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        kind = array.type
        if pa.types.is_dictionary(kind):
            array = array.dictionary_decode()
        elif pa.types.is_run_end_encoded(kind):
            array = pc.run_end_decode(array)
        elif _is_view(kind):
            array = array.cast(_LARGE[str(kind).partition("_")[0]])
        self._rows += len(array)
        self._present.update(_present(array).view("u1").data)
        self._feed_values(array, array.type)

    def _feed_values(self, array: pa.Array, kind: pa.DataType) -> None:
        if pa.types.is_null(kind):
            return
        if pa.types.is_struct(kind):
            self._feed_inner(array.flatten())  # a null struct's fields are null
        elif _is_list(kind):
            self._lengths.update(_lengths(array).tobytes())
            self._feed_inner([_elements(array)])
        elif pa.types.is_map(kind):
            self._feed_map(array.drop_null() if array.null_count else array)
        elif _is_text(kind):
            self._feed_text(array)
        elif pa.types.is_union(kind):
            self._feed_inner([array.field(at) for at in range(kind.num_fields)])
        else:
            self._feed_fixed(array, kind)

    def _feed_inner(self, arrays: list[pa.Array]) -> None:
        if not self._inner:
            self._inner = [_Runs(array.type) for array in arrays]
        for runs, array in zip(self._inner, arrays, strict=True):
            runs.feed(array)

    def _feed_map(self, array: pa.Array) -> None:
        offsets = _flat(array.offsets, "i4")
        self._lengths.update(np.diff(offsets).astype("i8").tobytes())
        start, stop = int(offsets[0]), int(offsets[-1])
        self._feed_inner([side.slice(start, stop - start) for side in (array.keys, array.items)])

    def _feed_text(self, array: pa.Array) -> None:
        array = array.drop_null() if array.null_count else array
        if not len(array):
            return
        _, offsets_buffer, data = array.buffers()
        width = 8 if pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type) else 4
        offsets = np.frombuffer(offsets_buffer, f"i{width}", len(array) + 1, array.offset * width)
        self._lengths.update(np.diff(offsets).astype("i8").tobytes())
        if data is not None:
            self._values.update(memoryview(data)[offsets[0] : offsets[-1]])

    def _feed_fixed(self, array: pa.Array, kind: pa.DataType) -> None:
        array = array.drop_null() if array.null_count else array
        if not len(array):
            return
        if pa.types.is_boolean(kind):
            self._values.update(bool_flags(array).view("u1").data)
            return
        width = kind.bit_width // 8
        data = memoryview(array.buffers()[1])
        self._values.update(data[array.offset * width : (array.offset + len(array)) * width])


def _flat(array: pa.Array, dtype: str) -> np.ndarray[Any, Any]:
    """The numbers as they lie in memory. `np.asarray` would make pyarrow import pandas: half a second."""
    data = array.buffers()[1]
    if not len(array) or data is None:
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype, len(array), array.offset * np.dtype(dtype).itemsize)


_LARGE = {"string": pa.large_string(), "binary": pa.large_binary()}


def _is_view(kind: pa.DataType) -> bool:
    return str(kind) in ("string_view", "binary_view")


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or "list_view" in str(kind).partition("<")[0]
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _present(array: pa.Array) -> np.ndarray[Any, Any]:
    """(n,) which rows are not null; a union has no bitmap of its own."""
    if pa.types.is_union(array.type):
        return _flat(array.is_valid().cast(pa.uint8()), "u1")
    return valid_flags(array)


def _has_offsets(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _offsets(array: pa.Array) -> np.ndarray[Any, Any]:
    return _flat(array.offsets, "i8" if pa.types.is_large_list(array.type) else "i4")


def _elements(array: pa.Array) -> pa.Array:
    """What is in the rows of a list array, without what lies under nulls."""
    if array.null_count or not _has_offsets(array.type) or not len(array):
        return array.flatten()
    offsets = _offsets(array)
    return array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))


def _lengths(array: pa.Array) -> Any:
    """(n,) int64; a null row has none."""
    if not array.null_count and _has_offsets(array.type):
        return np.diff(_offsets(array)).astype("i8")
    found = pc.list_value_length(array).cast(pa.int64())
    lengths = _flat(found, "i8")
    return (
        np.where(_flat(found.is_valid().cast(pa.uint8()), "u1"), lengths, 0) if found.null_count else lengths
    )


def _type_digest(kind: pa.DataType) -> bytes:
    extension = kind.__arrow_ext_serialize__() if isinstance(kind, pa.ExtensionType) else b""
    storage = str(kind.storage_type) if isinstance(kind, pa.BaseExtensionType) else ""
    return digest_plain((str(kind), extension, storage))


def _name_column(namer: Namer, column: Any, place: str) -> bytes:
    return column_digest(column)


def _name_scalar(namer: Namer, scalar: Any, place: str) -> bytes:
    return digest("Arrow scalar", [column_digest(pa.array([scalar.as_py()], scalar.type))])


def _name_table(namer: Namer, table: Any, place: str) -> bytes:
    columns = [column_digest(table.column(at)) for at in range(table.num_columns)]
    return digest("table", [digest_plain(table.num_rows), namer.name(table.schema, place), *columns])


def _name_schema(namer: Namer, schema: Any, place: str) -> bytes:
    fields = namer.all(list(schema), place)
    return digest("schema", [namer.name(_metadata(schema), place), *fields])


def _name_field(namer: Namer, field: Any, place: str) -> bytes:
    facts = digest_plain((field.name, field.nullable))
    return digest("field", [facts, _type_digest(field.type), namer.name(_metadata(field), place)])


def _metadata(holder: Any) -> list[tuple[bytes, bytes]]:
    return sorted((holder.metadata or {}).items())


def _name_type(namer: Namer, kind: Any, place: str) -> bytes:
    return digest("Arrow type", [_type_digest(kind)])


_RULES: list[tuple[type, Rule]] = [
    (pa.Array, _name_column),
    (pa.ChunkedArray, _name_column),
    (pa.Scalar, _name_scalar),
    (pa.Table, _name_table),
    (pa.RecordBatch, _name_table),
    (pa.Schema, _name_schema),
    (pa.Field, _name_field),
    (pa.DataType, _name_type),
]
