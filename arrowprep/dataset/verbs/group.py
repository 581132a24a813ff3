"""Neighbouring rows that are equal in some columns, as one row of lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.dataset.compute import pc
from arrowprep.dataset.feature_kinds import LargeList, List
from arrowprep.dataset.features import Features
from arrowprep.dataset.fingerprint import combine
from arrowprep.dataset.indices import RowArray, Span
from arrowprep.dataset.storage.backing import Memory
from arrowprep.dataset.view import View


def grouped(view: View, names: Sequence[str]) -> View:
    """A row for each run of rows that are equal in these columns, in memory; its values are lists."""
    table = view.read(Span(0, view.num_rows)).combine_chunks()
    lists = as_lists(table, starts_of(table, names))
    features = Features(
        {
            name: (LargeList if pa.types.is_large_list(column.type) else List)(view.features[name])
            for name, column in lists.items()
        }
    )
    rows = pa.table(lists, schema=features.arrow_schema)
    return View.over(Memory(rows), combine("batch by", view.fingerprint, tuple(names)), features)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) and whole.num_chunks else whole


def starts_of(table: pa.Table, names: Sequence[str]) -> RowArray:
    """Where runs of rows begin that are equal in these columns, and the number of rows at the end."""
    if not table.num_rows:
        return np.zeros(1, dtype=np.int64)
    begins = np.zeros(table.num_rows, dtype=bool)
    begins[0] = True
    for name in names:
        begins[1:] |= _differs(_whole(table.column(name)))
    return np.append(np.flatnonzero(begins), table.num_rows).astype(np.int64)


def as_lists(table: pa.Table, starts: RowArray) -> dict[str, pa.Array]:
    """The columns of a table as lists, each of the rows from one start to the next."""
    return {name: _cut(_whole(table.column(name)), starts) for name in table.column_names}


def _differs(key: pa.Array) -> Any:
    """(n - 1,) whether a value is not that of the row before; null is equal to null."""
    if pa.types.is_nested(key.type) or isinstance(key, pa.ExtensionArray):
        values = key.to_pylist()
        return np.array([a != b for a, b in pairwise(values)], dtype=bool)
    codes = pc.dictionary_encode(key, null_encoding="encode").indices.to_numpy(zero_copy_only=False)
    return codes[1:] != codes[:-1]


def _cut(column: pa.Array, starts: RowArray) -> pa.Array:
    if starts[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), column)
    return pa.LargeListArray.from_arrays(pa.array(starts), column)
