"""Rows as JSON Lines, or as one JSON array."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from arrowprep.dataset.feature_kinds import listed
from arrowprep.dataset.features import Features
from arrowprep.dataset.save.sinks import Target, opened
from arrowprep.errors import BadArgument, TypeConflict

ORIENTS = ("records", "columns", "split", "index", "values", "table")


def write_json(
    batches: Iterable[pa.RecordBatch | pa.Table],
    path_or_buf: Target,
    *,
    lines: bool | None = None,
    orient: str = "records",
    force_ascii: bool = False,
    indent: int | None = None,
    compression: str | None = "infer",
    index: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> int:
    """Write rows as JSON in UTF-8; returns the number of bytes, before compression.

    lines: one object a line (the default for orient="records"), else one array
    orient: as pandas means it; all but "records" go through pandas, the whole table in memory
    compression: gzip, bz2, xz, zstd, None, or "infer" from the suffix
    index: whether rows are numbered, as pandas means it; by default not in "split" and "table"

    Dates and times become ISO 8601 text, whole decimals numbers, other decimals
    text, bytes base64 text; NaN and the infinities, which JSON lacks, null.
    """
    if orient not in ORIENTS:
        raise BadArgument(f"orient={orient!r} is none of {', '.join(ORIENTS)}", orient=orient)
    lines = orient == "records" if lines is None else lines
    if lines and (orient != "records" or indent):
        raise BadArgument(
            'lines=True goes with orient="records" and without indent', orient=orient, indent=indent
        )
    encode = encoder(force_ascii, indent)
    if orient != "records":
        texts = iter([_by_pandas(batches, orient, force_ascii, indent, index)])
    elif lines:
        texts = (encode(row) + "\n" for row in _rows(batches))
    else:
        texts = _array(map(encode, _rows(batches)))
    written = 0
    with opened(path_or_buf, compression, storage_options) as stream:
        for text in texts:
            data = text.encode()
            stream.write(data)
            written += len(data)
    return written


def _rows(batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        features = Features(listed(Features.from_arrow_schema(batch.schema)))
        yield from map(features.decode_example, batch.to_pylist())


def _array(texts: Iterator[str]) -> Iterator[str]:
    before = "["
    for text in texts:
        yield before + text
        before = ","
    yield "[]" if before == "[" else "]"


def encoder(force_ascii: bool = False, indent: int | None = None) -> Callable[[Any], str]:
    separators = (",", ":") if indent is None else None
    """A function from a value to JSON text, as `write_json` spells it."""
    encode = json.JSONEncoder(
        ensure_ascii=force_ascii, allow_nan=False, default=_plain, indent=indent, separators=separators
    ).encode

    def checked(row: Any) -> str:
        try:
            return encode(row)
        except ValueError:
            return encode(_without_nan(row))

    return checked


def _plain(value: Any) -> Any:
    """What JSON has instead of an Arrow value that it lacks."""
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeConflict(f"{type(value).__name__} cannot be written as JSON", value=value)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    return [_without_nan(inner) for inner in value] if isinstance(value, list) else value


def _by_pandas(
    batches: Iterable[pa.RecordBatch | pa.Table],
    orient: str,
    force_ascii: bool,
    indent: int | None,
    index: bool | None,
) -> str:
    import pandas as pd

    frame: Any = pd.DataFrame(list(_rows(batches)), dtype=object)  # a null leaves integers whole
    index = False if index is None and orient in ("split", "table") else index  # as `datasets` has it
    return str(frame.to_json(orient=orient, force_ascii=force_ascii, indent=indent, index=index))
