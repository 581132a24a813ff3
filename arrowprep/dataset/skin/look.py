"""What a dataset is, and its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from arrowprep.dataset.column import Column
from arrowprep.dataset.features import Features
from arrowprep.dataset.formatted import as_rows
from arrowprep.dataset.indices import Picks, Rows, Span, row_of, rows_of
from arrowprep.dataset.info import DatasetInfo, NamedSplit, Told
from arrowprep.dataset.plain import int64_array
from arrowprep.dataset.skin.held import Held
from arrowprep.dataset.view import field_of
from arrowprep.errors import BadArgument, BadSelection

if TYPE_CHECKING:
    from arrowprep.dataset.dataset import Dataset

_ROWS_AT_ONCE = 1000
_BLOCK_ROWS = 10_000  # read together and cut into batches


class Looks(Told, Held):
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
        """What is known beside the rows; its texts may be set."""
        info, info.features, info.num_rows = self._info, self.features, len(self)
        info.dataset_size, info.split = self.dataset_size, self._split
        return info

    @property
    def split(self) -> NamedSplit | None:
        """The name of the split that this was loaded as."""
        return None if self._split is None else NamedSplit(self._split)

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

    @_fingerprint.setter
    def _fingerprint(self, name: str) -> None:
        self._view = replace(self._view, fingerprint=name)

    @property
    def data(self) -> pa.Table:
        """All rows as an Arrow table whose metadata tells the features; contiguous ones are not copied."""
        rows = self._view.read(Span(0, len(self)))
        return rows.replace_schema_metadata(self._view.schema.metadata)

    @property
    def format(self) -> dict[str, Any]:
        """What `set_format` set, as `set_format(**ds.format)` takes it."""
        return {
            "type": self._format_type,
            "format_kwargs": self._format_kwargs,
            "columns": self._format_columns or self.column_names,
            "output_all_columns": self._output_all_columns,
        }

    # -- what libraries for `datasets` look at --------------------------------------------------------

    @property
    def _data(self) -> pa.Table:
        return self.data

    @property
    def _indices(self) -> pa.Table | None:
        """The row numbers in the files, where they are not a contiguous range."""
        picked = [source.rows for source in self._view.sources if isinstance(source.rows, Picks)]
        return pa.table({"indices": int64_array(picked[0].numbers).view(pa.uint64())}) if picked else None

    @property
    def _format_type(self) -> str | None:
        return None if self._format.name == "python" else self._format.name

    @property
    def _format_columns(self) -> list[str] | None:
        return None if self._format.columns is None else list(self._format.columns)

    @_format_columns.setter
    def _format_columns(self, names: Sequence[str] | None) -> None:
        self._format = replace(self._format, columns=None if names is None else tuple(names))

    @property
    def _format_kwargs(self) -> dict[str, Any]:
        transform = self._format.transform
        return dict(self._format.options) if transform is None else {"transform": transform}

    @property
    def _output_all_columns(self) -> bool:
        return self._format.output_all_columns

    def __repr__(self) -> str:
        width = max((len(name) for name in self.column_names), default=0)
        lines = [f"    {name:<{width}}  {feature!r}" for name, feature in self._view.features.items()]
        split = f"{self._split}: " if self._split else ""
        head = f"Dataset({split}{len(self):,} rows, {self.num_columns} columns"
        return "\n".join([head + (":" if lines else ""), *lines]) + ")"

    # -- read ---------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """`ds[3]` a row, `ds["text"]` a column, `ds[2:5]`, `ds[[3, 1]]` or `ds[mask]` a dict of columns."""
        if type(key) is int:
            return self._row(row_of(key, self._view.num_rows))
        if type(key) is list:
            return self._batch(rows_of(key, self._view.num_rows))
        if isinstance(key, str):
            return self._whole_column(key)
        if isinstance(key, bool | np.bool_):
            raise BadSelection("a bool selects no row; use 0 or 1, or a boolean mask with one entry a row")
        if isinstance(key, int | np.integer):
            return self._row(row_of(int(key), len(self)))
        return self._batch(rows_of(key, len(self)))

    def __getitems__(self, keys: Sequence[int]) -> list[Any]:
        """Rows by number, read together; what a PyTorch DataLoader calls."""
        rows = rows_of(keys, len(self))
        if self._format.shows_lazily and not self._format.output_all_columns:
            batch, loaded = self._batch(rows), self._format.loaded
            return list(as_rows(batch, len(rows))) if loaded is None or not batch else loaded(batch)
        return list(self._format.rows(self._read(rows), self._view.features))

    def _row(self, row: int) -> Any:
        """One row; Python's objects come from the arrays that hold them, without a table."""
        features = self._view.features
        shown = self._format.cell
        if shown is not None:
            names = self._format.covered(self._view.columns)
            cells = self._view.cells(row, names)
            if cells is not None:
                pairs = zip(names, cells, strict=True)
                return {name: shown(array, place, features[name]) for name, (array, place) in pairs}
        return self._format.row(self._read(Span(row, row + 1)), features)

    def _batch(self, rows: Rows) -> Any:
        """Rows together; columns of numbers are gathered without a table."""
        shown = self._format.gathered
        if shown is None:
            return self._format.batch(self._read(rows), self._view.features)
        names, found = self._format.covered(self._view.columns), {}
        for name in names:
            numbers = self._view.numbers(rows, name)
            if numbers is not None:
                found[name] = shown(numbers)
        if len(found) == len(names):
            return found
        table = self._view.read(rows, [name for name in names if name not in found])
        found |= self._format.batch(table, self._view.features)
        return {name: found[name] for name in names}

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
