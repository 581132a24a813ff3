"""The tables of one file, or of a range of it, as Arrow files of one schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.load.fitting import fit
from arrowprep.dataset.load.segments import TYPED, Rules, Segments
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.errors import ColumnNotFound, TypeConflict, UnreadableFile


@dataclass(frozen=True)
class Written:
    """Arrow files of one schema, in order."""

    parts: tuple[Path, ...]
    schema: pa.Schema
    num_rows: int


def write_tables(
    tables: Iterable[pa.Table],
    folder: Path,
    path: Path,
    spec: ReadSpec,
    features: Features | None,
    rules: Rules,
    report: Callable[[int], None],
) -> Written:
    """Write what was read of `path` into `folder`; `report(n)` says that n more rows are done.

    Raises ReadAgain where the input must be read with other types, and as the reader does.
    """
    segments = (
        Segments(folder, spec.floor, rules)
        if features is None
        else Segments(folder, features.arrow_schema, TYPED)
    )
    seen: dict[str, None] = {}
    with segments:
        for table in tables:
            seen.update(dict.fromkeys(table.column_names))
            if spec.columns is not None:
                table = table.select([name for name in spec.columns if name in table.column_names])
            if features is not None:
                table = fit(table, features, path, segments.num_rows)
            try:
                segments.add(table)
            except TypeConflict as error:
                raise TypeConflict(f"{path}: {error}", path=path, **error.facts) from error
            report(table.num_rows)
        if spec.columns and seen and not segments.schema.names:
            raise ColumnNotFound(spec.columns[0], list(seen))
        if not segments.schema.names:
            raise UnreadableFile(f"{path} holds no rows", path=path)
        parts = segments.finish()
        return Written(parts, segments.schema, segments.num_rows)


def in_one_folder(shares: Sequence[Written], folder: Path) -> Written:
    """The files of all shares of one input, in order, beside each other; each has had a folder until now."""
    parts: list[Path] = []
    folders = [written.parts[0].parent for written in shares]
    for part in (part for written in shares for part in written.parts):
        parts.append(part.rename(folder / f"part-{len(parts):05d}.arrow"))
    for emptied in folders:
        emptied.rmdir()
    return Written(tuple(parts), shares[0].schema, sum(written.num_rows for written in shares))
