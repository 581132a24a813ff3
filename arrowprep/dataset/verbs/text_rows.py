"""TextRows: a column of text as a list of str, which Arrow takes back as the column it was."""

from __future__ import annotations

from operator import is_
from typing import Any

import pyarrow as pa

_TEXT = (pa.string(), pa.large_string())


class TextRows(list[Any]):
    """What a function is shown of a column of text: a list like any other.

    `pa.array` of it, and so a tokenizer, gets the column's own buffers as long as the rows are the
    very strings that were shown (30 ns a row to see); else an array of the rows as they are.

    before: the rows as they were shown
    """

    __slots__ = ("_column", "before")

    def __init__(self, rows: list[Any], column: pa.ChunkedArray) -> None:
        super().__init__(rows)
        self.before = rows
        self._column = column

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array | pa.ChunkedArray:
        if len(self) != len(self.before) or not all(map(is_, self, self.before)):
            return pa.array(list(self), type)
        column = self._column.chunk(0) if self._column.num_chunks == 1 else self._column
        return column if type is None else column.cast(type)

    def __reduce__(self) -> Any:
        return list, (list(self),)


def remembered(rows: Any, column: pa.ChunkedArray) -> Any:
    """The rows, as TextRows where they are a list of the column's texts."""
    return TextRows(rows, column) if isinstance(rows, list) and column.type in _TEXT else rows
