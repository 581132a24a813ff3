"""Stage and Reader: what a stream computes, and one pass over it whose place can be kept and found again."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.widen import cast_table, wider_schema

# of JSON values and rows that wait (`places.Waiting`), which never change: keeping a state costs nothing
State: TypeAlias = dict[str, Any]

MOST_ROWS = 256  # are read ahead of what was given


@dataclass(frozen=True)
class Run:
    """One pass over a stream.

    epoch: another epoch is another order, where something is shuffled
    worker: the number of the process that reads a share; None where one reads all
    key: decides which random numbers functions draw; tells apart what is opened side by side
    """

    epoch: int = 0
    worker: int | None = None
    key: str = ""

    def within(self, name: object) -> Run:
        return replace(self, key=f"{self.key}/{name}")

    def alone(self) -> Run:
        """The pass of a reader of all shards, which gives the same rows in every worker."""
        return replace(self, worker=None)


class Reader(Protocol):
    """One pass over rows. The rows after a state are the same however often it is loaded."""

    def read(self, n: int) -> pa.Table | None:
        """The next rows, at least one and at most n; None at the end."""

    def state(self) -> State:
        """The place before the next row. A state and the n of later reads decide all that follows."""

    def load(self, state: State) -> None:
        """Go to a place that another reader of the same stage was at."""


class Stage(Protocol):
    """A description of rows; frozen, and it pickles.

    features: what the columns hold, None where only reading would tell
    num_shards: parts that can be read apart; together they have each row once
    shards_are_rows: a shard is every num_shards-th row, and reading one reads all of the input
    """

    @property
    def features(self) -> Features | None: ...
    @property
    def num_shards(self) -> int: ...
    @property
    def shards_are_rows(self) -> bool: ...
    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        """A reader of these shards, one after the other."""


@dataclass(frozen=True)
class OneInput:
    """A stage over another, whose shards and columns it has unless it says otherwise."""

    input: Stage

    @property
    def features(self) -> Features | None:
        return self.input.features

    @property
    def num_shards(self) -> int:
        return self.input.num_shards

    @property
    def shards_are_rows(self) -> bool:
        return self.input.shards_are_rows


@dataclass(frozen=True)
class Draws:
    """The random numbers of one step: the same in each run of the same epoch."""

    generator: np.random.Generator

    def of(self, epoch: int, worker: int | None = None) -> np.random.Generator:
        """A generator at its beginning: in epoch 0 as given, in other epochs and workers derived from it."""
        fresh = deepcopy(self.generator)
        if not epoch and worker is None:
            return fresh
        base = int(fresh.integers(0, 1 << 63))
        # not 0, for seeds that differ in trailing zeros only are one seed
        return np.random.default_rng([base, epoch] if worker is None else [base, epoch, worker + 1])


class Cursor:
    """The rows of a reader one by one, exact to the row.

    They are read in blocks of 1, 2, 4, ... rows: no more are ever read ahead than were given, so that
    looking at the first row of a slow stream costs one row.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._before = reader.state()  # the block
        self._asked = 1
        self.block: pa.Table | None = None
        self.given = 0  # rows of the block

    def has_row(self) -> bool:
        """Whether there is another row: row `given` of `block`."""
        if self.block is not None and self.given < self.block.num_rows:
            return True
        if self.block is not None:
            self._before, self._asked = self._reader.state(), min(2 * self._asked, MOST_ROWS)
        self.block, self.given = self._reader.read(self._asked), 0
        return self.block is not None

    def take(self, n: int) -> pa.Table | None:
        """The next n rows, fewer only at the end; None where there are none."""
        tables = []
        if self.block is not None and self.given < self.block.num_rows:
            tables.append(self.block.slice(self.given, n))
            self.given += tables[0].num_rows
            n -= tables[0].num_rows
        if n and (table := read_whole(self._reader, n)) is not None:
            tables.append(table)
            self._before, self.block, self.given = self._reader.state(), None, 0
        return joined(tables) if tables else None

    def state(self) -> State:
        return {"before": self._before, "asked": self._asked, "given": self.given}

    def load(self, state: State) -> None:
        self._reader.load(state["before"])
        self._before, self._asked, self.given = state["before"], state["asked"], state["given"]
        self.block = self._reader.read(self._asked) if self.given else None


def read_whole(reader: Reader, n: int) -> pa.Table | None:
    """The next n rows, fewer only at the end; None where there are none."""
    tables: list[pa.Table] = []
    missing = n
    while missing and (table := reader.read(missing)) is not None:
        tables.append(table)
        missing -= table.num_rows
    return joined(tables) if tables else None


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of all tables, columns in types that hold them all; a column that one lacks is null there."""
    if len(tables) == 1:
        return tables[0]
    schemas = [table.schema for table in tables]
    if all(schema.equals(schemas[0]) for schema in schemas):
        return pa.concat_tables(tables)
    schema = reduce(wider_schema, schemas)
    return pa.concat_tables([cast_table(table, schema) for table in tables])
