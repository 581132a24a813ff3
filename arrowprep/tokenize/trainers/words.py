"""Words: the distinct words of a corpus and how often each comes, in columns until somebody looks at one."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.bulk import utf32

UNLIMITED = 1 << 62  # counts that together are beyond it are Python's numbers


@dataclass(frozen=True, eq=False)
class Words(Mapping[str, int]):
    """Each word and its count, in the order in which they first came.

    To make strings of 200,000 words, and a dict, keeps other threads waiting for 100 ms; merges need none.

    codes: (n,) the code points of all words, one word after the other
    offsets: (w + 1,) where each word begins, and the last one ends
    counts: (w,) int64; objects where all together are beyond 62 bits
    """

    codes: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    counts: npt.NDArray[Any]

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Words:
        """Those of a dict."""
        if isinstance(counts, Words):
            return counts
        ends = np.cumsum(np.fromiter(map(len, counts), np.int64, len(counts)))
        kind = np.int64 if sum(counts.values()) < UNLIMITED else object
        numbers = np.array(list(counts.values()), kind)
        return cls(utf32("".join(counts)), np.concatenate(([0], ends)), numbers)

    @cached_property
    def texts(self) -> list[str]:
        text = self.codes.tobytes().decode("utf-32-le", "surrogatepass")
        return [text[start:stop] for start, stop in pairwise(self.offsets.tolist())]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(w,) in characters."""
        return np.diff(self.offsets)

    @property
    def characters(self) -> list[str]:
        """Those that come, by their code points."""
        return list(map(chr, np.unique(self.codes).tolist()))

    def total(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def _by_text(self) -> dict[str, int]:
        return dict(zip(self.texts, self.counts.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_text)

    def items(self) -> ItemsView[str, int]:
        return self._by_text.items()

    def __getitem__(self, word: str) -> int:
        return self._by_text[word]
