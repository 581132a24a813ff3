"""One Arrow type for values of two, and casting to it without losing any."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from arrowprep.dataset import as_json
from arrowprep.dataset.compute import pc
from arrowprep.errors import TypeConflict

_UNITS = ("s", "ms", "us", "ns")


def wider(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """The narrowest type that holds all values of both, or TypeConflict.

    null < anything; ints and floats by width, an int beside a float is float64;
    text and binary by offset size; lists and structs by their parts. Structs of
    unlike fields are JSON, which keeps what is absent apart from null, and so is
    a field that no other type holds; where JSON has no such values (bytes,
    dates), the struct takes the fields of both.

    >>> wider(pa.int32(), pa.null()), wider(pa.int64(), pa.float32())
    (DataType(int32), DataType(double))
    """
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    for family in (_numbers, _texts, _lists, _structs, _json, _timestamps, _dictionaries):
        found = family(a, b)
        if found is not None:
            return found
    raise TypeConflict(f"no one type holds both {a} and {b}", types=(str(a), str(b)))


def wider_schema(a: pa.Schema, b: pa.Schema) -> pa.Schema:
    """The fields of both, each of the wider type; TypeConflict names the column."""
    fields = {field.name: field for field in a}
    for field in b:
        if field.name not in fields:
            fields[field.name] = field
            continue
        try:
            fields[field.name] = fields[field.name].with_type(wider(fields[field.name].type, field.type))
        except TypeConflict as error:
            raise TypeConflict(f"column {field.name!r}: {error}", column=field.name, **error.facts) from error
    return pa.schema(list(fields.values()), metadata=a.metadata or b.metadata)


def cast(column: pa.Array | pa.ChunkedArray, to: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """The column as another type; struct fields that are absent become null.

    A column of text is taken for the text of JSON, text in a struct for text that widened to JSON.
    An integer becomes the closest float, as in Python; all else that would lose a value is ArrowInvalid.
    """
    if column.type == to:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([cast(chunk, to) for chunk in column.chunks], type=to)
    if pa.types.is_struct(to) and pa.types.is_struct(column.type):
        return _cast_struct(column, to)
    if is_list(to) and is_list(column.type) and (_is_ours(_leaf(to)) or _is_ours(_leaf(column.type))):
        return _cast_list(column, to)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), to)
    if as_json.is_json(to):
        return as_json.to_json(column, to, text_is_json=True)
    if isinstance(column, pa.ExtensionArray) and not as_json.is_json(column.type):
        return cast(column.storage, to)
    return column.cast(to, safe=not (pa.types.is_integer(column.type) and pa.types.is_floating(to)))


def _is_ours(kind: pa.DataType) -> bool:
    """Whether Arrow's own cast of a list of these does otherwise than `cast`."""
    return bool(pa.types.is_struct(kind) or pa.types.is_floating(kind) or as_json.is_json(kind))


def _leaf(kind: pa.DataType) -> pa.DataType:
    return _leaf(kind.value_type) if is_list(kind) else kind


