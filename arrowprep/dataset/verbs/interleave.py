"""Rows of several datasets by turns, as row numbers of the datasets end to end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arrowprep.dataset.indices import RowArray
from arrowprep.errors import BadArgument

STRATEGIES = ("first_exhausted", "all_exhausted", "all_exhausted_without_replacement")
_DRAWS_AT_ONCE = 1000  # decides how the generator is used, and so the order for a seed


def interleaved_rows(
    lengths: Sequence[int], probabilities: Sequence[float] | None, seed: int | None, strategy: str
) -> RowArray:
    """The order of the rows of datasets of these lengths.

    probabilities: of each dataset at each turn, drawn with the seed; None for one after the other
    strategy: end when the first dataset is exhausted; when all are, those that
        ended early beginning anew; or when all are, each row once
    """
    check_turns(len(lengths), probabilities, strategy)
    counts = np.asarray(lengths, dtype=np.int64)
    if not len(counts):
        raise BadArgument("there are no datasets to interleave")
    drawn = counts if probabilities is None else counts[np.asarray(probabilities) > 0]
    if drawn.min() == 0:
        raise BadArgument("an empty dataset cannot be interleaved; leave it out")
    if probabilities is None:
        rounds = counts.min() if strategy == "first_exhausted" else counts.max()
        turns = np.tile(np.arange(len(counts)), rounds)
    else:
        turns = _drawn(counts, probabilities, seed, strategy)
    turn = np.empty(len(turns), dtype=np.int64)  # how often its dataset had its turn before
    for source in range(len(counts)):
        places = turns == source
        turn[places] = np.arange(np.count_nonzero(places))
    if strategy == "all_exhausted_without_replacement":
        once = turn < counts[turns]
        turns, turn = turns[once], turn[once]
    offsets = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rows: RowArray = offsets[turns] + turn % counts[turns]
    return rows


def check_turns(count: int, probabilities: Sequence[float] | None, strategy: str) -> None:
    """Raises BadArgument for turns that cannot be taken or would never end."""
    if strategy not in STRATEGIES:
        raise BadArgument(f"stopping_strategy {strategy!r} is none of {', '.join(STRATEGIES)}")
    if probabilities is None:
        return
    if len(probabilities) != count:
        raise BadArgument(f"{len(probabilities)} probabilities for {count} datasets")
    if strategy != "first_exhausted" and min(probabilities) <= 0:
        raise BadArgument("a dataset of probability 0 is never exhausted; leave it out")


def _drawn(counts: RowArray, probabilities: Sequence[float], seed: int | None, strategy: str) -> RowArray:
    """Datasets drawn at random, up to the one whose last row ends it."""
    at_first = strategy == "first_exhausted"
    generator = np.random.default_rng(seed)
    drawn: list[RowArray] = []
    seen = np.zeros(len(counts), dtype=np.int64)
    enough = np.any if at_first else np.all
    is_drawn = np.asarray(probabilities) > 0
    while not enough(seen[is_drawn] >= counts[is_drawn]):
        block = generator.choice(len(counts), size=_DRAWS_AT_ONCE, p=probabilities)
        seen += np.bincount(block, minlength=len(counts))
        drawn.append(block)
    turns = np.concatenate(drawn)
    places = [np.flatnonzero(turns == source) for source in range(len(counts))]
    last = [int(p[count - 1]) for p, count in zip(places, counts, strict=True) if len(p) >= count > 0]
    return turns[: (min if at_first else max)(last) + 1]
