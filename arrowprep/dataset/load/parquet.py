"""Parquet: columns and filters are pushed down to the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.compute import pc
from arrowprep.dataset.load.plain import plain
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.widen import empty_table
from arrowprep.errors import BadArgument, UnreadableFile, warn

OPTIONS = {"filters", "batch_size", "fragment_scan_options", "on_bad_files"}
_ROWS = 1 << 16
_MODES = ("error", "warn", "skip")


def read(path: Path, spec: ReadSpec) -> Iterator[pa.Table]:
    """Tables of the file's rows.

    options: filters (as pyarrow.parquet takes them: a list of (column, op, value), or an
    expression), batch_size (rows at a time), fragment_scan_options (of pyarrow.dataset),
    on_bad_files ("error"; "warn" and "skip" go on without what cannot be read).
    """
    import pyarrow.dataset as pads  # here, for it loads pandas where that is installed: 0.3 s
    from pyarrow.fs import LocalFileSystem

    how = spec.options.get("fragment_scan_options")
    try:
        file = pads.ParquetFileFormat().make_fragment(str(path), LocalFileSystem())
        schema = file.physical_schema
        rows = file.scanner(
            columns=_picked(schema, spec.columns),
            filter=_expression(spec.options.get("filters")),
            batch_size=spec.options.get("batch_size", _ROWS),
            **({} if how is None else {"fragment_scan_options": how}),
        )
        for batch in rows.to_batches():
            yield plain(pa.Table.from_batches([batch]).replace_schema_metadata(schema.metadata))
        yield plain(empty_table(rows.projected_schema.with_metadata(schema.metadata)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise UnreadableFile(f"{path} is truncated or is no Parquet file: {error}", path=path) from error


def readable(paths: Sequence[Path], options: Mapping[str, Any]) -> list[Path]:
    """The files but those that on_bad_files says to leave out: what has no footer of Parquet."""
    mode = options.get("on_bad_files", "error")
    if mode not in _MODES:
        raise BadArgument(f"on_bad_files={mode!r} is none of {', '.join(_MODES)}", on_bad_files=mode)
    return list(paths) if mode == "error" else [path for path in paths if _is_readable(path, mode)]


def _is_readable(path: Path, mode: str) -> bool:
    from pyarrow import parquet

    try:
        parquet.read_metadata(path)
    except (pa.ArrowInvalid, OSError) as error:
        if mode == "warn":
            warn(f"{path} is truncated or is no Parquet file, and is left out: {error}")
        return False
    return True


def parquet_options(filters: Any, fragment_scan_options: Any, on_bad_files: str) -> dict[str, Any]:
    """The arguments of `from_parquet` as options: those that say something."""
    told = {"filters": filters, "fragment_scan_options": fragment_scan_options}
    on_bad = {} if on_bad_files == "error" else {"on_bad_files": on_bad_files}
    return {name: option for name, option in told.items() if option is not None} | on_bad


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
