"""What would be lost without each piece of a unigram vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrowprep.tokenize.trainers.lattice import Bools, Ints, Lattice
from arrowprep.tokenize.trainers.portable_math import Floats, log

CHUNK = 50_000  # pieces; bounds the memory for their own lattices


def removal_losses(lattice: Lattice, firsts: Ints, lengths: Ints, scores: Floats, counts: Floats) -> Floats:
    """How much less likely the words are without a piece, about: (n,).

    Infinite where a piece is kept whatever it costs, -infinite where nothing is lost.
    A piece is taken to be spelled by its second best way wherever it was used.
    """
    used = _frequencies(lattice, scores, counts)
    total = used.sum()
    losses = np.full(len(scores), np.inf)
    long = np.flatnonzero(lengths > 1)
    for chunk in np.array_split(long, len(long) // CHUNK + 1):
        if len(chunk):
            losses[chunk] = _losses(lattice, chunk, firsts, lengths, scores, used, total)
    # of all words: those that use a piece, as often as they do
    finite = np.isfinite(losses)
    losses[finite] *= used[finite] / counts.sum()
    return losses


def _frequencies(lattice: Lattice, scores: Floats, counts: Floats) -> Floats:
    """How often each piece is used when every word is spelled in its best way."""
    _, by = lattice.best(scores)
    pieces, words = lattice.paths(by)
    sums: Any = np.bincount(pieces, counts[words], minlength=len(scores))
    return np.asarray(sums, np.float64)


def _losses(
    lattice: Lattice,
    chunk: Ints,
    firsts: Ints,
    lengths: Ints,
    scores: Floats,
    used: Floats,
    total: float,
) -> Floats:
    own = _without_themselves(lattice, chunk, firsts[chunk], lengths[chunk])
    best, by = own.best(scores)
    parts, owners = own.paths(by)
    # a piece that is not the best way to spell itself has no stand-in: kept while it is used
    is_best = scores[chunk] >= best[own.last]
    losses = np.where(used[chunk] > 0, np.inf, -np.inf)
    wanted: Bools = is_best & (used[chunk] > 0)
    parts, owners = parts[wanted[owners]], owners[wanted[owners]]
    how_many = np.bincount(owners, minlength=len(chunk))[wanted]
    mine = used[chunk]
    summed = np.bincount(owners, log(used[parts] + mine[owners]), minlength=len(chunk))[wanted]
    mine = mine[wanted]
    # the total would grow by one for each further stand-in; the reference counts all pieces here, which
    # values frequent short pieces higher, and vocabularies are to be the same
    after = summed - how_many * log(total + mine * (len(scores) - 1))
    losses[wanted] = log(mine) - log(np.array([total])) - after
    return losses


def _without_themselves(lattice: Lattice, chunk: Ints, firsts: Ints, lengths: Ints) -> Lattice:
    """A lattice of the pieces themselves, each without the edge over all of it.

    Its edges are those of the words at the place where the piece comes first.
    """
    edges = lattice.forward
    order = np.argsort(edges.source, kind="stable")
    bounds = np.searchsorted(edges.source[order], np.arange(len(lattice.word) + 1))
    base = np.cumsum(lengths + 1) - lengths - 1
    owner = np.repeat(np.arange(len(chunk)), lengths)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    node = firsts[owner] + within
    sizes = bounds[node + 1] - bounds[node]
    at = np.repeat(np.arange(len(node)), sizes)
    edge = order[np.arange(len(at)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + bounds[node[at]]]
    length = edges.target[edge] - edges.source[edge]
    stop = within[at] + length
    inside = (stop <= lengths[owner[at]]) & (length < lengths[owner[at]])
    at, edge, length = at[inside], edge[inside], length[inside]
    source = base[owner[at]] + within[at]
    return Lattice.of(base, base + lengths, source, source + length, edges.piece[edge])
