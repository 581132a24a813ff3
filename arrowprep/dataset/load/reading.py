"""One file, read now: as Arrow files of one schema in a folder that becomes an entry."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from arrowprep.dataset.feature_kinds import Json
from arrowprep.dataset.load.ranges import read_in_ranges
from arrowprep.dataset.load.segments import ReadAgain
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.load.written import Written, write_tables
from arrowprep.dataset.storage.converted import Made
from arrowprep.dataset.storage.room import expect
from arrowprep.dataset.storage.sources import stat_name
from arrowprep.errors import TypeConflict, UnreadableFile, warn
from arrowprep.progress import bar

if TYPE_CHECKING:
    from arrowprep.dataset.load.convert import Source

_AS_LARGE = {"json", "csv", "text"}  # formats that take about as much as Arrow, if they are not compressed


def made_of(source: Source, num_proc: int | None, folder: Path) -> Made:
    """The rows of a file as Arrow files in `folder`."""
    before = stat_name(source.path)
    if source.spec.columns is None and source.reader.name in _AS_LARGE:
        expect(folder, source.path.stat().st_size // 2, f"{source.path.name} as Arrow needs at least")
    spec = source.spec
    while True:
        try:
            written = _read_into(folder, source, spec, num_proc)
        except (ReadAgain, TypeConflict) as again:
            floor = again.floor if isinstance(again, ReadAgain) else _with_json(source, spec, again)
            spec = replace(spec, floor=floor)
            for left in folder.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            continue
        if stat_name(source.path) != before:
            raise UnreadableFile(f"{source.path} was changed while it was read", path=source.path)
        note = {"operation": "load", "source": os.path.abspath(source.path), "content": source.content}
        return Made(written.parts, written.num_rows, note)


def _with_json(source: Source, spec: ReadSpec, conflict: TypeConflict) -> pa.Schema:
    """The floor with the column as JSON that holds values of several kinds; else the conflict itself."""
    column = conflict.facts.get("column")
    wanted = spec.options.get("on_mixed_types") == "use_json" and source.features is None
    if not wanted or not isinstance(column, str) or column in spec.floor.names:
        raise conflict
    warn(f"column {column!r} is kept as JSON: {conflict}")
    return pa.schema([*spec.floor, pa.field(column, Json().pa_type)])


def _read_into(folder: Path, source: Source, spec: ReadSpec, num_proc: int | None) -> Written:
    """The rows of a file as files in `folder`: by several processes where the format and the size allow."""
    if source.reader.ranges is not None:
        written = read_in_ranges(source.reader.ranges, source.path, spec, source.features, folder, num_proc)
        if written is not None:
            return written
    with bar(None, f"Reading {source.path.name}") as progress:
        tables = source.reader.read(source.path, spec)
        rules = source.reader.rules
        return write_tables(tables, folder, source.path, spec, source.features, rules, progress.advance)
