"""Where the rows of a stream come from: views, functions that yield, files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from arrowprep.dataset.construct import table_of_rows
from arrowprep.dataset.features import Features
from arrowprep.dataset.indices import Span
from arrowprep.dataset.load.fitting import fit, floor_of
from arrowprep.dataset.load.generated import shares_of
from arrowprep.dataset.load.parquet import readable
from arrowprep.dataset.load.plain import plain, plain_schema
from arrowprep.dataset.load.readers import Reader as FileReader
from arrowprep.dataset.load.readers import named_reader, reader_for, unknown_type
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.storage.ipc import schema_of
from arrowprep.dataset.stream.base import Reader, Run, State
from arrowprep.dataset.view import View
from arrowprep.dataset.widen import wider_schema
from arrowprep.errors import ColumnNotFound, UnreadableFile


class Rows(Protocol):
    """The rest of a shard. read: at least one row and at most n; None at the end."""

    def read(self, n: int) -> pa.Table | None: ...


class Shard(Protocol):
    """A part of a source that is read by itself, from any row on."""

    def open(self, row: int) -> Rows: ...


@dataclass(frozen=True)
class Source:
    """Shards, one after the other."""

    shards: tuple[Shard, ...]
    features: Features | None = None
    shards_are_rows = False

    @property
    def num_shards(self) -> int:
        return len(self.shards)

    def open(self, run: Run, shards: Sequence[int]) -> Reader:
        return _SourceReader([self.shards[number] for number in shards])


class _SourceReader:
    def __init__(self, shards: list[Shard]) -> None:
        self._shards = shards
        self._at = self._row = 0
        self._open: Rows | None = None

    def read(self, n: int) -> pa.Table | None:
        while self._at < len(self._shards):
            if self._open is None:
                self._open = self._shards[self._at].open(self._row)
            table = self._open.read(n)
            if table is not None:
                self._row += table.num_rows
                return table
            self._at, self._row, self._open = self._at + 1, 0, None
        return None

    def state(self) -> State:
        return {"shard": self._at, "row": self._row}

    def load(self, state: State) -> None:
        self._at, self._row, self._open = state["shard"], state["row"], None


@dataclass(frozen=True)
class ViewShard:
    """Neighbouring rows of a view; they go to a process that is being started as names of files."""

    view: View
    rows: Span

    def open(self, row: int) -> Rows:
        return _ViewRows(self.view, self.rows.start + row, self.rows.stop)

    def __getstate__(self) -> dict[str, Any]:
        view = self.view if get_spawning_popen() is None else self.view.portable()
        return {"view": view, "rows": self.rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


class _ViewRows:
    def __init__(self, view: View, start: int, stop: int) -> None:
        self._view, self._at, self._stop = view, start, stop

    def read(self, n: int) -> pa.Table | None:
        if self._at == self._stop:
            return None
        span = Span(self._at, min(self._at + n, self._stop))
        self._at = span.stop
        return self._view.read(span)


@dataclass(frozen=True)
class GeneratorShard:
    """What a function yields; to go on at a row, it is run from its beginning."""

    function: Callable[..., Iterable[Mapping[str, Any]]]
    kwargs: Mapping[str, Any]
    features: Features | None

    def open(self, row: int) -> Rows:
        return _Yielded(islice(iter(self.function(**self.kwargs)), row, None), self.features)


class _Yielded:
    def __init__(self, rows: Iterator[Mapping[str, Any]], features: Features | None) -> None:
        self._rows, self._features = rows, features

    def read(self, n: int) -> pa.Table | None:
        rows = list(islice(self._rows, n))
        return table_of_rows(rows, self._features) if rows else None


def generator_shards(
    function: Callable[..., Iterable[Mapping[str, Any]]],
    kwargs: Mapping[str, Any],
    features: Features | None,
) -> tuple[GeneratorShard, ...]:
    """One shard for each share of the arguments."""
    return tuple(GeneratorShard(function, share, features) for share in shares_of(kwargs))


@dataclass(frozen=True)
class FileShard:
    """One file, read block by block; each block has the types of what it holds, unless features are given.

    group: the row group of a Parquet file that is read alone
    """

    path: Path
    reader: FileReader
    spec: ReadSpec
    features: Features | None
    group: int | None = None

    def open(self, row: int) -> Rows:
        return _FileRows(self._tables(), row)

    def _tables(self) -> Iterator[pa.Table]:
        first = 0
        for table in self.reader.read(self.path, self.spec) if self.group is None else self._row_group():
            first += table.num_rows
            if self.spec.columns is not None:
                table = table.select([name for name in self.spec.columns if name in table.column_names])
            if self.features is not None:
                table = fit(table, self.features, self.path, first - table.num_rows)
            yield table

    def _row_group(self) -> Iterator[pa.Table]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            names = None if self.spec.columns is None else list(self.spec.columns)
            yield plain(file.read_row_group(self.group, columns=names))

    def parts(self) -> tuple[FileShard, ...]:
        """A shard a row group; the file itself where it has none, or where rows are filtered."""
        if self.reader.name != "parquet" or self.group is not None or self.spec.options.get("filters"):
            return (self,)
        from pyarrow import parquet

        groups = parquet.read_metadata(self.path).num_row_groups
        return tuple(replace(self, group=group) for group in range(groups)) or (self,)


class _FileRows:
    def __init__(self, tables: Iterator[pa.Table], skipped: int) -> None:
        self._tables, self._skip = tables, skipped
        self._table: pa.Table | None = None

    def read(self, n: int) -> pa.Table | None:
        while self._table is None or self._skip >= self._table.num_rows:
            self._skip -= 0 if self._table is None else self._table.num_rows
            self._table = next(self._tables, None)
            if self._table is None:
                return None
        found = self._table.slice(self._skip, n)
        self._skip += found.num_rows
        return found


def file_shards(
    paths: Sequence[Path],
    reader: str | None,
    columns: Sequence[str] | None,
    features: Features | None,
    options: Mapping[str, Any],
) -> tuple[FileShard, ...]:
    """One shard for each file. Raises UnknownFileType, and BadArgument for options without meaning."""
    if features is not None and columns is not None:
        features = Features({name: features[name] for name in columns if name in features})
    spec = ReadSpec(
        floor=pa.schema([]) if features is None else floor_of(features),
        columns=None if columns is None else tuple(columns),
    )
    shards = []
    for path in readable(paths, options):
        chosen = reader_for(path) if reader is None else named_reader(reader)
        if chosen is None:
            raise unknown_type(path)
        shards.append(FileShard(path, chosen, replace(spec, options=chosen.check(options)), features))
    return tuple(shards)


def typed(shards: Sequence[FileShard]) -> tuple[tuple[FileShard, ...], Features | None]:
    """The shards in types that hold the rows of all, and these types; None where files do not say theirs."""
    if any(shard.features is not None or shard.reader.name not in _SCHEMAS for shard in shards):
        return tuple(shards), shards[0].features
    schema = reduce(wider_schema, [plain_schema(_SCHEMAS[s.reader.name](s.path)) for s in shards])
    names = shards[0].spec.columns or schema.names
    for name in names:
        if name not in schema.names:
            raise ColumnNotFound(name, schema.names)
    features = Features.from_arrow_schema(schema)
    features = Features({name: features[name] for name in names})
    return tuple(replace(shard, features=features) for shard in shards), features


def _parquet_schema(path: Path) -> pa.Schema:
    from pyarrow import parquet

    try:
        return parquet.read_schema(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise UnreadableFile(f"{path} is truncated or is no Parquet file: {error}", path=path) from error


_SCHEMAS: dict[str, Callable[[Path], pa.Schema]] = {"arrow": schema_of, "parquet": _parquet_schema}
