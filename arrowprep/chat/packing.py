"""Packing rows of tokens into sequences of one length: a plan from the lengths alone, then gathered.

    plan = pack(lengths, 2048)
    input_ids, labels = plan.gather(ids), plan.gather(labels)

The plan knows every document in every pack, so that attention can be kept within documents whatever the
strategy: `seq_lengths` and `position_ids`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from arrowprep.errors import BadArgument

__all__ = ["Packing", "Strategy", "pack"]

Strategy = Literal["bfd", "bfd_split", "wrapped", "in_order"]


@dataclass(frozen=True)
class Packing:
    """p packs of k pieces of rows.

    rows, starts, lengths: (k,) int64; piece i is tokens starts[i] : starts[i] + lengths[i] of rows[i]
    edges: (p + 1,) int64; pack j is made of pieces edges[j] : edges[j + 1]
    seq_length: tokens in a full pack
    tokens_in: of all rows that were packed
    """

    rows: Any
    starts: Any
    lengths: Any
    edges: Any
    seq_length: int
    tokens_in: int

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __repr__(self) -> str:
        return (
            f"Packing({self.tokens_in} tokens in {len(self)} packs of {self.seq_length}, "
            f"{self.efficiency:.1%} full, {self.tokens_lost} tokens lost)"
        )

    @property
    def tokens_lost(self) -> int:
        """Tokens cut off rows that are longer than a pack."""
        return self.tokens_in - int(self.lengths.sum())

    @property
    def efficiency(self) -> float:
        """The share of all packs' room that holds tokens."""
        room = len(self) * self.seq_length
        return float(self.lengths.sum()) / room if room else 1.0

    def gather(self, column: Any) -> Any:
        """The packs of a column of lists, such as ids, labels or masks: (p,) lists of its type.

        column: the rows that were measured, as a list array
        """
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        first = np.asarray(column.offsets, np.int64)[self.rows] + self.starts
        places = np.repeat(first - self._begins(), self.lengths) + np.arange(self.lengths.sum())
        return _lists(self._token_edges(), column.values.take(pa.array(places)))

    @property
    def seq_lengths(self) -> Any:
        """(p,) list<int32>: the lengths of the documents in each pack."""
        return _lists(self.edges, pa.array(self.lengths, pa.int32()))

    @property
    def position_ids(self) -> Any:
        """(p,) list<int32>: the place of each token in its document."""
        places = np.arange(self.lengths.sum()) - np.repeat(self._begins(), self.lengths)
        return _lists(self._token_edges(), pa.array(places, pa.int32()))

    def _begins(self) -> Any:
        """(k,) the tokens before each piece."""
        return np.cumsum(self.lengths) - self.lengths

    def _token_edges(self) -> Any:
        return np.concatenate([[0], np.cumsum(self.lengths)])[self.edges]


def _lists(edges: Any, values: Any) -> Any:
    if len(values) < 2**31:
        return pa.ListArray.from_arrays(pa.array(edges, pa.int32()), values)
    return pa.LargeListArray.from_arrays(pa.array(edges, pa.int64()), values)


def pack(lengths: Any, seq_length: int, strategy: Strategy = "bfd") -> Packing:
    """Plan packs of at most seq_length tokens for rows of these lengths.

    "bfd" best fit, the longest rows first; longer ones are cut, and what is cut off is lost
    "bfd_split" as bfd, after cutting long rows into pieces, each a document of its own
    "wrapped" all rows one after the other, cut every seq_length tokens
    "in_order" rows stay in their order and whole: a pack ends where the next row does not fit; rows that
        are longer than a pack are cut, and what is cut off is lost

    Rows without tokens are left out. The same plan whatever the batch size or
    number of processes, in O(n log n). Raises BadArgument.
    """
    sizes = np.asarray(lengths, np.int64)
    if seq_length < 1:
        raise BadArgument(f"seq_length must be at least 1, not {seq_length}", seq_length=seq_length)
    if sizes.ndim != 1 or (len(sizes) and sizes.min() < 0):
        raise BadArgument("lengths must be one number of tokens for each row, none negative")
    tokens_in = int(sizes.sum())
    if strategy == "wrapped":
        pieces, edges = _wrapped(sizes, seq_length)
    elif strategy == "bfd_split":
        pieces, edges = _best_fit(_cut(sizes, seq_length), seq_length)
    elif strategy in ("bfd", "in_order"):
        whole = (np.arange(len(sizes)), np.zeros(len(sizes), np.int64), np.minimum(sizes, seq_length))
        pieces, edges = (_best_fit if strategy == "bfd" else _next_fit)(whole, seq_length)
    else:
        known = ", ".join(get_args(Strategy))
        raise BadArgument(f"strategy {strategy!r} is none of {known}", strategy=strategy)
    return Packing(*pieces, edges, seq_length, tokens_in)


