"""Rows that a function yields, as Arrow files in the cache: run once for each name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.construct import table_of_rows
from arrowprep.dataset.features import Features
from arrowprep.dataset.fingerprint import combine, fingerprint_of
from arrowprep.dataset.load.file_cache import Entry, FileCache
from arrowprep.dataset.load.segments import TYPED, Segments
from arrowprep.errors import BadArgument
from arrowprep.progress import bar

_VERSION = 2  # of what is made of the rows; part of every name
_ROWS_AT_ONCE = 1000

Generator = Callable[..., Iterable[Mapping[str, Any]]]


def generated_name(generator: Generator, gen_kwargs: Mapping[str, Any], features: Features | None) -> str:
    """The name of what a generator yields. Raises Unnameable; what it reads from files is not part of it."""
    written = None if features is None else fingerprint_of(features.to_dict())
    return combine("generator", _VERSION, generator, dict(gen_kwargs), written)


def generate(
    generator: Generator,
    gen_kwargs: Mapping[str, Any],
    *,
    features: Features | None,
    name: str,
    cache_dir: Path,
) -> Entry:
    """The rows as files of one schema, found by `name` or made now."""
    cache = FileCache(cache_dir)
    found = cache.find(name)
    if found is not None:
        return found
    with cache.workplace() as folder:
        segments = Segments(folder, pa.schema([]) if features is None else features.arrow_schema, TYPED)
        with segments, bar(None, "Generating") as progress:
            for table in tables_of(generator(**gen_kwargs), features):
                segments.add(table)
                progress.advance(table.num_rows)
            if not segments.schema.names:
                raise BadArgument("the generator yielded no rows; their columns can be told with features=")
            parts = segments.finish()
        return cache.publish(name, folder, parts, segments.num_rows, {"source": "generator"})


def tables_of(rows: Iterable[Mapping[str, Any]], features: Features | None) -> Iterator[pa.Table]:
    """Rows in tables of a thousand, each with the types of what it holds."""
    rows = iter(rows)
    while block := list(islice(rows, _ROWS_AT_ONCE)):
        yield table_of_rows(block, features)
