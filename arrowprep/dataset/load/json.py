"""JSON Lines, and JSON files that are one array of objects (or hold one: `field=`).

Blocks of whole lines go through the kernel, several at once; one it does not take through
Arrow's reader; one that refuses, or whose numbers it would alter, is read row by row (`json_rows`).
"""

from __future__ import annotations

import json
import warnings
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.json as pj
import pyarrow.types as pat

from arrowprep.dataset import as_json, widen
from arrowprep.dataset.load import json_document, json_rows, natural
from arrowprep.dataset.load.json_native import can_read, read_lines
from arrowprep.dataset.load.sources import (
    BLOCK_BYTES,
    Block,
    blocks,
    check_utf8,
    line_starts,
    opened,
    opened_range,
)
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.load.suffixes import is_compressed
from arrowprep.dataset.plain import valid_flags
from arrowprep.errors import ArrowprepWarning, TypeConflict

OPTIONS = {"field", "encoding", "encoding_errors", "on_mixed_types", "block_bytes", "chunksize"}
_EXACT = 2.0**63  # a float beyond this may have been written as an integer
_MOST_AHEAD = 8  # blocks in memory
_SAMPLE_BYTES = 1 << 16
_NATIVE_RANGE_BYTES = 512 << 20  # at 500 MB/s a core: the start of processes is a tenth of it
_LOOK = 256  # bytes that tell how rows are written
_SAFE_DEPTH = 8_000  # of nesting; between 10,000 and 20,000 levels use up the stack

# a table, and for each column that mixes kinds what it holds
_Parsed: TypeAlias = tuple[pa.Table, dict[str, str]]


def read(path: Path, spec: ReadSpec) -> Iterator[pa.Table]:
    """Tables of the file's rows in order, each with the types of what it holds.

    options: field (name of the list of rows in a JSON object), encoding, encoding_errors,
    block_bytes, chunksize (taken, and changes nothing; here and of CSV and text),
    on_mixed_types ("use_json": a file is read again with such a column as JSON).
    """
    options = spec.options
    size = options.get("block_bytes", BLOCK_BYTES)
    with opened(path, options.get("encoding", "utf-8"), options.get("encoding_errors", "strict")) as stream:
        lines = _blocks(stream, path, options.get("field"), size)
        yield from _in_parallel(lines, path, spec.floor)


def _blocks(stream: IO[bytes], path: Path, field: str | None, size: int) -> Iterator[Block]:
    if field is not None:
        return json_document.field(stream, path, field, size)
    start = stream.peek(_LOOK).lstrip()  # type: ignore[attr-defined]
    if start.startswith(b"["):
        return json_document.array(stream, path, size)
    if _begins_object(start):
        raise json_document.is_one_object(stream, path)
    return blocks(stream, path, size)


def _begins_object(start: bytes) -> bool:
    """Whether a file begins with an object over several lines."""
    return start.split(b"\n")[0].strip() == b"{"


