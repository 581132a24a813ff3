"""Which tokens the assistant wrote: spans of characters laid over the offsets of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from arrowprep.errors import BadArgument, LengthMismatch

__all__ = ["Straddle", "span_mask"]

Spans = Sequence[tuple[int, int]]
Straddle = Literal["overlap", "inside", "start"]


def span_mask(spans: Sequence[Spans], starts: Any, ends: Any, straddle: Straddle = "overlap") -> Any:
    """1 for each token that overlaps a span of its row, else 0.

    spans: n rows of (start, stop), in the unit of the offsets; in any order, may overlap
    starts, ends: (n,) list arrays; where each token begins and ends in its row's text
    straddle: of the tokens that overlap a span, those that count: "overlap" all, as in transformers;
        "inside" those that hold no character outside spans, so that nothing of the prompt is trained;
        "start" those whose first character is in a span, so that each token goes with where it begins
    returns: (n,) list<int8>, null where starts is null

    A token overlaps a span when its end > start and its start < stop, so
    padding with offsets (0, 0) does not. An empty span marks nothing.

    >>> offsets = pa.array([[0, 3, 5]]), pa.array([[3, 5, 9]])
    >>> span_mask([[(4, 8)]], *offsets).to_pylist()
    [[0, 1, 1]]
    >>> span_mask([[(4, 8)]], *offsets, straddle="inside").to_pylist()
    [[0, 0, 0]]
    >>> span_mask([[(4, 8)]], *offsets, straddle="start").to_pylist()
    [[0, 0, 1]]
    """
    if straddle not in get_args(Straddle):
        raise BadArgument(f'straddle is "overlap", "inside" or "start", not {straddle!r}')
    if not len(spans) == len(starts) == len(ends):
        raise LengthMismatch(
            f"{len(spans)} rows of spans for {len(starts)} rows of starts and {len(ends)} of ends",
            spans=len(spans),
            starts=len(starts),
            ends=len(ends),
        )
    edges, token_starts, token_ends = _edges(starts), _flat(starts), _flat(ends)
    rows = np.repeat(np.arange(len(starts)), np.diff(edges))
    marks = _marked(spans, rows, token_starts, token_ends, straddle).astype(np.int8)
    nulls = starts.is_null() if starts.null_count else None
    return pa.ListArray.from_arrays(pa.array(edges, pa.int32()), pa.array(marks), mask=nulls)


def _marked(spans: Sequence[Spans], rows: Any, starts: Any, ends: Any, straddle: Straddle) -> Any:
    """(tokens,) bool. All rows at once: each is moved to a stretch of the number line of its own."""
    flat = np.array([(row, *span) for row, of_row in enumerate(spans) for span in of_row], np.int64)
    flat = flat.reshape(-1, 3)
    flat = flat[flat[:, 1] < flat[:, 2]]
    width = 1 + max(flat[:, 2].max(initial=0), int(ends.max(initial=0)))
    moved = (rows * width).astype(np.int32 if len(spans) * width < 2**31 else np.int64)
    starts, ends = moved + starts, moved + ends
    span_starts = np.sort(flat[:, 0] * width + flat[:, 1])
    span_stops = np.sort(flat[:, 0] * width + flat[:, 2])
    if straddle == "overlap" and _ascends(starts) and _ascends(ends):
        return _between(span_starts, span_stops, starts, ends)
    # spans that begin before a token ends, less those that ended before it starts
    over = np.searchsorted(span_stops, starts, side="right")
    marked = np.searchsorted(span_starts, ends, side="left") > over
    if straddle != "overlap":
        marked &= np.searchsorted(span_starts, starts, side="right") > over
    if straddle == "inside":
        gaps = _gaps(span_starts, span_stops)
        marked &= np.searchsorted(gaps, ends, side="left") <= np.searchsorted(gaps, starts, side="right")
    return marked


def _ascends(places: Any) -> bool:
    return bool((places[1:] >= places[:-1]).all())


def _between(span_starts: Any, span_stops: Any, starts: Any, ends: Any) -> Any:
    """Those that overlap a span, of tokens in the order of the text: looked up by the few spans."""
    firsts = np.searchsorted(ends, span_starts.astype(ends.dtype), side="right")
    lasts = np.searchsorted(starts, span_stops.astype(starts.dtype), side="left")
    changes = np.bincount(firsts, minlength=len(starts) + 1) - np.bincount(lasts, minlength=len(starts) + 1)
    return np.cumsum(changes[:-1], dtype=np.int32) > 0


def _gaps(starts: Any, stops: Any) -> Any:
    """Where stretches covered by spans end, in order; both sorted, each on its own.

    The i-th smallest stop ends a stretch when no more than i spans begin up to it.
    """
    return stops[np.searchsorted(starts, stops, side="right") == np.arange(1, len(stops) + 1)]


def _edges(lists: Any) -> Any:
    """(n + 1,) row edges that begin at 0, whatever part of a longer array lists is."""
    edges = np.asarray(lists.offsets)
    return edges - edges[0]


def _flat(lists: Any) -> Any:
    edges = lists.offsets
    return np.asarray(lists.values[edges[0].as_py() : edges[len(lists)].as_py()])
