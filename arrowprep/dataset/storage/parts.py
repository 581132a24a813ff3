"""Parts: Arrow files that one worker appends results to, each record batch with the input rows behind it."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from arrowprep.dataset.indices import Span
from arrowprep.dataset.storage import ipc
from arrowprep.dataset.storage.room import Outlook
from arrowprep.dataset.widen import cast_table, wider_schema
from arrowprep.errors import ArrowprepError

FLUSH_S = 10.0  # so much work is lost at most when the process is killed


class Part(NamedTuple):
    """A whole Arrow file of results.

    note: what its writer said of it, the same for all its batches
    spans: the input rows behind each record batch; where one input made several
        batches, the later ones have the empty span at its end
    """

    path: Path
    schema: pa.Schema
    note: Mapping[str, Any]
    spans: tuple[Span, ...]


class PartPlan(NamedTuple):
    """What the writers of one result have in common.

    stem: with what the names of its files begin
    num_rows: input rows that all of them together write the results of
    """

    stem: Path
    num_rows: int
    compression: str | None = None


class PartWriter:
    """Appends tables to part files; a new file begins when the columns or types widen.

    Raises DiskFull as soon as it seems that the results of all rows will not fit.
    """

    def __init__(self, plan: PartPlan, rank: int) -> None:
        self._plan = plan
        self._stem = plan.stem.with_name(f"{plan.stem.name}-{rank}")
        self._outlook: Outlook | None = Outlook(plan.stem, plan.num_rows)
        self._done_rows = self._done_bytes = 0
        self._parts: list[Part] = []
        self._pending: list[tuple[pa.Table, Span]] = []
        self._pending_bytes = 0
        self._schema: pa.Schema | None = None
        self._note: dict[str, Any] = {}
        self._written_note: dict[str, Any] = {}
        self._flushed = time.monotonic()
        self._open: ExitStack | None = None
        self._writer: Any = None
        self._files = 0
        self._path = self._stem
        self._spans: list[Span] = []
        self._known = 0  # batches of the open file; where it began more, a write was stopped in the middle

    def append(self, table: pa.Table, span: Span, note: dict[str, Any]) -> None:
        """Add what the input rows of `span` became. Raises TypeConflict when no type holds both.

        Whatever stops it, Ctrl-C at any place too, what is kept is whole, and `abandon` finds it so.

        note: what an entry of this part alone would say of itself; JSON, kept in the schema's metadata
        """
        schema = self._widened(table.schema)
        if self._pending and self._pending[-1][1].stop != span.start:
            self._flush()
        is_new = note is not self._note and note != self._note
        if is_new or (schema is not self._schema and self._writer is not None):
            # rows that lack a column are completed from the parent when the entry is published
            self._flush()
            self._close_file()
        self._schema, self._note = schema, note
        self._pending.append((table, span))
        self._pending_bytes += (size := table.nbytes)
        is_enough = size >= ipc.ALONE_BYTES or self._pending_bytes >= ipc.BATCH_BYTES
        if is_enough or time.monotonic() - self._flushed > FLUSH_S:
            self._flush()

    def _widened(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what is appended together with this; the one there was where it holds this too."""
        if self._schema is None:
            return schema.remove_metadata()
        if schema == self._schema:
            return self._schema
        found = wider_schema(self._schema, schema.remove_metadata())
        return self._schema if found == self._schema else found

    def close(self) -> list[Part]:
        """Write what is pending; all parts, whole."""
        self._flush()
        self._close_file()
        return self._parts

    def abandon(self) -> None:
        """Leave what is whole where the next run finds it."""
        self._outlook = None
        for write in (self._flush, self._close_file):
            with contextlib.suppress(ArrowprepError):  # on a full disk the file has no end, and is found so
                write()

    def _flush(self) -> None:
        if not self._pending:
            return
        self._leave_torn_file()
        assert self._schema is not None
        span = Span(self._pending[0][1].start, self._pending[-1][1].stop)
        whole = pa.concat_tables([cast_table(t, self._schema) for t, _ in self._pending]).combine_chunks()
        if self._writer is None:
            self._open_file()
        before = self._writer.written
        for batch, rows, metadata in described(self._cut(whole), span):
            self._writer.write_batch(batch, metadata)
            self._spans.append(rows)
        self._pending, self._pending_bytes = [], 0
        self._known = self._writer.begun
        self._flushed = time.monotonic()
        self._done_rows += len(span)
        self._done_bytes += self._writer.written - before
        if self._outlook is not None:
            self._outlook.check(self._done_rows, self._done_bytes)

    def _cut(self, table: pa.Table) -> list[pa.RecordBatch]:
        """As one batch, or where it is compressed as small ones, for reading a row decompresses its batch."""
        if self._plan.compression is None:
            return list(table.to_batches())
        return list(table.to_batches(ipc.rows_a_batch(table, ipc.COMPRESSED_BYTES)))

    def _open_file(self) -> None:
        assert self._schema is not None
        self._path = self._stem.with_name(f"{self._stem.name}-{self._files}.arrow")
        self._files += 1
        self._open = ExitStack()
        self._written_note = self._note
        schema = self._schema.with_metadata({ipc.NOTE: json.dumps(self._note).encode()})
        aside = ipc.write_aside(self._path, schema, compression=self._plan.compression, keep=True)
        self._writer = self._open.enter_context(aside)
        self._known = 0
        self._spans = []

    def _close_file(self) -> None:
        self._leave_torn_file()
        if self._open is None:
            return
        stack, self._open, self._writer = self._open, None, None
        stack.close()
        assert self._schema is not None
        self._parts.append(Part(self._path, self._schema, self._written_note, tuple(self._spans)))

    def _leave_torn_file(self) -> None:
        """Give it no end: the next run takes of it what is whole, and nothing that is half there."""
        if self._open is None or (self._writer is not None and self._writer.begun == self._known):
            return
        stack, self._open, self._writer = self._open, None, None
        with contextlib.suppress(_Torn), stack:
            raise _Torn


class _Torn(Exception):
    """The file that is being written is not to appear under its name."""


def described(
    batches: list[pa.RecordBatch], span: Span
) -> Iterator[tuple[pa.RecordBatch, Span, dict[str, str]]]:
    """Each batch with the input rows behind it, and the same as metadata.

    All rows are behind the first batch where they are not one to one; such batches
    count only together, which "whole" marks the last of.
    """
    one_to_one = sum(b.num_rows for b in batches) == len(span)
    start = span.start
    for number, batch in enumerate(batches, 1):
        rows = Span(start, start + batch.num_rows if one_to_one else span.stop)
        whole = one_to_one or number == len(batches)
        yield batch, rows, {"rows": f"{rows.start}:{rows.stop}", "whole": str(int(whole))}
        start = rows.stop
