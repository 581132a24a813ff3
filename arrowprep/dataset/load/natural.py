"""Types of written values, and the one type of a column that holds several.

    null < int64 < uint64 < decimal128(38, 0) < float64 < string
    null < bool < string

Text formats know no more types than these. An int64 column that meets a larger
number is uint64 if none of its values is negative: where one is, casting fails,
and `beyond` says what comes next. Lists and structs go by their parts; structs of
unlike fields are JSON, and so is a field that no other type holds. What arrived
typed (Parquet, Arrow) follows the ordinary rules of `widen`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset import as_json, widen
from arrowprep.dataset.as_json import is_json
from arrowprep.errors import TypeConflict

NULL = pa.null()
BIG = pa.decimal128(38, 0)
_NUMBERS = [pa.int64(), pa.uint64(), BIG, pa.float64()]  # each holds those before it
_TOP_INT64, _TOP_UINT64, _TOP_BIG = 2**63, 2**64, 10**38


def wider(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """The one type of a column that holds values written as a and as b.

    Raises TypeConflict for an object, a list or JSON beside anything else.

    >>> wider(pa.int64(), pa.float64()), wider(pa.int64(), pa.string())
    (DataType(double), DataType(string))
    """
    if a == b or pat.is_null(b):
        return a
    if pat.is_null(a):
        return b
    if pat.is_list(a) and pat.is_list(b):
        return pa.list_(wider(a.value_type, b.value_type))
    if pat.is_struct(a) and pat.is_struct(b):
        return _wider_struct(a, b)
    for written, other in ((a, b), (b, a)):
        if is_json(written) and pat.is_struct(other):
            return written
    if not (_is_natural(a) and _is_natural(b)):
        return widen.wider(a, b)
    if a in _NUMBERS and b in _NUMBERS:
        return max(a, b, key=_NUMBERS.index)
    return pa.string()


def beyond(kind: pa.DataType) -> pa.DataType:
    """The type with every uint64 in it as decimal: it met a negative number too."""
    if kind == pa.uint64():
        return BIG
    if pat.is_list(kind):
        return pa.list_(beyond(kind.value_type))
    if pat.is_struct(kind):
        return pa.struct([field.with_type(beyond(field.type)) for field in kind])
    return kind


def wider_schema(a: pa.Schema, b: pa.Schema) -> pa.Schema:
    """The columns of both, those of `a` first; TypeConflict names the column."""
    fields = {field.name: field for field in a}
    for field in b:
        known = fields.get(field.name)
        try:
            fields[field.name] = field if known is None else known.with_type(wider(known.type, field.type))
        except TypeConflict as error:
            raise TypeConflict(f"column {field.name!r}: {error}", column=field.name) from error
    return pa.schema(list(fields.values()), metadata=a.metadata or b.metadata)


def _wider_struct(a: pa.StructType, b: pa.StructType) -> pa.DataType:
    if as_json.TYPE is not None and not as_json.common_fields(a, b):
        return as_json.TYPE
    fields = {field.name: field for field in a}
    for field in b:
        known = fields.get(field.name)
        fields[field.name] = field if known is None else known.with_type(_wider_field(known.type, field.type))
    return pa.struct(list(fields.values()))


def _wider_field(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """The type of a field: JSON where no other holds both, whatever the order of rows and blocks."""
    if is_json(a) or is_json(b):
        return a if is_json(a) else b
    try:
        return wider(a, b)
    except TypeConflict:
        if as_json.TYPE is None:
            raise
        return as_json.TYPE


def _is_natural(kind: pa.DataType) -> bool:
    return bool(pat.is_boolean(kind) or pat.is_string(kind) or kind in _NUMBERS)


def keeps_values(old: pa.DataType, new: pa.DataType) -> bool:
    """Whether a column already read as `old` may be cast to `new`, or must be read again.

    Text of what was read as a number would not be spelled as it was written.
    """
    if pat.is_list(old) and pat.is_list(new):
        return keeps_values(old.value_type, new.value_type)
    if pat.is_struct(old) and pat.is_struct(new):
        return all(keeps_values(field.type, new.field(field.name).type) for field in old)
    return bool(old == new or pat.is_null(old) or not (pat.is_string(new) or is_json(new)))


def becomes_text(old: pa.DataType, new: pa.DataType) -> bool:
    """Whether values read as `old` are spelled as text in `new`, which a user is to be told."""
    if pat.is_list(old) and pat.is_list(new):
        return becomes_text(old.value_type, new.value_type)
    if pat.is_struct(old) and pat.is_struct(new):
        return any(becomes_text(field.type, new.field(field.name).type) for field in old)
    return bool(pat.is_string(new) and not (pat.is_string(old) or pat.is_null(old)))


def type_of_all(values: list[Any], known: pa.DataType = NULL) -> pa.DataType:
    """The one type of values that the json module made; null of none.

    known: a type they will be widened to anyway; what is JSON there is not looked into

    >>> type_of_all([{"a": [1, 2.5]}, None])
    StructType(struct<a: list<item: double>>)
    """
    kinds = set(map(type, values))
    if is_json(known) and kinds <= {dict, type(None)}:
        return known
    found = NULL
    for kind, type_of in _TYPES.items():
        if kind in kinds:
            of_kind = values if len(kinds) == 1 else [value for value in values if type(value) is kind]
            found = wider(found, type_of(of_kind, known))
    return found


def _struct_type(values: list[dict[str, Any]], known: pa.DataType) -> pa.DataType:
    names = values[0].keys()
    if any(value.keys() != names for value in values):
        if as_json.TYPE is not None:
            return as_json.TYPE
        names = dict.fromkeys(name for value in values for name in value).keys()
    types = {field.name: field.type for field in known} if pat.is_struct(known) else {}
    return pa.struct(
        [
            pa.field(name, _field_type([value.get(name) for value in values], types.get(name, NULL)))
            for name in names
        ]
    )


def _field_type(values: list[Any], known: pa.DataType) -> pa.DataType:
    try:
        return type_of_all(values, known)
    except TypeConflict:
        if as_json.TYPE is None:
            raise
        return as_json.TYPE


def _list_type(values: list[list[Any]], known: pa.DataType) -> pa.DataType:
    return pa.list_(type_of_all(list(chain(*values)), known.value_type if pat.is_list(known) else NULL))


def _integers_type(low: int, high: int) -> pa.DataType:
    """The narrowest type for integers of this range; text where none has room for the digits."""
    if low >= -_TOP_INT64 and high < _TOP_INT64:
        return pa.int64()
    if low >= 0 and high < _TOP_UINT64:
        return pa.uint64()
    return BIG if low > -_TOP_BIG and high < _TOP_BIG else pa.string()


_TYPES: dict[type, Callable[[list[Any], pa.DataType], pa.DataType]] = {
    dict: _struct_type,
    list: _list_type,
    bool: lambda values, known: pa.bool_(),
    int: lambda values, known: _integers_type(min(values), max(values)),
    float: lambda values, known: pa.float64(),
    str: lambda values, known: pa.string(),
}
