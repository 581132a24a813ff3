"""Arrow IPC files: written aside and renamed when whole; opened by mapping."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import xxhash

from arrowprep.dataset.fingerprint.arrow import column_digest
from arrowprep.errors import CacheError, MissingFile, UnreadableFile

BATCH_BYTES = 16 << 20  # opening a file costs per batch
_CHECKSUM = "checksum"
_FILE_MAGIC = b"ARROW1\0\0"


class Writer:
    """Writes batches to an Arrow file that is still aside, each with a checksum of its values.

    Raises CacheError where the folder takes no more.
    """

    def __init__(self, path: Path, sink: Any, writer: Any) -> None:
        self._path, self._sink, self._writer = path, sink, writer

    def write_batch(self, batch: pa.RecordBatch, custom_metadata: Mapping[str, str] | None = None) -> None:
        metadata = {**(custom_metadata or {}), _CHECKSUM: checksum(batch)}
        with telling_folder(self._path.parent):
            self._writer.write_batch(batch, metadata)

    def write_table(self, table: pa.Table, max_chunksize: int | None = None) -> None:
        for batch in table.to_batches(max_chunksize):
            self.write_batch(batch)

    def close(self) -> None:
        with telling_folder(self._path.parent):
            self._writer.close()
            self._sink.close()


@contextmanager
def write_aside(path: Path, schema: pa.Schema, *, keep: bool = False) -> Iterator[Writer]:
    """A writer of an Arrow IPC file that appears under its name when it is whole, or not at all.

    keep: leave what was written aside when it fails, for `leftovers` to find

    Raises CacheError where the folder cannot be written.
    """
    aside = aside_of(path)
    try:
        with telling_folder(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            sink = pa.OSFile(str(aside), "wb")
        with sink:
            writer = Writer(path, sink, pa.ipc.new_file(sink, schema))
            yield writer
            writer.close()
        with telling_folder(path.parent):
            os.replace(aside, path)
    finally:
        if not keep:
            with contextlib.suppress(OSError):
                aside.unlink()


def aside_of(path: Path) -> Path:
    """A name in the same folder that tells its owner and that no other writer uses."""
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


@contextmanager
def telling_folder(folder: Path) -> Iterator[None]:
    """Turn what the operating system says of a full or read-only folder into a CacheError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise CacheError(
            f"cannot write in {folder}: {reason}; set ARROWPREP_CACHE or cache_dir= to a folder with room",
            path=folder,
        ) from error


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
    pieces = max(1, round(table.nbytes / BATCH_BYTES))
    rows = max(1, -(-table.num_rows // pieces))
    for start in range(0, table.num_rows, rows):
        yield from table.slice(start, rows).combine_chunks().to_batches()


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
    try:
        with pa.memory_map(str(path)) as source:
            opened = pa.ipc.open_file if source.read(8) == _FILE_MAGIC else pa.ipc.open_stream
            source.seek(0)
            yield opened(source)
    except FileNotFoundError as error:
        raise MissingFile(f"{path} does not exist", path=path) from error
    except (pa.ArrowInvalid, OSError) as error:
        raise UnreadableFile(f"{path} is truncated or is no Arrow file: {error}", path=path) from error


def checksum(batch: pa.RecordBatch) -> str:
    """Of the values of a record batch; some GB/s."""
    return xxhash.xxh3_64_hexdigest(b"".join(column_digest(column) for column in batch.columns))


def damaged(path: Path) -> list[int]:
    """The numbers of the record batches of an Arrow file whose values are not those that were written.

    Reads all of the file. Raises as `open_mapped` where it cannot be opened.
    """
    found = []
    with _opened(path) as reader:
        for number in range(getattr(reader, "num_record_batches", 0)):
            try:
                batch, metadata = reader.get_batch_with_custom_metadata(number)
                batch.validate(full=True)
                written = dict(metadata or {}).get(_CHECKSUM.encode())
                whole = written is None or written.decode() == checksum(batch)
            except (pa.ArrowInvalid, OSError, UnicodeDecodeError):
                whole = False
            if not whole:
                found.append(number)
    return found
