"""What a format is: how rows look to whoever reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import pyarrow as pa


class Format(Protocol):
    """Shows Arrow data as one library's values; its options are keywords of its constructor.

    name: as users write it
    by_column: a batch is a dict of columns, so one column can be shown without the others
    """

    name: ClassVar[str]
    by_column: ClassVar[bool]

    def row(self, table: pa.Table, features: Mapping[str, Any]) -> Any:
        """A table of one row, as `ds[i]` returns it."""

    def column(self, column: pa.ChunkedArray, feature: Any) -> Any:
        """One column, as `ds["name"][:]` returns it."""

    def batch(self, table: pa.Table, features: Mapping[str, Any]) -> Any:
        """A table, as `ds[a:b]` and `ds.iter(batch_size)` return it."""
