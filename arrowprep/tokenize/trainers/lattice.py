"""Every way to spell many words at once: what each piece is expected to come, and the best way.

A lattice has a node between any two characters, and an edge for each piece of the
vocabulary that stands between two nodes. All words are worked on together, one
step from their starts at a time: what would be a loop over edges is a few NumPy calls.

Probabilities are kept as fractions and powers of two, so that long texts do not
underflow, and sums and products are the only arithmetic: results are equal to the bit
on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.trainers.portable_math import Floats, exp

Ints = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
UNKNOWN = 0  # the piece of an edge over a character that is no piece


@dataclass(slots=True)
class Edges:
    """Edges in the order in which one sweep takes them.

    source, target: (m,) the node that is known before, and the one that is worked out
    piece: (m,) its number
    starts: (g,) where the edges of each target begin
    steps: (k + 1,) which of the starts each step begins with
    """

    source: Ints
    target: Ints
    piece: Ints
    starts: Ints
    steps: Ints

    @classmethod
    def sorted(cls, source: Ints, target: Ints, piece: Ints, depth: Ints) -> Edges:
        """depth: of each node: how many steps before it is worked out."""
        order = np.lexsort((source, target, depth[target]))
        return cls.grouped(source[order], target[order], piece[order], depth)

    @classmethod
    def grouped(cls, source: Ints, target: Ints, piece: Ints, depth: Ints) -> Edges:
        starts = np.flatnonzero(np.diff(target, prepend=-1))
        depths = depth[target[starts]]
        steps = np.append(np.flatnonzero(np.diff(depths, prepend=-1)), len(starts))
        return cls(source, target, piece, starts, steps)

    def kept(self, keep: Bools, piece: Ints, depth: Ints) -> Edges:
        return Edges.grouped(self.source[keep], self.target[keep], piece[keep], depth)


@dataclass(slots=True)
class Lattice:
    """The edges of all words, in both directions.

    first, last: (w,) the nodes at the ends of each word
    word: (n,) the word of each node
    """

    first: Ints
    last: Ints
    word: Ints
    depth: Ints
    height: Ints
    forward: Edges
    backward: Edges

    @classmethod
    def of(cls, first: Ints, last: Ints, source: Ints, target: Ints, piece: Ints) -> Lattice:
        """first, last: of words that lie one after the other."""
        sizes = last - first + 1
        word = np.repeat(np.arange(len(first), dtype=np.int32), sizes)
        nodes = np.arange(int(sizes.sum()), dtype=np.int32)
        depth, height = nodes - first[word], last[word] - nodes
        forward = Edges.sorted(source, target, piece, depth)
        backward = Edges.sorted(target, source, piece, height)
        return cls(first, last, word, depth, height, forward, backward)

    def renumbered(self, numbers: Ints) -> Lattice:
        """With numbers[old] as the pieces; -1 drops one, but over one character leaves an unknown."""
        one, other = (self._renumber(edges, numbers) for edges in (self.forward, self.backward))
        forward = self.forward.kept(*one, self.depth)
        backward = self.backward.kept(*other, self.height)
        return Lattice(self.first, self.last, self.word, self.depth, self.height, forward, backward)

    @staticmethod
    def _renumber(edges: Edges, numbers: Ints) -> tuple[Bools, Ints]:
        piece = numbers[edges.piece]
        single = np.abs(edges.target - edges.source) == 1
        piece = np.where((piece < 0) & single, UNKNOWN, piece)
        return piece >= 0, piece

    def expected(self, scores: Floats, counts: Floats) -> Floats:
        """How often each piece comes, over all ways to spell the words by their probability.

        scores: of each piece, logarithms; counts: how often each word comes
        """
        pieces = np.frexp(exp(scores))
        before, before_power = self._sums(self.forward, self.first, pieces)
        after, after_power = self._sums(self.backward, self.last, pieces)
        edges = self.forward
        source, target, piece = edges.source, edges.target, edges.piece
        word = self.word[source]
        end = self.last[word]
        share = before[source] * pieces[0][piece] * after[target] / before[end] * counts[word]
        power = before_power[source] + pieces[1][piece] + after_power[target] - before_power[end]
        sums: Any = np.bincount(piece, np.ldexp(share, power), minlength=len(scores))
        return np.asarray(sums, np.float64)

    def _sums(self, edges: Edges, begin: Ints, pieces: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
        """The probability to come to each node, as fractions and powers of two."""
        fraction = np.zeros(len(self.word))
        power = np.zeros(len(self.word), np.int32)
        fraction[begin] = 1.0
        for step in range(len(edges.steps) - 1):
            starts = edges.starts[edges.steps[step] : edges.steps[step + 1]]
            stop = _stop(edges, step)
            source, piece = edges.source[starts[0] : stop], edges.piece[starts[0] : stop]
            terms, powers = fraction[source] * pieces[0][piece], power[source] + pieces[1][piece]
            local = starts - starts[0]
            top = np.maximum.reduceat(powers, local)
            sizes = np.diff(local, append=len(source))
            total = np.add.reduceat(np.ldexp(terms, powers - np.repeat(top, sizes)), local)
            nodes = edges.target[starts]
            fraction[nodes], shift = np.frexp(total)
            power[nodes] = top + shift
        return fraction, power

    def best(self, scores: Floats) -> tuple[Floats, Ints]:
        """The highest sum of scores to each node, and the edge that it comes by; -1 where there is none.

        Of equal ones the edge that is longest.
        """
        edges = self.forward
        best = np.full(len(self.word), -np.inf)
        best[self.first] = 0.0
        by = np.full(len(self.word), -1, np.int64)
        for step in range(len(edges.steps) - 1):
            starts = edges.starts[edges.steps[step] : edges.steps[step + 1]]
            stop = _stop(edges, step)
            numbers = np.arange(starts[0], stop)
            sums = best[edges.source[starts[0] : stop]] + scores[edges.piece[starts[0] : stop]]
            local = starts - starts[0]
            top = np.maximum.reduceat(sums, local)
            is_top = sums == np.repeat(top, np.diff(local, append=len(sums)))
            nodes = edges.target[starts]
            best[nodes] = top
            by[nodes] = np.minimum.reduceat(np.where(is_top, numbers, stop), local)
        by[best == -np.inf] = -1
        return best, by

    def paths(self, by: Ints) -> tuple[Ints, Ints]:
        """The pieces on the best path of each word, from its end, and the word of each."""
        words = np.flatnonzero(by[self.last] >= 0)
        nodes = self.last[words]
        pieces: list[Ints] = []
        owners: list[Ints] = []
        while len(words):
            edge = by[nodes]
            pieces.append(self.forward.piece[edge])
            owners.append(words)
            nodes = self.forward.source[edge]
            going = nodes > self.first[words]
            words, nodes = words[going], nodes[going]
        if not pieces:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate(pieces), np.concatenate(owners)


def _stop(edges: Edges, step: int) -> int:
    """Where the edges of a step end."""
    following = edges.steps[step + 1]
    return int(edges.starts[following]) if following < len(edges.starts) else len(edges.source)
