"""Rows of tokens in flat arrays: cut to a length, blanked, made columns; nothing is done token by token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.chat.packing import Packing
from arrowprep.chat.sft.spec import IGNORED, SFTSpec

__all__ = ["Tokens", "blanked", "cut", "pairs_of", "starts_and_ends", "token_columns"]


@dataclass(frozen=True)
class Tokens:
    """n rows of tokens, one after the other.

    edges: (n + 1,) int64; row i is tokens edges[i] : edges[i + 1]
    ids: (tokens,) int32
    trained: (tokens,) bool
    """

    edges: Any
    ids: Any
    trained: Any

    @property
    def lengths(self) -> Any:
        return np.diff(self.edges)

    @property
    def trained_of_rows(self) -> Any:
        """(n,) how many tokens of each row are trained."""
        return np.diff(np.concatenate([[0], np.cumsum(self.trained)])[self.edges])

    @classmethod
    def of(cls, ids: pa.Array, trained: pa.Array | None = None) -> Tokens:
        """From lists of ids, and lists of 1 for trained tokens; without them none is."""
        edges = np.asarray(ids.offsets, np.int64)
        flat = ids.flatten().to_numpy()
        marks = np.zeros(len(flat), bool) if trained is None else trained.flatten().to_numpy().astype(bool)
        return cls(edges - edges[0], flat, marks)

    def cut(self, pieces: Packing) -> Tokens:
        """Pieces of rows as rows of their own."""
        edges = np.concatenate([[0], np.cumsum(pieces.lengths)])
        places = np.repeat(self.edges[pieces.rows] + pieces.starts - edges[:-1], pieces.lengths)
        places += np.arange(edges[-1])
        return Tokens(edges, self.ids[places], self.trained[places])

    def from_first_on(self) -> Tokens:
        """Trained to each row's end from its first trained token on, for special tokens come from no text."""
        before = np.concatenate([[0], np.cumsum(self.trained)])
        return replace(self, trained=before[1:] > np.repeat(before[self.edges[:-1]], self.lengths))

    def ends_in(self, pieces: Packing) -> Any:
        """(pieces,) bool: whether a piece holds the last trained token of its row."""
        places = np.flatnonzero(self.trained)
        last = np.append(places, -1)[np.searchsorted(places, self.edges[1:]) - 1]
        begins = self.edges[pieces.rows] + pieces.starts
        return (last[pieces.rows] >= begins) & (last[pieces.rows] < begins + pieces.lengths)

    def begin_with(self, token: int | None, count: int = 1) -> Any:
        """(n,) bool: whether so many first tokens of a row are all this one."""
        found = np.zeros(len(self.edges) - 1, bool)
        if token is not None:
            rows = np.flatnonzero(self.lengths >= count)
            begins = self.edges[rows]
            found[rows] = np.all([self.ids[begins + place] == token for place in range(count)], axis=0)
        return found


def cut(lengths: Any, spec: SFTSpec) -> Packing:
    """The pieces that rows of these lengths are cut to, each a pack of its own."""
    limit = spec.max_length
    rows, starts, sizes = np.arange(len(lengths)), np.zeros(len(lengths), np.int64), lengths
    if limit is not None and spec.truncation in ("keep_start", "keep_end"):
        sizes = np.minimum(lengths, limit)
        starts = lengths - sizes if spec.truncation == "keep_end" else starts
    elif limit is not None and spec.truncation == "split":
        counts = np.maximum(-(-lengths // limit), 1)
        rows = np.repeat(rows, counts)
        starts = (np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)) * limit
        sizes = np.minimum(lengths[rows] - starts, limit)
    return Packing(rows, starts, sizes, np.arange(len(rows) + 1), limit or 0, int(lengths.sum()))


def blanked(lengths: Any, kept: Any) -> Packing:
    """Rows as they are, but without tokens where they are not kept."""
    sizes = np.where(kept, lengths, 0)
    rows = np.arange(len(lengths))
    return Packing(rows, np.zeros(len(rows), np.int64), sizes, np.arange(len(rows) + 1), 0, int(sizes.sum()))


def token_columns(wanted: Sequence[str], tokens: Tokens) -> dict[str, pa.Array]:
    """Columns by name, for rows that are one document each."""
    ids, trained, edges = tokens.ids, tokens.trained, tokens.edges
    makers: dict[str, Callable[[], Any]] = {
        "input_ids": lambda: ids,
        "labels": lambda: np.where(trained, ids, np.int32(IGNORED)),
        "attention_mask": lambda: np.ones(len(ids), np.int8),
        "position_ids": lambda: (np.arange(len(ids)) - np.repeat(edges[:-1], np.diff(edges))).astype(
            np.int32
        ),
        "completion_mask": lambda: trained.astype(np.int8),
        "assistant_masks": lambda: trained.astype(np.int8),
    }
    offsets = pa.array(edges, pa.int32())
    return {name: pa.ListArray.from_arrays(offsets, pa.array(makers[name]())) for name in wanted}


def starts_and_ends(offsets: pa.Array) -> tuple[pa.Array, pa.Array]:
    """(n,) lists of starts and of ends, from lists of (start, end)."""
    edges, pairs = np.asarray(offsets.offsets), pairs_of(offsets)
    columns = (pa.array(np.ascontiguousarray(pairs[:, side])) for side in (0, 1))
    starts, ends = (pa.ListArray.from_arrays(pa.array(edges - edges[0]), column) for column in columns)
    return starts, ends


def pairs_of(offsets: pa.Array) -> Any:
    """(tokens, 2) start and end of each token, from lists of (start, end)."""
    return offsets.flatten().flatten().to_numpy().reshape(-1, 2)
