"""Which pairs of neighbours are joined, in which order: the reference, and the kernel where it is there."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arrowprep.config import settings
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.trainers.words import UNLIMITED

Pair = tuple[int, int]


class Numbers:
    """Tokens and their ids; a new one takes the next. prefix: what tokens inside a word begin with"""

    def __init__(self, texts: Iterable[str], prefix: str = "") -> None:
        self.texts: list[str] = []
        self.ids: dict[str, int] = {}
        self.prefix = prefix
        for text in texts:
            self.number(text)

    def number(self, text: str) -> int:
        if text not in self.ids:
            self.ids[text] = len(self.texts)
            self.texts.append(text)
        return self.ids[text]

    def joined(self, pair: Pair) -> int:
        """The id of two tokens joined; the prefix of the second stands no longer."""
        left, right = (self.texts[id] for id in pair)
        return self.number(left + right.removeprefix(self.prefix))


@dataclass(frozen=True)
class Limits:
    """When learning ends: at so many tokens, or where no pair comes so often; and how long a token may be."""

    vocab_size: int
    min_frequency: int
    max_length: int | None


class Spelled(NamedTuple):
    """Words as ids of tokens, one word after the other.

    offsets: (w + 1,) where each begins, and the last one ends
    """

    ids: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]


def merges(words: Spelled, counts: npt.NDArray[Any], tokens: Numbers, limits: Limits) -> Iterator[Pair]:
    """The pairs that are joined, in order; what each makes is a token when it comes.

    counts: (w,) how often each word comes
    """
    library = load()
    if settings().engine == "reference" or isinstance(library, str) or counts.dtype != np.int64:
        return _here(words, counts, tokens, limits)
    return _by_kernel(library, words, counts, tokens, limits)


def _here(words: Spelled, counts: npt.NDArray[Any], tokens: Numbers, limits: Limits) -> Iterator[Pair]:
    ids = words.ids.tolist()
    spelled = [ids[start:stop] for start, stop in pairwise(words.offsets.tolist())]
    corpus = _Corpus(spelled, counts.tolist(), limits.max_length or UNLIMITED)
    while len(tokens.texts) < limits.vocab_size:
        found = corpus.commonest()
        if found is None or found.count < max(1, limits.min_frequency):
            return
        corpus.join(found, tokens.joined(found.pair))
        yield found.pair


def _by_kernel(
    library: object, words: Spelled, counts: npt.NDArray[Any], tokens: Numbers, limits: Limits
) -> Iterator[Pair]:
    from arrowprep.tokenize.native_training import learn

    learnt = learn(
        library,
        *words,
        counts,
        tokens.texts,
        vocab_size=limits.vocab_size,
        min_frequency=limits.min_frequency,
        prefix=tokens.prefix,
        max_length=limits.max_length or None,
    )
    for some in learnt:
        for left, right, joined in some.tolist():
            assert tokens.joined((left, right)) == joined
            yield left, right


class _Candidate:
    """A pair, how often it came when it was noted, and the words that it was seen in since the last note."""

    __slots__ = ("count", "pair", "words")

    def __init__(self, pair: Pair, count: int, words: set[int]) -> None:
        self.pair, self.count, self.words = pair, count, words

    def __lt__(self, other: _Candidate) -> bool:
        return (-self.count, self.pair) < (-other.count, other.pair)


class _Corpus:
    """Words as ids, how often each pair of neighbours comes, and where.

    A pair's count is kept up as words change; the heap may hold older counts, which
    are put right when they come up. O(changes · log pairs) in all.
    """

    def __init__(self, words: Sequence[list[int]], counts: Sequence[int], max_length: int) -> None:
        self._words = words
        self._lengths = [[1] * len(word) for word in words]
        self._counts = counts
        self._max_length = max_length
        self._pairs: defaultdict[Pair, int] = defaultdict(int)
        places: defaultdict[Pair, set[int]] = defaultdict(set)
        for number, word in enumerate(words):
            for pair in pairwise(word):
                self._pairs[pair] += counts[number]
                places[pair].add(number)
        self._heap = [_Candidate(pair, self._pairs[pair], where) for pair, where in places.items()]
        heapq.heapify(self._heap)

    def commonest(self) -> _Candidate | None:
        """The pair that comes most often, taken off; None when there is none."""
        while self._heap:
            top = heapq.heappop(self._heap)
            count = self._pairs[top.pair]
            if count == top.count:
                return top
            top.count = count
            if count > 0:
                heapq.heappush(self._heap, top)
        return None

    def join(self, found: _Candidate, joined: int) -> None:
        """Put `joined` in place of the pair in the words where it was seen."""
        new: defaultdict[Pair, set[int]] = defaultdict(set)
        for number in found.words:
            self._join_in(number, found.pair, joined, new)
        for pair, words in new.items():
            if self._pairs[pair] > 0:
                heapq.heappush(self._heap, _Candidate(pair, self._pairs[pair], words))

    def _join_in(self, number: int, pair: Pair, joined: int, new: defaultdict[Pair, set[int]]) -> None:
        word, lengths, count = self._words[number], self._lengths[number], self._counts[number]
        first, second = pair
        i = 0
        while i < len(word) - 1:
            if word[i] != first or word[i + 1] != second:
                i += 1
                continue
            word[i : i + 2] = [joined]
            lengths[i : i + 2] = [lengths[i] + lengths[i + 1]]
            # each neighbour loses the pair that it made, and makes a new one unless that would be too long
            if i:
                self._pairs[word[i - 1], first] -= count
                self._note((word[i - 1], joined), lengths[i - 1] + lengths[i], number, new)
            if i + 1 < len(word):
                self._pairs[second, word[i + 1]] -= count
                self._note((joined, word[i + 1]), lengths[i] + lengths[i + 1], number, new)
            i += 1

    def _note(self, pair: Pair, length: int, number: int, new: defaultdict[Pair, set[int]]) -> None:
        if length < self._max_length:
            self._pairs[pair] += self._counts[number]
            new[pair].add(number)
