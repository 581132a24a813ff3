"""BpeTables: a vocabulary and its merges, as numbers of places in the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain, islice, repeat
from operator import add, eq

import numpy as np
import numpy.typing as npt

from arrowprep.errors import BadArgument
from arrowprep.tokenize.bulk import little_endian, uncollected
from arrowprep.tokenize.models.base import Vocabulary
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.models.merging import Ranks
from arrowprep.tokenize.models.merging_many import PairTable
from arrowprep.tokenize.native_files import every_way

DICT_ENTRIES = 2  # of a dict of the vocabulary, which are made in the time of one lookup without it


class BpeTables(Vocabulary):
    """The vocabulary and the merges, and what is derived from them when first needed.

    ways: (3, m) the left and the right token of each merge, and what they make, by rank, as
        places in the order in which the vocabulary has its tokens: a tenth of the memory of
        texts. None stands for every way to make a token of two others, by the place of that
    """

    def __init__(
        self,
        given: dict[str, int] | FlatVocabulary,
        ways: npt.NDArray[np.int32] | None = None,
    ) -> None:
        super().__init__(given)
        self._ways = ways

    @property
    def ways(self) -> npt.NDArray[np.int32]:
        if self._ways is None:
            self._ways = every_way(self.flat)
            if self._ways is None:
                self._ways = _every_way(list(self.ids))
        return self._ways

    @property
    def parts(self) -> npt.NDArray[np.int32]:
        """(2m,) left, right, left, right, ..."""
        return self.ways[:2].T.ravel()

    @classmethod
    def of(cls, ids: dict[str, int], flat: Sequence[str], prefix: str = "") -> BpeTables:
        """Of merges as left, right, left, right, ..., where a right token loses the prefix.

        Raises BadArgument for the first that cannot be done.
        """
        if not flat:
            return cls(ids, np.empty((3, 0), np.int32))
        lefts, rights = flat[::2], flat[1::2]
        inner = [right[len(prefix) :] for right in rights] if prefix else rights
        places = _places(ids)
        try:
            made = _found(list(map(add, lefts, inner)), places)
            parts = np.fromiter(map(places.__getitem__, flat), np.int32, len(flat))
            return cls(ids, np.stack([parts[::2], parts[1::2], made]))
        except KeyError:
            pass
        for rank, (left, right) in enumerate(zip(lefts, rights, strict=True)):
            for token in (left, right, left + right[len(prefix) :]):
                if token not in ids:
                    problem = f"joins {left!r} and {right!r}, but {token!r} is not in the vocabulary"
                    raise BadArgument(f"merges[{rank}] {problem}", argument="merges")
        raise AssertionError("all merges can be done")

    @cached_property
    def places(self) -> dict[str, int]:
        """Where in the order of the vocabulary each token stands."""
        return _places(self.ids)

    @cached_property
    def texts(self) -> list[str]:
        """The tokens by place."""
        return list(self.ids)

    @cached_property
    def id_list(self) -> list[int]:
        """The ids by place."""
        return list(self.ids.values())

    @cached_property
    def of_characters(self) -> npt.NDArray[np.int32]:
        """The place of the token that is a character alone, by its code; -1 where none is, as the last is."""
        data, offsets = self.flat
        sizes = np.diff(offsets)
        first = np.frombuffer(data + b"\0", np.uint8)[offsets[:-1]]  # it says how many follow
        alone = sizes == 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)
        found = {
            ord(data[offsets[place] : offsets[place + 1]].decode("utf-8", "surrogatepass")): place
            for place in np.flatnonzero(alone).tolist()
        }
        places = np.full(max(found, default=0) + 2, -1, np.int32)
        places[list(found)] = list(found.values())
        return places

    def spelled(self, texts: str) -> npt.NDArray[np.int32]:
        """(n,) the place of each character's token; -1 where it has none."""
        codes = np.frombuffer(texts.encode("utf-32-le", "surrogatepass"), np.uint32)
        return self.of_characters[np.minimum(codes, len(self.of_characters) - 1)]

    def places_of(self, texts: Sequence[str]) -> npt.NDArray[np.int32]:
        """(n,) the places of the tokens that texts are; -1 where one is none."""
        if self._read is None or "ids" in vars(self) or len(texts) > len(self.numbers) // DICT_ENTRIES:
            places: Iterable[int] = map(self.places.get, texts, repeat(-1))
        else:
            places = (self._read.find(text.encode("utf-8", "surrogatepass")) for text in texts)
        return np.fromiter(places, np.int32, len(texts))

    @cached_property
    def pairs(self) -> PairTable:
        """The merges as numbers of places."""
        return PairTable(*self.ways)

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The pairs by rank, made anew each time."""
        parts = map(self.texts.__getitem__, self.parts.tolist())
        return list(zip(parts, parts, strict=True))

    @cached_property
    def ranks(self) -> Ranks[int]:
        """The ranks of pairs of places."""
        lefts, rights, _ = self.ways.tolist()
        with uncollected():
            # of a pair that is given twice the later rank stays
            return dict(zip(zip(lefts, rights, strict=True), range(len(lefts)), strict=True))

    @cached_property
    def made(self) -> list[int]:
        """What each merge makes, by rank."""
        found: list[int] = self.ways[2].tolist()
        return found

    def join(self, left: int, right: int) -> int:
        """The place of what a pair becomes."""
        return self.made[self.ranks[left, right]]

    def feed(self, update: Callable[[bytes], None]) -> None:
        super().feed(update)
        parts = self.parts
        if self.order is not None:
            by_id = np.empty(len(self.numbers), np.int32)
            by_id[self.order] = np.arange(len(by_id), dtype=np.int32)
            parts = by_id[parts]
        update(little_endian(parts))


def _every_way(tokens: list[str]) -> npt.NDArray[np.int32]:
    """(3, m) the places of left, right and whole for each way to cut a token in two; 150,000: 0.4 s."""
    place = dict(zip(tokens, range(len(tokens)), strict=True)).get
    found: list[tuple[int, int]] = []
    counts = []
    for token in tokens:
        ways = [
            (left, right)
            for i in range(1, len(token))
            if (left := place(token[:i])) is not None and (right := place(token[i:])) is not None
        ]
        found += sorted(ways) if len(ways) > 1 else ways
        counts.append(len(ways))
    parts = np.fromiter(chain.from_iterable(found), np.int32, 2 * len(found))
    made = np.repeat(np.arange(len(tokens), dtype=np.int32), counts)
    return np.stack([parts[::2], parts[1::2], made])


def _places(ids: dict[str, int]) -> dict[str, int]:
    return ids if _in_order(ids) else dict(zip(ids, range(len(ids)), strict=True))


def _in_order(ids: dict[str, int]) -> bool:
    """Whether the ids are 0, 1, 2, ..."""
    return all(map(eq, ids.values(), range(len(ids))))


def _found(texts: list[str], places: dict[str, int]) -> npt.NDArray[np.int32]:
    """Where each stands; soon known where they are a part of the vocabulary, in its order."""
    first = places.get(texts[0]) if texts else None
    if first is not None and list(islice(places, first, first + len(texts))) == texts:
        return np.arange(first, first + len(texts), dtype=np.int32)
    return np.fromiter(map(places.__getitem__, texts), np.int32, len(texts))
