"""WordLevel: a piece is a token."""

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
    read_vocabulary,
    vocabulary_of,
)

UNKNOWN = "<unk>"


class WordLevel(VocabularyModel):
    """Looks whole pieces up. One that is not there is `unk_token`, whose absence is an error then.

    vocab: or the path of a vocab.json
    """

    kind = "WordLevel"

    def __init__(
        self, vocab: dict[str, int] | str | Path | None = None, unk_token: str | None = None
    ) -> None:
        if isinstance(vocab, (str, Path)):
            vocab = self.read_file(vocab)
        self.unk_token = UNKNOWN if unk_token is None else unk_token
        self._tables = Vocabulary(checked_vocabulary(vocab))

    @classmethod
    def from_json(cls, spec: Spec) -> WordLevel:
        model = cls(unk_token=spec.text("unk_token"))
        model._tables = Vocabulary(vocabulary_of(spec))
        return model

    @staticmethod
    def read_file(vocab: str | Path) -> dict[str, int]:
        """The vocabulary of a vocab.json."""
        return read_vocabulary(storage.read_vocab_json(vocab))

    @classmethod
    def from_file(cls, vocab: str | Path, unk_token: str | None = None) -> WordLevel:
        """From a vocab.json."""
        return cls(cls.read_file(vocab), unk_token)

    def save(self, folder: str | Path, prefix: str | None = None) -> list[str]:
        return [storage.write(folder, prefix, "vocab.json", storage.compact(self._tables.by_id()))]

    def options_json(self) -> dict[str, Any]:
        return {"type": self.kind, "unk_token": self.unk_token}

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "vocab": self._tables.by_id(), "unk_token": self.unk_token}

    def tokenize(self, sequence: str) -> list[Token]:
        ids = self._tables.ids
        value = sequence if sequence in ids else self.unk_token
        if value not in ids:
            raise TokenizerError(
                f"neither {sequence!r} nor the unknown token {value!r} is in the vocabulary", unk_token=value
            )
        return [Token(ids[value], value, (0, len(sequence)))]
