"""Rows as Arrow data, as they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from arrowprep.dataset.formats.base import cut


class ArrowFormat:
    """A row and a batch are tables, a column is a ChunkedArray; Json columns keep their text."""

    name: ClassVar[str] = "arrow"
    by_column: ClassVar[bool] = False

    def row(self, table: pa.Table, features: Mapping[str, Any]) -> pa.Table:
        return table

    def column(self, column: pa.ChunkedArray, feature: Any) -> pa.ChunkedArray:
        return column

    def batch(self, table: pa.Table, features: Mapping[str, Any]) -> pa.Table:
        return table

    def batches(self, table: pa.Table, features: Mapping[str, Any], size: int) -> Iterator[pa.Table]:
        return cut(self, table, features, size)
