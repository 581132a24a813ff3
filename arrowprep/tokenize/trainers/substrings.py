"""Which substrings of a list of words come again, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Words:
    """Words one after the other, each ended by a 0.

    text: all of them, with a "\\0" behind each
    codes: (n,) a number for each character, 0 behind each word
    characters: (m,) the code point of each number; characters[0] means nothing
    starts: (w,) where each word begins; the place behind it is where the word ends
    """

    text: str
    codes: Ints
    characters: Ints
    starts: Ints
    lengths: Ints

    @classmethod
    def of(cls, words: Sequence[str]) -> Words:
        text = "".join(f"{word}\0" for word in words)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        starts = np.cumsum(lengths + 1) - lengths - 1
        inside = np.ones(len(points), bool)
        inside[starts + lengths] = False  # a word may have a \0 of its own
        characters, numbers = np.unique(points[inside], return_inverse=True)
        codes = np.zeros(len(points), np.int64)
        codes[inside] = numbers.reshape(-1) + 1
        return cls(text, codes, np.concatenate([[0], characters]).astype(np.int64), starts, lengths)


@dataclass(frozen=True, slots=True)
class Found:
    """Substrings of one length.

    firsts: (s,) where each comes first
    counts: (s,) how often it comes
    places: (p,) every place of every substring
    which: (p,) which of them comes there
    """

    length: int
    firsts: Ints
    counts: Ints
    places: Ints
    which: Ints


def repeated_substrings(words: Words, longest: int) -> list[Found]:
    """The substrings of two characters and more that come twice and do not always go on in the same way.

    The longer ones that they always go on to stand for the others.
    O(longest · n log n) for n characters, without a suffix array: places are told
    apart by one more character at each step, and those that stand alone are dropped.
    """
    codes, width = words.codes, len(words.characters)
    places = np.flatnonzero(codes)
    classes = codes[places] - 1
    number = width - 1
    found: list[Found] = []
    for length in range(1, longest + 1):
        following = codes[places + length]
        keys, inverse, counts = np.unique(
            classes * width + following, return_inverse=True, return_counts=True
        )
        inverse = inverse.reshape(-1)
        if length > 1:
            ways = np.bincount(keys // width, minlength=number)
            found.append(_branching(length, places, classes, ways > 1))
        again = (counts > 1) & (keys % width > 0)
        kept = again[inverse]
        renumbered = np.cumsum(again) - 1
        places, classes, number = places[kept], renumbered[inverse[kept]], int(again.sum())
        if not number:
            break
    return found


def _branching(length: int, places: Ints, classes: Ints, wanted: npt.NDArray[np.bool_]) -> Found:
    kept = wanted[classes]
    places = places[kept]
    which = (np.cumsum(wanted) - 1)[classes[kept]]
    _, firsts, counts = np.unique(which, return_index=True, return_counts=True)
    return Found(length, places[firsts], counts, places, which)
