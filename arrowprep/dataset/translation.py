"""A text in several languages: one of each, or any number of those that there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from arrowprep.errors import BadArgument

_TEXTS = pa.list_(pa.string())


@dataclass(frozen=True)
class Translation:
    """{"en": text, "fr": text}: one text a language, stored in the order of the languages' names."""

    languages: list[str]
    id: str | None = field(default=None, repr=False)

    dtype = "dict"

    @property
    def pa_type(self) -> pa.DataType:
        return pa.struct([(language, pa.string()) for language in sorted(self.languages)])

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def to_dict(self) -> dict[str, Any]:
        return {"languages": self.languages, "_type": "Translation"}

    def encode_example(self, value: Mapping[str, str] | None) -> dict[str, str | None] | None:
        return None if value is None else {language: value.get(language) for language in self.languages}


@dataclass(frozen=True)
class TranslationVariableLanguages:
    """{"en": text, "fr": [text, text]}, shown as {"language": [...], "translation": [...]}, sorted.

    languages: that may occur; None for any
    """

    languages: list[str] | None = None
    num_languages: int | None = None
    id: str | None = field(default=None, repr=False)

    dtype = "dict"

    def __post_init__(self) -> None:
        languages = sorted(set(self.languages)) if self.languages else None
        object.__setattr__(self, "languages", languages)
        object.__setattr__(self, "num_languages", len(languages) if languages else None)

    @property
    def pa_type(self) -> pa.DataType:
        return pa.struct([("language", _TEXTS), ("translation", _TEXTS)])

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def to_dict(self) -> dict[str, Any]:
        facts = {"languages": self.languages, "num_languages": self.num_languages}
        told = {name: fact for name, fact in facts.items() if fact is not None}
        return {**told, "_type": "TranslationVariableLanguages"}

    def encode_example(self, value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """The texts by language. Raises BadArgument for a language that is not among ours."""
        if value is None or set(value) == {"language", "translation"}:
            return value
        if self.languages and (unknown := sorted(set(value) - set(self.languages))):
            raise BadArgument(f"{', '.join(unknown)} is none of the languages {', '.join(self.languages)}")
        pairs = [
            (language, text)
            for language, texts in value.items()
            for text in ([texts] if isinstance(texts, str) else texts)
        ]
        return {
            "language": [language for language, _ in sorted(pairs)],
            "translation": [text for _, text in sorted(pairs)],
        }
