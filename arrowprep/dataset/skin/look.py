"""What a dataset is, and its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from arrowprep.dataset.column import Column
from arrowprep.dataset.features import Features
from arrowprep.dataset.indices import Rows, Span, row_of, rows_of
from arrowprep.dataset.info import DatasetInfo
from arrowprep.dataset.skin.held import Held
from arrowprep.dataset.view import field_of
from arrowprep.errors import BadArgument, BadSelection

if TYPE_CHECKING:
    from arrowprep.dataset.dataset import Dataset

_ROWS_AT_ONCE = 1000
_BLOCK_ROWS = 10_000  # read together and cut into batches


class Looks(Held):
    """Facts, rows and columns."""

    def __len__(self) -> int:
        return self._view.num_rows

    @property
    def num_rows(self) -> int:
        return self._view.num_rows

    @property
    def num_columns(self) -> int:
        return len(self._view.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)"""
        return self.num_rows, self.num_columns

    @property
    def column_names(self) -> list[str]:
        return self._view.column_names

    @property
    def features(self) -> Features:
        """Column names and what they hold, in order."""
        return self._view.features.copy()

    @property
    def info(self) -> DatasetInfo:
        """What is known beside the rows."""
        return DatasetInfo(self.features, len(self), self.dataset_size, self._split)

    @property
    def dataset_size(self) -> int:
        """Bytes of the Arrow files, or of the rows where they are in memory."""
        files = self._view.files
        return sum(path.stat().st_size for path in files) if files else int(self.data.nbytes)

    @property
    def split(self) -> str | None:
        """The name of the split that this was loaded as."""
        return self._split

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The Arrow files behind the columns; none for data in memory."""
        return [{"filename": str(path)} for path in self._view.files]

    @property
    def fingerprint(self) -> str:
        """The name of the content: equal for equal files and equal steps."""
        return self._view.fingerprint

    @property
    def _fingerprint(self) -> str:
        return self._view.fingerprint

    @property
    def data(self) -> pa.Table:
        """All rows as an Arrow table; contiguous ones are mapped, not copied."""
        return self._view.read(Span(0, len(self)))

    @property
    def format(self) -> dict[str, Any]:
        """What `set_format` set."""
        known = self._format.saved() or {"type": self._format.name}
        return {**known, "columns": list(self._format.columns or self.column_names)}

    def __repr__(self) -> str:
        width = max((len(name) for name in self.column_names), default=0)
        lines = [f"    {name:<{width}}  {feature!r}" for name, feature in self._view.features.items()]
        split = f"{self._split}: " if self._split else ""
        head = f"Dataset({split}{len(self):,} rows, {self.num_columns} columns"
        return "\n".join([head + (":" if lines else ""), *lines]) + ")"

    # -- read ---------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """`ds[3]` a row, `ds["text"]` a column, `ds[2:5]`, `ds[[3, 1]]` or `ds[mask]` a dict of columns."""
        if isinstance(key, str):
            return self._whole_column(key)
        if isinstance(key, bool | np.bool_):
            raise BadSelection("a bool selects no row; use 0 or 1, or a boolean mask with one entry a row")
        if isinstance(key, int | np.integer):
            row = row_of(int(key), len(self))
            return self._format.row(self._read(Span(row, row + 1)), self._view.features)
        return self._format.batch(self._read(rows_of(key, len(self))), self._view.features)

    def __getitems__(self, keys: Sequence[int]) -> list[Any]:
        """Rows by number, read together; what a PyTorch DataLoader calls."""
        table = self._read(rows_of(keys, len(self)))
        return list(self._format.rows(table, self._view.features))

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            table = self._read(Span(start, min(start + _ROWS_AT_ONCE, len(self))))
            yield from self._format.rows(table, self._view.features)

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """Batches of rows, as the format shows them."""
        if batch_size < 1:
            raise BadArgument(f"batch_size must be at least 1, not {batch_size}", batch_size=batch_size)
        stop = len(self) - len(self) % batch_size if drop_last_batch else len(self)
        block = batch_size * max(1, _BLOCK_ROWS // batch_size)
        for start in range(0, stop, block):
            table = self._read(Span(start, min(start + block, stop)))
            yield from self._format.batches(table, self._view.features, batch_size)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.data.__arrow_c_stream__(requested_schema)

    def _whole_column(self, name: str) -> Any:
        self._view.check([name])
        if self._format.shows_lazily or self._format.transform is not None:
            return Column(cast("Dataset", self), name)
        return self._column_values(name, Span(0, len(self)))

    def _column_values(self, name: str, rows: Rows, path: tuple[str, ...] = ()) -> Any:
        """Values of one column, or of a field within it, as the format shows them."""
        column = self._view.read(rows, [name]).column(name)
        features = self._view.features
        if path:
            column = field_of(column, path)
            features = Features.from_arrow_schema(pa.schema([pa.field(name, column.type)]))
        return self._format.column(name, column, features)
