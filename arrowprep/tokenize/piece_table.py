"""What is known of pieces: their tokens in flat columns, a number for each piece; and the same as tuples."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from arrowprep.errors import TokenizerError
from arrowprep.tokenize.ragged import positions

V = TypeVar("V")
Ints = npt.NDArray[np.integer[Any]]

LONGEST_CACHED = 256  # characters: longer pieces do not come again
LARGEST = 2**31 - 1  # of the ids that a column can hold
IDS = ("ids",)
LOCATED = ("ids", "starts", "ends", "words")


class WordCache(dict[str, V], Generic[V]):
    """What was worked out for a piece; bounded, and emptied when it is full.

    A miss is worked out by `__missing__`, so that a lookup stays one call in C.
    """

    def __init__(self, compute: Callable[[str], V], limit_bytes: int) -> None:
        super().__init__()
        self._compute = compute
        self._limit = limit_bytes
        self._size = 0

    def __missing__(self, piece: str) -> V:
        value = self._compute(piece)
        if self._limit and len(piece) <= LONGEST_CACHED:
            # the str, a tuple or six of them, and their share of the table: measured, rounded up
            self._size += 400 + 40 * len(piece)
            if self._size > self._limit:
                self.clear()
                self._size = 0
            self[piece] = value
        return value


class Tokens(NamedTuple):
    """The tokens of one piece; places and word numbers count from where the piece begins.

    num_words: into how many pieces the later pre-tokenizers cut it
    """

    ids: Sequence[int]
    starts: Sequence[int]
    ends: Sequence[int]
    words: Sequence[int]
    values: Sequence[str]
    num_words: int


class Entries(NamedTuple):
    """The tokens of n pieces, one piece after the other, as `Tokens` has them.

    counts, num_words: (n,); columns: (t,) each, by name
    """

    counts: Ints
    num_words: Ints
    columns: dict[str, Ints]

    @classmethod
    def of(cls, pieces: list[Tokens], names: tuple[str, ...]) -> Entries:
        counts = np.fromiter((len(tokens.ids) for tokens in pieces), np.int64, len(pieces))
        total = int(counts.sum())
        columns: dict[str, Ints] = {
            name: np.fromiter(chain.from_iterable(map(attrgetter(name), pieces)), np.int32, total)
            for name in names
        }
        return cls(counts, np.fromiter((t.num_words for t in pieces), np.int64, len(pieces)), columns)


class PieceTable:
    """The entries of pieces that were seen: what repeats is worked out once, and copied by NumPy.

    names: which columns there are
    A piece takes about 150 bytes and what its columns hold; a tuple of tuples takes six times that.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.bytes = 0
        self._numbers: dict[Hashable, int] = {}
        self._begins, self._counts, self._num_words = (Growing(np.int64) for _ in range(3))
        self._columns = {name: Growing(np.int32) for name in names}

    def __len__(self) -> int:
        return len(self._numbers)

    def missing(self, keys: Iterable[Sequence[Hashable]]) -> set[Hashable]:
        """Those of many lists of keys that have no entry."""
        return set().union(*keys) - self._numbers.keys()

    def add(self, keys: Sequence[Hashable], entries: Entries) -> None:
        """Raises TokenizerError for an id that no column can hold."""
        largest = int(entries.columns["ids"].max(initial=0))
        if largest > LARGEST:
            raise TokenizerError(f"the id {largest} is larger than columns can hold, {LARGEST}", id=largest)
        begins = np.cumsum(entries.counts) - entries.counts + self._columns[self.names[0]].size
        known = len(self._numbers)
        self._numbers.update(zip(keys, range(known, known + len(keys)), strict=True))
        self._begins.append(begins)
        self._counts.append(entries.counts)
        self._num_words.append(entries.num_words)
        for name, column in self._columns.items():
            column.append(entries.columns[name])
        # the key, its place in the dict, three numbers, and its columns: measured, rounded up
        self.bytes += 200 * len(keys) + 4 * len(self.names) * int(entries.counts.sum())

    def numbers(self, keys: Iterable[Hashable], count: int) -> Ints:
        """(count,) the numbers of keys that have entries."""
        return np.fromiter(map(self._numbers.__getitem__, keys), np.int64, count)

    def entries(self, numbers: Ints) -> Entries:
        """The entries of these pieces, one after the other."""
        counts = self._counts.values[numbers]
        at = positions(self._begins.values[numbers], counts)
        columns = {name: column.values[at] for name, column in self._columns.items()}
        return Entries(counts, self._num_words.values[numbers], columns)

    def forget(self, keys: Sequence[Hashable]) -> None:
        """Let those that were added last go."""
        for key in keys:
            del self._numbers[key]
        kept = len(self._numbers)
        if keys:
            first = int(self._begins.values[kept])
            self.bytes -= 200 * len(keys) + 4 * len(self.names) * (self._columns[self.names[0]].size - first)
            for column in self._columns.values():
                column.cut(first)
            for column in (self._begins, self._counts, self._num_words):
                column.cut(kept)


class Growing:
    """An array that grows at its end; half of it may be room."""

    def __init__(self, kind: type[np.integer[Any]]) -> None:
        self._room: Ints = np.empty(64, kind)
        self.size = 0

    @property
    def values(self) -> Ints:
        return self._room[: self.size]

    def append(self, values: Ints) -> None:
        stop = self.size + len(values)
        if stop > len(self._room):
            room = np.empty(max(stop, 2 * self.size), self._room.dtype)
            room[: self.size] = self.values
            self._room = room
        self._room[self.size : stop] = values
        self.size = stop

    def cut(self, size: int) -> None:
        """Keep the first `size`, and no more than twice the room for them."""
        self.size = size
        if len(self._room) > 2 * size + 64:
            self._room = self._room[:size].copy()
