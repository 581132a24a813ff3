"""Model: the vocabulary, and how a piece is looked up in it."""

from __future__ import annotations

from typing import Any, NamedTuple

from arrowprep.tokenize.component import Component, Spec


class Token(NamedTuple):
    """A token of a piece: its number, its text, and the characters [start, end) of the piece."""

    id: int
    value: str
    offsets: tuple[int, int]


class Model(Component):
    """Turns pieces into tokens. A vocabulary never changes once a model is built."""

    def tokenize(self, sequence: str) -> list[Token]:
        """The tokens of one piece."""
        raise NotImplementedError

    def token_to_id(self, token: str) -> int | None:
        raise NotImplementedError

    def id_to_token(self, id: int) -> str | None:
        raise NotImplementedError

    def get_vocab(self) -> dict[str, int]:
        """A copy of the vocabulary."""
        raise NotImplementedError

    def get_vocab_size(self) -> int:
        raise NotImplementedError

    @property
    def digest(self) -> str:
        """A name for the vocabulary's content."""
        raise NotImplementedError

    def options_json(self) -> dict[str, Any]:
        """`to_json` without the vocabulary."""
        raise NotImplementedError


class Vocabulary:
    """Tokens and their ids, both ways; shared by copies of a model and never changed."""

    def __init__(self, ids: dict[str, int]) -> None:
        self.ids = ids
        self._tokens: dict[int, str] | None = None

    @property
    def tokens(self) -> dict[int, str]:
        if self._tokens is None:
            self._tokens = {id: token for token, id in self.ids.items()}
        return self._tokens

    def by_id(self) -> dict[str, int]:
        """In the order of ids, as files are written."""
        return dict(sorted(self.ids.items(), key=lambda item: item[1]))


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