def cast_table(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with the schema's columns; those it does not have are null."""
    if table.schema.equals(schema, check_metadata=True):
        return table
    columns = [
        cast(table.column(field.name), field.type)
        if field.name in table.column_names
        else pa.chunked_array([pa.nulls(table.num_rows, field.type)])
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def empty_table(schema: pa.Schema) -> pa.Table:
    """No rows of these columns; Arrow's own method knows no JSON inside lists and structs."""
    return cast_table(pa.table({}), schema)


def _numbers(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    types = pa.types
    if types.is_integer(a) and types.is_integer(b):
        return _integers(a, b)
    if types.is_floating(a) and types.is_floating(b):
        return max(a, b, key=lambda t: t.bit_width)
    if (types.is_integer(a) and types.is_floating(b)) or (types.is_floating(a) and types.is_integer(b)):
        return pa.float64()
    return None


def _integers(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    a, b = sorted((a, b), key=lambda t: t.bit_width)
    if pa.types.is_signed_integer(a) == pa.types.is_signed_integer(b):
        return b
    if pa.types.is_signed_integer(b) and a.bit_width < b.bit_width:
        return b
    return pa.int64() if max(a.bit_width, b.bit_width) == 64 else _signed(max(a.bit_width, b.bit_width) * 2)


def _signed(bits: int) -> pa.DataType:
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]


def _texts(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    for kinds, large in (
        ((pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view), pa.large_string()),
        ((pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view), pa.large_binary()),
    ):
        if any(is_kind(a) for is_kind in kinds) and any(is_kind(b) for is_kind in kinds):
            return large
    return None


def is_list(t: pa.DataType) -> bool:
    """Whether a list of any kind: 32-bit, 64-bit or of fixed size."""
    return bool(pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t))


def _lists(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    if not (is_list(a) and is_list(b)):
        return None
    item = wider(a.value_type, b.value_type)
    if pa.types.is_fixed_size_list(a) and pa.types.is_fixed_size_list(b) and a.list_size == b.list_size:
        return pa.list_(item, a.list_size)
    large = pa.types.is_large_list(a) or pa.types.is_large_list(b)
    return pa.large_list(item) if large else pa.list_(item)


def _structs(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    if not (pa.types.is_struct(a) and pa.types.is_struct(b)):
        return None
    if not as_json.common_fields(a, b) and (written := _as_json(a, b)) is not None:
        return written
    fields = {field.name: field for field in a}
    for field in b:
        known = fields.get(field.name)
        fields[field.name] = field if known is None else known.with_type(_wider_field(known.type, field.type))
    return pa.struct(list(fields.values()))


def _wider_field(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    try:
        return wider(a, b)
    except TypeConflict:
        written = _as_json(a, b)
        if written is None:
            raise
        return written


def _as_json(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """JSON, where it has all values of both."""
    return as_json.TYPE if as_json.can_be_json(a) and as_json.can_be_json(b) else None


def _json(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    for written, other in ((a, b), (b, a)):
        if as_json.is_json(written) and pa.types.is_struct(other) and as_json.can_be_json(other):
            return written
    return None


def _timestamps(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    if not (pa.types.is_timestamp(a) and pa.types.is_timestamp(b) and a.tz == b.tz):
        return None
    return pa.timestamp(max(a.unit, b.unit, key=_UNITS.index), a.tz)


def _dictionaries(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    if not (pa.types.is_dictionary(a) or pa.types.is_dictionary(b)):
        return None
    return wider(*(t.value_type if pa.types.is_dictionary(t) else t for t in (a, b)))


def _cast_struct(column: pa.StructArray, to: pa.StructType) -> pa.StructArray:
    have = {column.type.field(i).name: column.field(i) for i in range(column.type.num_fields)}
    children = [
        _cast_field(have[field.name], field.type) if field.name in have else pa.nulls(len(column), field.type)
        for field in to
    ]
    if not children:
        return pa.array([{}] * len(column), type=to)
    return pa.StructArray.from_arrays(children, fields=list(to), mask=column.is_null())


def _cast_field(column: pa.Array, to: pa.DataType) -> pa.Array:
    if as_json.is_json(to) and column.type != to:
        return as_json.to_json(column, to, text_is_json=False)
    return cast(column, to)


def _cast_list(column: pa.Array, to: pa.DataType) -> pa.Array:
    values = cast(column.flatten(), to.value_type)  # leaves out what null rows cover
    if pa.types.is_fixed_size_list(to):
        if column.null_count:
            return pa.array(column.to_pylist(), type=to)
        return pa.FixedSizeListArray.from_arrays(values, type=to)
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    large = pa.types.is_large_list(to)
    kind = pa.LargeListArray if large else pa.ListArray
    return kind.from_arrays(
        pa.array(offsets, type=pa.int64() if large else pa.int32()), values, type=to, mask=column.is_null()
    )
