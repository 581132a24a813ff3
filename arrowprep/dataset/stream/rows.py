"""Some rows of a stream, its shards in another order, its rows over again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from arrowprep.dataset.stream.base import Draws, OneInput, Reader, Run, State

_SKIPPED_AT_ONCE = 10_000


@dataclass(frozen=True)
class Sliced(OneInput):
    """Rows start, start + step, ... up to stop; None for the end.

    Which rows these are does not depend on who reads them: a reader of some shards reads the whole input
    and gives its share of the rows, every num_shards-th. What `take(n)` and `skip(n)` give is disjoint
    with any number of workers.
    """

    start: int = 0
    stop: int | None = None
    step: int = 1
    shards_are_rows = True

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        input = self.input.open(run.alone(), range(self.input.num_shards))
        return _Slicing(input, self, sorted(shards))


class _Slicing:
    def __init__(self, input: Reader, spec: Sliced, shards: list[int]) -> None:
        self._input, self._spec = input, spec
        self._shards = None if len(shards) == spec.num_shards else np.array(shards)
        self._row = 0  # of the input, the next one

    def read(self, n: int) -> pa.Table | None:
        spec = self._spec
        while spec.stop is None or self._row < spec.stop:
            before = self._row < spec.start
            most = spec.start - self._row if before else n
            if spec.stop is not None and not before:
                most = min(n, spec.stop - self._row)
            table = self._input.read(min(most, _SKIPPED_AT_ONCE) if before else most)
            if table is None:
                return None
            first, self._row = self._row, self._row + table.num_rows
            found = None if before else self._wanted(table, first - spec.start)
            if found is not None and found.num_rows:
                return found
        return None

    def _wanted(self, table: pa.Table, first: int) -> pa.Table:
        """The rows of a table that are ours; `first` is the number of its first row after `start`."""
        if self._spec.step == 1 and self._shards is None:
            return table
        numbers = np.arange(first, first + table.num_rows)
        wanted = numbers % self._spec.step == 0
        if self._shards is not None:
            wanted &= np.isin(numbers // self._spec.step % self._spec.num_shards, self._shards)
        return table.filter(pa.array(wanted))

    def state(self) -> State:
        return {"input": self._input.state(), "row": self._row}

    def load(self, state: State) -> None:
        self._input.load(state["input"])
        self._row = state["row"]


@dataclass(frozen=True)
class Part(OneInput):
    """Some shards only."""

    numbers: tuple[int, ...]

    @property
    def num_shards(self) -> int:
        return len(self.numbers)

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        return self.input.open(run, [self.numbers[number] for number in shards])


@dataclass(frozen=True)
class Reordered(OneInput):
    """The shards in an order that is drawn for each epoch."""

    draws: Draws

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        order = list(range(self.num_shards))
        self.draws.of(run.epoch).shuffle(order)
        return self.input.open(run, [order[number] for number in shards])


@dataclass(frozen=True)
class Repeated(OneInput):
    """All rows, `times` over; None for ever."""

    times: int | None

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        return _Repeating(self, run, shards)


class _Repeating:
    def __init__(self, spec: Repeated, run: Run, shards: Sequence[int]) -> None:
        self._spec, self._run, self._shards = spec, run, shards
        self._turn, self._gave = 0, False
        self._input = self._open()

    def _open(self) -> Reader:
        return self._spec.input.open(self._run.within(f"pass {self._turn}"), self._shards)

    def read(self, n: int) -> pa.Table | None:
        times = self._spec.times
        while times is None or self._turn < times:
            table = self._input.read(n)
            if table is not None:
                self._gave = True
                return table
            if not self._gave:
                return None  # nothing, for ever
            self._turn += 1
            self._input = self._open()
        return None

    def state(self) -> State:
        return {"turn": self._turn, "gave": self._gave, "input": self._input.state()}

    def load(self, state: State) -> None:
        self._turn, self._gave = state["turn"], state["gave"]
        self._input = self._open()
        self._input.load(state["input"])
