"""CSV and TSV: fields are read as text, then a column gets the type that all its fields are written in."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv as pacsv

from arrowprep.dataset.load.csv_types import LateText, narrowed
from arrowprep.dataset.load.sources import blocks, check_utf8, opened
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.errors import BadArgument, UnreadableFile

OPTIONS = {
    *("sep", "delimiter", "header", "names", "column_names", "skiprows", "usecols", "na_values"),
    *("quotechar", "quoting", "escapechar", "doublequote", "encoding", "encoding_errors"),
    *("block_bytes", "chunksize"),
}


_BLOCK_BYTES = 4 << 20  # four times as large ones take half as long again, in page faults


def read(path: Path, spec: ReadSpec) -> Iterator[pa.Table]:
    """Tables of the file's rows. Only the empty field is null, unless `na_values` names more.

    options, as pandas.read_csv means them: sep or delimiter, header ("infer", a row number, or
    None), names, skiprows, usecols, na_values, quotechar, quoting, escapechar, doublequote,
    encoding, encoding_errors.
    """
    with _opened(path, spec.options) as stream:
        yield from tables(stream, path, spec)


def tables(stream: IO[bytes], path: Path, spec: ReadSpec) -> Iterator[pa.Table]:
    """As `read`, of the header and rows that a stream of the file gives."""
    names, rows = _header(stream, path, spec.options)
    wanted = _wanted(names, spec)
    text = {name for name in spec.floor.names if pa.types.is_string(spec.floor.field(name).type)}
    late = LateText(path, text)
    any_rows = False
    try:
        for batch in _ahead(_batches(rows, _arrow_options(names, wanted, spec.options))):
            fields = zip(wanted, batch.columns, strict=True)
            columns = {name: field if name in text else narrowed(field) for name, field in fields}
            late.look(batch, columns)
            any_rows = any_rows or batch.num_rows > 0
            yield pa.table(columns)
    except pa.ArrowInvalid as error:
        raise _located(path, len(names), spec.options, error) from error
    if not any_rows:
        yield pa.table({name: pa.nulls(0) for name in wanted})


def names_in(path: Path, options: Mapping[str, Any]) -> list[str]:
    """The column names that the header or the options give."""
    with _opened(path, options) as stream:
        return _header(stream, path, options)[0]


def _batches(rows: IO[bytes], options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    if rows.peek(1):  # type: ignore[attr-defined]  # Arrow's reader refuses to read no rows
        yield from pacsv.open_csv(rows, **options)


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same; the next one is parsed while this one is typed and written."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, batches, None)
        while (batch := following.result()) is not None:
            following = pool.submit(next, batches, None)
            yield batch


def _opened(path: Path, options: Mapping[str, Any]) -> Any:
    return opened(path, options.get("encoding") or "utf-8", options.get("encoding_errors") or "strict")


def dialect_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say how fields are parted, as Python's csv module names them."""
    separator = options.get("sep", options.get("delimiter")) or ","
    if len(separator.encode()) != 1:
        raise BadArgument(f"sep={separator!r} is not one ASCII character", sep=separator)
    quoting = options.get("quoting", csv.QUOTE_MINIMAL)
    return {
        "delimiter": separator,
        "quotechar": options.get("quotechar", '"'),
        "quoting": quoting if quoting == csv.QUOTE_NONE else csv.QUOTE_MINIMAL,
        "escapechar": options.get("escapechar"),
        "doublequote": options.get("doublequote", True),
    }


def _arrow_options(names: list[str], wanted: list[str], options: Mapping[str, Any]) -> dict[str, Any]:
    dialect = dialect_of(options)
    unquoted = dialect["quoting"] == csv.QUOTE_NONE
    missing = options.get("na_values") or []
    return {
        "read_options": pacsv.ReadOptions(
            column_names=names, block_size=options.get("block_bytes", _BLOCK_BYTES), use_threads=True
        ),
        "parse_options": pacsv.ParseOptions(
            delimiter=dialect["delimiter"],
            quote_char=False if unquoted else dialect["quotechar"],
            double_quote=dialect["doublequote"],
            escape_char=dialect["escapechar"] or False,
            newlines_in_values=not unquoted,
        ),
        "convert_options": pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=["", *([missing] if isinstance(missing, str) else missing)],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            include_columns=wanted,
        ),
    }


