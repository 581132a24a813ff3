"""Functions over the rows of a stream: map, filter, batch, and changes of columns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from arrowprep.dataset.features import Features, List
from arrowprep.dataset.stream.base import OneInput, Reader, Run, State, read_whole
from arrowprep.dataset.verbs.batches import BatchFunction, random_state_kept
from arrowprep.dataset.verbs.filter import KEEP, Keep
from arrowprep.dataset.verbs.returned import Returned
from arrowprep.dataset.verbs.spec import MapSpec
from arrowprep.dataset.widen import cast_table


class _Step(Protocol):
    """What is made of some rows, the first of which is row `first` of the input."""

    def __call__(self, table: pa.Table, first: int) -> pa.Table: ...


class _Applied:
    """Makes rows of blocks of the input.

    size: rows of a block; None where any number will do, and as many are read as are asked for
    thins: few rows may be made of many; so that the last ones of a block do not cost a call each, no
        fewer are read than were asked for before
    """

    def __init__(
        self,
        input: Reader,
        step: _Step,
        size: int | None = None,
        drop_last: bool = False,
        thins: bool = False,
    ) -> None:
        self._input, self._step, self._size, self._drop_last = input, step, size, drop_last
        self._thins = thins
        self._row = 0  # of the input, the next one
        self._made: pa.Table | None = None
        self._given = 0  # rows of what was made
        self._before: State = {}  # the block it was made of
        self._asked = 0

    def read(self, n: int) -> pa.Table | None:
        while self._made is None or self._given == self._made.num_rows:
            if not self._make(self._size or (max(n, self._asked) if self._thins else n)):
                return None
        found = self._made.slice(self._given, n)
        self._given += found.num_rows
        return found

    def _make(self, rows: int) -> bool:
        before = self._place()
        table = read_whole(self._input, rows) if self._size else self._input.read(rows)
        if table is None or (self._drop_last and table.num_rows < rows):
            return False
        self._before, self._asked = before, rows
        self._made, self._given = self._step(table, self._row), 0
        self._row += table.num_rows
        return True

    def _place(self) -> State:
        return {"input": self._input.state(), "row": self._row}

    def state(self) -> State:
        if self._made is None or self._given == self._made.num_rows:
            return {**self._place(), "asked": self._asked, "given": 0}
        return {**self._before, "asked": self._asked, "given": self._given}

    def load(self, state: State) -> None:
        self._input.load(state["input"])
        self._row, self._made, self._asked = state["row"], None, state["asked"]
        if state["given"]:
            self._make(state["asked"])
            self._given = state["given"]


@dataclass(frozen=True)
class Mapped(OneInput):
    """What a function makes of rows or batches; features are known where they are given."""

    spec: MapSpec

    @property
    def features(self) -> Features | None:
        return self.spec.features

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        input = self.input.open(run.within("map"), shards)
        spec = self.spec
        return _Applied(
            input,
            _Map(spec, self.input.features, run.key),
            _rows_a_call(spec),
            spec.batched and spec.drop_last_batch,
        )


@dataclass(frozen=True)
class Filtered(OneInput):
    """The rows for which a function is true."""

    spec: MapSpec

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        spec = replace(self.spec, function=Keep(self.spec.function, self.spec.batched))
        step = _Filter(spec, self.input.features, run.key)
        input = self.input.open(run.within("filter"), shards)
        return _Applied(input, step, _rows_a_call(spec), thins=True)


def _rows_a_call(spec: MapSpec) -> int | None:
    return spec.rows_a_call(sys.maxsize) if spec.batched else None


@dataclass
class _Function:
    """A user's function on tables of whatever columns come."""

    spec: MapSpec
    features: Features | None
    key: str
    _ready: tuple[pa.Schema, BatchFunction] | None = field(default=None, init=False)

    def returned(self, table: pa.Table, first: int) -> Returned:
        if self._ready is None or not self._ready[0].equals(table.schema):
            features = self.features or Features.from_arrow_schema(table.schema)
            self._ready = table.schema, BatchFunction(self.spec, features, self.key)
        with random_state_kept():
            return self._ready[1](table, first, None)


class _Map(_Function):
    def __call__(self, table: pa.Table, first: int) -> pa.Table:
        made = merged(table, self.returned(table, first), self.spec.remove_columns)
        return made if self.spec.features is None else cast_table(made, self.spec.features.arrow_schema)


class _Filter(_Function):
    def __call__(self, table: pa.Table, first: int) -> pa.Table:
        made = self.returned(table, first).table
        if made is None or not made.num_rows:
            return table.slice(0, 0)
        kept = np.asarray(made.column(KEEP).to_numpy(), dtype=bool)
        return table if kept.all() else table.filter(pa.array(kept))


def merged(table: pa.Table, returned: Returned, removed: Sequence[str]) -> pa.Table:
    """The columns of the input that stay, changed ones in their place, and new ones after them."""
    new = returned.table
    gone = returned.gone.union(removed)
    if new is None:
        return table.select([name for name in table.column_names if name not in gone])
    columns = {}
    for name in table.column_names:
        if name in new.column_names:
            columns[name] = new.column(name)
        elif name not in gone:
            columns[name] = table.column(name)
    columns.update({name: new.column(name) for name in new.column_names if name not in columns})
    return pa.table(columns) if columns else new


@dataclass(frozen=True)
class Batched(OneInput):
    """Rows of lists: `size` rows of each column as one."""

    size: int
    drop_last: bool

    @property
    def features(self) -> Features | None:
        return lists_of(self.input.features)

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        return _Applied(self.input.open(run, shards), _as_one_row, self.size, self.drop_last)


def lists_of(known: Features | None) -> Features | None:
    """The features of rows put together."""
    return None if known is None else Features({name: List(feature) for name, feature in known.items()})


def _as_one_row(table: pa.Table, first: int) -> pa.Table:
    columns = (column.combine_chunks() for column in table.columns)
    lists = [pa.ListArray.from_arrays([0, table.num_rows], column) for column in columns]
    return pa.table(lists, names=table.column_names)


@dataclass(frozen=True)
class Reshaped(OneInput):
    """The same rows with other columns.

    known: the features after the change, None where they are not known
    """

    change: Callable[[pa.Table], pa.Table]
    known: Features | None

    @property
    def features(self) -> Features | None:
        return self.known

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        return _Reshaping(self.input.open(run, shards), self.change)


class _Reshaping:
    def __init__(self, input: Reader, change: Callable[[pa.Table], pa.Table]) -> None:
        self._input, self._change = input, change
        self.state, self.load = input.state, input.load

    def read(self, n: int) -> pa.Table | None:
        table = self._input.read(n)
        return None if table is None else self._change(table)
