"""Absent is not null: dicts whose keys differ by row are kept as they were written, as JSON text.

Arrow's struct has all its fields in every row, so that a key which a row lacks would come
back as a null that nobody wrote. The smallest place whose keys differ is therefore stored as
`arrow.json` (`Json` in the features); around it structs and lists stay what they are. A key whose
values fit no one type is JSON too: else it would depend on which rows are seen first whether
there is a conflict. Rows themselves are not dicts in this sense: a column that a row lacks is null.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset.feature_kinds import decode, feature_of

# arrow.json came with pyarrow 19; before that a struct takes the fields of all rows
TYPE: pa.DataType | None = pa.json_(pa.string()) if hasattr(pa, "json_") else None

_TEXTS = (pat.is_string, pat.is_large_string, pat.is_string_view)

_encode = json.JSONEncoder(separators=(",", ":")).encode

# where dicts differ: True here, in the named fields of a struct, in the items of a list, nowhere
Places = bool | dict[str, Any] | list[Any] | None


class _Mixed(Exception):
    """The values of one place are of several kinds."""


def is_json(kind: pa.DataType) -> bool:
    """Whether a type is arrow.json: any value, as its text."""
    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.json"


def holds_json(kind: pa.DataType) -> bool:
    """Whether arrow.json is in a type, at any depth."""
    return is_json(kind) or _any_child(kind, holds_json)


def can_be_json(kind: pa.DataType) -> bool:
    """Whether JSON has all values of a type: not bytes, dates, decimals."""
    if pat.is_nested(kind):
        return not pat.is_map(kind) and not _any_child(kind, lambda child: not can_be_json(child))
    return is_json(kind) or any(
        belongs(kind) for belongs in (pat.is_null, pat.is_boolean, pat.is_integer, pat.is_floating, *_TEXTS)
    )


def common_fields(a: pa.StructType, b: pa.StructType) -> bool:
    """Whether two structs have the same fields, in any order."""
    return {field.name for field in a} == {field.name for field in b}


def may_lack_keys(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether a struct that is there has a null in it, written or not: only then may a key be absent."""
    if not _holds_struct(column.type):
        return False
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return any(map(_has_null_field, chunks))


def _has_null_field(array: pa.Array) -> bool:
    if pat.is_struct(array.type):
        there = array.filter(array.is_valid()) if array.null_count else array
        fields = [there.field(number) for number in range(array.type.num_fields)]
        return any(
            field.null_count or (_holds_struct(field.type) and _has_null_field(field)) for field in fields
        )
    return _holds_struct(array.type) and _has_null_field(array.flatten())


def lacks_keys(value: Any, kind: pa.DataType) -> bool:
    """Whether some dict in a value lacks a key that the type, made for it and others, has there."""
    if isinstance(value, dict) and pat.is_struct(kind):
        return len(value) < kind.num_fields or any(
            lacks_keys(value.get(field.name), field.type) for field in kind if pat.is_nested(field.type)
        )
    if isinstance(value, list) and pat.is_nested(kind) and not pat.is_struct(kind):
        return pat.is_nested(kind.value_type) and any(lacks_keys(inner, kind.value_type) for inner in value)
    return False


def as_written(values: list[Any]) -> pa.Array | None:
    """The values as Arrow, JSON where keys differ; None where none do or JSON has no such values.

    values: None, dicts, lists and scalars, one a row. Raises pa.ArrowInvalid and the like
    where the rest fits no one type.
    """
    try:
        places = None if TYPE is None else _places(values)
        if places is None:
            return None
        texts = [_written(value, places) for value in values]
    except (_Mixed, TypeError, ValueError):
        return None
    column = pa.array(texts)
    return _tagged(column, _type_at(column.type, places))


def _places(values: list[Any]) -> Places:
    """Where the keys of dicts differ. Raises _Mixed."""
    values = [value for value in values if value is not None]
    kinds = set(map(_kind, values))
    if len(kinds) > 1:
        raise _Mixed
    if kinds == {dict}:
        keys = values[0].keys()
        if any(row.keys() != keys for row in values):
            return all(isinstance(key, str) for row in values for key in row) or None
        inside = {key: _places_in_field([row[key] for row in values]) for key in keys}
        return {key: places for key, places in inside.items() if places is not None} or None
    inner = _places([inner for value in values for inner in value]) if kinds == {list} else None
    return None if inner is None else [inner]


def _places_in_field(values: list[Any]) -> Places:
    try:
        return _places(values)
    except _Mixed:
        return True


def _kind(value: Any) -> type:
    """Numbers are of one kind, which Arrow's types have room for."""
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _written(value: Any, places: Any) -> Any:
    """The value with JSON text at these places."""
    if value is None:
        return None
    if places is True:
        return text_of(value)
    if isinstance(places, dict):
        return {key: _written(inner, places[key]) if key in places else inner for key, inner in value.items()}
    return [_written(inner, places[0]) for inner in value]


def text_of(value: Any) -> str:
    """The JSON text of one value, as short as it gets."""
    return _encode(value)


def _type_at(kind: pa.DataType, places: Any) -> pa.DataType:
    if places is True:
        return TYPE
    if isinstance(places, dict):
        fields = [field.with_type(_type_at(field.type, places.get(field.name))) for field in kind]
        return pa.struct(fields)
    return kind if places is None else pa.list_(_type_at(kind.value_type, places[0]))


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type with text in place of JSON: Arrow does not build nested extension types from Python."""
    if not holds_json(kind):
        return kind
    if is_json(kind):
        return kind.storage_type
    if pat.is_struct(kind):
        return pa.struct([field.with_type(stored_type(field.type)) for field in kind])
    if pat.is_fixed_size_list(kind):
        return pa.list_(stored_type(kind.value_type), kind.list_size)
    return (pa.large_list if pat.is_large_list(kind) else pa.list_)(stored_type(kind.value_type))


def built(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Python values as Arrow; where the type has JSON they hold its text."""
    return _tagged(pa.array(values, stored_type(kind)), kind)


def _tagged(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A new column, whose JSON is text so far, in its type."""
    if column.type == kind:
        return column
    if is_json(kind):
        return pa.ExtensionArray.from_storage(kind, column)
    if pat.is_struct(kind):
        fields = [_tagged(column.field(at), field.type) for at, field in enumerate(kind)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=column.is_null())
    values = _tagged(column.values, kind.value_type)
    if pat.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=column.is_null())
    lists = pa.LargeListArray if pat.is_large_list(kind) else pa.ListArray
    return lists.from_arrays(column.offsets, values, type=kind, mask=column.is_null())


def to_json(column: pa.Array, kind: pa.DataType, *, text_is_json: bool) -> pa.Array:
    """A column as JSON text of its values."""
    if not (text_is_json and any(is_text(column.type) for is_text in _TEXTS)):
        if not can_be_json(column.type):
            raise pa.ArrowInvalid(f"JSON has no values of {column.type}")
        feature = feature_of(column.type)
        rows = (decode(feature, row) for row in column.to_pylist())
        column = pa.array([None if row is None else text_of(row) for row in rows], pa.string())
    return pa.ExtensionArray.from_storage(kind, column.cast(kind.storage_type))


def _holds_struct(kind: pa.DataType) -> bool:
    return bool(pat.is_struct(kind)) or (not pat.is_map(kind) and _any_child(kind, _holds_struct))


def _any_child(kind: pa.DataType, holds: Callable[[pa.DataType], bool]) -> bool:
    return bool(pat.is_nested(kind)) and any(holds(kind.field(at).type) for at in range(kind.num_fields))
