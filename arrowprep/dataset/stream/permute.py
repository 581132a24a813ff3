"""Shuffling a stream over a dataset without a buffer: any row may come anywhere; the order is a promise.

1. The rows are cut into blocks of BLOCK_ROWS neighbours, which `generator.permutation` orders.
2. The blocks are dealt to the shards, neighbours in that order together, the first shards one more.
3. Of each shard, WINDOW_BLOCKS blocks at a time make a window, whose rows are ordered by the permutation of
   a generator seeded with (a number drawn from the seed's generator, shard, window).

So a place is three numbers, memory holds the row numbers of a window (0.5 MB), and rows that are read
together lie in a few hundred places of the files. Up to 65,536 rows, all orders are equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.indices import Picks, RowArray, shard
from arrowprep.dataset.stream.base import Draws, Reader, Run, State
from arrowprep.dataset.stream.sources import ViewShard

BLOCK_ROWS = 256
WINDOW_BLOCKS = 256


@dataclass(frozen=True)
class Permuted:
    """The rows of a view in an order drawn for each epoch."""

    rows: ViewShard
    num_shards: int
    draws: Draws
    shards_are_rows = False

    @property
    def features(self) -> Features:
        return self.rows.view.features

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        return _Permuting(self, run.epoch, shards)


class _Permuting:
    def __init__(self, spec: Permuted, epoch: int, shards: Sequence[int]) -> None:
        self._rows = spec.rows
        blocks = -(-len(spec.rows.rows) // BLOCK_ROWS)
        order = spec.draws.of(epoch).permutation(blocks)
        self._seed = int(spec.draws.of(epoch).integers(0, 1 << 63))
        self._shards = list(shards)
        self._blocks = [order[shard(blocks, spec.num_shards, number).array()] for number in shards]
        self._at = self._window = self._given = 0
        self._numbers: RowArray | None = None

    def read(self, n: int) -> pa.Table | None:
        while self._at < len(self._shards):
            if self._numbers is None:
                self._numbers = self._ordered()
            numbers = self._numbers[self._given : self._given + n]
            if len(numbers):
                self._given += len(numbers)
                return self._rows.view.read(Picks(numbers))
            self._window, self._given, self._numbers = self._window + 1, 0, None
            if self._window * WINDOW_BLOCKS >= len(self._blocks[self._at]):
                self._at, self._window = self._at + 1, 0
        return None

    def _ordered(self) -> RowArray:
        """The row numbers of the window, in its order."""
        first = self._window * WINDOW_BLOCKS
        starts = self._blocks[self._at][first : first + WINDOW_BLOCKS] * BLOCK_ROWS
        numbers = (starts[:, None] + np.arange(BLOCK_ROWS)).ravel()
        numbers = numbers[numbers < len(self._rows.rows)] + self._rows.rows.start
        generator = np.random.default_rng([self._seed, self._shards[self._at], self._window])
        found: RowArray = numbers[generator.permutation(len(numbers))]
        return found

    def state(self) -> State:
        return {"at": self._at, "window": self._window, "given": self._given}

    def load(self, state: State) -> None:
        self._at, self._window, self._given = state["at"], state["window"], state["given"]
        self._numbers = None
