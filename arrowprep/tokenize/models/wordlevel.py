"""WordLevel: a piece is a token."""

from __future__ import annotations

from typing import Any

from arrowprep.errors import TokenizerError
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models.base import Token, Vocabulary, VocabularyModel, read_vocabulary


class WordLevel(VocabularyModel):
    """Looks whole pieces up. One that is not there is `unk_token`, whose absence is an error then."""

    kind = "WordLevel"

    def __init__(self, vocab: dict[str, int] | None = None, unk_token: str = "<unk>") -> None:
        self.unk_token = unk_token
        self._tables = Vocabulary(dict(vocab or {}))

    @classmethod
    def from_json(cls, spec: Spec) -> WordLevel:
        return cls(read_vocabulary(spec), spec.text("unk_token"))

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
