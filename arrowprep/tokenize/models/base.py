"""Model: the vocabulary, and how a piece is looked up in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from arrowprep.errors import BadArgument, WrongType
from arrowprep.tokenize.bulk import Flat, feed_texts, little_endian, utf8
from arrowprep.tokenize.component import Component, Spec
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.ragged import positions

Ints = npt.NDArray[np.int64]


class Token(NamedTuple):
    """A token of a piece: its number, its text, and the characters [start, end) of the piece."""

    id: int
    value: str
    offsets: tuple[int, int]

    def as_tuple(self) -> tuple[int, str, tuple[int, int]]:
        return self.id, self.value, self.offsets


class FlatTokens(NamedTuple):
    """The tokens of n pieces, one piece after the other.

    counts: (n,) how many each has
    ids: (t,) their numbers
    starts, ends: (t,) the characters [start, end) of the piece; None where nobody asked
    """

    counts: Ints
    ids: Ints
    starts: Ints | None = None
    ends: Ints | None = None

    def beside(self, others: FlatTokens, ours: npt.NDArray[np.bool_]) -> FlatTokens:
        """These where `ours` is true, of (n,) pieces, and the others where it is not."""
        counts = np.empty(len(ours), np.int64)
        counts[ours], counts[~ours] = self.counts, others.counts
        begins = np.cumsum(counts) - counts
        mine, theirs = (positions(begins[which], counts[which]) for which in (ours, ~ours))
        columns = []
        for a, b in zip(self[1:], others[1:], strict=True):
            if a is not None and b is not None:
                columns.append(np.empty(len(mine) + len(theirs), np.int64))
                columns[-1][mine], columns[-1][theirs] = a, b
        return FlatTokens(counts, *columns)

    @classmethod
    def of_ids(cls, rows: Sequence[Sequence[int]]) -> FlatTokens:
        counts = np.fromiter(map(len, rows), np.int64, len(rows))
        return cls(counts, np.fromiter(chain.from_iterable(rows), np.int64, int(counts.sum())))

    @classmethod
    def of(cls, rows: Sequence[Sequence[Token]]) -> FlatTokens:
        counts = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = [(token.id, *token.offsets) for tokens in rows for token in tokens]
        return cls(counts, *np.array(flat, np.int64).reshape(-1, 3).T)


class Model(Component):
    """Turns pieces into tokens. A vocabulary never changes once a model is built."""

    def tokenize(self, sequence: str) -> list[Token]:
        """The tokens of one piece."""
        raise NotImplementedError

    def ids(self, sequence: str) -> list[int]:
        """The ids of `tokenize` alone."""
        return [token.id for token in self.tokenize(sequence)]

    def tokenize_all(self, sequences: Sequence[str], *, located: bool) -> FlatTokens:
        """The tokens of many pieces; their places too if `located`."""
        if located:
            return FlatTokens.of(list(map(self.tokenize, sequences)))
        return FlatTokens.of_ids(list(map(self.ids, sequences)))

    def get_trainer(self) -> Any:
        """The trainer of this kind of model, with its usual options."""
        from arrowprep.tokenize.trainers import default_trainer

        return default_trainer(self)

    def token_to_id(self, token: str) -> int | None:
        raise NotImplementedError

    def id_to_token(self, id: int) -> str | None:
        raise NotImplementedError

    def ids_of(self, tokens: Sequence[str], likely: Sequence[int]) -> list[int | None]:
        """`token_to_id` of many. likely: the ids that most of them have"""
        return list(map(self.token_to_id, tokens))

    def get_vocab(self) -> dict[str, int]:
        """A copy of the vocabulary."""
        raise NotImplementedError

    def get_vocab_size(self) -> int:
        raise NotImplementedError

    def save(self, folder: str | Path, prefix: str | None = None) -> list[str]:
        """Write the vocabulary as files in a folder, their names after `prefix-`; returns the paths."""
        raise NotImplementedError

    @property
    def is_random(self) -> bool:
        """Whether a piece may come out in another way each time."""
        return False

    @property
    def untold(self) -> frozenset[int] | None:
        """The ids whose token may stand for another text than its own; None where all may."""
        return None

    def unreachable(self) -> list[str]:
        """The tokens that no text gives; worked out anew each time, some seconds for a large vocabulary."""
        return []

    @property
    def digest(self) -> str:
        """A name for the vocabulary's content."""
        raise NotImplementedError

    def options_json(self) -> dict[str, Any]:
        """`to_json` without the vocabulary."""
        raise NotImplementedError


FEW = 1000  # lookups that are sooner done than a dict of a whole vocabulary is made
SHARE = 16  # tokens whose entries in dicts take as long as a character of text that is looked up without


