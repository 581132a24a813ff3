"""What runs work: a Worker lives in one process for a whole run, an Executor drives some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol


class Worker(Protocol):
    """Made once in its process; does tasks one after another."""

    def work(self, task: Any, report: Callable[[int], None]) -> Any:
        """Do one task and return its result, which travels; `report(n)` says that n more rows are done."""

    def finish(self) -> Any:
        """Called once, when all tasks of the run are done; what it returns travels."""

    def abandon(self) -> None:
        """Called instead of `finish` when the run failed or was cancelled."""


MakeWorker = Callable[[int], Worker]
"""Makes the worker of a rank (0, 1, ...), in the process where it will live."""


class Outcome(NamedTuple):
    """What a run gave.

    results: what `work` returned, in the order of the tasks
    finished: what `finish` returned, one for each worker that was made, by rank
    """

    results: list[Any]
    finished: list[Any]


class Executor(Protocol):
    """Where work runs: nothing about it changes a result."""

    def run(self, make_worker: MakeWorker, tasks: Sequence[Any], *, report: Callable[[int], None]) -> Outcome:
        """Call `work` once for each task, in any order. The first failure cancels the rest and is raised.

        Tasks and results travel between processes: keep them to names and numbers. No process is left
        running whatever happens.
        """


_in_worker = False
_undisturbed = False


def enter_worker() -> None:
    """Say that this process is a worker: what runs here starts no further processes."""
    global _in_worker, _undisturbed
    _in_worker = True
    _undisturbed = False  # whatever the process that it was forked from was at


def in_worker() -> bool:
    """Whether this process is a worker."""
    return _in_worker


@contextmanager
def undisturbed() -> Iterator[None]:
    """Something that a cancelled worker does to its end, and stops behind it."""
    global _undisturbed
    before, _undisturbed = _undisturbed, True
    try:
        yield
    finally:
        _undisturbed = before


def is_undisturbed() -> bool:
    """Whether this process is inside of `undisturbed`."""
    return _undisturbed
