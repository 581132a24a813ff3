"""Encoded rows → packs: planned from all lengths at once, gathered a batch at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.chat.packing import Packing

__all__ = ["GatherPacks", "plan_table"]


def plan_table(plan: Packing) -> pa.Table:
    """A plan as a row a pack: the lists `rows`, `starts` and `lengths` of its pieces."""
    edges = pa.array(plan.edges, pa.int64())
    columns = {"rows": plan.rows, "starts": plan.starts, "lengths": plan.lengths}
    return pa.table(
        {name: pa.LargeListArray.from_arrays(edges, pa.array(values)) for name, values in columns.items()}
    )


@dataclass(frozen=True)
class GatherPacks:
    """What `map` is given over a plan's table: pieces of the rows of a dataset → packs.

    encoded: the dataset whose rows are packed, in Arrow format
    """

    encoded: Any
    columns: tuple[str, ...]

    input_format = "arrow"

    def __call__(self, table: pa.Table) -> Mapping[str, Any]:
        plan, rows = _part(table)
        found = self.encoded[rows.tolist()]
        return {name: self._column(name, plan, found) for name in self.columns}

    def _column(self, name: str, plan: Packing, rows: pa.Table) -> pa.Array:
        if name in rows.column_names:
            return plan.gather(rows.column(name))
        if name == "position_ids":
            return plan.position_ids
        documents = plan.seq_lengths
        if name == "seq_lengths":
            return documents
        if name == "cu_seqlens":
            return _ends_and_zero(documents)
        ids = plan.gather(rows.column("input_ids"))
        return pa.ListArray.from_arrays(ids.offsets, pa.array(np.ones(len(ids.values), np.int8)))


def _part(table: pa.Table) -> tuple[Packing, Any]:
    """A plan of these packs over only the rows that are in them, and those rows' numbers, ascending."""
    pieces = table.combine_chunks()
    lists = {name: pieces.column(name).combine_chunks() for name in ("rows", "starts", "lengths")}
    flat = {name: values.flatten().to_numpy() for name, values in lists.items()}
    edges = np.asarray(lists["rows"].offsets)
    rows, places = np.unique(flat["rows"], return_inverse=True)
    tokens = int(flat["lengths"].sum())
    return Packing(places, flat["starts"], flat["lengths"], edges - edges[0], 0, tokens), rows


def _ends_and_zero(documents: pa.ListArray) -> pa.ListArray:
    """(p,) for each pack 0 and the end of each of its documents, as attention kernels take them."""
    edges, lengths = np.asarray(documents.offsets), documents.values.to_numpy()
    ends = np.concatenate([[0], np.cumsum(lengths)])
    packs = np.diff(edges) + 1
    out_edges = np.concatenate([[0], np.cumsum(packs)])
    places = np.repeat(edges[:-1] - out_edges[:-1], packs) + np.arange(out_edges[-1])
    values = ends[places] - np.repeat(ends[edges[:-1]], packs)
    return pa.ListArray.from_arrays(pa.array(out_edges, pa.int32()), pa.array(values, pa.int32()))
