"""Rows as pandas objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset.feature_kinds import needs_decoding
from arrowprep.dataset.formats.base import cut
from arrowprep.dataset.formats.numpy import plain_layout
from arrowprep.dataset.formats.python import to_list

if TYPE_CHECKING:
    import pandas as pd


class PandasFormat:
    """A row and a batch are data frames, a column is a series.

    Integers and booleans among which one is null are objects, with None, not floats.
    """

    name: ClassVar[str] = "pandas"
    by_column: ClassVar[bool] = False

    def __init__(self) -> None:
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "format 'pandas' needs pandas; install it with: pip install arrowprep[pandas]", name="pandas"
            ) from error
        self._pandas = pandas

    def row(self, table: pa.Table, features: Mapping[str, Any]) -> pd.DataFrame:
        return self.batch(table, features)

    def column(self, column: pa.ChunkedArray, feature: Any) -> pd.Series[Any]:
        return self.batch(pa.table({"": column}), {"": feature})[""].rename(None)

    def batch(self, table: pa.Table, features: Mapping[str, Any]) -> pd.DataFrame:
        for at, field in enumerate(table.schema):
            if _is_foreign(field.type):
                plain = [plain_layout(chunk) for chunk in table.column(at).chunks]
                table = table.set_column(at, field.name, pa.chunked_array(plain or [[]]))
        # metadata of another frame (its index) would decide how this one looks
        frame: pd.DataFrame = table.replace_schema_metadata(None).to_pandas(integer_object_nulls=True)
        for at, name in enumerate(table.column_names):
            if needs_decoding(features.get(name)):
                values = to_list(table.column(at), features[name])
                frame[name] = self._pandas.Series(values, index=frame.index, dtype=object)
        return frame

    def batches(self, table: pa.Table, features: Mapping[str, Any], size: int) -> Iterator[pd.DataFrame]:
        return cut(self, table, features, size)


def _is_foreign(kind: pa.DataType) -> bool:
    """Whether pandas has no counterpart: categories that are lists, and list views, which come out wrong."""
    if pat.is_dictionary(kind):
        return bool(pat.is_nested(kind.value_type))
    return str(kind).startswith(("list_view", "large_list_view"))
