"""Which tokens the assistant wrote: spans of characters laid over the offsets of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.errors import LengthMismatch

__all__ = ["span_mask"]

Spans = Sequence[tuple[int, int]]


def span_mask(spans: Sequence[Spans], starts: Any, ends: Any) -> Any:
    """1 for each token that overlaps a span of its row, else 0.

    spans: n rows of (start, stop), in the unit of the offsets; in any order, may overlap
    starts, ends: (n,) list arrays; where each token begins and ends in its row's text
    returns: (n,) list<int8>, null where starts is null

    A token counts when its end > start and its start < stop, so one that
    straddles an edge is in, and padding with offsets (0, 0) is not. An empty
    span marks nothing.

    >>> offsets = pa.array([[0, 3, 5]]), pa.array([[3, 5, 9]])
    >>> span_mask([[(4, 9)]], *offsets).to_pylist()
    [[0, 1, 1]]
    """
    if not len(spans) == len(starts) == len(ends):
        raise LengthMismatch(
            f"{len(spans)} rows of spans for {len(starts)} rows of starts and {len(ends)} of ends",
            spans=len(spans),
            starts=len(starts),
            ends=len(ends),
        )
    edges, token_starts, token_ends = _edges(starts), _flat(starts), _flat(ends)
    rows = np.repeat(np.arange(len(starts)), np.diff(edges))
    marks = _overlaps(spans, rows, token_starts, token_ends).astype(np.int8)
    nulls = starts.is_null() if starts.null_count else None
    return pa.ListArray.from_arrays(pa.array(edges, pa.int32()), pa.array(marks), mask=nulls)


def _overlaps(spans: Sequence[Spans], rows: Any, starts: Any, ends: Any) -> Any:
    """(tokens,) bool. Spans that begin before a token ends, less those that ended before it starts.

    All rows at once: each is moved to a stretch of the number line of its own.
    """
    flat = np.array([(row, *span) for row, of_row in enumerate(spans) for span in of_row], np.int64)
    flat = flat.reshape(-1, 3)
    flat = flat[flat[:, 1] < flat[:, 2]]
    width = 1 + max(flat[:, 2].max(initial=0), ends.max(initial=0))
    base = rows * width
    span_starts = np.sort(flat[:, 0] * width + flat[:, 1])
    span_stops = np.sort(flat[:, 0] * width + flat[:, 2])
    begun = np.searchsorted(span_starts, base + ends, side="left")
    over = np.searchsorted(span_stops, base + starts, side="right")
    return begun > over


def _edges(lists: Any) -> Any:
    """(n + 1,) row edges that begin at 0, whatever part of a longer array lists is."""
    edges = np.asarray(lists.offsets)
    return edges - edges[0]


def _flat(lists: Any) -> Any:
    edges = lists.offsets
    return np.asarray(lists.values[edges[0].as_py() : edges[len(lists)].as_py()], np.int64)
