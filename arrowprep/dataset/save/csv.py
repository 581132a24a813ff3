"""Rows as CSV that reads back as it was: null is the empty field, empty text is \"\"."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset.compute import pc
from arrowprep.dataset.feature_kinds import listed
from arrowprep.dataset.features import Features
from arrowprep.dataset.save.json import encoder
from arrowprep.dataset.save.sinks import Target, opened
from arrowprep.errors import BadArgument, TypeConflict

_QUOTINGS = (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)


def write_csv(
    batches: Iterable[pa.RecordBatch | pa.Table],
    path_or_buf: Target,
    *,
    schema: pa.Schema,
    sep: str = ",",
    header: bool = True,
    na_rep: str = "",
    quoting: int = csv.QUOTE_MINIMAL,
    compression: str | None = "infer",
    index: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> int:
    """Write rows as CSV in UTF-8; returns the number of bytes, before compression.

    schema: of the batches
    quoting: a constant of the csv module; minimal quotes text only where it must
    compression: gzip, bz2, xz, zstd, None, or "infer" from the suffix

    true and false are True and False, NaN is null, lists and structs are JSON
    text. Bytes are a TypeConflict. In a table of one column null is "", for an
    empty line is no row.
    """
    if len(sep.encode()) != 1 or sep in '"\r\n':
        raise BadArgument(f"sep={sep!r} is not one ASCII character beside quotes and line ends", sep=sep)
    if index:
        raise BadArgument("index=True: rows have no index; add_column writes their numbers", index=index)
    if quoting not in _QUOTINGS:
        raise BadArgument(f"quoting={quoting!r} is none of csv.QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC")
    written = 0
    with opened(path_or_buf, compression, storage_options) as stream:
        for text in _texts(batches, schema, _Style(sep, na_rep, quoting), header):
            data = text.encode()
            stream.write(data)
            written += len(data)
    return written


class _Style:
    """How a field is spelled."""

    def __init__(self, sep: str, na_rep: str, quoting: int) -> None:
        self.sep, self.na_rep, self.quoting = sep, na_rep, quoting
        special = "".join("\\" + character for character in (sep, '"', "\r", "\n"))
        self._needs_quotes = f"[{special}]|^$"

    def quoted(self, texts: pa.Array) -> pa.Array:
        """Text in quotes where it must be, an empty one always."""
        doubled = pc.replace_substring(texts, '"', '""')
        enclosed = pc.binary_join_element_wise('"', doubled, '"', "")
        if self.quoting != csv.QUOTE_MINIMAL:
            return enclosed
        return pc.if_else(pc.match_substring_regex(texts, self._needs_quotes), enclosed, texts)


def _texts(
    batches: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema, style: _Style, header: bool
) -> Iterator[str]:
    if header:
        names = style.quoted(pa.array(schema.names, pa.string()))
        yield style.sep.join(names.to_pylist()) + "\n"
    features = Features(listed(Features.from_arrow_schema(schema)))
    for batch in batches:
        table = pa.table(batch) if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        for piece in table.combine_chunks().to_batches():
            yield from _lines(piece, features, style)


def _lines(batch: pa.RecordBatch, features: Features, style: _Style) -> Iterator[str]:
    alone = '""' if batch.num_columns == 1 and not style.na_rep else style.na_rep
    columns = [
        pc.fill_null(_spelled(column, name, features, style), alone)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    for line in pc.binary_join_element_wise(*columns, style.sep).to_pylist():
        yield line + "\n"


def _spelled(column: pa.Array, name: str, features: Features, style: _Style) -> pa.Array:
    """The fields of one column; null where they are null."""
    kind = column.type
    if pat.is_string(kind) or pat.is_large_string(kind) or pat.is_string_view(kind):
        return style.quoted(column.cast(pa.string()))
    if pat.is_binary(kind) or pat.is_large_binary(kind) or pat.is_fixed_size_binary(kind):
        raise TypeConflict(f"column {name!r} holds bytes, which CSV cannot", column=name)
    if pat.is_boolean(kind):
        texts = pc.if_else(column, "True", "False")
    elif pat.is_floating(kind):
        texts = _floats(column)
    elif pat.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        encode = encoder()
        values = features.decode_column(column.to_pylist(), name)
        return style.quoted(
            pa.array([None if value is None else encode(value) for value in values], pa.string())
        )
    else:
        texts = column.cast(pa.string())
        if pat.is_temporal(kind):
            texts = _without_zero_fractions(texts)
    return style.quoted(texts) if style.quoting == csv.QUOTE_ALL else texts


def _without_zero_fractions(times: pa.Array) -> pa.Array:
    """08:00:00.000 as 08:00:00, where all times of a column are whole seconds."""
    if not pc.all(pc.match_substring_regex(times, r"\.0+Z?$")).as_py():
        return times
    return pc.replace_substring_regex(times, r"\.0+(Z?)$", r"\1")


def _floats(column: pa.Array) -> pa.Array:
    """Shortest spelling that is the same float, never that of an integer; NaN is null."""
    texts = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column).cast(pa.string())
    whole = pc.match_substring_regex(texts, r"^-?\d+$")
    return pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)
