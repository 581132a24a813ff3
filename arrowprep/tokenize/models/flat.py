"""A vocabulary as the kernel reads it off a file: nothing of Python's is made for a single token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.bulk import Flat


class Always(dict[str, tuple[int, ...]]):
    """The same for every key."""

    def __init__(self, value: tuple[int, ...]) -> None:
        self._value = value

    def get(self, key: str, default: Any = None, /) -> tuple[int, ...]:
        return self._value


@dataclass(frozen=True)
class FlatVocabulary:
    """Tokens in the order of the file; 200,000 take a tenth of the time that a dict does.

    numbers: (n,) their ids
    scores: (n,) of a file that has a list of tokens with scores; None of one that has ids
    ways: (3, m) of each merge the places of the left token and the right one, and of what they make
    find: the place of a text, in UTF-8; -1 where it is no token
    kinds: (n,) of SentencePiece's pieces; None of others
    """

    texts: Flat
    numbers: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64] | None
    ways: npt.NDArray[np.int32]
    find: Callable[[bytes], int]
    kinds: npt.NDArray[np.int64] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # what finds a text is the kernel's, and stays with it
        return _without_kernel, (self.texts, self.numbers, self.scores, self.ways, self.kinds)

    def place_of(self, token: str) -> int:
        """The place of a token; -1 where it is none."""
        return self.find(token.encode("utf-8", "surrogatepass"))

    def id_of(self, token: str) -> int | None:
        place = self.place_of(token)
        return int(self.numbers[place]) if place >= 0 else None

    def ids_of(self, tokens: Sequence[str], likely: Sequence[int]) -> list[int | None]:
        """The ids of many tokens. likely: those that most of them have, at the place of that number"""
        # not as arrays: to begin with their functions takes longer than to look all up in most files
        offsets, numbers = self.texts.offsets.data, self.numbers.data
        data, n = self.texts.data, len(numbers)

        def is_there(token: str, id: int) -> bool:
            text = token.encode("utf-8", "surrogatepass")
            return id < n and numbers[id] == id and data[offsets[id] : offsets[id + 1]] == text

        pairs = zip(tokens, likely, strict=True)
        return [id if is_there(token, id) else self.id_of(token) for token, id in pairs]

    def token_of(self, id: int) -> str | None:
        """The token of an id. Only where the ids rise."""
        numbers = self.numbers
        if 0 <= id < len(numbers) and numbers[id] == id:
            return self.texts.text(id)
        place = int(np.searchsorted(numbers, id))
        known = place < len(numbers) and numbers[place] == id
        return self.texts.text(place) if known else None

    def first(self, n: int) -> FlatVocabulary:
        """The first n of tokens that have ids and no merges."""
        data, offsets = self.texts

        def find(text: bytes) -> int:
            place = self.find(text)
            return place if place < n else -1

        texts = Flat(data[: offsets[n]], offsets[: n + 1])
        return replace(self, texts=texts, numbers=self.numbers[:n], find=find)

    @cached_property
    def every_length(self) -> Mapping[str, tuple[int, ...]]:
        """The lengths that tokens may have which begin with a pair of characters: all, whatever the pair."""
        begins = np.flatnonzero(np.frombuffer(self.texts.data, np.int8) >= -64)
        longest = int(np.diff(np.searchsorted(begins, self.texts.offsets)).max(initial=0))
        return Always(tuple(range(2, longest + 1)))

    @cached_property
    def rising(self) -> bool:
        """Whether each id is above that of the token before."""
        return bool((self.numbers[1:] > self.numbers[:-1]).all())


SOUGHT = 300  # texts, in less time than a dict of all of them
PASSED = 32  # places inside of others, or across two


class _Places:
    """Where texts stand, found without the kernel."""

    def __init__(self, texts: Flat) -> None:
        self._texts = texts
        self._asked = 0

    def __call__(self, text: bytes) -> int:
        self._asked += 1
        data, begins = self._texts
        at = -1
        for _ in range(PASSED if text and self._asked < SOUGHT and "_all" not in vars(self) else 0):
            at = data.find(text, at + 1)
            if at < 0:
                return -1
            place = int(np.searchsorted(begins, at, "right")) - 1
            if begins[place] == at and begins[place + 1] == at + len(text):
                return place
        return self._all.get(text, -1)

    @cached_property
    def _all(self) -> dict[bytes, int]:
        data, begins = self._texts.data, self._texts.offsets.tolist()
        return {data[start:stop]: place for place, (start, stop) in enumerate(pairwise(begins))}


def _without_kernel(texts: Flat, numbers: Any, scores: Any, ways: Any, kinds: Any) -> FlatVocabulary:
    return FlatVocabulary(texts, numbers, scores, ways, _Places(texts), kinds)
