"""Changes of columns, each a function from table to table that can be pickled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from arrowprep.dataset.convert import to_feature
from arrowprep.dataset.features import Features
from arrowprep.errors import ColumnNotFound


@dataclass(frozen=True)
class Select:
    names: tuple[str, ...]

    def __call__(self, table: pa.Table) -> pa.Table:
        check(self.names, table.column_names)
        return table.select(list(self.names))


@dataclass(frozen=True)
class Remove:
    names: tuple[str, ...]

    def __call__(self, table: pa.Table) -> pa.Table:
        check(self.names, table.column_names)
        return table.select([name for name in table.column_names if name not in self.names])


@dataclass(frozen=True)
class Rename:
    mapping: Mapping[str, str]

    def __call__(self, table: pa.Table) -> pa.Table:
        check(list(self.mapping), table.column_names)
        return table.rename_columns([self.mapping.get(name, name) for name in table.column_names])


@dataclass(frozen=True)
class CastTo:
    features: Features

    def __call__(self, table: pa.Table) -> pa.Table:
        check(list(self.features), table.column_names)
        for at, name in enumerate(table.column_names):
            if name in self.features:
                column = to_feature(table.column(name), name, self.features[name])
                table = table.set_column(at, name, column)
        return table


def check(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raises ColumnNotFound for the first name that is no column."""
    for name in names:
        if name not in columns:
            raise ColumnNotFound(name, list(columns))
