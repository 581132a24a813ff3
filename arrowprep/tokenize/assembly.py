"""Assembly: the parts of a tokenizer, and what follows from them: its file, its engine, its name."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import xxhash

from arrowprep.errors import warn
from arrowprep.tokenize.added_tokens import AddedVocabulary
from arrowprep.tokenize.component import Component, latest_stamp
from arrowprep.tokenize.custom import content_of_part, has_customs
from arrowprep.tokenize.decoders import Decoder
from arrowprep.tokenize.engine import Choice, choose_engine
from arrowprep.tokenize.models import Model, WordLevel
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.padding import Padding
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.pre_tokenizers import PreTokenizer
from arrowprep.tokenize.processors import PostProcessor
from arrowprep.tokenize.tokenizer_json import (
    TokenizerFile,
    dump_apart,
    dump_tokenizer,
    read_apart,
    read_tokenizer,
)
from arrowprep.tokenize.truncation import Truncation

A = TypeVar("A", bound="Assembly")

_KINDS: dict[str, type[Component]] = {
    "normalizer": Normalizer,
    "pre_tokenizer": PreTokenizer,
    "model": Model,
    "post_processor": PostProcessor,
    "decoder": Decoder,
}


class Assembly:
    """Five parts and the added tokens, live; a snapshot of them is what a call works on.

    Whatever is derived from the parts is kept with their stamps, and made anew once
    these differ: setting a part costs nothing until the next call.
    """

    normalizer: Normalizer | None
    pre_tokenizer: PreTokenizer | None
    model: Model
    post_processor: PostProcessor | None
    decoder: Decoder | None

    def __init__(self, model: Model) -> None:
        self._parts: dict[str, Any] = dict.fromkeys(_KINDS)
        self._added = AddedVocabulary()
        self._truncation: Truncation | None = None
        self._padding: Padding | None = None
        self._current: tuple[tuple[Any, ...], Choice] | None = None
        self._seen: tuple[tuple[Any, ...], Choice] | None = None
        self._fingerprint: tuple[tuple[Any, ...], str] | None = None
        self._cache_bytes: int | None = None
        self.model = model

    def __getattr__(self, name: str) -> Any:
        # only reached for names that are no ordinary attribute: the parts
        if name in _KINDS and "_parts" in self.__dict__:
            return self._parts[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _KINDS:
            object.__setattr__(self, name, value)
            return
        if not isinstance(value, _KINDS[name]) and (value is not None or name == "model"):
            raise TypeError(f"{name} must be a {_KINDS[name].__name__}, not {type(value).__name__}")
        self._parts = {**self._parts, name: value}

    # ------------------------------------------------------------------ files

    @classmethod
    def from_str(cls: type[A], json: str) -> A:
        """From the text of a tokenizer.json.

        Raises BadTokenizerFile, which names the place, or UnsupportedComponent.
        """
        return cls.from_parts(read_tokenizer(json))

    @classmethod
    def from_buffer(cls: type[A], buffer: bytes) -> A:
        """From its bytes."""
        return cls.from_parts(read_tokenizer(bytes(buffer)))

    @classmethod
    def from_file(cls: type[A], path: str | Path) -> A:
        """From the file, or the file compressed (.gz)."""
        return cls.from_parts(read_tokenizer(Path(path)))

    @classmethod
    def from_pretrained(
        cls: type[A], identifier: str | Path, revision: str = "main", token: str | None = None
    ) -> A:
        """From the tokenizer.json that the hub's own tools keep of "org/name", or that of a folder.

        Nothing is downloaded, so there is nothing to show a token for. Raises MissingFile.
        """
        from arrowprep.tokenize.files import huggingface

        place = huggingface.place_of(identifier, revision)
        return cls.from_file(place / huggingface.TOKENIZER if place.is_dir() else place)

    @classmethod
    def from_parts(cls: type[A], file: TokenizerFile) -> A:
        """Of parts that a reader of another file format made, with their added tokens."""
        tokenizer = cls.__new__(cls)
        Assembly.__init__(tokenizer, file.model)
        for name, part in file.parts.items():
            setattr(tokenizer, name, part)
        tokenizer._added.load(file.added_tokens, file.model)
        tokenizer._truncation, tokenizer._padding = file.truncation, file.padding
        return tokenizer

    def to_str(self, pretty: bool = False) -> str:
        """The text of its tokenizer.json."""
        return dump_tokenizer(self._as_file(), pretty)

    def save(self, path: str | Path, pretty: bool = True) -> None:
        """Write its tokenizer.json; warns where decoding will put spaces into words."""
        if self.decoder is None and not isinstance(self.model, WordLevel):
            kind = type(self.model).__name__
            warn(
                f"the tokenizer has no decoder, so decoding joins the tokens of its {kind} by spaces;"
                " set tokenizer.decoder before it is saved"
            )
        Path(path).write_text(self.to_str(pretty), encoding="utf-8")

    def _as_file(self) -> TokenizerFile:
        parts = {name: part for name, part in self._parts.items() if name != "model"}
        return TokenizerFile(self.model, parts, self._added.by_id(), self._truncation, self._padding)

    def __getstate__(self) -> dict[str, Any]:
        # what no file can hold travels beside it, pickled as the object is
        parts = {name: part for name, part in self._parts.items() if has_customs(part)}
        file = self._as_file()
        file = replace(file, parts={**file.parts, **dict.fromkeys(parts)})
        text, vocabulary = dump_apart(file) or (dump_tokenizer(file, pretty=False), None)
        state = {"json": text, "vocabulary": vocabulary, "cache_bytes": self._cache_bytes}
        return {**state, "encode_special_tokens": self.encode_special_tokens, "parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vocabulary = state["vocabulary"]
        text = state["json"]
        file = read_tokenizer(text) if vocabulary is None else read_apart(text, vocabulary)
        self.__dict__.update(type(self).from_parts(file).__dict__)
        for name, part in state["parts"].items():
            setattr(self, name, part)
        self.encode_special_tokens = state["encode_special_tokens"]
        self._cache_bytes = state["cache_bytes"]

    def __deepcopy__(self: A, memo: dict[int, Any]) -> A:
        # a snapshot shares the vocabulary, which never changes: no parse of the whole file
        twin = type(self).__new__(type(self))
        Assembly.__init__(twin, self.model.snapshot())
        for name, part in self._parts.items():
            custom = has_customs(part)
            setattr(twin, name, copy.deepcopy(part, memo) if custom else part and part.snapshot())
        twin._added = self._added.copy()
        twin._truncation, twin._padding = self._truncation, self._padding
        twin._cache_bytes = self._cache_bytes
        return twin

    def __copy__(self: A) -> A:
        return copy.deepcopy(self)

    # ------------------------------------------------------------------ state

    def _state(self) -> tuple[Any, ...]:
        """Equal as long as nothing that matters was set."""
        stamps = tuple(part and part.stamps() for part in self._parts.values())
        return (stamps, self._added.stamp, self._truncation, self._padding, self._cache_bytes)

    def _choice(self) -> Choice:
        """The engine of the parts as they are now; made anew when something was set."""
        # to compare every component's stamp takes longer than to encode a short text
        seen = (
            latest_stamp(),
            self._parts,
            self._added.stamp,
            self._truncation,
            self._padding,
            self._cache_bytes,
        )
        if self._seen is not None and self._seen[0] == seen:
            return self._seen[1]
        choice = self._choice_of(self._state())
        self._seen = (seen, choice)
        return choice

    def _choice_of(self, state: tuple[Any, ...]) -> Choice:
        current = self._current
        if current is None or current[0] != state:
            parts = {name: part and part.snapshot() for name, part in self._parts.items()}
            pipeline = Pipeline(
                **parts, added=self._added.copy(), truncation=self._truncation, padding=self._padding
            )
            current = (state, choose_engine(pipeline, cache_bytes=self._cache_bytes))
            self._current = current
        return current[1]

    @property
    def engine(self) -> Choice:
        """Which engine runs, and why it is that one."""
        return self._choice()

    @property
    def _engine(self) -> Any:
        return self._choice().engine

    @property
    def fingerprint(self) -> str:
        """A name for all that decides its output; equal in every process.

        Kept until something is set. Calls do not change it. Raises Unnameable for a
        custom component that holds something which cannot be named by its content.
        """
        state = self._state()
        kept = self._fingerprint
        if kept is None or kept[0] != state:
            text = json.dumps(self._content(), sort_keys=True)
            kept = (state, xxhash.xxh3_128_hexdigest(text.encode()))
            # what is set within an object of the user's leaves no stamp
            self._fingerprint = None if any(map(has_customs, self._parts.values())) else kept
        return kept[1]

    def _content(self) -> dict[str, Any]:
        parts = {
            name: part and content_of_part(part) for name, part in self._parts.items() if name != "model"
        }
        return {
            **parts,
            "model": [self.model.options_json(), self.model.digest],
            "added_tokens": [token.to_json(id) for id, token in self._added.by_id()],
            "encode_special_tokens": self.encode_special_tokens,
            "truncation": self._truncation and self._truncation.to_json(),
            "padding": self._padding and self._padding.to_json(),
        }

    @property
    def cache_bytes(self) -> int | None:
        """Limit of the word cache, 0 for none; None is the usual one. Changes no result."""
        return self._cache_bytes

    @cache_bytes.setter
    def cache_bytes(self, limit: int | None) -> None:
        self._cache_bytes = limit

    @property
    def encode_special_tokens(self) -> bool:
        return self._added.encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        if self._added.encode_special_tokens != value:
            self._added.encode_special_tokens = value
            self._added.touch()
