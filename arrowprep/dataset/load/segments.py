"""Tables whose schema widens as a file is read on, as Arrow files of one schema.

The first table is written as it comes. When a later one needs a wider schema, a
new file begins; at the end the narrower files are cast. So types are decided by
the whole input, one pass reads it, and only what was narrower is touched again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import pyarrow as pa

from arrowprep.dataset import widen
from arrowprep.dataset.load import natural
from arrowprep.dataset.storage import ipc


class ReadAgain(Exception):
    """What was written cannot be cast: the input must be read with this schema as the least."""

    def __init__(self, floor: pa.Schema) -> None:
        super().__init__(floor)
        self.floor = floor


@dataclass(frozen=True)
class Rules:
    """How schemas widen: of written text (`natural`), or of typed files (`widen`)."""

    wider_schema: Callable[[pa.Schema, pa.Schema], pa.Schema]
    keeps_values: Callable[[pa.DataType, pa.DataType], bool]
    beyond: Callable[[pa.DataType], pa.DataType]


NATURAL = Rules(natural.wider_schema, natural.keeps_values, natural.beyond)
TYPED = Rules(widen.wider_schema, lambda old, new: True, lambda kind: kind)


class Segments:
    """Writes tables into `folder`; `finish` gives the files. Nothing else is written there."""

    def __init__(self, folder: Path, floor: pa.Schema, rules: Rules) -> None:
        self._folder, self._rules = folder, rules
        self.schema = floor
        self.num_rows = 0
        self._written: list[tuple[Path, pa.Schema]] = []
        self._pending: list[pa.Table] = []
        self._pending_bytes = 0
        self._read_again = False
        self._open: tuple[ExitStack, ipc.Writer] | None = None

    def add(self, table: pa.Table) -> None:
        """Append rows; TypeConflict where no schema holds them and those before."""
        schema = self._rules.wider_schema(self.schema, table.schema)
        before = self.schema if self.num_rows else pa.schema([])
        if not (self._kept(before, schema) and self._kept(table.schema, schema)):
            self._read_again = True
        elif self.num_rows and not schema.equals(self.schema):
            self._close()
        self.schema = schema
        self.num_rows += table.num_rows
        if self._read_again:
            return  # only the schema is still to be found out
        self._pending.append(table)
        self._pending_bytes += (size := table.nbytes)
        if size >= ipc.ALONE_BYTES or self._pending_bytes >= ipc.BATCH_BYTES:
            self._flush()

    def finish(self) -> tuple[Path, ...]:
        """All rows, in files of `self.schema`. Raises ReadAgain where casting would alter them."""
        if self._read_again:
            raise ReadAgain(self.schema)
        self._close()
        if not self._written:
            self._begin()
            self._close()
        return tuple(
            path if schema.equals(self.schema) else recast(path, self.schema, self._cast)
            for path, schema in self._written
        )

    def __enter__(self) -> Segments:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """After a failure, the file that is being written never appears."""
        if self._open is not None:
            stack, _ = self._open
            self._open = None
            stack.__exit__(kind, error, trace)

    def _kept(self, narrow: pa.Schema, wide: pa.Schema) -> bool:
        return all(self._rules.keeps_values(field.type, wide.field(field.name).type) for field in narrow)

    def _begin(self) -> ipc.Writer:
        path = self._folder / f"part-{len(self._written):05d}.arrow"
        stack = ExitStack()
        writer = stack.enter_context(ipc.write_aside(path, self.schema))
        self._open = stack, writer
        self._written.append((path, self.schema))
        return writer

    def _flush(self) -> None:
        tables, self._pending, self._pending_bytes = self._pending, [], 0
        writer = self._open[1] if self._open else self._begin()
        for batch in ipc.in_batches(self._cast(table) for table in tables):
            writer.write_batch(batch)

    def _close(self) -> None:
        if self._pending:
            self._flush()
        if self._open is not None:
            stack, _ = self._open
            self._open = None
            stack.close()

    def _cast(self, table: pa.Table) -> pa.Table:
        try:
            return widen.cast_table(table, self.schema)
        except pa.ArrowInvalid:
            floor = pa.schema([self._further(field, table) for field in self.schema])
            if floor.equals(self.schema):
                raise
            raise ReadAgain(floor) from None

    def _further(self, field: pa.Field, table: pa.Table) -> pa.Field:
        """The field with a type that the values of this table fit, where it was too narrow for them."""
        try:
            widen.cast_table(table, pa.schema([field]))
        except pa.ArrowInvalid:
            return field.with_type(self._rules.beyond(field.type))
        return field


def recast(path: Path, schema: pa.Schema, cast: Callable[[pa.Table], pa.Table] | None = None) -> Path:
    """A file written with narrower types, written again in its place with these."""
    cast = cast or (lambda table: widen.cast_table(table, schema))
    with ipc.write_aside(path, schema) as writer:
        for batch in ipc.open_mapped(path).to_batches():
            writer.write_table(cast(pa.Table.from_batches([batch])))
    return path
