"""Rows that a function yields, as Arrow files in the cache: run once for each name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.construct import table_of_rows
from arrowprep.dataset.execute import Inline, choose_executor
from arrowprep.dataset.features import Features
from arrowprep.dataset.fingerprint import combine, fingerprint_of
from arrowprep.dataset.load.segments import TYPED, Segments, recast
from arrowprep.dataset.load.written import Written, in_one_folder
from arrowprep.dataset.storage.backing import Files
from arrowprep.dataset.storage.converted import Converted, Made, Reuse
from arrowprep.dataset.widen import wider_schema
from arrowprep.errors import BadArgument, CannotTravel, warn
from arrowprep.progress import bar

_VERSION = 2  # of what is made of the rows; part of every name
_ROWS_AT_ONCE = 1000

Generator = Callable[..., Iterable[Mapping[str, Any]]]


def generated_name(generator: Generator, gen_kwargs: Mapping[str, Any], features: Features | None) -> str:
    """The name of what a generator yields. Raises Unnameable; what it reads from files is not part of it."""
    written = None if features is None else fingerprint_of(features.to_dict())
    return combine("generator", _VERSION, generator, dict(gen_kwargs), written)


def shares_of(gen_kwargs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The arguments for each share: lists, which must have one length, are cut into lists of one element."""
    lengths = {name: len(value) for name, value in gen_kwargs.items() if isinstance(value, list)}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise BadArgument(f"lists in gen_kwargs are the shards and need one length: {shown}", lengths=lengths)
    return [
        {name: [value[at]] if name in lengths else value for name, value in gen_kwargs.items()}
        for at in range(next(iter(lengths.values()), 1))
    ]


def generate(
    generator: Generator,
    gen_kwargs: Mapping[str, Any],
    *,
    features: Features | None,
    name: str,
    cache_dir: Path,
    num_proc: int | None = None,
    reuse: Reuse,
) -> Files:
    """The rows as files of one schema, found by `name` or made now.

    num_proc: processes that run the generator on the shares of gen_kwargs, whose rows follow in their order
    """
    cache = Converted(cache_dir)
    shares = shares_of(gen_kwargs) if num_proc and num_proc > 1 else [dict(gen_kwargs)]
    note = {"operation": "generate", "function": getattr(generator, "__qualname__", type(generator).__name__)}

    def make(folder: Path) -> Made:
        tasks = [_Share(share, folder / f"share-{number}") for number, share in enumerate(shares)]
        worker = _Generating(generator, None if features is None else features.arrow_schema, features)
        with bar(None, "Generating") as progress:
            written = _agreed(_run(worker, tasks, num_proc, progress.advance), folder)
        return Made(written.parts, written.num_rows, note)

    return cache.opened(lambda: [cache.get(name, make, reuse)])


@dataclass(frozen=True)
class _Share:
    """Arguments of the generator, and where to write the rows that it yields for them."""

    kwargs: Mapping[str, Any]
    folder: Path


@dataclass(frozen=True)
class _Generating:
    """Writes what the generator yields for a share."""

    generator: Generator
    schema: pa.Schema | None
    features: Features | None

    def __call__(self, rank: int) -> _Generating:
        return self

    def work(self, share: _Share, report: Callable[[int], None]) -> Written:
        share.folder.mkdir()
        with Segments(share.folder, self.schema or pa.schema([]), TYPED) as segments:
            for table in tables_of(self.generator(**share.kwargs), self.features):
                segments.add(table)
                report(table.num_rows)
            return Written(segments.finish(), segments.schema, segments.num_rows)

    def finish(self) -> None:
        pass

    def abandon(self) -> None:
        pass


def _run(
    worker: _Generating, tasks: list[_Share], num_proc: int | None, report: Callable[[int], None]
) -> list[Written]:
    """What each share yields, in order; here, with a warning, where the generator cannot travel."""
    try:
        return choose_executor(num_proc, tasks).run(worker, tasks, report=report).results
    except CannotTravel as reason:
        warn(f"this generator runs in one process: {reason}")
        return Inline().run(worker, tasks, report=report).results


def _agreed(shares: list[Written], folder: Path) -> Written:
    """All shares with the schema that holds the rows of each; those that yielded nothing have no say."""
    schema = reduce(wider_schema, (share.schema for share in shares if share.schema.names), pa.schema([]))
    if not schema.names:
        raise BadArgument("the generator yielded no rows; their columns can be told with features=")
    with_rows = [share for share in shares if share.num_rows] or shares[:1]
    for share in with_rows:
        if not share.schema.equals(schema):
            for part in share.parts:
                recast(part, schema)
    for share in shares:
        if share not in with_rows:
            for part in share.parts:
                part.unlink()
            share.parts[0].parent.rmdir()
    whole = in_one_folder(with_rows, folder)
    return Written(whole.parts, schema, whole.num_rows)


def tables_of(rows: Iterable[Mapping[str, Any]], features: Features | None) -> Iterator[pa.Table]:
    """Rows in tables of a thousand, each with the types of what it holds."""
    rows = iter(rows)
    while block := list(islice(rows, _ROWS_AT_ONCE)):
        yield table_of_rows(block, features)
