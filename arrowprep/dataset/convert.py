"""Values that a user's function returned, as an Arrow column."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from arrowprep.dataset import as_json
from arrowprep.dataset.feature_kinds import decode, encode, feature_of, feature_type, needs_encoding
from arrowprep.dataset.plain import plain_array
from arrowprep.dataset.shaped import KINDS as ARRAYS
from arrowprep.dataset.shaped import ShapedArray
from arrowprep.dataset.widen import cast, is_list
from arrowprep.errors import DataError, TypeConflict

Column: TypeAlias = pa.Array | pa.ChunkedArray

_UNFIT = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, ValueError)

# columns that tokenizers make are stored narrow, as `datasets` does; wider where a value does not fit
_NARROW = {
    "input_ids": pa.int32(),
    "attention_mask": pa.int8(),
    "special_tokens_mask": pa.int8(),
    "token_type_ids": pa.int8(),
    "assistant_masks": pa.int8(),
}


def to_column(values: Any, name: str, original: pa.DataType | None = None) -> Column:
    """One value a row, as Arrow.

    Arrow and NumPy data never become Python objects. Python values get the type
    they have; where that is of the same kind as `original` and loses nothing,
    the original type stays (an int32 column stays int32, text stays large).
    Dicts whose keys differ by row are JSON (`as_json`). Raises TypeConflict,
    which names the column.
    """
    known = _without_python(values)
    if known is not None:
        return known
    values = list(values)
    if values and _is_tensor(values[0]):  # arrays of one row keep their types, which lists would lose
        values = [_to_numpy(value) if _is_tensor(value) else value for value in values]
    try:
        column = _from_python(values, name)
    except TypeConflict:
        if original is None or not as_json.holds_json(original):
            raise
        return to_feature(values, name, feature_of(original))
    narrow = _narrowed(column, name)
    if narrow is not None:
        return narrow
    return column if original is None else _as_before(column, original)


def to_feature(values: Any, name: str, feature: Any) -> Column:
    """One value a row, as the feature stores it: labels as numbers, Json as text. Raises TypeConflict."""
    kind = feature_type(feature)
    known = _without_python(values)
    try:
        if isinstance(feature, ShapedArray):
            values = values if isinstance(values, list) else list(values)
            known = feature.column(values) if known is None else feature.fitted(cast(known, kind))
        if known is not None and (known.type == kind or not needs_encoding(feature)):
            return cast(known, kind)
        given = values if known is None else _as_shown(known)
        return as_json.built([encode(feature, _plain(value)) for value in given], kind)
    except (*_UNFIT, DataError) as error:
        raise TypeConflict(f"column {name!r} should be {feature!r}: {error}", column=name) from error


def table_of_pandas(frame: Any, preserve_index: bool | None = None) -> pa.Table:
    """A pandas data frame as Arrow; arrays of several dimensions in it as lists in lists."""
    deep = {at: frame.columns[at] for at in range(frame.shape[1]) if _is_deep(frame.iloc[:, at])}
    if not deep:
        return pa.Table.from_pandas(frame, preserve_index=preserve_index)
    table = pa.Table.from_pandas(frame.drop(columns=list(deep.values())), preserve_index=preserve_index)
    if not table.num_columns:  # which has lost its rows with them
        table = pa.table({"": pa.nulls(len(frame))}).select([])
    for at, name in deep.items():
        table = table.add_column(at, str(name), _of_arrays(list(frame.iloc[:, at])))
    return table.replace_schema_metadata(None)


def _is_deep(column: Any) -> bool:
    if column.dtype != object:
        return False
    first = next((value for value in column if value is not None), None)
    return isinstance(first, np.ndarray) and first.ndim > 1


def _of_arrays(rows: list[Any]) -> pa.Array:
    """Arrays and None as lists in lists of their own type, where they are alike but for their length."""
    first = next(row for row in rows if row is not None)
    kind = ARRAYS.get(f"Array{first.ndim}D")
    if kind is not None and first.dtype.kind in "biuf":
        with contextlib.suppress(TypeConflict):
            column = kind((None, *first.shape[1:]), str(first.dtype)).column(rows)
            if column is not None:
                return column
    return pa.array([_plain(row) for row in rows])


def _as_shown(column: Column) -> list[Any]:
    """Python values, JSON text as what it says."""
    feature = feature_of(column.type)
    return [decode(feature, value) for value in column.to_pylist()]


def _without_python(values: Any) -> Column | None:
    """Arrow, NumPy and tensors by their buffers; None for what must be looked at."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _decoded(values)
    if isinstance(values, np.ndarray):
        return _from_numpy(values)
    if hasattr(values, "__arrow_c_stream__"):
        return _decoded(pa.chunked_array(values))
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_array__"):
        return _decoded(pa.array(values))
    if _is_tensor(values):
        return _from_numpy(_to_numpy(values))
    if type(values).__module__.split(".")[0] == "pandas":
        return _decoded(pa.array(values, from_pandas=True))
    return None


