"""Files of any format as Arrow IPC files of one schema: converted once, then mapped.

path -> its name by content -> known? else read, widen, write -> one schema for all paths
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.load.readers import Reader, named_reader, reader_for, unknown_type
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.storage.backing import Files
from arrowprep.dataset.storage.converted import AS_FOUND, Converted, Entry, Made, Reuse, supersede
from arrowprep.dataset.storage.ipc import open_mapped, schema_of
from arrowprep.dataset.storage.sources import Sources, name_of, stat_name
from arrowprep.errors import BadArgument, ColumnNotFound, TypeConflict

_VERSION = 2  # of what readers make of a file; part of every name
# options that change no row
_SPEED_ONLY = {"block_bytes", "chunksize", "batch_size", "fragment_scan_options", "on_bad_files"}
_HASH_BYTES = 256 << 20  # a mapped file larger than this is named by its stat: hashing would read it all
# to read so much takes as long as to start what workers are forked from, which a map then need not wait for
_SOON_MAPPED_BYTES = 128 << 20


@dataclass(frozen=True)
class Loaded:
    """Rows of files, in order.

    files: Arrow IPC files, all of one schema, in use from now on
    schema: the columns that were asked for; the user's own Arrow files, mapped, may hold more
    fingerprint: a name for the content and for how it was read, not for the paths
    contents: the name of each file's content, by its path
    is_new: whether a file was read for it, and the cache has grown
    """

    files: Files
    schema: pa.Schema
    fingerprint: str
    num_rows: int
    contents: Mapping[str, str]
    is_new: bool = field(compare=False)

    @property
    def parts(self) -> tuple[Path, ...]:
        return self.files.parts


class _How(NamedTuple):
    """How files are read and found again; nothing here changes a row."""

    cache: Converted
    reuse: Reuse
    num_proc: int | None


class Source(NamedTuple):
    """One file: what reads it, and what for."""

    path: Path
    reader: Reader
    spec: ReadSpec
    features: Features | None
    content: str

    @property
    def key(self) -> str:
        """A name for what reading gives."""
        options = {name: value for name, value in self.spec.options.items() if name not in _SPEED_ONLY}
        return name_of(
            version=_VERSION,
            content=self.content,
            reader=self.reader.name,
            options=options,
            columns=self.spec.columns,
            floor=str(self.spec.floor),
            features=None if self.features is None else self.features.to_dict(),
        )

    @property
    def is_mapped(self) -> bool:
        """Whether the file is used as it is."""
        if self.reader.name != "arrow":
            return False
        from arrowprep.dataset.load.ipc import can_be_mapped

        if not can_be_mapped(self.path):
            return False
        wanted = self.spec.floor if self.features is None else self.features.arrow_schema
        return not wanted.names or bool(wanted.equals(schema_of(self.path)))


def convert(
    paths: Sequence[Path],
    *,
    cache_dir: Path,
    features: Features | None = None,
    columns: Sequence[str] | None = None,
    num_proc: int | None = None,
    reader: str | None = None,
    options: Mapping[str, Any] | None = None,
    reuse: Reuse = AS_FOUND,
) -> Loaded:
    """The rows of `paths` as Arrow files of one schema, below `cache_dir` or where they are.

    features: the types of all columns; a value that does not fit is a TypeConflict with file, row and column
    columns: the only ones to read
    num_proc: processes that read one large JSON Lines or CSV file; the rows are the same
    reader: the name of the format, where the suffix does not tell it
    options: of the reader

    Raises FileError where a file cannot be read, CacheError where the cache cannot be written.
    """
    if "on_bad_files" in (options or {}):
        from arrowprep.dataset.load.parquet import readable

        paths = readable(paths, options or {})
    if not paths:
        raise BadArgument("no files to load were given")
    how = _How(Converted(Path(cache_dir)), reuse, num_proc)
    known = Sources(Path(cache_dir))
    sources = [_source(Path(path), known, reuse, reader, columns, features, options or {}) for path in paths]
    entries: list[Entry] = []

    def found() -> list[Entry]:
        entries[:] = _agreed(sources, [_entry(source, how) for source in sources], how)
        return entries

    files = how.cache.opened(found)
    if known.changed:
        supersede(how.cache, known.contents())
    schema = entries[0].schema
    for name in columns or ():
        if name not in schema.names:
            raise ColumnNotFound(name, _all_columns(sources))
    if features is not None:
        schema = features.arrow_schema
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns], metadata=schema.metadata)
    return Loaded(
        files=files,
        schema=schema,
        fingerprint=name_of(sources=[source.key for source in sources])[:16],
        num_rows=sum(entry.num_rows for entry in entries),
        contents={str(source.path): source.content for source in sources},
        is_new=how.cache.made > 0,
    )


def _source(
    path: Path,
    known: Sources,
    reuse: Reuse,
    reader: str | None,
    columns: Sequence[str] | None,
    features: Features | None,
    options: Mapping[str, Any],
) -> Source:
    chosen = reader_for(path) if reader is None else named_reader(reader)
    if chosen is None:
        raise unknown_type(path)
    spec = ReadSpec(
        options=chosen.check(options),
        floor=_floor(features),
        columns=None if columns is None else tuple(columns),
    )
    stat_name(path)  # MissingFile, before anything is asked of the file
    size = path.stat().st_size
    by_stat = chosen.name == "arrow" and size > _HASH_BYTES
    if size >= _SOON_MAPPED_BYTES and not by_stat and (reuse.refresh or known.is_new(path)):
        _prepare_workers()
    content = known.content(path, by_stat=by_stat, refresh=reuse.refresh)
    return Source(path, chosen, spec, features, content)


def _prepare_workers() -> None:
    """Start what workers are forked from, beside which a large file is read."""
    # here, for what is found or small is read without dill and multiprocess
    from arrowprep.dataset.execute import in_worker, interpreters

    if not in_worker():
        with contextlib.suppress(OSError):  # who needs it will say that none can be started
            interpreters.prepare(1)


def _floor(features: Features | None) -> pa.Schema:
    if features is None:
        return pa.schema([])
    from arrowprep.dataset.load.fitting import floor_of

    return floor_of(features)


def _entry(source: Source, how: _How) -> Entry:
    """The file as Arrow: mapped, found in the cache, or read now."""
    if source.is_mapped:
        table = open_mapped(source.path)
        return Entry(source.key, (source.path,), table.schema, table.num_rows)
    return how.cache.get(source.key, partial(_made, source, how.num_proc), how.reuse)


def _made(source: Source, num_proc: int | None, folder: Path) -> Made:
    from arrowprep.dataset.load.reading import made_of  # with the readers, which what is found needs none of

    return made_of(source, num_proc, folder)


def _agreed(sources: list[Source], entries: list[Entry], how: _How) -> list[Entry]:
    """The entries with one schema: those of a narrower one are read again with the wider one as the least."""
    while not all(entry.schema.equals(entries[0].schema) for entry in entries):
        schema = entries[0].schema
        for source, entry in zip(sources, entries, strict=True):
            try:
                schema = source.reader.rules.wider_schema(schema, entry.schema)
            except TypeConflict as error:
                raise TypeConflict(
                    f"{source.path} does not fit the files before it: {error}",
                    path=source.path,
                    **error.facts,
                ) from error
        entries = [
            entry
            if entry.schema.equals(schema)
            else _entry(source._replace(spec=replace(source.spec, floor=schema)), how)
            for source, entry in zip(sources, entries, strict=True)
        ]
    return entries


def _all_columns(sources: list[Source]) -> list[str]:
    """The names of all columns in the files; for a message."""
    names: dict[str, None] = {}
    for source in sources:
        for table in source.reader.read(source.path, replace(source.spec, columns=None)):
            names.update(dict.fromkeys(table.column_names))
            break
    return list(names)
