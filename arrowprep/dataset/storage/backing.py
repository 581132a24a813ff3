"""Where rows lie: mapped Arrow files, which pickle as their names, or memory."""

from __future__ import annotations

import dataclasses
import itertools
import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arrowprep.dataset.indices import RowArray, Rows, Span
from arrowprep.dataset.plain import int64_array
from arrowprep.dataset.storage import ipc, pages
from arrowprep.dataset.storage.compressed import Unpacked, compression_of
from arrowprep.dataset.storage.pins import Pin
from arrowprep.dataset.storage.scratch import scratch_folder
from arrowprep.dataset.widen import empty_table

if TYPE_CHECKING:
    from arrowprep.dataset.storage.numbers import NumberColumn

Cell: TypeAlias = tuple[pa.Array, int]
"""An array that holds a value, and the place of the value in it."""


class Backing(Protocol):
    """Rows that can be read by physical row number."""

    @property
    def schema(self) -> pa.Schema: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def files(self) -> tuple[Path, ...]:
        """The files the rows lie in; none for memory."""
        ...

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the cache entries they lie in."""
        ...

    def read(self, rows: Rows, fields: Sequence[str]) -> pa.Table:
        """These rows of these fields, in this order; a Span is not copied."""
        ...

    def numbers(self, field: str, rows: Rows) -> NDArray[Any] | None:
        """(n, ...) these rows of a field that holds numbers, or lists of them, without a null; else None."""
        ...

    def cells(self, row: int, fields: Sequence[str]) -> list[Cell] | None:
        """Where a row of these fields lies; None where a field must be cast."""
        ...

    def portable(self) -> Backing:
        """The same rows where another process can map them."""
        ...


class Chunks:
    """Record batches end to end, read by row number.

    `pyarrow.Table.take` concatenates all chunks at each call (17 ms for 32 rows
    of 200,000 here, and an overflow above 2 GB); a gather per chunk takes 0.4 ms.
    """

    def __init__(
        self, schema: pa.Schema, batches: list[pa.RecordBatch] | Unpacked, lets_go: bool = False
    ) -> None:
        self.schema = schema
        self._lets_go, self._held_from, self._read_to = lets_go, 0, 0
        self.batches = batches
        rows = batches.num_rows if isinstance(batches, Unpacked) else [b.num_rows for b in batches]
        self.stops: list[int] = np.cumsum(rows, dtype=np.int64).tolist()
        self.num_rows = self.stops[-1] if self.stops else 0
        self._fields = tuple(schema.names)
        self._picked: dict[tuple[str, ...], Chunks] = {}
        self._columns: list[list[pa.Array] | None] = [None] * len(batches)

    def pick(self, fields: Sequence[str]) -> Chunks:
        """The same rows with these fields only."""
        key = tuple(fields)
        if key == self._fields:
            return self  # not kept below: rows that refer to themselves stay until a garbage collection
        found = self._picked.get(key)
        if found is None:
            found = self._picked[key] = self._only(key)
        return found

    def _only(self, fields: tuple[str, ...]) -> Chunks:
        if not fields:
            return Chunks(pa.schema([]), self.batches)
        places = [self.schema.get_field_index(field) for field in fields]
        schema = pa.schema([self.schema.field(i) for i in places])
        if isinstance(self.batches, Unpacked):
            return Chunks(schema, self.batches.pick(fields))
        batches = [
            pa.RecordBatch.from_arrays([b.column(i) for i in places], schema=schema) for b in self.batches
        ]
        return Chunks(schema, batches, self._lets_go)

    def find(self, row: int) -> tuple[pa.RecordBatch, int]:
        """The batch that holds a row, and the row's place in it."""
        k = bisect_right(self.stops, row)
        return self.batches[k], row - (self.stops[k - 1] if k else 0)

    def cells(self, row: int) -> list[Cell]:
        """Where a row lies."""
        k = bisect_right(self.stops, row)
        arrays = self._columns[k]
        if arrays is None:
            arrays = self.batches[k].columns
            if not isinstance(self.batches, Unpacked):  # those are not to stay
                self._columns[k] = arrays
        place = row - (self.stops[k - 1] if k else 0)
        return [(array, place) for array in arrays]

    @cached_property
    def number_column(self) -> NumberColumn | None:
        """The only column, for gathering numbers; None where each batch is decompressed first."""
        if isinstance(self.batches, Unpacked):
            return None
        from arrowprep.dataset.storage.numbers import NumberColumn

        return NumberColumn([batch.column(0) for batch in self.batches], self.stops)

    def read(self, rows: Rows) -> pa.Table:
        if isinstance(rows, Span):
            if self._lets_go:
                self._pass(rows)
            return pa.Table.from_batches(self._slices(rows), schema=self.schema)
        if len(rows) == 0:
            return empty_table(self.schema)
        if len(rows) <= _FEW_A_BATCH * len(self.batches) and not isinstance(self.batches, Unpacked):
            return self._joined(rows.numbers)
        return gather(rows.numbers, self.stops, self._take)

    def _pass(self, span: Span) -> None:
        """Let go of the batches that whoever reads one span after the other is done with."""
        here = bisect_right(self.stops, span.start)
        if span.start == self._read_to:
            for number in range(self._held_from, here):
                pages.let_go(self.batches[number])
        self._held_from, self._read_to = here, span.stop

    def _joined(self, numbers: RowArray) -> pa.Table:
        """Few rows of each batch, as slices put together: 32 rows of 30 batches in 60 us, by takes 790."""
        edges = [0, *(np.flatnonzero(np.diff(numbers) != 1) + 1).tolist(), len(numbers)]
        runs = [(int(numbers[start]), stop - start) for start, stop in pairwise(edges)]
        slices = [part for first, rows in runs for part in self._slices(Span(first, first + rows))]
        return pa.Table.from_batches(slices, schema=self.schema).combine_chunks()

    def _take(self, batch: int, numbers: RowArray) -> pa.Table:
        return pa.Table.from_batches([self.batches[batch].take(int64_array(numbers))], schema=self.schema)

    def _slices(self, span: Span) -> list[pa.RecordBatch]:
        found = []
        row = span.start
        while row < span.stop:
            batch, place = self.find(row)
            take = min(batch.num_rows - place, span.stop - row)
            found.append(batch if take == batch.num_rows else batch.slice(place, take))
            row += take
        return found


