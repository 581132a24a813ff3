"""Rows as Python objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from arrowprep.dataset.feature_kinds import decode, needs_decoding
from arrowprep.dataset.shaped import ShapedArray


class PythonFormat:
    """A row is a dict, a batch a dict of lists, null is None.

    A label stays its number, Json is the value that was written, a timestamp a datetime, Array2D an array
    of NumPy (lists in lists took 200 times as long: 300 rows of 64 by 64). Converting the flat
    values of a list column and cutting them into rows was tried: slower than `to_pylist` of pyarrow 26.
    """

    name: ClassVar[str] = "python"
    by_column: ClassVar[bool] = True

    def row(self, table: pa.Table, features: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values[0] for name, values in self.batch(table, features).items()}

    def cell(self, array: pa.Array, place: int, feature: Any) -> Any:
        """One value, without a table around it: what `column` shows of it."""
        if isinstance(feature, ShapedArray):
            return to_list(array.slice(place, 1), feature)[0]
        value = array[place].as_py()
        return decode(feature, value) if feature is not None and needs_decoding(feature) else value

    def column(self, column: pa.ChunkedArray, feature: Any) -> list[Any]:
        return to_list(column, feature)

    def batch(self, table: pa.Table, features: Mapping[str, Any]) -> dict[str, Any]:
        names = table.column_names
        return {name: to_list(table.column(at), features.get(name)) for at, name in enumerate(names)}

    def batches(self, table: pa.Table, features: Mapping[str, Any], size: int) -> Iterator[dict[str, Any]]:
        whole = self.batch(table, features)
        for start in range(0, table.num_rows, size):
            yield {name: values[start : start + size] for name, values in whole.items()}


def to_list(column: pa.ChunkedArray | pa.Array, feature: Any) -> list[Any]:
    """The rows as Python objects, shown as the feature says; None: nothing is known of it."""
    if isinstance(feature, ShapedArray) and feature.decode:
        return feature.rows(column)
    rows: list[Any] = column.to_pylist()
    if feature is not None and needs_decoding(feature):
        return [decode(feature, row) for row in rows]
    return rows
