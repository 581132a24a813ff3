"""Byte-pair merging: neighbours are joined, the pair of the lowest rank first."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import pairwise
from typing import Protocol, TypeVar

T = TypeVar("T")  # a part: its text, or its number
Part = TypeVar("Part", contravariant=True)

Ranks = dict[tuple[T, T], int]
Join = Callable[[T, T], T]


class PairRanks(Protocol[Part]):
    """What can say the rank of a pair: `Ranks`, or anything with its `get`."""

    def get(self, pair: tuple[Part, Part], default: int, /) -> int: ...


# where the heap starts to win over a list of ranks, whose minimum is found in C
LONG = 300
NEVER = 1 << 62
PLACE_BITS = 40


def merge(
    parts: list[T], lengths: list[int], ranks: PairRanks[T], join: Join[T]
) -> tuple[list[T], list[int]]:
    """Join neighbours, lowest rank first and leftmost among equals, until no pair has a rank.

    lengths: what each part covers; added up as the parts are joined
    O(n log n) in the number of parts.
    Source: Sennrich, Haddow and Birch (2016), section 3.2.

    >>> merge(["a", "b", "a", "b"], [1] * 4, {("a", "b"): 0, ("ab", "ab"): 1}, str.__add__)
    (['abab'], [4])
    """
    if len(parts) > LONG:
        return _merge_long(parts, lengths, ranks, join)
    get = ranks.get
    pairs = [get(pair, NEVER) for pair in pairwise(parts)]
    while pairs:
        best = min(pairs)
        if best == NEVER:
            break
        i = pairs.index(best)
        parts[i] = join(parts[i], parts.pop(i + 1))
        lengths[i] += lengths.pop(i + 1)
        del pairs[i]
        if i < len(pairs):
            pairs[i] = get((parts[i], parts[i + 1]), NEVER)
        if i:
            pairs[i - 1] = get((parts[i - 1], parts[i]), NEVER)
    return parts, lengths


def _merge_long(
    parts: list[T], lengths: list[int], ranks: PairRanks[T], join: Join[T]
) -> tuple[list[T], list[int]]:
    """The same with a heap of pairs; a joined part takes the place of its first."""
    n = len(parts)
    after = [*range(1, n), -1]
    before = list(range(-1, n - 1))
    alive = [True] * n
    get = ranks.get
    # rank and place in one number: numbers compare and move twice as fast as tuples
    ranked = (get(pair, NEVER) for pair in pairwise(parts))
    heap = [rank << PLACE_BITS | i for i, rank in enumerate(ranked) if rank != NEVER]
    heapq.heapify(heap)
    while heap:
        top = heapq.heappop(heap)
        rank, i = top >> PLACE_BITS, top & (1 << PLACE_BITS) - 1
        j = after[i]
        # an entry is stale when one of its parts has been joined since
        if not alive[i] or j < 0 or get((parts[i], parts[j]), NEVER) != rank:
            continue
        parts[i] = join(parts[i], parts[j])
        lengths[i] += lengths[j]
        alive[j] = False
        after[i] = after[j]
        if after[j] >= 0:
            before[after[j]] = i
        for left in (before[i], i):
            right = after[left] if left >= 0 else -1
            if right >= 0 and (new := get((parts[left], parts[right]), NEVER)) != NEVER:
                heapq.heappush(heap, new << PLACE_BITS | left)
    return [p for p, a in zip(parts, alive, strict=True) if a], [
        x for x, a in zip(lengths, alive, strict=True) if a
    ]


def merge_with_dropout(
    parts: list[T], lengths: list[int], ranks: Ranks[T], join: Join[T], dropped: Callable[[], bool]
) -> tuple[list[T], list[int]]:
    """As `merge`, but each merge that is due is passed over when `dropped()` says so.

    What was passed over is tried again after the next merge that was done.
    Source: Provilkov, Emelianenko and Voita (2020), BPE-dropout.
    """
    while True:
        candidates = sorted(
            (rank, i) for i, pair in enumerate(pairwise(parts)) if (rank := ranks.get(pair)) is not None
        )
        chosen = next((i for _, i in candidates if not dropped()), None)
        if chosen is None:
            return parts, lengths
        parts[chosen] = join(parts[chosen], parts.pop(chosen + 1))
        lengths[chosen] += lengths.pop(chosen + 1)
