"""Tokenizer: a pipeline whose parts can be looked at and set, and all that is asked of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import xxhash

from arrowprep.errors import BadArgument, NotText
from arrowprep.tokenize.added_tokens import AddedToken, AddedVocabulary
from arrowprep.tokenize.columns import Columns, Texts, Wanted, encode_columns
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.decoders import Decoder
from arrowprep.tokenize.encoding import Encoding, pad_all
from arrowprep.tokenize.engine import Choice, choose_engine
from arrowprep.tokenize.models import Model
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.padding import Padding
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.pre_tokenizers import PreTokenizer
from arrowprep.tokenize.processors import PostProcessor
from arrowprep.tokenize.rows import Framing, encode_row, encode_rows, post_process
from arrowprep.tokenize.tokenizer_json import TokenizerFile, dump_tokenizer, read_tokenizer
from arrowprep.tokenize.trainers import Trainer, count_words, default_trainer, texts_of
from arrowprep.tokenize.truncation import Truncation

_KINDS: dict[str, type[Component]] = {
    "normalizer": Normalizer,
    "pre_tokenizer": PreTokenizer,
    "model": Model,
    "post_processor": PostProcessor,
    "decoder": Decoder,
}


class Tokenizer:
    """A pipeline from text to ids and back.

    normalizer, pre_tokenizer, model, post_processor, decoder: its parts, live: an
        attribute set on one takes effect at the next call, here and in every
        other tokenizer that shares the part
    encode_special_tokens: special tokens in a text are treated as text

    A call works on the parts as they were when it began, and changes nothing:
    settings given to `encode_columns` are that call's alone.
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
    def from_str(cls, json: str) -> Tokenizer:
        """From the text of a tokenizer.json.

        Raises BadTokenizerFile, which names the place, or UnsupportedComponent.
        """
        return cls.from_parts(read_tokenizer(json))

    @classmethod
    def from_buffer(cls, buffer: bytes) -> Tokenizer:
        """From its bytes."""
        return cls.from_parts(read_tokenizer(bytes(buffer)))

    @classmethod
    def from_file(cls, path: str | Path) -> Tokenizer:
        """From the file, or the file compressed (.gz)."""
        return cls.from_parts(read_tokenizer(Path(path)))

    @classmethod
    def from_parts(cls, file: TokenizerFile) -> Tokenizer:
        """Of parts that a reader of another file format made, with their added tokens."""
        tokenizer = cls.__new__(cls)
        Tokenizer.__init__(tokenizer, file.model)
        for name, part in file.parts.items():
            setattr(tokenizer, name, part)
        tokenizer._added.load(file.added_tokens, file.model)
        tokenizer._truncation, tokenizer._padding = file.truncation, file.padding
        return tokenizer

    def to_str(self, pretty: bool = False) -> str:
        """The text of its tokenizer.json."""
        return dump_tokenizer(self._as_file(), pretty)

    def save(self, path: str | Path, pretty: bool = True) -> None:
        """Write its tokenizer.json."""
        Path(path).write_text(self.to_str(pretty), encoding="utf-8")

    def _as_file(self) -> TokenizerFile:
        parts = {name: part for name, part in self._parts.items() if name != "model"}
        return TokenizerFile(self.model, parts, self._added.by_id(), self._truncation, self._padding)

    def __getstate__(self) -> dict[str, Any]:
        state = {"json": self.to_str(), "encode_special_tokens": self.encode_special_tokens}
        return {**state, "cache_bytes": self._cache_bytes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(Tokenizer.from_str(state["json"]).__dict__)
        self.encode_special_tokens = state["encode_special_tokens"]
        self._cache_bytes = state["cache_bytes"]

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        # a snapshot shares the vocabulary, which never changes: no parse of the whole file
        twin = type(self).__new__(type(self))
        Tokenizer.__init__(twin, self.model.snapshot())
        for name, part in self._parts.items():
            setattr(twin, name, part and part.snapshot())
        twin._added = self._added.copy()
        twin._truncation, twin._padding = self._truncation, self._padding
        twin._cache_bytes = self._cache_bytes
        return twin

    def __copy__(self) -> Tokenizer:
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        choice = self._choice()
        return (
            f"Tokenizer({type(self.model).__name__}, {self.get_vocab_size():,} tokens,"
            f" {choice.engine.name} engine: {choice.why})"
        )

    # ------------------------------------------------------------------ state

    def _state(self) -> tuple[Any, ...]:
        """Equal as long as nothing that matters was set."""
        stamps = tuple(part and part.stamps() for part in self._parts.values())
        return (stamps, self._added.stamp, self._truncation, self._padding, self._cache_bytes)

    def _choice(self) -> Choice:
        """The engine of the parts as they are now; made anew when something was set."""
        state = self._state()
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

        Kept until something is set. Calls do not change it.
        """
        state = self._state()
        kept = self._fingerprint
        if kept is None or kept[0] != state:
            sections = {
                name: part and part.to_json() for name, part in self._parts.items() if name != "model"
            }
            content = {
                **sections,
                "model": [self.model.options_json(), self.model.digest],
                "added_tokens": [token.to_json(id) for id, token in self._added.by_id()],
                "encode_special_tokens": self.encode_special_tokens,
                "truncation": self._truncation and self._truncation.to_json(),
                "padding": self._padding and self._padding.to_json(),
            }
            text = json.dumps(content, sort_keys=True)
            kept = (state, xxhash.xxh3_128_hexdigest(text.encode()))
            self._fingerprint = kept
        return kept[1]

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

    # ------------------------------------------------------------------ vocabulary

    def token_to_id(self, token: str) -> int | None:
        """The id of a token; None where it is unknown."""
        id = self._added.ids.get(token)
        return self.model.token_to_id(token) if id is None else id

    def id_to_token(self, id: int) -> str | None:
        """The token of an id; None where it is unknown.

        An added token that is looked for in normalized text is shown normalized.
        """
        token: str | None = self._engine.pipeline.id_to_token(check_id(id))
        return token

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Tokens and their ids."""
        return {**self.model.get_vocab(), **(self._added.ids if with_added_tokens else {})}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """How many tokens there are; with gaps in the ids it is less than the highest id + 1."""
        size = self.model.get_vocab_size()
        if not with_added_tokens:
            return size
        return size + sum(self.model.token_to_id(content) is None for content in self._added.ids)

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """The added tokens by id; copies, for a change of theirs has no effect."""
        return {id: copy.copy(token) for id, token in self._added.by_id()}

    def add_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """Add tokens that are cut out of the text before all else; how many were new.

        A word of the vocabulary keeps its id and counts as new; one given again with
        other flags counts too, and gets them.
        """
        return self._added.add([_as_added(token, special=False) for token in _listed(tokens)], self.model)

    def add_special_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """The same for special tokens, which decoding can skip."""
        return self._added.add([_as_added(token, special=True) for token in _listed(tokens)], self.model)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens the post-processor adds to a text, or to a pair."""
        processor = self.post_processor
        return processor.num_special_tokens_to_add(is_pair) if processor else 0

    # ------------------------------------------------------------------ training

    def train_from_iterator(
        self, iterator: Iterable[Any], trainer: Trainer[Any] | None = None, length: int | None = None
    ) -> None:
        """Replace the model's vocabulary by one that is learnt from texts, or from lists of texts.

        The trainer's special tokens are added. Every distinct piece of the corpus is
        kept in memory, the texts are not; an exception of the iterator comes through.
        trainer: None takes that of the model's kind with its usual options
        length: of the iterator, for a progress bar
        """
        trainer = trainer or default_trainer(self.model)
        trainer.check(self.model)
        words = count_words(texts_of(iterator), self.normalizer, self.pre_tokenizer)
        trainer.train(words, self.model)
        self.add_special_tokens(trainer.special_tokens)

    def train(self, files: Sequence[str | Path], trainer: Trainer[Any] | None = None) -> None:
        """The same with the lines of text files."""
        if isinstance(files, (str, Path)):
            files = [files]

        def lines() -> Iterator[str]:
            for file in files:
                with open(file, encoding="utf-8", newline="") as text:
                    yield from text

        self.train_from_iterator(lines(), trainer)

    # ------------------------------------------------------------------ truncation and padding

    @property
    def truncation(self) -> dict[str, Any] | None:
        return self._truncation.as_dict() if self._truncation else None

    def enable_truncation(
        self, max_length: int, stride: int = 0, strategy: str = "longest_first", direction: str = "right"
    ) -> None:
        """Truncate from now on. Raises BadArgument when the stride leaves a text no way forward."""
        settings = Truncation(max_length, stride, strategy, direction)
        room = max_length - self.num_special_tokens_to_add(False)
        if 0 <= room < stride:
            raise BadArgument(f"stride={stride} is more than the {room} tokens of a window", stride=stride)
        self._truncation = settings

    def no_truncation(self) -> None:
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
        return self._padding.as_dict() if self._padding else None

    def enable_padding(
        self,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Pad from now on: `encode_batch` all rows together, `encode` its one."""
        self._padding = Padding(direction, pad_id, pad_type_id, pad_token, length, pad_to_multiple_of)

    def no_padding(self) -> None:
        self._padding = None

    # ------------------------------------------------------------------ encode and decode

    def encode(
        self,
        sequence: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """The encoding of a text or a pair, with the tokenizer's own truncation and padding."""
        engine = self._engine
        return encode_row(engine, sequence, pair, _framing(engine, add_special_tokens, is_pretokenized))

    def encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """The encodings of texts; an element that is a pair, a tuple or a list of two, is encoded as one."""
        engine = self._engine
        pairs = [_as_pair(item, is_pretokenized) for item in input]
        return encode_rows(engine, pairs, _framing(engine, add_special_tokens, is_pretokenized))

    def encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """The same ids; offsets, tokens and words are left empty."""
        encodings = self.encode_batch(input, is_pretokenized, add_special_tokens)
        for encoding in encodings:
            for part in (encoding, *encoding.overflowing):
                part.offsets, part.tokens, part.words = (
                    [(0, 0)] * len(part),
                    [""] * len(part),
                    [None] * len(part),
                )
        return encodings

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Truncate, frame and pad encodings that were made without special tokens; they stay as they are."""
        pipeline = self._engine.pipeline
        parts = [part.copy() for part in (encoding, pair) if part is not None]
        framing = Framing(add_special_tokens, pipeline.truncation, pipeline.padding)
        whole = post_process(pipeline, parts, framing)
        if pipeline.padding:
            pad_all([whole], pipeline.padding)
        return whole

    def encode_columns(
        self,
        texts: Texts,
        pairs: Texts | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: Truncation | None = None,
        padding: Padding | None = None,
        offsets: bool = False,
        words: bool = False,
        special_tokens_mask: bool = False,
        is_pretokenized: bool = False,
        encode_special_tokens: bool | None = None,
        overflow: bool = True,
    ) -> Columns:
        """Many texts, or pairs, as Arrow columns, with this call's own settings.

        The tokenizer's truncation and padding play no part. A text that is None is a
        null row. overflow: what truncation cuts off becomes further rows, and `sample`
        says which text each is of; else it is dropped.
        """
        choice = self._choice()
        engine: Any = choice.engine
        if encode_special_tokens not in (None, engine.pipeline.added.encode_special_tokens):
            engine = self._other_engine(bool(encode_special_tokens))
        framing = Framing(add_special_tokens, truncation, padding, is_pretokenized)
        wanted = Wanted(offsets, words, special_tokens_mask, overflow)
        return encode_columns(engine, texts, pairs, framing, wanted)

    def _other_engine(self, encode_special_tokens: bool) -> Any:
        """An engine for a call that sees special tokens in the other way; kept beside the usual one."""
        pipeline = self._engine.pipeline
        kept = pipeline.__dict__.get("_other")
        if kept is None:
            added = pipeline.added.copy()
            added.encode_special_tokens = encode_special_tokens
            from dataclasses import replace

            kept = choose_engine(replace(pipeline, added=added), cache_bytes=self._cache_bytes).engine
            pipeline.__dict__["_other"] = kept
        return kept

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of ids. An id that is in no vocabulary is passed over."""
        text: str = self._engine.decode_row([check_id(id) for id in ids], skip_special_tokens)
        return text

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """The text of each list of ids."""
        engine = self._engine
        return [engine.decode_row([check_id(id) for id in ids], skip_special_tokens) for ids in sequences]

    def decode_column(self, ids: pa.ListArray, skip_special_tokens: bool = False) -> pa.StringArray:
        """The text of each row of an Arrow list column; null where the row is."""
        return self._engine.decode(ids, skip_special_tokens=skip_special_tokens)


def _framing(engine: Any, add_special_tokens: bool, words_given: bool) -> Framing:
    pipeline = engine.pipeline
    return Framing(add_special_tokens, pipeline.truncation, pipeline.padding, words_given)


def _as_pair(item: Any, words_given: bool) -> tuple[Any, Any]:
    """A batch's element as text and pair."""
    if words_given:
        is_pair = len(item) == 2 and not isinstance(item[0], str)
    else:
        is_pair = isinstance(item, (tuple, list)) and len(item) == 2
    return (item[0], item[1]) if is_pair else (item, None)


def _listed(tokens: Iterable[str | AddedToken]) -> Iterable[str | AddedToken]:
    if isinstance(tokens, (str, AddedToken)):
        raise NotText("tokens are given as a list, not one alone", given=type(tokens).__name__)
    return tokens


def _as_added(token: str | AddedToken, *, special: bool) -> AddedToken:
    if isinstance(token, str):
        return AddedToken(token, special=special)
    if not isinstance(token, AddedToken):
        raise NotText(
            f"a token is a str or an AddedToken, not {type(token).__name__}", given=type(token).__name__
        )
    if special and not token.special:
        token = AddedToken(**{**token.__getstate__(), "special": True})
    return token


def check_id(id: int) -> int:
    """An id as a number. Raises OverflowError below 0 and above 2**32 - 1."""
    number = id.__index__()
    if not 0 <= number < 2**32:
        raise OverflowError(f"an id is between 0 and 2**32 - 1, not {number}")
    return number
