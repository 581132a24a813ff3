"""One large file, read by several processes: a byte range each, cut where rows begin.

What a range meets that a message could be about (an error, values that become text) is left to
one process, which reads the whole file and knows its lines: no outcome depends on the ranges.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from arrowprep.dataset.execute import Inline, choose_executor
from arrowprep.dataset.features import Features
from arrowprep.dataset.load import natural
from arrowprep.dataset.load.segments import NATURAL, ReadAgain
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.load.written import Written, in_one_folder, write_tables
from arrowprep.errors import ArrowprepError, ArrowprepWarning, TypeConflict, WorkerDied
from arrowprep.progress import bar

Cuts: TypeAlias = Callable[[Path, ReadSpec, int], list[int]]
ReadRange: TypeAlias = Callable[[Path, ReadSpec, int, int], Iterator[pa.Table]]

_LEAST_BYTES = 64 << 20  # of a range: fewer are read before a cold process has started (0.35 s)
_A_PROCESS = 2  # ranges, so that none waits long for the last one


@dataclass(frozen=True)
class Ranges:
    """How a format's files are read in ranges.

    cuts: (path, spec, count) -> about so many places where rows begin, from 0 to the file's size; none
        where the rows of this file cannot be read apart from each other
    read: (path, spec, start, stop) -> tables of the rows in these bytes. Raises an ArrowprepError where a
        message is due, or where the range turns out not to hold whole rows
    """

    cuts: Cuts
    read: ReadRange


@dataclass(frozen=True)
class _Range:
    """Bytes start..stop of the file, read with these types at the least, into files of `folder`."""

    start: int
    stop: int
    floor: pa.Schema
    folder: Path


@dataclass(frozen=True)
class _RangeWorker:
    read: ReadRange
    path: Path
    spec: ReadSpec
    features: Features | None

    def __call__(self, rank: int) -> _RangeWorker:
        return self

    def work(self, task: _Range, report: Callable[[int], None]) -> Written | None:
        """The rows of a range; None where there is something to tell."""
        spec = replace(self.spec, floor=task.floor)
        while True:
            shutil.rmtree(task.folder, ignore_errors=True)  # of a reading with narrower types
            task.folder.mkdir()
            tables = self.read(self.path, spec, task.start, task.stop)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", ArrowprepWarning)
                    return write_tables(tables, task.folder, self.path, spec, self.features, NATURAL, report)
            except ReadAgain as again:
                spec = replace(spec, floor=again.floor)
            except (ArrowprepError, ArrowprepWarning):
                return None

    def finish(self) -> None:
        pass

    def abandon(self) -> None:
        pass


def read_in_ranges(
    ranges: Ranges, path: Path, spec: ReadSpec, features: Features | None, folder: Path, num_proc: int | None
) -> Written | None:
    """The rows of a file as Arrow files in `folder`; None where one process is to read it."""
    count = min((num_proc or 1) * _A_PROCESS, path.stat().st_size // _LEAST_BYTES)
    cuts = ranges.cuts(path, spec, count) if count > 1 else []
    tasks = [
        _Range(start, stop, spec.floor, folder / f"range-{number}")
        for number, (start, stop) in enumerate(pairwise(cuts))
    ]
    executor = choose_executor(num_proc, tasks)
    if isinstance(executor, Inline):
        return None
    found: dict[_Range, Written] = {}
    worker = _RangeWorker(ranges.read, path, spec, features)
    with bar(None, f"Reading {path.name}") as progress:
        while left := [task for task in tasks if task not in found]:
            try:
                results = choose_executor(num_proc, left).run(worker, left, report=progress.advance).results
            except WorkerDied:
                return None
            if None in results:
                return None
            found.update(zip(left, results, strict=True))
            schema = _agreed([found[task].schema for task in tasks])
            if schema is None:
                return None
            tasks = [
                task if found[task].schema.equals(schema) else replace(task, floor=schema) for task in tasks
            ]
    return in_one_folder([found[task] for task in tasks], folder)


def _agreed(schemas: Sequence[pa.Schema]) -> pa.Schema | None:
    """The one schema of all ranges; None where one process would have something to tell of it."""
    try:
        agreed = reduce(natural.wider_schema, schemas)
    except TypeConflict:
        return None
    told = any(
        natural.becomes_text(field.type, agreed.field(field.name).type)
        for schema in schemas
        for field in schema
    )
    return None if told else agreed
