"""Shuffling a stream through a buffer; the order for a seed is a promise.

1. The shards are put in an order drawn by `generator.shuffle`.
2. They are dealt to at most `max_input_shards` neighbouring groups, which give blocks of
   `buffer_size // max_input_shards` rows by turns.
3. Blocks fill the buffer until it holds `buffer_size` rows or more. Then `generator.permutation` orders
   it; the first rows are given, `buffer_size // 2` stay and are filled up again. At the end all are given.

Both draw from the seed's generator at its beginning (`Draws.of` for other epochs and for workers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from arrowprep.dataset.indices import Picks, RowArray, shard
from arrowprep.dataset.storage.backing import Chunks, own_copy
from arrowprep.dataset.stream.base import Draws, OneInput, Reader, Run, State, joined, read_whole
from arrowprep.dataset.stream.places import Waiting


@dataclass(frozen=True)
class Buffered(OneInput):
    """The rows in an order drawn through a buffer, which is all that memory holds."""

    draws: Draws
    buffer_size: int
    max_input_shards: int

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        count = max(1, min(len(shards), self.max_input_shards))
        spans = [shard(len(shards), count, group).array() for group in range(count)]
        groups = [
            self.input.open(run.within(f"group {group}"), [shards[place] for place in span])
            for group, span in enumerate(spans)
        ]
        block = max(1, self.buffer_size // max(1, self.max_input_shards))
        return _Shuffling(groups, block, self.buffer_size, self.draws.of(run.epoch, run.worker))


class _Shuffling:
    """Its state is the rows that stayed and the place before those that filled up: half a buffer, exact."""

    def __init__(
        self, groups: list[Reader], block: int, buffer_size: int, generator: np.random.Generator
    ) -> None:
        self._groups, self._block, self._size, self._generator = groups, block, buffer_size, generator
        self._turn = 0
        self._ended = [False] * len(groups)
        self._kept: Waiting | None = None
        self._ready: pa.Table | None = None  # in its order, to be given
        self._given = 0
        self._before: State = {}

    def read(self, n: int) -> pa.Table | None:
        while self._ready is None or self._given == self._ready.num_rows:
            if not self._fill():
                return None
        found = self._ready.slice(self._given, n)
        self._given += found.num_rows
        return found

    def _fill(self) -> bool:
        before = self._place()
        tables = [] if self._kept is None else [self._kept.table]
        rows = sum(table.num_rows for table in tables)
        while rows < self._size and (block := self._next_block()) is not None:
            tables.append(block)
            rows += block.num_rows
        if not rows:
            return False
        self._before = before
        shuffled = _taken(joined(tables), self._generator.permutation(rows))
        give = rows - self._size // 2 if rows >= self._size else rows
        self._ready, self._given = shuffled.slice(0, give), 0
        # a copy, for a slice would hold what was given
        self._kept = Waiting(own_copy(shuffled.slice(give))) if give < rows else None
        return True

    def _next_block(self) -> pa.Table | None:
        """The next rows of the group whose turn it is; None when all have ended."""
        while not all(self._ended):
            group, self._turn = self._turn, (self._turn + 1) % len(self._groups)
            if self._ended[group]:
                continue
            table = read_whole(self._groups[group], self._block)
            if table is not None:
                return table
            self._ended[group] = True
        return None

    def _place(self) -> State:
        return {
            "groups": [group.state() for group in self._groups],
            "turn": self._turn,
            "ended": list(self._ended),
            "kept": self._kept,
            "generator": self._generator.bit_generator.state,
        }

    def state(self) -> State:
        if self._ready is None or self._given == self._ready.num_rows:
            return {**self._place(), "given": 0}
        return {**self._before, "given": self._given}

    def load(self, state: State) -> None:
        for group, place in zip(self._groups, state["groups"], strict=True):
            group.load(place)
        self._turn, self._ended = state["turn"], list(state["ended"])
        self._kept, self._ready = state["kept"], None
        self._generator.bit_generator.state = state["generator"]
        if state["given"]:
            self._fill()
            self._given = state["given"]


def _taken(table: pa.Table, order: RowArray) -> pa.Table:
    return Chunks(table.schema, table.to_batches()).read(Picks(order))
