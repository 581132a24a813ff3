"""Rows as Polars objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset.formats.base import cut
from arrowprep.dataset.formats.numpy import plain_layout

if TYPE_CHECKING:
    import polars as pl


class PolarsFormat:
    """A row and a batch are data frames, a column is a series; nulls stay nulls, Json keeps its text.

    schema_overrides: Polars types by column
    rechunk: whether each column's memory is in one piece
    """

    name: ClassVar[str] = "polars"
    by_column: ClassVar[bool] = False

    def __init__(self, schema_overrides: Mapping[str, Any] | None = None, rechunk: bool = True) -> None:
        try:
            import polars
        except ImportError as error:
            raise ImportError(
                "format 'polars' needs Polars; install it with: pip install arrowprep[polars]", name="polars"
            ) from error
        self._polars = polars
        self._options: dict[str, Any] = {"schema_overrides": schema_overrides, "rechunk": rechunk}

    def row(self, table: pa.Table, features: Mapping[str, Any]) -> pl.DataFrame:
        return self.batch(table, features)

    def column(self, column: pa.ChunkedArray, feature: Any) -> pl.Series:
        return self.batch(pa.table({"": column}), {"": feature}).to_series()

    def batch(self, table: pa.Table, features: Mapping[str, Any]) -> pl.DataFrame:
        for at, field in enumerate(table.schema):
            if relaid := _relaid_by(field.type):
                kind = relaid(pa.nulls(0, field.type)).type
                chunks = [relaid(chunk) for chunk in table.column(at).chunks]
                table = table.set_column(at, field.name, pa.chunked_array(chunks, kind))
        return cast("pl.DataFrame", self._polars.from_arrow(table, **self._options))

    def batches(self, table: pa.Table, features: Mapping[str, Any], size: int) -> Iterator[pl.DataFrame]:
        return cut(self, table, features, size)


def _relaid_by(kind: pa.DataType) -> Callable[[pa.Array], pa.Array] | None:
    """What makes a layout that Polars can read of one that it cannot; None where it can.

    It has no extensions, no categories that are lists and no list views, and refuses slices of
    fixed-size lists beside nulls (Polars 2.1).
    """
    is_view = str(kind).startswith(("list_view", "large_list_view"))
    is_listed_category = pat.is_dictionary(kind) and pat.is_nested(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType) or is_view or is_listed_category:
        return plain_layout
    return _unsliced if "fixed_size_list" in str(kind) else None


def _unsliced(array: pa.Array) -> pa.Array:
    return pa.concat_arrays([array, array[:0]])  # which copies