def gather(numbers: RowArray, stops: Sequence[int], take: Callable[[int, RowArray], pa.Table]) -> pa.Table:
    """Rows in the order of `numbers`, out of pieces that end at the rows `stops`.

    take: (piece, row numbers within it) -> those rows; called once a piece
    """
    piece = np.searchsorted(np.asarray(stops), numbers, side="right")
    ascending = bool(np.all(piece[:-1] <= piece[1:]))
    order = np.arange(len(numbers)) if ascending else np.argsort(piece, kind="stable")
    grouped, piece = numbers[order], piece[order]
    edges = np.flatnonzero(np.diff(piece)) + 1
    taken = [
        take(int(piece[start]), grouped[start:stop] - (stops[piece[start] - 1] if piece[start] else 0))
        for start, stop in zip([0, *edges.tolist()], [*edges.tolist(), len(grouped)], strict=True)
    ]
    whole = pa.concat_tables(taken)
    if ascending:
        return whole
    if whole.nbytes > _ONE_PIECE and len(numbers) > 1:
        half = len(numbers) // 2
        return pa.concat_tables([gather(part, stops, take) for part in (numbers[:half], numbers[half:])])
    back = np.empty(len(numbers), dtype=np.int64)
    back[order] = np.arange(len(numbers))
    return whole.combine_chunks().take(int64_array(back))


def own_copy(table: pa.Table) -> pa.Table:
    """The rows in this process's own memory, without the files they were mapped from."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


_FEW_A_BATCH = 4  # rows, where these many cost as much sliced as taken
_ONE_PIECE = 1 << 30  # bytes; 32-bit text offsets overflow at twice that


class _Chunked:
    """Rows in chunks, which are read alike wherever they lie."""

    @cached_property
    def chunks(self) -> Chunks:
        raise NotImplementedError

    def read(self, rows: Rows, fields: Sequence[str]) -> pa.Table:
        return self.chunks.pick(fields).read(rows)

    def numbers(self, field: str, rows: Rows) -> NDArray[Any] | None:
        column = self.chunks.pick((field,)).number_column
        return None if column is None else column.take(rows)

    def cells(self, row: int, fields: Sequence[str]) -> list[Cell]:
        return self.chunks.pick(fields).cells(row)


@dataclass(frozen=True)
class Files(_Chunked):
    """Rows in Arrow IPC files of one schema, mapped when first read.

    order: the batches in row order as (part, batch) numbers, where that is not the files' own order
    entries: the names of the entries of a cache that they are, which may be removed
    pins: the files that say that they are in use, while they are open here
    """

    parts: tuple[Path, ...]
    order: tuple[tuple[int, int], ...] | None = None
    entries: tuple[str, ...] = ()
    pins: tuple[Path, ...] = ()

    @cached_property
    def chunks(self) -> Chunks:
        self._pinned  # noqa: B018  before they are opened
        if any(compression_of(path) for path in self.parts):
            unpacked = Unpacked(self.parts, self.order)
            return Chunks(unpacked.schema, unpacked)
        tables = [ipc.open_mapped(path) for path in self.parts]
        batches = [table.to_batches() for table in tables]
        in_order = itertools.chain(*batches) if self.order is None else (batches[p][b] for p, b in self.order)
        is_large = sum(table.nbytes for table in tables) > pages.LARGE
        return Chunks(tables[0].schema, list(in_order), is_large)

    @cached_property
    def _pinned(self) -> list[Pin]:
        return [Pin(path) for path in self.pins]

    @property
    def schema(self) -> pa.Schema:
        return self.chunks.schema

    @property
    def num_rows(self) -> int:
        return self.chunks.num_rows

    @property
    def files(self) -> tuple[Path, ...]:
        return self.parts

    def portable(self) -> Files:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}  # names, not data

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


@dataclass(frozen=True, eq=False)
class Memory(_Chunked):
    """Rows in this process's memory."""

    table: pa.Table

    @cached_property
    def chunks(self) -> Chunks:
        return Chunks(self.table.schema, [b for b in self.table.to_batches() if b.num_rows])

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    @property
    def num_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def files(self) -> tuple[Path, ...]:
        return ()

    @property
    def entries(self) -> tuple[str, ...]:
        return ()

    @cached_property
    def _spilled(self) -> Files:
        path = scratch_folder() / f"memory-{os.urandom(8).hex()}.arrow"
        with ipc.write_aside(path, self.schema) as writer:
            for batch in self.chunks.batches:
                writer.write_batch(batch)
        return Files((path,))

    def portable(self) -> Files:
        return self._spilled

    def __getstate__(self) -> dict[str, Any]:
        return {"table": self.table}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
