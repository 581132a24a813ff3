"""Parts made an entry of the cache: renamed, named by it in order, or written again where they differ."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from arrowprep.dataset.indices import Span
from arrowprep.dataset.storage import ipc
from arrowprep.dataset.storage.cache import as_metadata
from arrowprep.dataset.storage.compressed import Unpacked
from arrowprep.dataset.storage.parts import Part, described
from arrowprep.dataset.widen import wider_schema

# completes a table of a part that lacks columns of the entry: (table, input rows, schema) -> table
Completion: TypeAlias = Callable[[pa.Table, Span, pa.Schema], pa.Table]


def publish(
    path: Path,
    parts: list[Part],
    note: Mapping[str, Any],
    complete: Completion,
    *,
    one_file: bool,
    compression: str | None,
) -> None:
    """Make the parts the entry `path`, all of one schema; its own file appears last. As `Cache.publish`."""
    schema = parts[0].schema
    for part in parts[1:]:
        schema = wider_schema(schema, part.schema)
    if one_file and len(parts) > 1:
        _rewrite(parts, schema, path, note, complete, compression)
        for part in parts:
            part.path.unlink()
    elif one_file:
        os.replace(parts[0].path, path)
    else:
        whole = [p if p.schema == schema else _widened(p, schema, complete, compression) for p in parts]
        note = {**note, "parts": [p.path.name for p in whole], "order": _order(whole)}
        with ipc.write_aside(path, schema.with_metadata(as_metadata(note))):
            pass


def _order(parts: list[Part]) -> list[tuple[int, int]]:
    """(part, batch) numbers in the order of the input rows behind them."""
    places = [
        (span.start, span.stop, number, batch)
        for number, part in enumerate(parts)
        for batch, span in enumerate(part.spans)
    ]
    return [(number, batch) for _, _, number, batch in sorted(places)]


def _rewrite(
    parts: list[Part],
    schema: pa.Schema,
    path: Path,
    note: Mapping[str, Any],
    complete: Completion,
    compression: str | None,
) -> None:
    """All batches of the parts, in order and of one schema, as one file."""
    batches = [Unpacked([part.path]) for part in parts]
    with ipc.write_aside(path, schema.with_metadata(as_metadata(note)), compression=compression) as writer:
        for number, batch in _order(parts):
            span = parts[number].spans[batch]
            table = complete(pa.Table.from_batches([batches[number][batch]]), span, schema)
            for whole, _, metadata in described(table.combine_chunks().to_batches(), span):
                writer.write_batch(whole, metadata)


def _widened(part: Part, schema: pa.Schema, complete: Completion, compression: str | None) -> Part:
    """The part with the columns and types that the whole entry has."""
    path = part.path.with_name(part.path.name.replace(".arrow", "-widened.arrow"))
    _rewrite([part], schema, path, {}, complete, compression)
    part.path.unlink()
    return Part(path, schema, part.note, part.spans)
