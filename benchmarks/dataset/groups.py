"""What a group is: rows of the table that one process measures, and what it is given for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from benchmarks.dataset.inputs import Inputs  # which imports what `fresh` must not find imported


class Figure(NamedTuple):
    """One measured row.

    value: in the row's unit
    answer: what came out, which must be the same whoever computed it
    """

    row: str
    value: float
    answer: Any


@dataclass(frozen=True)
class Given:
    """What a group is given.

    peer: the module of `benchmarks.peers`
    cache: an empty folder, but for the prepared inputs where the group reads them
    """

    peer: Any
    inputs: Inputs
    cache: Path

    def load(self, path: Path, num_proc: int | None = None) -> Any:
        return self.peer.load(path, self.cache, num_proc)


@dataclass(frozen=True)
class Row:
    """A line of the table, and what is wanted of it.

    unit: of the values: "s", "MB"
    ratio: how many times less than the peer's ours is to be
    most: what ours is to be at most
    """

    what: str
    ratio: float | None = None
    most: float | None = None
    unit: str = "s"


@dataclass(frozen=True)
class Group:
    """Rows that are measured in one process.

    run: yields the figures, in the order of the rows
    prepared: whether it reads inputs that were loaded before
    processes: how many run one after the other with the same cache; the last one counts
    watched: the row that is not timed inside, but measured from outside: the peak of private memory
    """

    rows: dict[str, Row]
    run: Callable[[Given], Iterator[Figure]]
    prepared: bool = True
    processes: int = 1
    watched: str | None = None


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """(seconds, what it returned)"""
    begun = time.perf_counter()
    value = work()
    return time.perf_counter() - begun, value
