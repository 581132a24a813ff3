"""What a format is: how rows look to whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
        """A table, as `ds[a:b]` returns it."""

    def batches(self, table: pa.Table, features: Mapping[str, Any], size: int) -> Iterator[Any]:
        """A table cut into batches of `size` rows, the last one of what is left, as `ds.iter(size)` does it.

        Each is what `batch` makes of these rows; converting many rows at once and cutting then is cheaper.
        """


def cut(shown: Format, table: pa.Table, features: Mapping[str, Any], size: int) -> Iterator[Any]:
    """Batches made one by one: the plain way to do `batches`."""
    for start in range(0, table.num_rows, size):
        yield shown.batch(table.slice(start, size), features)
