"""Byte-pair merging of many words at once, a NumPy step for all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.ragged import positions

Numbers = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

NEVER = np.int32(2**31 - 1)
NOBODY = -1  # as a part: beside a word there is none
JOINED = -2  # as a part: it belongs to one before it
FREE = -1  # as a key: no pair of tokens has it
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: spreads keys (Knuth, 6.4)
WORTH_LEAVING = 0.8  # as long as more than this share of the words goes on, none is taken out


class PairTable:
    """Which pair of tokens is merged, at which rank, to which token: a hash table.

    lefts, rights, made: (m,) tokens as numbers, by rank
    A binary search of as many pairs takes three times as long.
    """

    def __init__(self, lefts: Numbers, rights: Numbers, made: Numbers) -> None:
        self.made = np.asarray(made, np.int32)
        keys, ranks = _keys(lefts, rights), np.arange(len(lefts), dtype=np.int32)
        bits = max(4, (2 * len(keys)).bit_length())
        self._shift, self._mask = np.uint64(64 - bits), (1 << bits) - 1
        self._ranks = np.full(1 << bits, NEVER)
        self._held = np.full(1 << bits, FREE, np.int64)
        slots = self._slots(keys)
        while len(keys):
            free = self._held[slots] == FREE
            self._held[slots[free]] = keys[free]
            placed = self._held[slots] == keys
            self._ranks[slots[placed]] = ranks[placed]
            keys, ranks, slots = keys[~placed], ranks[~placed], (slots[~placed] + 1) & self._mask
        if np.count_nonzero(self._held != FREE) < len(lefts):
            self._keep_later(lefts, rights)

    def _keep_later(self, lefts: Numbers, rights: Numbers) -> None:
        """Of a pair that is given twice the later rank stays."""
        last = dict(zip(_keys(lefts, rights).tolist(), range(len(lefts)), strict=True))
        slots = self._found(np.fromiter(last, np.int64, len(last)))
        self._ranks[slots] = np.fromiter(last.values(), np.int32, len(last))

    def ranks(self, lefts: Numbers, rights: Numbers) -> Numbers:
        """(n,) the rank of each pair; NEVER where it is not merged."""
        ranks: Numbers = self._ranks[self._found(_keys(lefts, rights))]
        return ranks

    def _found(self, keys: Ints) -> Ints:
        """(n,) the slot of each key; a free one where it has none."""
        slots = self._slots(keys)
        held = self._held[slots]
        other = np.flatnonzero(held != keys)
        other = other[held[other] != FREE]
        while len(other):
            slots[other] = (slots[other] + 1) & self._mask
            held = self._held[slots[other]]
            other = other[(held != keys[other]) & (held != FREE)]
        return slots

    def _slots(self, keys: Ints) -> Ints:
        return (keys.view(np.uint64) * GOLDEN >> self._shift).view(np.int64)


def _keys(lefts: Numbers, rights: Numbers) -> Ints:
    keys = lefts.astype(np.int64)
    keys <<= 32
    keys |= rights
    return keys


def merge_many(parts: Numbers, counts: Ints, pairs: PairTable) -> tuple[Numbers, Ints, Ints]:
    """As `merge`, each of w words by itself: a round joins one pair in every word that has one left.

    parts: (n,) those of all words; counts: (w,) how many each has, at least one
    Returns parts, lengths (of how many of the first parts each is joined) and counts.
    Words of like length go together. 27,000 words of many scripts take 6 µs each so, one by one 40.
    """
    ranks = np.full(len(parts), NEVER)  # of a part and the next
    ranks[:-1] = pairs.ranks(parts[:-1], parts[1:])
    ranks[np.cumsum(counts) - 1] = NEVER
    size = np.frexp(counts - 1.0)[1]  # doubles from one to the next
    left = np.empty_like(counts)
    groups = []
    for like in np.unique(size).tolist():
        words, chosen = np.flatnonzero(size == like), np.repeat(size == like, counts)
        group = _Words(parts[chosen], ranks[chosen], counts[words])
        group.merge(pairs)
        merged, lengths, left[words] = group.tokens()
        groups.append((words, merged, lengths))
    begins = np.cumsum(left) - left
    all_parts, all_lengths = np.empty(left.sum(), np.int32), np.empty(left.sum(), np.int64)
    for words, merged, lengths in groups:
        to = positions(begins[words], left[words])
        all_parts[to], all_lengths[to] = merged, lengths
    return all_parts, all_lengths, left


class _Words:
    """w words as rows of a table that is wide enough for the longest, with a column of nobody on both sides.

    parts: (w, width); before, after: (w * width,) where in the flat table the neighbours of a part are
    ranks: (w, width) of a part and the next
    """

    def __init__(self, parts: Numbers, ranks: Numbers, counts: Ints) -> None:
        self.counts = counts
        longest = int(counts.max())
        self.width = longest + 2
        inside = np.arange(longest) < counts[:, None]
        self.parts = np.full((len(counts), self.width), NOBODY, np.int32)
        self.ranks = np.full((len(counts), self.width), NEVER)
        self.parts[:, 1:-1][inside], self.ranks[:, 1:-1][inside] = parts, ranks
        self.after = np.arange(1, self.parts.size + 1)
        self.before = self.after - 2

    def merge(self, pairs: PairTable) -> None:
        """Join until no word has a pair with a rank."""
        rows, ranks = np.arange(len(self.counts)), self.ranks
        while len(rows):
            columns = ranks.argmin(1)  # the leftmost of the lowest
            best = ranks.reshape(-1)[np.arange(len(rows)) * self.width + columns]
            going = best != NEVER
            some = np.count_nonzero(going)
            if some < WORTH_LEAVING * len(rows):
                rows, ranks, columns, best = rows[going], ranks[going], columns[going], best[going]
                going = np.ones(some, bool)
            at = np.flatnonzero(going) if some < len(rows) else np.arange(some)
            self._join(rows[at], columns[at], at, best[at], ranks.reshape(-1), pairs)

    def _join(
        self, rows: Ints, columns: Ints, at: Ints, best: Numbers, ranks: Numbers, pairs: PairTable
    ) -> None:
        """One pair in each of these rows. `ranks` is of fewer rows: there they are `at`."""
        parts = self.parts.reshape(-1)
        first = rows * self.width + columns
        moved = (at - rows) * self.width
        second = self.after[first]
        before, after = self.before[first], self.after[second]
        made = pairs.made[best]
        parts[first], parts[second] = made, JOINED
        self.after[first], self.before[after] = after, first
        ranks[second + moved] = NEVER
        lefts, rights = np.concatenate([parts[before], made]), np.concatenate([made, parts[after]])
        new = pairs.ranks(lefts, rights)
        ranks[before + moved], ranks[first + moved] = new[: len(at)], new[len(at) :]

    def tokens(self) -> tuple[Numbers, Ints, Ints]:
        """The parts that are left, how many of the first ones each covers, and how many each word has."""
        here = self.parts >= 0
        left = np.count_nonzero(here, axis=1)
        at = np.flatnonzero(here)
        stops = np.append(at[1:], 0)
        stops[np.cumsum(left) - 1] = np.arange(len(left)) * self.width + 1 + self.counts
        return self.parts.reshape(-1)[at], stops - at, left
