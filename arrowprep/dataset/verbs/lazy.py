"""The mappings that a user's function sees: a column becomes objects only when it is touched."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, TypeAlias

import pyarrow as pa

from arrowprep.dataset.view import LazyTable
from arrowprep.errors import ColumnNotFound

AnyTable: TypeAlias = "pa.Table | LazyTable"


class Shown:
    """Columns of one batch, decoded at first touch and kept for the batch.

    decode: (name, column) -> one value a row, as the dataset's format shows it
    """

    def __init__(self, table: AnyTable, decode: Callable[[str, pa.ChunkedArray], Any]) -> None:
        self.table = table
        self.names: list[str] = table.column_names
        self._decode = decode
        self._touched: dict[str, Any] = {}
        self._whole: pa.Table | None = None

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def whole(self) -> pa.Table:
        """All columns, for a format that shows them together."""
        if self._whole is None:
            self._whole = self.table.whole() if isinstance(self.table, LazyTable) else self.table
        return self._whole

    @property
    def is_whole(self) -> bool:
        """Whether all columns were shown together."""
        return self._whole is not None

    def column(self, name: str) -> Any:
        values = self._touched.get(name)
        if values is None:
            if name not in self.names:
                raise ColumnNotFound(name, self.names)
            values = self._touched[name] = self._decode(name, self.table.column(name))
        return values

    def is_as_shown(self, name: str) -> bool:
        """Whether nothing inside a column was edited in place since it was shown."""
        if name not in self._touched or not isinstance(self._touched[name], list):
            return name not in self._touched
        return _same(self._touched[name], self._decode(name, self.table.column(name)))

    @property
    def touched(self) -> list[str]:
        return list(self._touched)


def _same(shown: list[Any], fresh: list[Any]) -> bool:
    """Whether nothing was edited. By their bytes: nan is itself, and True is not 1."""
    try:
        return marshal.dumps(shown, 2) == marshal.dumps(fresh, 2)
    except ValueError:  # dates, decimals, and whatever else was put there
        return shown == fresh


class LazyMapping(MutableMapping[str, Any]):
    """A row or a batch: reads come from what is shown, edits are kept beside it."""

    __slots__ = ("_shown", "gone", "new")

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self.new: dict[str, Any] = {}
        self.gone: set[str] = set()

    def _original(self, name: str) -> Any:
        return self._shown.column(name)

    def __getitem__(self, name: str) -> Any:
        if name in self.new:
            return self.new[name]
        if name in self.gone:
            raise ColumnNotFound(name, list(self))
        return self._original(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.new[name] = value
        self.gone.discard(name)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise ColumnNotFound(name, list(self))
        self.new.pop(name, None)
        if name in self._shown:
            self.gone.add(name)

    def __contains__(self, name: object) -> bool:
        return name in self.new or (name in self._shown and name not in self.gone)

    def __iter__(self) -> Iterator[str]:
        for name in self._shown.names:
            if name not in self.gone:
                yield name
        for name in self.new:
            if name not in self._shown:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))

    def copy(self) -> dict[str, Any]:
        """A plain dict of all columns."""
        return dict(self)

    def __or__(self, other: Any) -> dict[str, Any]:
        return {**self, **other}

    def __ror__(self, other: Any) -> dict[str, Any]:
        return {**other, **self}


class LazyBatch(LazyMapping):
    """Columns by name; a column is a list (or what the dataset's format makes of it)."""

    __slots__ = ()


class LazyRow(LazyMapping):
    """One row of what is shown; values by column name."""

    __slots__ = ("_number",)

    def __init__(self, shown: Shown, number: int) -> None:
        self._shown = shown
        self.new = {}
        self.gone = set()
        self._number = number

    def _original(self, name: str) -> Any:
        return self._shown.column(name)[self._number]

    def __getitem__(self, name: str) -> Any:
        if self.new or self.gone:
            return super().__getitem__(name)
        return self._shown.column(name)[self._number]  # most rows are only read
