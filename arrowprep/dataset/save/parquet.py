"""Rows as Parquet, in row groups of about 100 MB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from arrowprep.dataset.features import file_schema
from arrowprep.dataset.save.sinks import Target, opened
from arrowprep.dataset.widen import cast_table

_GROUP_BYTES = 100 << 20


def write_parquet(
    batches: Iterable[pa.RecordBatch | pa.Table],
    path_or_buf: Target,
    *,
    schema: pa.Schema,
    batch_size: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> int:
    """Write rows as Parquet; returns the number of bytes of the rows in memory, as `datasets` counts.

    schema: of the batches; its metadata tells the features to who reads the file
    batch_size: rows a row group, where not about 100 MB
    options: of pyarrow.parquet.ParquetWriter, such as compression (default snappy)
    """
    written, schema = 0, file_schema(schema)
    with (
        opened(path_or_buf, None, storage_options) as stream,
        pq.ParquetWriter(stream, schema, **_by_default(), **options) as writer,
    ):
        for group in _groups(batches, schema, batch_size):
            writer.write_table(cast_table(group, schema), row_group_size=max(1, group.num_rows))
            written += group.nbytes
    return written


def _by_default() -> dict[str, Any]:
    """What helps readers and deduplicating storage, where this pyarrow has it."""
    major = int(pa.__version__.split(".")[0])
    return {"write_page_index": True, **({"use_content_defined_chunking": True} if major >= 21 else {})}


def _groups(
    batches: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema, rows: int | None
) -> Iterator[pa.Table]:
    pending: list[pa.Table] = []
    for batch in batches:
        pending.append(pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch)
        full = (
            sum(t.num_rows for t in pending) >= rows
            if rows
            else sum(t.nbytes for t in pending) >= _GROUP_BYTES
        )
        if full:
            whole = pa.concat_tables(pending)
            count = rows or whole.num_rows
            stop = whole.num_rows - whole.num_rows % count
            yield from (whole.slice(start, count) for start in range(0, stop, count))
            pending = [whole.slice(stop)] if stop < whole.num_rows else []
    if pending:
        yield pa.concat_tables(pending)