def _header(stream: IO[bytes], path: Path, options: Mapping[str, Any]) -> tuple[list[str], IO[bytes]]:
    """The column names, and the stream of the rows after them."""
    skip = _count("skiprows", options.get("skiprows") or 0)
    given = options.get("names", options.get("column_names"))
    header = options.get("header", "infer")
    if header not in ("infer", None):
        skip += _count("header", header)
    for _ in range(skip):
        stream.readline()
    seen: list[bytes] = []
    first = next(
        (fields for fields in csv.reader(_lines(stream, seen), **dialect_of(options)) if fields), None
    )
    if first is None:
        raise UnreadableFile(f"{path} is empty", path=path)
    if given is not None and header in ("infer", None):
        return _unique(list(given)), _rejoined(seen, stream)
    if header is None:
        return [str(number) for number in range(len(first))], _rejoined(seen, stream)
    return _unique(list(first) if given is None else list(given)), stream


def _count(name: str, value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise BadArgument(f"{name}={value!r} is not a number of lines", **{name: value})
    return value


def _lines(stream: IO[bytes], seen: list[bytes]) -> Iterator[str]:
    """Lines as text, also kept in `seen`; no line is taken that is not asked for."""
    while line := stream.readline():
        seen.append(line)
        yield line.decode(errors="replace")


def _rejoined(seen: list[bytes], stream: IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(_Joined(b"".join(seen), stream))


class _Joined(io.RawIOBase):
    """Some bytes, then a stream."""

    def __init__(self, first: bytes, stream: IO[bytes]) -> None:
        self._first, self._stream = io.BytesIO(first), stream

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        data = self._first.read(len(into)) or self._stream.read(len(into))
        into[: len(data)] = data
        return len(data)


def _unique(names: list[str]) -> list[str]:
    """Names as pandas makes them: an empty one is "Unnamed: 0", a repeated one gets ".1"."""
    found: dict[str, None] = {}
    for place, name in enumerate(names):
        name = name or f"Unnamed: {place}"
        fresh = (f"{name}.{number}" for number in itertools.count(1))
        found[name if name not in found else next(other for other in fresh if other not in found)] = None
    return list(found)


def _wanted(names: list[str], spec: ReadSpec) -> list[str]:
    picked = spec.options.get("usecols")
    if picked is not None:
        picked = [names[column] if isinstance(column, int) else column for column in picked]
        if absent := [name for name in picked if name not in names]:
            raise BadArgument(f"usecols names {absent}; the columns are {', '.join(names)}", usecols=picked)
    return [
        name
        for name in names
        if (picked is None or name in picked) and (spec.columns is None or name in spec.columns)
    ]


def _located(path: Path, width: int, options: Mapping[str, Any], error: Exception) -> UnreadableFile:
    """The error with its line, found by reading again."""
    skip = options.get("skiprows") or 0
    with _opened(path, options) as stream:
        for block in blocks(stream, path):
            check_utf8(block, path)
    with _opened(path, options) as stream:
        for _ in range(skip):
            stream.readline()
        reader = csv.reader(_lines(stream, []), **dialect_of(options))
        for fields in reader:
            if fields and len(fields) != width:
                line = skip + reader.line_num
                return UnreadableFile(
                    f"{path}: line {line} has {len(fields)} fields, where {width} are expected",
                    path=path,
                    line=line,
                )
    return UnreadableFile(
        f"{path} cannot be read: {error}; a row longer than {_BLOCK_BYTES >> 20} MB needs block_bytes=",
        path=path,
    )
