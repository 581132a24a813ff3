"""The mappings that a user's function sees: a column becomes objects only when it is touched."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from operator import is_
from typing import Any, TypeAlias

import pyarrow as pa

from arrowprep.dataset.verbs.text_rows import TextRows
from arrowprep.dataset.view import LazyTable
from arrowprep.errors import ColumnNotFound

AnyTable: TypeAlias = "pa.Table | LazyTable"


class Shown(dict[str, Any]):
    """Columns of one batch by name, decoded when first asked for and kept for the batch.

    decode: (name, column) -> one value a row, as the dataset's format shows it
    """

    def __init__(self, table: AnyTable, decode: Callable[[str, pa.ChunkedArray], Any]) -> None:
        self.table = table
        self.names: list[str] = table.column_names
        self._decode = decode
        self._before: dict[str, list[Any]] = {}  # the values of each list when it was shown
        self._whole: pa.Table | None = None

    def __missing__(self, name: str) -> Any:
        if name not in self.names:
            raise ColumnNotFound(name, self.names)
        values = self[name] = self._decode(name, self.table.column(name))
        if isinstance(values, list):
            self._before[name] = values.before if isinstance(values, TextRows) else values.copy()
        return values

    def whole(self) -> pa.Table:
        """All columns, for a format that shows them together."""
        if self._whole is None:
            self._whole = self.table.whole() if isinstance(self.table, LazyTable) else self.table
        return self._whole

    @property
    def is_whole(self) -> bool:
        """Whether all columns were shown together."""
        return self._whole is not None

    @property
    def touched(self) -> list[str]:
        """The columns that were shown."""
        return list(self)

    def is_as_shown(self, name: str) -> bool:
        """Whether nothing inside a column was edited in place since it was shown."""
        before = self._before.get(name)
        if before is None:
            return name not in self
        return _untouched(self[name], before) or _same(
            self[name], self._decode(name, self.table.column(name))
        )


_UNCHANGING = {int, float, bool, str, bytes, type(None)}


def _untouched(shown: list[Any], before: list[Any]) -> bool:
    """Whether these are the very values that were shown, and none can be edited: no need to decode again."""
    same = len(shown) == len(before) and all(map(is_, shown, before))
    return same and _UNCHANGING.issuperset(map(type, before))


def _same(shown: list[Any], fresh: list[Any]) -> bool:
    """Whether nothing was edited. By their bytes: nan is itself, and True is not 1."""
    try:
        return marshal.dumps(shown, 2) == marshal.dumps(fresh, 2)
    except ValueError:  # dates, decimals, and whatever else was put there
        return shown == fresh


_NOTHING_NEW: Mapping[str, Any] = {}
_NOTHING_GONE: frozenset[str] = frozenset()


class LazyMapping(MutableMapping[str, Any]):
    """A row or a batch: reads come from what is shown, edits are kept beside it.

    new, gone: never changed in place, so that those without edits share theirs: most rows are only read
    """

    __slots__ = ("_shown", "gone", "new")

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self.new = _NOTHING_NEW
        self.gone = _NOTHING_GONE

    def _original(self, name: str) -> Any:
        return self._shown[name]

    def __getitem__(self, name: str) -> Any:
        if name in self.new:
            return self.new[name]
        if name in self.gone:
            raise ColumnNotFound(name, list(self))
        return self._original(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.new = {**self.new, name: value}
        self.gone = self.gone - {name}

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise ColumnNotFound(name, list(self))
        self.new = {key: value for key, value in self.new.items() if key != name}
        if name in self._shown.names:
            self.gone = self.gone | {name}

    def __contains__(self, name: object) -> bool:
        return name in self.new or (name in self._shown.names and name not in self.gone)

    def __iter__(self) -> Iterator[str]:
        for name in self._shown.names:
            if name not in self.gone:
                yield name
        for name in self.new:
            if name not in self._shown.names:
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
        self._number = number
        self.new = _NOTHING_NEW
        self.gone = _NOTHING_GONE

    def _original(self, name: str) -> Any:
        return self._shown[name][self._number]

    def __getitem__(self, name: str) -> Any:
        if self.new or self.gone:
            return super().__getitem__(name)
        return self._shown[name][self._number]
