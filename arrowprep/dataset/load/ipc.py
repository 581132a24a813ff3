"""Arrow IPC files and streams; an uncompressed file is mapped where it is, not converted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from arrowprep.dataset.load.plain import plain, plain_schema
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.storage.ipc import schema_of
from arrowprep.dataset.widen import empty_table
from arrowprep.errors import UnreadableFile

OPTIONS: set[str] = set()
FILE_MAGIC = b"ARROW1\0\0"


def read(path: Path, spec: ReadSpec) -> Iterator[pa.Table]:
    """Tables of the batches in a file or stream."""
    schema = schema_of(path)
    try:
        with pa.memory_map(str(path)) as source:
            for batch in _batches(source):
                yield plain(pa.Table.from_batches([batch], schema))
        yield plain(empty_table(schema))
    except (pa.ArrowInvalid, OSError) as error:
        raise UnreadableFile(f"{path} is truncated or broken: {error}", path=path) from error


def _batches(source: pa.MemoryMappedFile) -> Iterator[pa.RecordBatch]:
    if _is_file(source):
        reader = pa.ipc.open_file(source)
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from pa.ipc.open_stream(source)


def _is_file(source: pa.MemoryMappedFile) -> bool:
    magic = source.read(len(FILE_MAGIC))
    source.seek(0)
    return bool(magic == FILE_MAGIC)


def can_be_mapped(path: Path) -> bool:
    """Whether the file can serve as it is: an Arrow IPC file, not compressed, of plain columns.

    Raises UnreadableFile for one that is no Arrow file.
    """
    schema = schema_of(path)
    with pa.memory_map(str(path)) as source:
        if not _is_file(source) or not plain_schema(schema).equals(schema):
            return False
        reader = pa.ipc.open_file(source)
        if reader.num_record_batches == 0:
            return True
        start = source.read_buffer(1).address
        return all(
            start <= buffer.address < start + source.size()
            for column in reader.get_batch(0).columns
            for buffer in column.buffers()
            if buffer is not None and buffer.size
        )