Pieces = tuple[Any, Any, Any]  # rows, starts, lengths


def _cut(sizes: Any, seq_length: int) -> Pieces:
    """Each row in pieces of seq_length and a rest."""
    counts = -(-sizes // seq_length)
    rows = np.repeat(np.arange(len(sizes)), counts)
    starts = (np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)) * seq_length
    return rows, starts, np.minimum(sizes[rows] - starts, seq_length)


def _wrapped(sizes: Any, seq_length: int) -> tuple[Pieces, Any]:
    row_ends = np.cumsum(sizes)
    total = int(row_ends[-1]) if len(sizes) else 0
    cuts = np.arange(0, total, seq_length)
    begins = np.concatenate([cuts, (row_ends - sizes)[sizes > 0]])
    begins.sort(kind="stable")  # which merges two ascending runs; np.union1d takes three times as long
    begins = begins[np.diff(begins, prepend=-1) > 0]
    rows = np.searchsorted(row_ends, begins, side="right")
    lengths = np.diff(np.append(begins, total))
    starts = begins - (row_ends - sizes)[rows]
    return (rows, starts, lengths), np.append(np.searchsorted(begins, cuts), len(begins))


def _next_fit(pieces: Pieces, seq_length: int) -> tuple[Pieces, Any]:
    """Pieces as they come, and the edges of packs that each take what fits."""
    rows, starts, lengths = (column[pieces[2] > 0] for column in pieces)
    ends = np.cumsum(lengths).tolist()
    edges = [0]
    while edges[-1] < len(ends):
        before = ends[edges[-1] - 1] if edges[-1] else 0
        edges.append(bisect_right(ends, before + seq_length, edges[-1]))
    return (rows, starts, lengths), np.array(edges, np.int64)


def _best_fit(pieces: Pieces, seq_length: int) -> tuple[Pieces, Any]:
    """Pieces in the order of their packs, and the packs' edges."""
    rows, starts, lengths = pieces
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    packs = _packs_of(lengths[order], seq_length)
    order = order[np.argsort(packs, kind="stable")]
    edges = np.concatenate([[0], np.cumsum(np.bincount(packs))])
    return (rows[order], starts[order], lengths[order]), edges


def _packs_of(lengths: Any, seq_length: int) -> Any:
    """(n,) the pack of each piece, for lengths in descending order, numbered as they are opened.

    Best fit: the pack with the least room that fits; among equals the one that
    has had that room for longest. Pieces of one length are placed together: the
    pack that takes one is then the fullest that takes another, so each in turn
    takes as many as it has room for. 0.25 s for a million lengths up to 2,048.
    """
    packs = np.empty(len(lengths), np.int64)
    waiting: dict[int, list[Any]] = {}  # room -> packs that have it, in arrays, the first to come first
    rooms: list[int] = []  # the keys of waiting, ascending
    opened = 0

    def wait(room: int, some: Any) -> None:
        if room not in waiting:
            waiting[room] = []
            insort(rooms, room)
        waiting[room].append(some)

    changes = [*np.flatnonzero(np.diff(lengths, prepend=-1)).tolist(), len(lengths)]
    for begin, end in pairwise(changes):
        length = int(lengths[begin])
        while begin < end:
            at = bisect_left(rooms, length)
            room = rooms[at] if at < len(rooms) else seq_length
            each = room // length
            needed = -((begin - end) // each)
            if at < len(rooms):
                del rooms[at]
                some = waiting.pop(room)
                candidates = some[0] if len(some) == 1 else np.concatenate(some)
            else:
                candidates = np.arange(opened, opened + needed)
                opened += needed
            chosen, rest = candidates[:needed], candidates[needed:]
            if len(rest):
                wait(room, rest)
            count = min(each * len(chosen), end - begin)
            packs[begin : begin + count] = np.repeat(chosen, each)[:count]
            begin += count
            short = each * len(chosen) - count  # pieces that the last pack could still take
            full = chosen[:-1] if short else chosen
            if len(full) and room % length:
                wait(room % length, full)
            if short:
                wait(room - (each - short) * length, chosen[-1:])
    return packs
