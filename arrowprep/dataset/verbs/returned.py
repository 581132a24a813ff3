"""What a user's function returned for a batch, and the column for what it raised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from arrowprep.dataset.convert import table_of_pandas

HIDDEN = "\0"  # columns of our own begin so; no user's does
ERRORS = HIDDEN + "error"  # the column for what a function raised
BARE = HIDDEN + "bare"  # a column of nulls, where rows have no other


class Returned(NamedTuple):
    """What the function made of one batch.

    table: new and changed columns; None when it returned None for every row
    gone: columns of the input that it took away
    whole: the table stands for all columns, in its own order; those that are not `gone` were passed through
    """

    table: pa.Table | None
    gone: frozenset[str] = frozenset()
    whole: bool = False


def with_errors(returned: Returned, errors: Mapping[int, str], first: int, rows: int) -> Returned:
    """The same with one more column: the error of each row, null where there was none."""
    table = returned.table if returned.table is not None else pa.table({})
    count = table.num_rows if table.column_names else rows
    texts = pa.array([errors.get(first + i) for i in range(count)], pa.string())
    return Returned(
        table.append_column(ERRORS, texts) if table.column_names else pa.table({ERRORS: texts}),
        returned.gone,
        returned.whole,
    )


def kind_of(value: Any) -> str:
    """The type of a value, with its article: "a str", "an int"; "None" for None."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def is_table(result: Any) -> bool:
    return not isinstance(result, Mapping) and (
        isinstance(result, pa.Table | pa.RecordBatch)
        or hasattr(result, "__arrow_c_stream__")
        or type(result).__name__ == "DataFrame"
    )


def as_table(result: Any) -> pa.Table:
    if isinstance(result, pa.RecordBatch):
        return pa.Table.from_batches([result])
    if isinstance(result, pa.Table):
        return result
    if type(result).__module__.startswith("pandas"):
        return table_of_pandas(result, preserve_index=False)
    return result.to_arrow() if hasattr(result, "to_arrow") else pa.table(result)
