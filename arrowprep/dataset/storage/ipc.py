"""Arrow IPC files: written aside, sealed with a checksum and renamed when whole; opened by mapping."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.storage import owner
from arrowprep.dataset.storage.room import require, telling_folder
from arrowprep.dataset.storage.seal import SealedFile
from arrowprep.errors import MissingFile, UnreadableFile

BATCH_BYTES = 16 << 20  # opening a file costs per batch
# a table this large is written as it is: to put it together with others is a copy, 0.1 s of 360 MB
ALONE_BYTES = 2 << 20
COMPRESSED_BYTES = 1 << 20  # of a batch that is compressed: reading one row reads all of it
FILE_MAGIC = b"ARROW1\0\0"
NOTE = b"arrowprep"  # in the metadata of a schema: what the writer of a file says of it, as JSON


class Writer:
    """Writes batches to an Arrow file that is still aside.

    begun: how many batches it began to write
    whole: how many of them it wrote to their end

    Raises CacheError where the folder takes no more.
    """

    def __init__(self, path: Path, sink: SealedFile, schema: pa.Schema, compression: str | None) -> None:
        self._folder, self._sink, self._compression = path.parent, sink, compression
        options = pa.ipc.IpcWriteOptions(compression=compression)
        self._writer = pa.ipc.new_file(pa.PythonFile(sink, "w"), schema, options=options)
        self.begun = self.whole = 0

    @property
    def written(self) -> int:
        """Bytes of the file so far."""
        return self._sink.tell()

    def write_batch(self, batch: pa.RecordBatch, custom_metadata: Mapping[str, str] | None = None) -> None:
        if self._compression is None:
            require(self._folder, batch.nbytes, "the next batch needs")
        self.begun += 1
        with telling_folder(self._folder, batch.nbytes):
            self._writer.write_batch(batch, dict(custom_metadata or {}))
        self.whole += 1

    def write_table(self, table: pa.Table, max_chunksize: int | None = None) -> None:
        for batch in table.to_batches(max_chunksize):
            self.write_batch(batch)

    def close(self) -> None:
        with telling_folder(self._folder):
            self._sink.hold()
            self._writer.close()
            self._sink.seal()


@contextmanager
def write_aside(
    path: Path, schema: pa.Schema, *, compression: str | None = None, keep: bool = False
) -> Iterator[Writer]:
    """A writer of an Arrow IPC file that appears under its name when it is whole, or not at all.

    keep: leave what was written aside when it fails, for `leftovers` to find, if a batch of it is whole

    Raises CacheError where the folder cannot be written.
    """
    aside = aside_of(path)
    writer = None
    try:
        with telling_folder(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            sink = SealedFile(aside)
        with contextlib.closing(sink):
            with telling_folder(path.parent):
                writer = Writer(path, sink, schema, compression)
            yield writer
            writer.close()
        with telling_folder(path.parent):
            os.replace(aside, path)
    finally:
        if not (keep and writer is not None and writer.whole):
            with contextlib.suppress(OSError):
                aside.unlink()


def aside_of(path: Path) -> Path:
    """A name in the same folder that tells its owner and that no other writer uses."""
    return path.with_name(f".{path.name}.{owner.mark()}.tmp")


def in_batches(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    """The rows of tables of one schema in record batches of about BATCH_BYTES each."""
    pending: list[pa.Table] = []
    for table in tables:
        pending.append(table)
        if sum(table.nbytes for table in pending) >= BATCH_BYTES:
            yield from _cut(pa.concat_tables(pending))
            pending = []
    if pending:
        yield from _cut(pa.concat_tables(pending))


def _cut(table: pa.Table) -> Iterator[pa.RecordBatch]:
    rows = rows_a_batch(table, BATCH_BYTES)
    for start in range(0, table.num_rows, rows):
        yield from table.slice(start, rows).combine_chunks().to_batches()


def rows_a_batch(table: pa.Table, size: int) -> int:
    """Rows that take about `size` bytes."""
    pieces = max(1, round(int(table.nbytes) / size))
    return max(1, -(-int(table.num_rows) // pieces))


def open_mapped(path: Path) -> pa.Table:
    """The rows of an Arrow IPC file or stream, mapped: nothing is read until it is used.

    Raises MissingFile, or UnreadableFile where the file is truncated or is not Arrow.
    """
    with _opened(path) as reader:
        return reader.read_all()


def schema_of(path: Path) -> pa.Schema:
    """The schema of an Arrow IPC file or stream; raises as `open_mapped`."""
    with _opened(path) as reader:
        return reader.schema


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A reader of an Arrow IPC file or stream, mapped; raises as `open_mapped`."""
    with telling_file(path), pa.memory_map(str(path)) as source:
        open_as = pa.ipc.open_file if source.read(len(FILE_MAGIC)) == FILE_MAGIC else pa.ipc.open_stream
        source.seek(0)
        yield open_as(source)


@contextmanager
def telling_file(path: Path) -> Iterator[None]:
    """Turn what pyarrow says of a file into MissingFile or UnreadableFile."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFile(f"{path} does not exist", path=path) from error
    except (pa.ArrowInvalid, OSError) as error:
        raise UnreadableFile(f"{path} is truncated or is no Arrow file: {error}", path=path) from error
