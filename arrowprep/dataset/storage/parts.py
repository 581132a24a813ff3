"""Parts: Arrow files that one worker appends results to, each record batch with the input rows behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.indices import Span
from arrowprep.dataset.storage import ipc
from arrowprep.dataset.widen import cast_table, wider_schema

BATCH_BYTES = 16 << 20  # opening a file costs per record batch
NOTE = b"arrowprep"


@dataclass(frozen=True)
class Part:
    """A whole Arrow file of results.

    spans: the input rows behind each record batch; where one input made several
        batches, the later ones have the empty span at its end
    """

    path: Path
    schema: pa.Schema
    spans: tuple[Span, ...]


class PartWriter:
    """Appends tables to part files; a new file begins when the columns or types widen."""

    def __init__(self, stem: Path) -> None:
        self._stem = stem
        self._parts: list[Part] = []
        self._pending: list[pa.Table] = []
        self._pending_bytes = 0
        self._pending_span: Span | None = None
        self._schema: pa.Schema | None = None
        self._note: dict[str, Any] = {}
        self._open: ExitStack | None = None
        self._writer: Any = None
        self._path = stem
        self._spans: list[Span] = []

    def append(self, table: pa.Table, span: Span, note: dict[str, Any]) -> None:
        """Add what the input rows of `span` became. Raises TypeConflict when no type holds both.

        note: what an entry of this part alone would say of itself; JSON, kept in the schema's metadata
        """
        bare = table.schema.remove_metadata()
        schema = bare if self._schema is None else wider_schema(self._schema, bare)
        if self._pending_span is not None and self._pending_span.stop != span.start:
            self._flush()
        if note != self._note or (schema != self._schema and self._writer is not None):
            # rows that lack a column are completed from the parent when the entry is published
            self._flush()
            self._close_file()
        self._schema, self._note = schema, note
        start = span.start if self._pending_span is None else self._pending_span.start
        self._pending_span = Span(start, span.stop)
        self._pending.append(table)
        self._pending_bytes += table.nbytes
        if self._pending_bytes >= BATCH_BYTES:
            self._flush()

    def close(self) -> list[Part]:
        """Write what is pending; all parts, whole."""
        self._flush()
        self._close_file()
        return self._parts

    def abandon(self) -> None:
        """Remove everything that was written."""
        if self._open is not None:
            stack, self._open = self._open, None
            failure = RuntimeError("abandoned")
            stack.__exit__(type(failure), failure, None)
        for part in self._parts:
            part.path.unlink(missing_ok=True)

    def _flush(self) -> None:
        if self._pending_span is None:
            return
        assert self._schema is not None
        span, self._pending_span = self._pending_span, None
        tables, self._pending, self._pending_bytes = self._pending, [], 0
        whole = pa.concat_tables([cast_table(t, self._schema) for t in tables]).combine_chunks()
        with ipc.telling_folder(self._stem.parent):
            if self._writer is None:
                self._open_file()
            for batch, rows in with_spans(whole.to_batches(), span):
                self._writer.write_batch(batch, custom_metadata={"rows": f"{rows.start}:{rows.stop}"})
                self._spans.append(rows)

    def _open_file(self) -> None:
        assert self._schema is not None
        self._path = self._stem.with_name(f"{self._stem.name}-{len(self._parts)}.arrow")
        self._open = ExitStack()
        schema = self._schema.with_metadata({NOTE: json.dumps(self._note).encode()})
        self._writer = self._open.enter_context(ipc.write_aside(self._path, schema))
        self._spans = []

    def _close_file(self) -> None:
        if self._open is None:
            return
        stack, self._open, self._writer = self._open, None, None
        stack.close()
        assert self._schema is not None
        self._parts.append(Part(self._path, self._schema, tuple(self._spans)))


def with_spans(batches: list[pa.RecordBatch], span: Span) -> Iterator[tuple[pa.RecordBatch, Span]]:
    """Each batch with the input rows behind it; all are behind the first where rows are not one to one."""
    one_to_one = sum(b.num_rows for b in batches) == len(span)
    start = span.start
    for batch in batches:
        stop = start + batch.num_rows if one_to_one else span.stop
        yield batch, Span(start, stop)
        start = stop
