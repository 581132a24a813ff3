"""One column of a dataset, read when it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from arrowprep.dataset.indices import Span, row_of, rows_of

if TYPE_CHECKING:
    from arrowprep.dataset.dataset import Dataset

_ROWS_AT_ONCE = 1000


class Column(Sequence[Any]):
    """What `ds["name"]` returns: a sequence that reads the rows that are asked for.

    `ds["struct"]["field"]` is the field. Compares equal to a list of its values.
    """

    def __init__(self, dataset: Dataset, name: str, path: tuple[str, ...] = ()) -> None:
        self._dataset = dataset
        self._name = name
        self._path = path
        self._first = 0  # of the chunk below, which makes reading one after the other cheap
        self._chunk: Any = ()

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return Column(self._dataset, self._name, (*self._path, key))
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return self._at(row_of(int(key), len(self)))
        return self._dataset._column_values(self._name, rows_of(key, len(self)), self._path)

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            yield from self[start : start + _ROWS_AT_ONCE]

    def _at(self, row: int) -> Any:
        """One value; a neighbour of the last one comes from the same decoded chunk."""
        place = row - self._first
        if 0 <= place < len(self._chunk):
            return self._chunk[place]
        size = _ROWS_AT_ONCE if place == len(self._chunk) and place else 1
        self._first, self._chunk = row, self[row : row + size]
        return self._chunk[0]

    def to_list(self) -> list[Any]:
        """All values as Python objects."""
        shown = self._dataset.with_format(None)
        return list(shown._column_values(self._name, Span(0, len(self)), self._path))

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """All values as an array, of the stored type where no value is null."""
        shown = self._dataset.with_format("numpy")
        return np.asarray(shown._column_values(self._name, Span(0, len(self)), self._path))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.to_numpy(), dtype=dtype)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._arrow().__arrow_c_stream__(requested_schema)

    def _arrow(self) -> pa.ChunkedArray:
        return self._dataset.with_format("arrow")._column_values(self._name, Span(0, len(self)), self._path)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Column):
            other = other[:]
        if not isinstance(other, list | tuple | np.ndarray):
            return NotImplemented
        return len(self) == len(other) and all(bool(np.all(a == b)) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [repr(value) for value in self[:5]]
        more = f", ... {len(self):,} rows" if len(self) > 5 else ""
        name = ".".join((self._name, *self._path))
        return f"Column({name!r}: [{', '.join(s if len(s) <= 80 else s[:77] + '...' for s in shown)}{more}])"
