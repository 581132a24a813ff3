"""Draw one of the ways to spell a text, by their probability: a Unigram model can, in training."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from heapq import nlargest
from itertools import accumulate
from typing import NamedTuple, TypeVar


class Edge(NamedTuple):
    """A token over the characters [start, stop) of a text, and its score."""

    start: int
    stop: int
    score: float


T = TypeVar("T")
Path = list[Edge]


def draw_path(edges: Sequence[Sequence[Edge]], alpha: float) -> Path:
    """One of all paths, each as likely as e to the power of alpha times its sum of scores.

    edges: (n,) those that end behind each character; there is a path to every end
    Source: Kudo (2018), section 3.3: forward filtering, backward sampling.
    """
    reached = [0.0]  # logarithm of the sum over all paths to here
    weights: list[list[float]] = []
    for ending in edges:
        logs = [reached[edge.start] + alpha * edge.score for edge in ending]
        largest = max(logs)
        shares = [math.exp(log - largest) for log in logs]
        weights.append(shares)
        reached.append(largest + math.log(sum(shares)))
    path: Path = []
    stop = len(edges)
    while stop:
        edge = _draw(edges[stop - 1], weights[stop - 1])
        path.append(edge)
        stop = edge.start
    return path[::-1]


def draw_of_best(edges: Sequence[Sequence[Edge]], alpha: float, count: int) -> Path:
    """The same among the `count` paths of the highest sums alone."""
    best: list[list[tuple[float, Edge | None, int]]] = [[(0.0, None, 0)]]
    for ending in edges:
        ways = (
            (score + edge.score, edge, rank)
            for edge in ending
            for rank, (score, _, _) in enumerate(best[edge.start])
        )
        best.append(nlargest(count, ways, key=lambda way: way[0]))
    sums = [alpha * score for score, _, _ in best[-1]]
    rank = _draw(range(len(sums)), [math.exp(score - max(sums)) for score in sums])
    path: Path = []
    stop = len(edges)
    while stop:
        _, edge, rank = best[stop][rank]
        assert edge is not None, "only the start has none"
        path.append(edge)
        stop = edge.start
    return path[::-1]


def _draw(options: Sequence[T], weights: Sequence[float]) -> T:
    return random.choices(options, cum_weights=list(accumulate(weights)))[0]
