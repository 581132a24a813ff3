"""Fitting what was read to the features a user gave, or naming the first row that does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset import as_json, widen
from arrowprep.dataset.compute import pc
from arrowprep.dataset.feature_kinds import encode, feature_of
from arrowprep.dataset.features import ClassLabel, Features, Json, LargeList, List, Value
from arrowprep.dataset.formats.python import to_list
from arrowprep.dataset.shaped import ShapedArray
from arrowprep.dataset.translation import TranslationVariableLanguages
from arrowprep.errors import ArrowprepError, TypeConflict


def floor_of(features: Features) -> pa.Schema:
    """What a reader of written values must know beforehand: which are text or JSON whatever they hold."""
    fields = []
    for name, feature in features.items():
        if isinstance(feature, Json):
            fields.append(pa.field(name, feature.pa_type))
        elif isinstance(feature, Value) and _is_text(feature.pa_type):
            fields.append(pa.field(name, pa.string()))
    return pa.schema(fields)


def fit(table: pa.Table, features: Features, path: Path, first_row: int) -> pa.Table:
    """The table in the features' types; columns that it lacks are null.

    Raises TypeConflict for a column that features do not name, and, with the row,
    for a value that does not fit.
    """
    if extra := [name for name in table.column_names if name not in features]:
        raise TypeConflict(
            f"{path} has columns that features= does not name: {', '.join(extra)}; "
            "name them there, or choose with columns=",
            path=path,
            columns=extra,
        )
    schema = features.arrow_schema
    columns = [
        _fitted(table.column(field.name), features[field.name], field, path, first_row)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _fitted(
    column: pa.ChunkedArray, feature: Any, field: pa.Field, path: Path, first_row: int
) -> pa.ChunkedArray:
    convert = _encoded if _needs_encoding(feature, column.type) else _cast
    try:
        return convert(column, feature, field.type)
    except (
        pa.ArrowInvalid,
        pa.ArrowNotImplementedError,
        pa.ArrowTypeError,
        ArrowprepError,
        ValueError,
        TypeError,
    ):
        row, reason = _first_misfit(convert, column, feature, field.type)
        raise TypeConflict(
            f"{path}: row {first_row + row}: column {field.name!r} holds {_shown(column[row])}, "
            f"which does not fit {feature!r}: {reason}",
            path=path,
            row=first_row + row,
            column=field.name,
        ) from None


def _cast(column: pa.ChunkedArray, feature: Any, kind: pa.DataType) -> pa.ChunkedArray:
    if pat.is_boolean(column.type) and _is_text(kind):
        return pc.if_else(column, "true", "false").cast(kind)
    found = widen.cast(column, kind)
    return feature.fitted(found) if isinstance(feature, ShapedArray) else found


def _encoded(column: pa.ChunkedArray, feature: Any, kind: pa.DataType) -> pa.ChunkedArray:
    values = [encode(feature, value) for value in to_list(column, feature_of(column.type))]
    return pa.chunked_array([as_json.built(values, kind)])


def _needs_encoding(feature: Any, kind: pa.DataType) -> bool:
    """Whether Arrow's cast does not know what to do: names of classes, values to be JSON."""
    if isinstance(feature, ClassLabel | TranslationVariableLanguages):
        return True
    if as_json.is_json(kind):
        return not isinstance(feature, Json | Value)
    if isinstance(feature, Json):
        return not _is_text(kind)
    if isinstance(feature, dict):
        inner = {field.name: field.type for field in kind} if pat.is_struct(kind) else {}
        return any(_needs_encoding(child, inner.get(name, pa.null())) for name, child in feature.items())
    if isinstance(feature, List | LargeList):
        is_list = pat.is_list(kind) or pat.is_large_list(kind) or pat.is_fixed_size_list(kind)
        return _needs_encoding(feature.feature, kind.value_type if is_list else pa.null())
    return False


def _first_misfit(convert: Any, column: pa.ChunkedArray, feature: Any, kind: pa.DataType) -> tuple[int, str]:
    for row in range(len(column)):
        try:
            convert(column.slice(row, 1), feature, kind)
        except (pa.ArrowException, ArrowprepError, ValueError, TypeError) as error:
            return row, str(error)
    raise AssertionError("every row fits alone")


def _is_text(kind: pa.DataType) -> bool:
    return bool(pat.is_string(kind) or pat.is_large_string(kind) or pat.is_string_view(kind))


def _shown(value: pa.Scalar) -> str:
    text = repr(value.as_py())
    return text if len(text) <= 60 else text[:57] + "..."
