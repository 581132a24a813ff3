"""Record batches that are read one at a time, for files whose batches are compressed.

A mapped file costs no memory, a compressed one as much as is decompressed at a
time. How many rows a batch has is told by its message, so that opening a file
decompresses nothing. Source: Message.fbs and File.fbs of the Arrow format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from arrowprep.dataset.storage import ipc

_KEPT = 2  # decompressed batches, for rows that are read one after another
_CODECS = ("lz4", "zstd")  # by their number in the format


class Header(NamedTuple):
    """What the message of a record batch says of it."""

    num_rows: int
    compression: str | None


def compression_of(path: Path) -> str | None:
    """How an Arrow file is compressed, by its first record batch; raises as `open_mapped`."""
    with ipc.telling_file(path):
        return next((header.compression for header in headers(path)), None)


def headers(path: Path) -> Iterator[Header]:
    """Of each record batch of an Arrow file; of a stream, none, for ours are files."""
    with pa.memory_map(str(path)) as source:
        if source.read(len(ipc.FILE_MAGIC)) != ipc.FILE_MAGIC:
            return
        for message in pa.MessageReader.open_stream(source):
            if message.type == "record batch":
                yield _header(message.metadata.to_pybytes())


class Unpacked(Sequence[pa.RecordBatch]):
    """Record batches of files of one schema; each is decompressed when it is asked for."""

    def __init__(
        self,
        paths: Sequence[Path],
        order: Sequence[tuple[int, int]] | None = None,
        fields: Sequence[str] | None = None,
    ) -> None:
        """order: (file, batch) numbers; fields: the only ones to decompress, in their order"""
        self._paths, self._fields = paths, fields
        counts: dict[tuple[int, int], int] = {}
        for file, path in enumerate(paths):
            with ipc.telling_file(path):
                counts |= {(file, batch): header.num_rows for batch, header in enumerate(headers(path))}
        self.order: list[tuple[int, int]] = list(counts if order is None else order)
        self.num_rows: list[int] = [counts[place] for place in self.order]
        self._kept: dict[int, pa.RecordBatch] = {}

    def pick(self, fields: Sequence[str]) -> Unpacked:
        """The same batches with these fields only."""
        picked = object.__new__(Unpacked)
        picked.__dict__.update(
            _paths=self._paths, _fields=fields, order=self.order, num_rows=self.num_rows, _kept={}
        )
        return picked

    @cached_property
    def schema(self) -> pa.Schema:
        return ipc.schema_of(self._paths[0])

    @cached_property
    def _readers(self) -> list[pa.ipc.RecordBatchFileReader]:
        places = [self.schema.get_field_index(field) for field in self._fields or ()]
        options = pa.ipc.IpcReadOptions(included_fields=places)
        readers = []
        for path in self._paths:
            with ipc.telling_file(path):
                readers.append(pa.ipc.open_file(pa.memory_map(str(path)), options=options))
        return readers

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, number: int) -> pa.RecordBatch:  # type: ignore[override]
        found = self._kept.get(number)
        if found is None:
            file, batch = self.order[number]
            with ipc.telling_file(self._paths[file]):
                found = self._readers[file].get_batch(batch)
            if self._fields is not None:
                found = found.select(list(self._fields))
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[number] = found
        return found


def _header(message: bytes) -> Header:
    """The message of a record batch: a flatbuffer, read by hand, for pyarrow does not tell."""
    batch = _follow(message, _field(message, _follow(message, 0), 2))
    length, compression = _field(message, batch, 0), _field(message, batch, 3)
    num_rows = struct.unpack_from("<q", message, length)[0] if length else 0
    if not compression:
        return Header(num_rows, None)
    codec = _field(message, _follow(message, compression), 0)
    return Header(num_rows, _CODECS[message[codec] if codec else 0])


def _follow(message: bytes, at: int) -> int:
    """Where the offset at this place leads."""
    return at + int(struct.unpack_from("<I", message, at)[0])


def _field(message: bytes, table: int, number: int) -> int:
    """The place of a table's field; 0 where it has its default."""
    fields = table - struct.unpack_from("<i", message, table)[0]
    at = 4 + 2 * number
    if at >= struct.unpack_from("<H", message, fields)[0]:
        return 0
    offset = struct.unpack_from("<H", message, fields + at)[0]
    return table + int(offset) if offset else 0
