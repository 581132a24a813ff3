"""Arrow tables out of what users have in memory: columns, rows, data frames."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrowprep.dataset.convert import is_column, table_of_pandas, to_column, to_feature
from arrowprep.dataset.feature_kinds import Json, needs_encoding
from arrowprep.dataset.features import Features
from arrowprep.dataset.shaped import ShapedArray
from arrowprep.dataset.widen import cast_table
from arrowprep.errors import BadArgument, ColumnNotFound, LengthMismatch, TypeConflict

if TYPE_CHECKING:
    import pandas as pd


def table_of_columns(
    mapping: Mapping[str, Any], features: Features | None = None, on_mixed_types: str | None = None
) -> pa.Table:
    """From columns of one length; `features` fixes types and the order.

    on_mixed_types: "use_json" makes a column JSON whose values are of no one type; None refuses it
    """
    features = None if features is None else Features(features)
    _check_names(mapping, features)
    columns = {}
    for name in features or mapping:
        if not is_column(mapping[name]):
            raise BadArgument(
                f"column {name!r} must be a list or an array with one value a row, "
                f"not one of type {type(mapping[name]).__name__}"
            )
        feature = None if features is None else features[name]
        columns[name] = (
            _found(mapping[name], name, on_mixed_types)
            if feature is None
            else to_feature(mapping[name], name, feature)
        )
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise LengthMismatch(f"columns need one length: {shown}", lengths=lengths)
    table = pa.table(columns)
    return table if features is None else retyped(table, features)


def _found(values: Any, name: str, on_mixed_types: str | None) -> pa.Array | pa.ChunkedArray:
    """A column of the type that its values have."""
    if on_mixed_types not in (None, "use_json"):
        raise BadArgument(f'on_mixed_types {on_mixed_types!r} is neither None nor "use_json"')
    try:
        column = to_column(values, name)
    except TypeConflict:
        if on_mixed_types is None:
            raise
        return to_feature(values, name, Json())
    if on_mixed_types and column.type == pa.struct([]):  # dicts of which nothing is known yet
        return to_feature(values, name, Json())
    return column


def retyped(table: pa.Table, features: Features) -> pa.Table:
    """The table as these features store it. Raises TypeConflict where they do not fit."""
    try:
        cast = cast_table(table, features.arrow_schema)
        for name, feature in features.items():
            if isinstance(feature, ShapedArray):
                feature.fitted(cast.column(name))
        return cast
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TypeConflict(f"the columns do not fit {features!r}: {error}") from error


def table_of_rows(
    rows: Sequence[Mapping[str, Any]], features: Features | None = None, on_mixed_types: str | None = None
) -> pa.Table:
    """From rows; a key that a row lacks is null, a key that only some have is a column all the same."""
    rows = list(rows)
    if set(map(type, rows)) - {dict}:  # an abstract class takes as long to ask as all the rest
        odd = next((i for i, row in enumerate(rows) if not isinstance(row, Mapping)), None)
        if odd is not None:
            raise BadArgument(
                f"from_list needs rows that are dicts; row {odd} is of type {type(rows[odd]).__name__}"
            )
    return table_of_columns(_columns_of(rows, features or ()), features, on_mixed_types)


def _columns_of(rows: list[Mapping[str, Any]], wanted: Iterable[str]) -> dict[str, list[Any]]:
    """{name: a value a row}, of all keys in the order they came in, then of those wanted."""
    if rows and set(map(len, rows)) == {len(rows[0])}:
        with contextlib.suppress(
            KeyError
        ):  # rows of one length have the same keys, or one lacks some of the first
            same = {name: list(map(itemgetter(name), rows)) for name in rows[0]}
            return same | {name: [None] * len(rows) for name in wanted if name not in same}
    names = dict.fromkeys(chain(chain.from_iterable(rows), wanted))
    return {name: [row.get(name) for row in rows] for name in names}


def row_like(features: Features, row: Mapping[str, Any]) -> pa.Table:
    """One row, each value of its column's type where that holds it: 2 as the text "2", "2" as the number."""
    columns = {name: to_column([value], name) for name, value in row.items()}
    found = Features.from_arrow_schema(pa.table(columns).schema)
    for name in columns.keys() & features.keys():
        given = [row[name]] if needs_encoding(features[name]) else columns[name]
        with contextlib.suppress(TypeConflict, pa.ArrowException):
            columns[name], found[name] = to_feature(given, name, features[name]), features[name]
    return pa.table(columns, schema=found.arrow_schema)


def table_of_frame(
    frame: pd.DataFrame, features: Features | None = None, preserve_index: bool | None = None
) -> pa.Table:
    """From a pandas data frame; an index without a name is left out unless asked for."""
    keep = preserve_index
    if keep is None:
        keep = None if any(name is not None for name in frame.index.names) else False
    table = table_of_pandas(frame, keep)
    table = table.replace_schema_metadata(None)
    return table if features is None else retyped(table, Features(features))


def _check_names(mapping: Mapping[str, Any], features: Features | None) -> None:
    if not all(isinstance(name, str) for name in mapping):
        odd = next(name for name in mapping if not isinstance(name, str))
        raise BadArgument(f"column names must be text, not {odd!r}")
    if features is None:
        return
    if missing := [name for name in features if name not in mapping]:
        raise ColumnNotFound(missing[0], list(mapping))
    if extra := [name for name in mapping if name not in features]:
        raise BadArgument(f"columns {extra} are not in features, which has {list(features)}")
