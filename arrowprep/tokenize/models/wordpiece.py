"""WordPiece: the longest token of the vocabulary first, from left to right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arrowprep.errors import TokenizerError
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models import storage
from arrowprep.tokenize.models.base import (
    Token,
    Vocabulary,
    VocabularyModel,
    checked_vocabulary,
    vocabulary_of,
)


class WordPiece(VocabularyModel):
    """Greedy longest match. A piece that cannot be spelled to its end is one unknown token.

    vocab: or the path of a vocab.txt
    continuing_subword_prefix: stands before every token of a piece but the first
    max_input_chars_per_word: a longer piece, in characters, is one unknown token
    """

    kind = "WordPiece"

    def __init__(
        self,
        vocab: dict[str, int] | str | Path | None = None,
        *,
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 100,
        continuing_subword_prefix: str = "##",
    ) -> None:
        self.unk_token = unk_token
        self.continuing_subword_prefix = continuing_subword_prefix
        self.max_input_chars_per_word = max_input_chars_per_word
        if isinstance(vocab, (str, Path)):
            vocab = self.read_file(vocab)
        self._tables = Vocabulary(checked_vocabulary(vocab))

    @classmethod
    def from_json(cls, spec: Spec) -> WordPiece:
        model = cls(
            unk_token=spec.text("unk_token"),
            max_input_chars_per_word=spec.count("max_input_chars_per_word"),
            continuing_subword_prefix=spec.text("continuing_subword_prefix"),
        )
        model._tables = Vocabulary(vocabulary_of(spec))
        return model

    @staticmethod
    def read_file(vocab: str | Path) -> dict[str, int]:
        """The vocabulary of a vocab.txt: a token a line, in the order of ids."""
        return storage.read_vocab_txt(vocab)

    @classmethod
    def from_file(cls, vocab: str | Path, **options: Any) -> WordPiece:
        """From a vocab.txt."""
        return cls(cls.read_file(vocab), **options)

    def save(self, folder: str | Path, prefix: str | None = None) -> list[str]:
        lines = "".join(f"{token}\n" for token in self._tables.by_id())
        return [storage.write(folder, prefix, "vocab.txt", lines)]

    def options_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "unk_token": self.unk_token,
            "continuing_subword_prefix": self.continuing_subword_prefix,
            "max_input_chars_per_word": self.max_input_chars_per_word,
        }

    def to_json(self) -> dict[str, Any]:
        return {**self.options_json(), "vocab": self._tables.by_id()}

    def unreachable(self) -> list[str]:
        """The tokens that are longer than the longest word."""
        prefix, longest = self.continuing_subword_prefix, self.max_input_chars_per_word
        tokens = (token for token in self._tables.ids if token != self.unk_token)
        return [token for token in tokens if len(token.removeprefix(prefix)) > longest]

    def tokenize(self, sequence: str) -> list[Token]:
        tokens = self._spelled(sequence) if len(sequence) <= self.max_input_chars_per_word else None
        if tokens is not None:
            return tokens
        id = self._tables.ids.get(self.unk_token)
        if id is None:
            raise TokenizerError(
                f"the unknown token {self.unk_token!r} is not in the vocabulary", unk_token=self.unk_token
            )
        return [Token(id, self.unk_token, (0, len(sequence)))]

    def _spelled(self, sequence: str) -> list[Token] | None:
        ids = self._tables.ids
        tokens: list[Token] = []
        start = 0
        while start < len(sequence):
            prefix = self.continuing_subword_prefix if start else ""
            for stop in range(min(len(sequence), start + self._tables.longest), start, -1):
                value = prefix + sequence[start:stop]
                if value in ids:
                    tokens.append(Token(ids[value], value, (start, stop)))
                    start = stop
                    break
            else:
                return None
        return tokens
