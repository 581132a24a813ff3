"""Parquet: columns and filters are pushed down to the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from arrowprep.dataset.compute import pc
from arrowprep.dataset.load.plain import plain
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.widen import empty_table
from arrowprep.errors import BadArgument, UnreadableFile

OPTIONS = {"filters", "batch_size"}
_ROWS = 1 << 16


def read(path: Path, spec: ReadSpec) -> Iterator[pa.Table]:
    """Tables of the file's rows.

    options: filters (as pyarrow.parquet takes them: a list of (column, op, value), or an
    expression), batch_size (rows at a time).
    """
    import pyarrow.dataset as pads  # here, for it loads pandas where that is installed: 0.3 s
    from pyarrow.fs import LocalFileSystem

    try:
        file = pads.ParquetFileFormat().make_fragment(str(path), LocalFileSystem())
        schema = file.physical_schema
        rows = file.scanner(
            columns=_picked(schema, spec.columns),
            filter=_expression(spec.options.get("filters")),
            batch_size=spec.options.get("batch_size", _ROWS),
        )
        for batch in rows.to_batches():
            yield plain(pa.Table.from_batches([batch]).replace_schema_metadata(schema.metadata))
        yield plain(empty_table(rows.projected_schema.with_metadata(schema.metadata)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise UnreadableFile(f"{path} is truncated or is no Parquet file: {error}", path=path) from error


def _picked(schema: pa.Schema, columns: tuple[str, ...] | None) -> list[str] | None:
    return None if columns is None else [name for name in columns if name in schema.names]


def _expression(filters: object) -> pc.Expression | None:
    from pyarrow import parquet

    if filters is None or isinstance(filters, pc.Expression):
        return filters
    try:
        return parquet.filters_to_expression(filters)
    except (ValueError, TypeError) as error:
        raise BadArgument(f"filters={filters!r}: {error}", filters=filters) from error
