"""Neighbouring rows of a stream that are equal in some columns, as one row of lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.stream.apply import lists_of
from arrowprep.dataset.stream.base import Cursor, OneInput, Reader, Run, joined
from arrowprep.dataset.verbs.group import as_lists, starts_of


@dataclass(frozen=True)
class Grouped(OneInput):
    """A row for each run of equal rows, also across the shards that one reader has."""

    names: tuple[str, ...]

    @property
    def features(self) -> Features | None:
        return lists_of(self.input.features)

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        return _Grouping(self.input.open(run, shards), self.names)


class _Grouping:
    """Its place is that of its input before the next run."""

    def __init__(self, input: Reader, names: Sequence[str]) -> None:
        self._cursor, self._names = Cursor(input), names
        self.state, self.load = self._cursor.state, self._cursor.load

    def read(self, n: int) -> pa.Table | None:
        groups: list[pa.Table] = []
        while len(groups) < n and self._cursor.has_row():
            groups.append(self._group())
        if not groups:
            return None
        stops = np.cumsum([0, *(group.num_rows for group in groups)])
        return pa.table(as_lists(joined(groups), stops))

    def _group(self) -> pa.Table:
        parts: list[pa.Table] = []
        while self._cursor.has_row():
            assert self._cursor.block is not None
            rest = self._cursor.block.slice(self._cursor.given)
            if parts and not self._go_on(parts[-1], rest):
                break
            parts.append(rest.slice(0, int(starts_of(rest, self._names)[1])))
            self._cursor.given += parts[-1].num_rows
            if parts[-1].num_rows < rest.num_rows:
                break
        return joined(parts)

    def _go_on(self, run: pa.Table, rest: pa.Table) -> bool:
        """Whether the rest begins with a row that is equal to the last of the run."""
        neighbours = joined([run.slice(run.num_rows - 1), rest.slice(0, 1)]).select(self._names)
        return len(starts_of(neighbours, self._names)) == 2