def cuts(path: Path, spec: ReadSpec, count: int) -> list[int]:
    """Where lines begin that part a file into about `count` ranges; none where it is not plain JSON Lines.

    Nor where the kernel reads them: one process does so on all cores, before several are done.
    """
    if is_compressed(path) or set(spec.options) - {"block_bytes"}:
        return []
    with opened(path) as stream:
        start = stream.read(_SAMPLE_BYTES)
    if not start.lstrip().startswith(b"{") or _begins_object(start[:_LOOK].lstrip()):
        return []
    if can_read(_expected(Block.of(start, 1))):
        count = min(count, path.stat().st_size // _NATIVE_RANGE_BYTES)
    return line_starts(path, count) if count > 1 else []


def read_range(path: Path, spec: ReadSpec, start: int, stop: int) -> Iterator[pa.Table]:
    """As `read`, of the lines in bytes start..stop alone; their numbers count from the range's start."""
    with opened_range(path, start, stop) as stream:
        lines = blocks(stream, path, spec.options.get("block_bytes", BLOCK_BYTES))
        yield from _in_parallel(lines, path, spec.floor)


def _in_parallel(source: Iterator[Block], path: Path, floor: pa.Schema) -> Iterator[pa.Table]:
    """Read and parse some blocks ahead, beside who takes the tables; the first tells what to expect."""
    threads = min(pa.cpu_count(), _MOST_AHEAD)
    pending: deque[tuple[Block, Future[_Parsed]]] = deque()
    columns = _Columns(path, floor)
    with ThreadPoolExecutor(threads) as pool:
        reading = pool.submit(next, source, None)
        try:
            while block := reading.result():
                reading = pool.submit(next, source, None)
                if not columns.known.names:
                    columns.known = _expected(block)
                pending.append((block, pool.submit(_parse, block, path, columns.known, floor)))
                if len(pending) > threads:
                    yield columns.take(*pending.popleft())
            while pending:
                yield columns.take(*pending.popleft())
        finally:
            reading.cancel()
            for _, left in pending:
                left.cancel()


class _Columns:
    """What is known so far; warns, once a column, where values of several kinds became text."""

    def __init__(self, path: Path, known: pa.Schema) -> None:
        self.known = known
        self._path = path
        self._told: set[str] = set()

    def take(self, block: Block, parsed: Future[_Parsed]) -> pa.Table:
        """The table of the next block."""
        table, mixed = parsed.result()
        since = f"from {block.counted} {block.first_line} on"
        try:
            known = natural.wider_schema(self.known, table.schema)
        except TypeConflict as error:
            raise TypeConflict(
                f"{self._path}: {error}, which is there {since}; "
                f"to keep each value as its JSON text, pass features with {error.column!r}: Json()",
                path=self._path,
                column=error.column,
                line=block.first_line,
            ) from error
        for field in table.schema:
            before = self.known.field(field.name).type if field.name in self.known.names else pa.null()
            now = known.field(field.name).type
            if any(natural.becomes_text(kind, now) for kind in (before, field.type)):
                mixed.setdefault(field.name, f"{before}, and {field.type} {since}")
        for name in mixed.keys() - self._told:
            self._warn(name, mixed[name])
        self.known = known
        return table

    def _warn(self, name: str, held: str) -> None:
        self._told.add(name)
        warnings.warn(
            f"{self._path}: column {name!r} mixes {held}; all became text. "
            f"features= with a type for {name!r} decides otherwise: Json() keeps the values",
            ArrowprepWarning,
            stacklevel=2,
        )


def _expected(block: Block) -> pa.Schema:
    """The schema of a block's first lines: a hint, which later rows may contradict."""
    start = bytes(block.data[:_SAMPLE_BYTES])
    stop = start.rfind(b"\n") + 1
    sample = Block.of(start[:stop], block.first_line, block.counted) if stop else block
    table = _by_arrow(sample, pa.schema([]))
    return pa.schema([]) if table is None else table.schema


def _parse(block: Block, path: Path, known: pa.Schema, floor: pa.Schema) -> _Parsed:
    """The block's table; in columns that `floor` makes text or JSON, whatever they hold."""
    table = read_lines(block.data, known)
    if table is None:
        check_utf8(block, path)
    # objects that are to stay as they were written, Arrow's reader would fill up with nulls
    if table is None and not any(map(as_json.holds_json, known.types)):
        table = _by_arrow(block, known)
    if table is None or not _is_text_where(table, floor):
        return json_rows.read_block(block, path, known, floor)
    return table, {}


def _is_text_where(table: pa.Table, floor: pa.Schema) -> bool:
    told = ((field.name, field.type) for field in floor if json_rows.takes_any(field.type))
    return all(name not in table.column_names or table.schema.field(name).type == kind for name, kind in told)


def _by_arrow(block: Block, known: pa.Schema) -> pa.Table | None:
    """The block by Arrow's reader; None where that cannot give it exactly."""
    if _may_overflow(block):
        return None
    hint = _hint(known)
    table = _read(block, hint)
    if table is None and hint.names:
        hint = pa.schema([])
        table = _read(block, hint)
    if table is None:
        return None
    order = known if known.names else table.schema
    if (plain := _without_dates(table.schema)) != table.schema:
        table = _read(block, _hint(plain))
    if table is None or not table.num_columns:
        return None
    table = _in_order(_settled(table, known), order)
    exact = _one_a_line(block, table) and not _may_lose_digits(table, hint)
    return table if exact and not _lacks_keys(block, table) else None


def _lacks_keys(block: Block, table: pa.Table) -> bool:
    """Whether an object of the block, inside a row, has not all the keys that the table has for it."""
    columns = {
        field.name: field.type
        for field, column in zip(table.schema, table.columns, strict=True)
        if as_json.TYPE is not None and as_json.may_lack_keys(column)
    }
    if not columns:
        return False
    rows = (json.loads(line) for line in bytes(block.data).split(b"\n") if line.strip())
    return any(as_json.lacks_keys(row.get(name), kind) for row in rows for name, kind in columns.items())


def _read(block: Block, hint: pa.Schema) -> pa.Table | None:
    try:
        table = pj.read_json(
            pa.BufferReader(block.data),
            read_options=pj.ReadOptions(use_threads=False, block_size=len(block.data) + 1),
            parse_options=pj.ParseOptions(explicit_schema=hint, unexpected_field_behavior="infer"),
        )
        table.validate()  # lists of nothing but nulls come with too few values
        if any(json_rows.is_deep(kind) for kind in table.schema.types):
            return None
    except pa.ArrowInvalid:
        return None  # the message is not read: it may quote the data
    return table


def _may_overflow(block: Block) -> bool:
    """Whether a line may nest so deeply that Arrow's reader, which recurses, would kill the process."""
    if not block.has_line_of(2 * _SAFE_DEPTH):
        return False
    data = np.frombuffer(block.data, np.uint8)
    openers = np.flatnonzero((data == ord("[")) | (data == ord("{")))
    in_lines = np.diff(np.searchsorted(openers, np.concatenate(([0], block.ends, [len(data)]))))
    return bool(in_lines.max() > _SAFE_DEPTH)


def _hint(schema: pa.Schema) -> pa.Schema:
    """The part of a schema that Arrow's reader can be held to; it must find out nulls by itself."""
    fields = ((field, _known_part(field.type)) for field in schema)
    return pa.schema([field.with_type(kind) for field, kind in fields if kind is not None])


def _known_part(kind: pa.DataType) -> pa.DataType | None:
    if pat.is_null(kind) or as_json.is_json(kind):
        return None
    if pat.is_list(kind):
        inner = _known_part(kind.value_type)
        return None if inner is None else pa.list_(inner)
    if pat.is_struct(kind):
        parts = ((field, _known_part(field.type)) for field in kind)
        return pa.struct([field.with_type(part) for field, part in parts if part is not None])
    return kind


def _settled(table: pa.Table, known: pa.Schema) -> pa.Table:
    """The table with objects of which it holds none as they are known: the hint leaves nulls out of them."""
    types = {field.name: field.type for field in known}
    fields = [
        field if types.get(field.name, field.type) == field.type else _settled_field(field, column, types)
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    return widen.cast_table(table, pa.schema(fields))


def _settled_field(field: pa.Field, column: pa.ChunkedArray, known: dict[str, pa.DataType]) -> pa.Field:
    if not pat.is_nested(field.type):
        return field
    return field.with_type(_settled_type(column.combine_chunks(), known[field.name]))


def _settled_type(array: pa.Array, known: pa.DataType | None) -> pa.DataType:
    kind = array.type
    if known is not None and pat.is_list(kind) and pat.is_list(known):
        return pa.list_(_settled_type(array.flatten(), known.value_type))
    if known is None or not (pat.is_struct(kind) and pat.is_struct(known)):
        return kind
    there = array.filter(array.is_valid())
    if not len(there):
        return known
    inside = {field.name: field.type for field in known}
    fields = [
        field.with_type(_settled_type(there.field(at), inside.get(field.name)))
        for at, field in enumerate(kind)
    ]
    return pa.struct(fields)


def _in_order(table: pa.Table, known: pa.Schema) -> pa.Table:
    """The table with fields as they were first seen; Arrow's reader puts those first that it was told of."""
    schema = pa.schema(_fields_in_order(list(table.schema), {field.name: field.type for field in known}))
    return table if schema.equals(table.schema) else widen.cast_table(table, schema)


def _fields_in_order(fields: list[pa.Field], known: dict[str, pa.DataType]) -> list[pa.Field]:
    there = {field.name: field for field in fields}
    names = [*(name for name in known if name in there), *(name for name in there if name not in known)]
    return [there[name].with_type(_type_in_order(there[name].type, known.get(name))) for name in names]


def _type_in_order(kind: pa.DataType, known: pa.DataType | None) -> pa.DataType:
    if known is not None and pat.is_list(kind) and pat.is_list(known):
        return pa.list_(_type_in_order(kind.value_type, known.value_type))
    if known is not None and pat.is_struct(kind) and pat.is_struct(known):
        return pa.struct(_fields_in_order(list(kind), {field.name: field.type for field in known}))
    return kind


def _without_dates(schema: pa.Schema) -> pa.Schema:
    """Text that looks like a date stays text: Arrow's reader makes timestamps of it."""
    return pa.schema([field.with_type(_undated(field.type)) for field in schema])


def _undated(kind: pa.DataType) -> pa.DataType:
    if pat.is_temporal(kind):
        return pa.string()
    if pat.is_list(kind):
        return pa.list_(_undated(kind.value_type))
    if pat.is_struct(kind):
        return pa.struct([field.with_type(_undated(field.type)) for field in kind])
    return kind


def _may_lose_digits(table: pa.Table, hint: pa.Schema) -> bool:
    """Whether a column was taken for floats, not told so, and holds numbers an int64 could not."""
    told = {field.name: field.type for field in hint}
    return any(
        _is_suspect(chunk, told.get(name))
        for name, column in zip(table.column_names, table.columns, strict=True)
        for chunk in column.chunks
    )


def _is_suspect(array: pa.Array, told: pa.DataType | None) -> bool:
    kind = array.type
    if pat.is_floating(kind):
        return told != kind and not _largest(array) < _EXACT
    if pat.is_list(kind):
        return _is_suspect(array.values, told.value_type if told is not None else None)
    if pat.is_struct(kind):
        inner = {field.name: field.type for field in told} if told is not None else {}
        return any(_is_suspect(array.field(i), inner.get(kind[i].name)) for i in range(kind.num_fields))
    return False


def _largest(array: pa.DoubleArray) -> float:
    """The magnitude of the largest number, 0 of none; by its buffer, for to import pc takes 50 ms."""
    if not len(array):
        return 0.0
    numbers = np.frombuffer(array.buffers()[1], np.float64, array.offset + len(array))[array.offset :]
    return float(np.fmax.reduce(np.abs(numbers[valid_flags(array)]), initial=0.0))


def _one_a_line(block: Block, table: pa.Table) -> bool:
    """Whether each line is one row, blank ones aside; Arrow's reader also takes two in a line."""
    lines = block.num_ends + (block.data[-1:] != b"\n")
    if table.num_rows == lines:
        return True
    return bool(table.num_rows == sum(1 for line in bytes(block.data).split(b"\n") if line.strip()))
