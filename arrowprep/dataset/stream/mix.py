"""Several streams as one: end to end, side by side, by turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.indices import shard
from arrowprep.dataset.stream.base import Cursor, Draws, Reader, Run, Stage, State, joined, read_whole
from arrowprep.dataset.verbs.combine import aligned
from arrowprep.dataset.widen import cast_table
from arrowprep.errors import BadArgument, LengthMismatch

_DRAWN_AT_ONCE = 1000  # decides how the generator is used, and so the order for a seed


def common_features(stages: Sequence[Stage]) -> Features | None:
    """Features that hold the rows of all; None where those of one are not known."""
    known = [stage.features for stage in stages]
    return None if None in known else reduce(aligned, known)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Stacked:
    """All rows of the first stage, then all of the second, ..."""

    inputs: tuple[Stage, ...]
    features: Features | None

    @property
    def num_shards(self) -> int:
        return sum(stage.num_shards for stage in self.inputs)

    @property
    def shards_are_rows(self) -> bool:
        return any(stage.shards_are_rows for stage in self.inputs)

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        readers, first = [], 0
        for number, stage in enumerate(self.inputs):
            ours = [shard - first for shard in shards if first <= shard < first + stage.num_shards]
            first += stage.num_shards
            if ours:
                readers.append(stage.open(run.within(number), ours))
        return _Stacking(readers, None if self.features is None else self.features.arrow_schema)


class _Stacking:
    def __init__(self, readers: list[Reader], schema: pa.Schema | None) -> None:
        self._readers, self._schema = readers, schema
        self._at = 0

    def read(self, n: int) -> pa.Table | None:
        while self._at < len(self._readers):
            table = self._readers[self._at].read(n)
            if table is not None:
                return table if self._schema is None else cast_table(table, self._schema)
            self._at += 1
        return None

    def state(self) -> State:
        ended = self._at == len(self._readers)
        return {"at": self._at, "reader": None if ended else self._readers[self._at].state()}

    def load(self, state: State) -> None:
        self._at = state["at"]
        if self._at < len(self._readers):
            self._readers[self._at].load(state["reader"])


def abreast(stages: tuple[Stage, ...]) -> SideBySide:
    """The columns of all; BadArgument where two have one of the same name, as far as it is known."""
    names = [name for stage in stages for name in stage.features or ()]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadArgument(
            f"streams side by side share the columns {', '.join(map(repr, twice))}", columns=twice
        )
    return SideBySide(stages)


@dataclass(frozen=True)
class SideBySide:
    """The columns of all stages; they are read in step, so they are one shard."""

    inputs: tuple[Stage, ...]
    num_shards = 1
    shards_are_rows = False

    @property
    def features(self) -> Features | None:
        known = [stage.features for stage in self.inputs]
        return None if None in known else Features({n: f for some in known for n, f in (some or {}).items()})

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        if not shards:
            return _Stacking([], None)
        return _Abreast(
            [s.open(run.alone().within(number), range(s.num_shards)) for number, s in enumerate(self.inputs)]
        )


class _Abreast:
    def __init__(self, readers: list[Reader]) -> None:
        self._readers = readers

    def read(self, n: int) -> pa.Table | None:
        first = self._readers[0].read(n)
        rows = 1 if first is None else first.num_rows
        tables = [first, *(read_whole(reader, rows) for reader in self._readers[1:])]
        if all(table is None for table in tables):
            return None
        whole = [table for table in tables if table is not None]
        if len(whole) < len(tables) or any(table.num_rows != rows for table in whole):
            raise LengthMismatch(
                "streams side by side need one number of rows, and one has ended before the others"
            )
        columns = [(name, table.column(name)) for table in whole for name in table.column_names]
        names = [name for name, _ in columns]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise BadArgument(f"columns {twice} are in more than one stream; rename or remove them first")
        return pa.table([column for _, column in columns], names=names)

    def state(self) -> State:
        return {"readers": [reader.state() for reader in self._readers]}

    def load(self, state: State) -> None:
        for reader, place in zip(self._readers, state["readers"], strict=True):
            reader.load(place)


@dataclass(frozen=True)
class Interleaved:
    """Rows of several stages by turns; the meaning is that of `interleave_datasets`.

    draws: of the stage at each turn, with `probabilities` (None: all alike); None for one after the other
    """

    inputs: tuple[Stage, ...]
    features: Features | None
    strategy: str
    draws: Draws | None = None
    probabilities: tuple[float, ...] | None = None

    @property
    def num_shards(self) -> int:
        return min(stage.num_shards for stage in self.inputs)

    @property
    def shards_are_rows(self) -> bool:
        return any(stage.shards_are_rows for stage in self.inputs)

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        return _Interleaving(self, run, shards)

    def shards_of(self, number: int, shards: Sequence[int]) -> list[int]:
        """The shards of one stage that ours stand for: neighbours, so that all together keep their order."""
        count = self.inputs[number].num_shards
        return [int(inner) for ours in shards for inner in shard(count, self.num_shards, ours).array()]


class _Interleaving:
    def __init__(self, spec: Interleaved, run: Run, shards: Sequence[int]) -> None:
        self._spec, self._run, self._shards = spec, run, shards
        self._cursors = [self._cursor(number) for number in range(len(spec.inputs))]
        self._ended = [not shards] * len(spec.inputs)
        self._empty = [False] * len(spec.inputs)
        self._schema = None if spec.features is None else spec.features.arrow_schema
        self._turns = _Turns(spec, run)

    def _cursor(self, number: int) -> Cursor:
        shards = self._spec.shards_of(number, self._shards)
        return Cursor(self._spec.inputs[number].open(self._run.within(number), shards))

    def read(self, n: int) -> pa.Table | None:
        picked: list[list[pa.Table]] = [[] for _ in self._cursors]
        order: list[tuple[int, int]] = []  # (input, number among the rows picked from it)
        for number in self._next(n):
            order.append((number, len(picked[number])))
            picked[number].append(self._take(number))
        if not order:
            return None
        sizes = [len(rows) for rows in picked]
        offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        table = joined([row for rows in picked for row in rows]).combine_chunks()
        table = table.take(pa.array([int(offsets[number]) + at for number, at in order]))
        return table if self._schema is None else cast_table(table, self._schema)

    def _next(self, n: int) -> Iterator[int]:
        """Whose turn it is, up to n times, each of which has a row."""
        once = self._spec.strategy == "all_exhausted_without_replacement"
        enough = any if self._spec.strategy == "first_exhausted" else all
        while n and not enough(self._ended):
            number = self._turns.next()
            if self._empty[number] or (once and self._ended[number]):
                continue
            if self._cursors[number].has_row():
                n -= 1
                yield number
            else:
                self._ended[number] = self._empty[number] = True

    def _take(self, number: int) -> pa.Table:
        cursor = self._cursors[number]
        assert cursor.block is not None
        row = cursor.block.slice(cursor.given, 1)
        cursor.given += 1
        if not cursor.has_row():
            self._ended[number] = True
            if self._spec.strategy != "all_exhausted_without_replacement":
                self._cursors[number] = self._cursor(number)
        return row

    def state(self) -> State:
        return {
            "cursors": [cursor.state() for cursor in self._cursors],
            "ended": list(self._ended),
            "empty": list(self._empty),
            "turns": self._turns.state(),
        }

    def load(self, state: State) -> None:
        self._cursors = [self._cursor(number) for number in range(len(self._cursors))]
        for cursor, place in zip(self._cursors, state["cursors"], strict=True):
            cursor.load(place)
        self._ended, self._empty = list(state["ended"]), list(state["empty"])
        self._turns.load(state["turns"])


class _Turns:
    """The number of the input at each turn: 0, 1, 2, 0, ... or drawn, a thousand at a time."""

    def __init__(self, spec: Interleaved, run: Run) -> None:
        self._count, self._probabilities = len(spec.inputs), spec.probabilities
        self._generator = None if spec.draws is None else spec.draws.of(run.epoch, run.worker)
        self._at = 0
        self._drawn: list[int] = []
        self._before = self._generator_state()

    def next(self) -> int:
        if self._generator is None:
            number, self._at = self._at, (self._at + 1) % self._count
            return number
        if self._at == len(self._drawn):
            self._draw()
        self._at += 1
        return self._drawn[self._at - 1]

    def _draw(self) -> None:
        assert self._generator is not None
        self._before = self._generator_state()
        block = self._generator.choice(self._count, size=_DRAWN_AT_ONCE, p=self._probabilities)
        self._drawn, self._at = block.tolist(), 0

    def _generator_state(self) -> State | None:
        return None if self._generator is None else dict(self._generator.bit_generator.state)

    def state(self) -> State:
        return {"at": self._at, "generator": self._before}

    def load(self, state: State) -> None:
        self._drawn = []
        if self._generator is not None:
            self._generator.bit_generator.state = state["generator"]
            if state["at"]:
                self._draw()
        self._at, self._before = state["at"], state["generator"]