def _decoded(column: Column) -> Column:
    """Dictionary columns as their values."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _from_numpy(array: np.ndarray[Any, Any]) -> Column | None:
    if array.dtype.kind in "OUS" or array.ndim == 0:
        return None
    flat = pa.array(np.ascontiguousarray(array).reshape(-1))
    for size in reversed(array.shape[1:]):
        rows = len(flat) // size if size else 0
        offsets = np.arange(rows + 1, dtype=np.int64) * size
        if offsets[-1] < 2**31:
            flat = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), flat)
        else:
            flat = pa.LargeListArray.from_arrays(pa.array(offsets), flat)
    if array.size == 0 and array.ndim > 1:
        return pa.array(array.tolist(), flat.type)
    return flat


def _from_python(values: list[Any], name: str) -> Column:
    known = plain_array(values)
    if known is not None:
        return known
    try:
        column = pa.array(values)
        if not as_json.may_lack_keys(column):
            return column
        written = as_json.as_written([_plain(v) for v in values])
        return column if written is None else written
    except _UNFIT as first:
        plain = [_plain(v) for v in values]
        try:
            written = as_json.as_written(plain)
            return pa.array(plain) if written is None else written
        except _UNFIT:
            raise TypeConflict(_conflict(values, name, str(first)), column=name) from first


def _plain(value: Any) -> Any:
    """Tensors and arrays of any depth as lists, mappings as dicts."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if _is_tensor(value):
        return _to_numpy(value).tolist()
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.split(".")[0] in ("torch", "jax", "jaxlib", "tensorflow")


def _to_numpy(tensor: Any) -> np.ndarray[Any, Any]:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _conflict(values: list[Any], name: str, reason: str) -> str:
    kinds: dict[str, int] = {}
    for row, value in enumerate(values):
        kinds.setdefault(type(value).__name__, row)
    seen = ", ".join(f"{kind} (first at {row})" for kind, row in kinds.items())
    return f"the values of column {name!r} do not fit one type: {seen}: {reason}"


def _narrowed(column: Column, name: str) -> Column | None:
    narrow = _NARROW.get(name)
    if narrow is None:
        return None
    is_list = pa.types.is_list(column.type) and pa.types.is_int64(column.type.value_type)
    if not is_list and not pa.types.is_int64(column.type):
        return None
    try:
        return column.cast(pa.list_(narrow) if is_list else narrow)
    except pa.ArrowInvalid:
        return None  # a value does not fit


def _as_before(column: Column, original: pa.DataType) -> Column:
    if column.type == original or not same_kind(column.type, original):
        return column
    try:
        return cast(column, original) if as_json.holds_json(original) else column.cast(original)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def same_kind(a: pa.DataType, b: pa.DataType) -> bool:
    """Whether values of a may be kept in b: both integers, both text, ... at every depth.

    Not floats: a double in a float32 column would lose digits.
    """
    types = pa.types
    if a == b or types.is_null(a):
        return True
    if as_json.is_json(b):
        return bool(types.is_nested(a)) and as_json.can_be_json(a)
    if types.is_struct(a) and types.is_struct(b):
        names = [f.name for f in a]
        return names == [f.name for f in b] and all(
            same_kind(a.field(n).type, b.field(n).type) for n in names
        )
    if is_list(a) and is_list(b):
        return same_kind(a.value_type, b.value_type)
    return any(
        kind(a) and kind(b)
        for kind in (types.is_integer, _is_text, _is_bytes, types.is_temporal, types.is_decimal)
    )


def _is_text(t: pa.DataType) -> bool:
    return bool(pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t))


def _is_bytes(t: pa.DataType) -> bool:
    return bool(pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_binary_view(t))


def is_column(values: Any) -> bool:
    """Whether a function may return this for the rows of a batch: anything with one value a row."""
    if isinstance(values, str | bytes | Mapping):
        return False
    return isinstance(values, Iterable) and hasattr(values, "__len__")