class Vocabulary:
    """Tokens and their ids, both ways; shared by copies of a model and never changed.

    given: a dict; or flat, as the kernel reads it: then dicts are made when they pay
    flat: the texts in the order given; numbers: (n,) their ids
    """

    def __init__(self, given: dict[str, int] | FlatVocabulary) -> None:
        self._read = None
        self._asked = 0
        self._characters = 0
        if isinstance(given, FlatVocabulary):
            self._read = given
            self.flat, self.numbers = given.texts, given.numbers
        else:
            self.ids = given

    @cached_property
    def ids(self) -> dict[str, int]:
        return dict(zip(self.flat.list(), self.numbers.tolist(), strict=True))

    @cached_property
    def flat(self) -> Flat:
        return utf8(list(self.ids), "surrogatepass")

    @cached_property
    def numbers(self) -> npt.NDArray[np.int64]:
        return np.fromiter(self.ids.values(), np.int64, len(self.ids))

    @cached_property
    def tokens(self) -> dict[int, str]:
        return {id: token for token, id in self.ids.items()}

    def id_of(self, token: str) -> int | None:
        """The id of a token; None where it is none."""
        return self.ids.get(token) if self._read is None or self._worth_dicts() else self._read.id_of(token)

    def ids_of(self, tokens: Sequence[str], likely: Sequence[int]) -> list[int | None]:
        """The ids of many tokens. likely: those that most of them have"""
        return list(map(self.id_of, tokens)) if self._read is None else self._read.ids_of(tokens, likely)

    def token_of(self, id: int) -> str | None:
        """The token of an id."""
        if self._read is None or not self._read.rising or self._worth_dicts():
            return self.tokens.get(id)
        return self._read.token_of(id)

    def few(self, characters: int) -> FlatVocabulary | None:
        """What to look tokens up in as long as there were few characters of text, these included."""
        self._characters += characters
        return self._read if self._characters * SHARE < len(self.numbers) else None

    def _worth_dicts(self) -> bool:
        self._asked += 1
        return self._asked > FEW or "ids" in vars(self)

    @cached_property
    def longest(self) -> int:
        """Characters of the longest token."""
        return max(map(len, self.ids), default=0)

    @cached_property
    def digest(self) -> str:
        hasher = xxhash.xxh3_128()
        self.feed(hasher.update)
        return hasher.hexdigest()

    def feed(self, update: Callable[[bytes], None]) -> None:
        """Give all of the content to a hash: the ids in their order, and their tokens."""
        numbers, texts = self.numbers, self.flat
        if self.order is not None:
            numbers, texts = numbers[self.order], texts.chosen(self.order)
        update(little_endian(numbers))
        feed_texts(update, texts)

    @cached_property
    def order(self) -> npt.NDArray[np.int64] | None:
        """(n,) the places of the tokens in the order of their ids; None where that is the order given."""
        numbers = self.numbers
        rising = self._read.rising if self._read else (numbers[1:] > numbers[:-1]).all()
        return None if rising else np.argsort(numbers, kind="stable")

    def by_id(self) -> dict[str, int]:
        """In the order of ids, as files are written."""
        return dict(sorted(self.ids.items(), key=lambda item: item[1]))


class VocabularyModel(Model):
    """A model whose vocabulary is tokens and their ids."""

    _tables: Vocabulary

    @property
    def digest(self) -> str:
        return self._tables.digest

    @property
    def untold(self) -> frozenset[int] | None:
        return frozenset()

    def token_to_id(self, token: str) -> int | None:
        return self._tables.id_of(token)

    def id_to_token(self, id: int) -> str | None:
        return self._tables.token_of(id)

    def ids_of(self, tokens: Sequence[str], likely: Sequence[int]) -> list[int | None]:
        return self._tables.ids_of(tokens, likely)

    def get_vocab(self) -> dict[str, int]:
        return dict(self._tables.ids)

    def get_vocab_size(self) -> int:
        return len(self._tables.numbers)


def vocabulary_of(spec: Spec) -> dict[str, int] | FlatVocabulary:
    """What is at "vocab": the object, or what the kernel has read of it."""
    vocab = spec.get("vocab", (dict, FlatVocabulary))
    return vocab if isinstance(vocab, FlatVocabulary) else read_vocabulary(spec)


def checked_vocabulary(vocab: Any) -> dict[str, int]:
    """A copy of a vocabulary that was given. Raises BadArgument, and WrongType for what is none."""
    if vocab is not None and not isinstance(vocab, Mapping):
        raise WrongType(
            f"a vocabulary is a dict of tokens to ids, not {type(vocab).__name__}", argument="vocab"
        )
    ids = dict(vocab or {})
    if set(map(type, ids)) - {str} or not all(
        hasattr(kind, "__index__") for kind in set(map(type, ids.values()))
    ):
        token = next(
            token for token, id in ids.items() if type(token) is not str or not hasattr(id, "__index__")
        )
        raise WrongType(
            f"the vocabulary has {token!r}: {ids[token]!r}, no token and its id", argument="vocab"
        )
    if ids and not 0 <= min(ids.values()) <= max(ids.values()) < 2**32:
        token = next(token for token, id in ids.items() if not 0 <= id < 2**32)
        raise BadArgument(f"the id {ids[token]} of token {token!r} is out of range", argument="vocab")
    return ids


def read_vocabulary(spec: Spec) -> dict[str, int]:
    """The object at "vocab", token to id."""
    vocab: dict[str, int] = spec.get("vocab", dict)
    # a set of types instead of a check each: 200,000 entries in 2 ms
    if set(map(type, vocab.values())) - {int}:
        token = next(token for token, id in vocab.items() if type(id) is not int)
        raise spec.bad(f"the id of token {token!r} in the vocabulary is no whole number")
    if vocab and not 0 <= min(vocab.values()) <= max(vocab.values()) < 2**32:
        token = next(token for token, id in vocab.items() if not 0 <= id < 2**32)
        raise spec.bad(f"the id {vocab[token]} of token {token!r} is out of range")
    return vocab
