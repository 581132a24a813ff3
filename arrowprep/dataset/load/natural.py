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

from typing import Any

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset import as_json, widen
from arrowprep.dataset.as_json import is_json
from arrowprep.errors import TypeConflict

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


def type_of(value: Any) -> pa.DataType:
    """The type of one value that the json module made.

    >>> type_of({"a": [1, 2.5]})
    StructType(struct<a: list<item: double>>)
    """
    if value is None:
        return pa.null()
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int):
        return _integer_type(value)
    if isinstance(value, float):
        return pa.float64()
    if isinstance(value, str):
        return pa.string()
    if isinstance(value, list):
        return pa.list_(type_of_all(value))
    return pa.struct([pa.field(name, _field_type(inner)) for name, inner in value.items()])


def _field_type(value: Any) -> pa.DataType:
    try:
        return type_of(value)
    except TypeConflict:
        if as_json.TYPE is None:
            raise
        return as_json.TYPE


def type_of_all(values: list[Any]) -> pa.DataType:
    """The one type of values that the json module made; null of none."""
    integers = [value for value in values if type(value) is int]
    kinds = dict.fromkeys(type_of(value) for value in values if type(value) is not int)  # as first seen
    if integers:
        kinds[_integers_type(min(integers), max(integers))] = None
    found = pa.null()
    for kind in kinds:
        found = wider(found, kind)
    return found


def _integer_type(value: int) -> pa.DataType:
    return _integers_type(value, value)


def _integers_type(low: int, high: int) -> pa.DataType:
    """The narrowest type for integers of this range; text where none has room for the digits."""
    if low >= -_TOP_INT64 and high < _TOP_INT64:
        return pa.int64()
    if low >= 0 and high < _TOP_UINT64:
        return pa.uint64()
    return BIG if low > -_TOP_BIG and high < _TOP_BIG else pa.string()
