"""Tokenizer: a pipeline whose parts can be looked at and set, and all that is asked of it."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import replace
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrowprep.errors import BadArgument, NotText, WrongType
from arrowprep.tokenize.added_tokens import AddedToken, as_added_tokens
from arrowprep.tokenize.assembly import Assembly
from arrowprep.tokenize.async_calls import in_thread, taken
from arrowprep.tokenize.check import Finding, findings
from arrowprep.tokenize.columns import Columns, Texts, Wanted, encode_columns
from arrowprep.tokenize.encoding import Encoding, pad_all
from arrowprep.tokenize.engine import choose_engine
from arrowprep.tokenize.padding import Padding
from arrowprep.tokenize.rows import Framing, encode_row, encode_rows, post_process
from arrowprep.tokenize.truncation import Truncation, check_choice

if TYPE_CHECKING:
    from arrowprep.tokenize.trainers import Trainer
    from arrowprep.tokenize.trainers.corpus import Block


class Tokenizer(Assembly):
    """A pipeline from text to ids and back.

    normalizer, pre_tokenizer, model, post_processor, decoder: its parts, live: an
        attribute set on one takes effect at the next call, here and in every
        other tokenizer that shares the part
    encode_special_tokens: special tokens in a text are treated as text

    A call works on the parts as they were when it began, and changes nothing:
    settings given to `encode_columns` are that call's alone.
    """

    def __repr__(self) -> str:
        choice = self._choice()
        return (
            f"Tokenizer({type(self.model).__name__}, {self.get_vocab_size():,} tokens,"
            f" {choice.engine.name} engine: {choice.why})"
        )

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
        return self._added.add(as_added_tokens(tokens, special=False), self.model)

    def add_special_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """The same for special tokens, which decoding can skip."""
        return self._added.add(as_added_tokens(tokens, special=True), self.model)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens the post-processor adds to a text, or to a pair."""
        processor = self.post_processor
        return processor.num_special_tokens_to_add(is_pair) if processor else 0

    def check(self) -> list[Finding]:
        """What is wrong with it though it works: tokens that no text gives, ids that are others'.

        Empty where all is well. Takes some 3 seconds for 150,000 tokens.
        """
        return list(findings(self, set(self._added.ids)))

    # ------------------------------------------------------------------ training

    def train_from_iterator(
        self, iterator: Iterable[Any], trainer: Trainer[Any] | None = None, length: int | None = None
    ) -> None:
        """Replace the model's vocabulary by one that is learnt from texts, or from lists of texts.

        The trainer's special tokens are added; tokens that were added before stay, with
        ids of the new vocabulary. Every distinct piece of the corpus is kept in memory,
        the texts are not; an exception of the iterator comes through.
        trainer: None takes that of the model's kind with its usual options
        length: of the iterator, for a progress bar
        """
        from arrowprep.tokenize.trainers import blocks_of  # here and below: most tokenizers are never trained

        trainer = self._checked(trainer)
        self._learn(blocks_of(iterator, length, trainer.show_progress), trainer)

    def train(self, files: Sequence[str | Path], trainer: Trainer[Any] | None = None) -> None:
        """The same with the lines of text files, each with its end."""
        from arrowprep.tokenize.trainers import lines_of

        trainer = self._checked(trainer)
        files = [files] if isinstance(files, (str, Path)) else files
        self._learn(lines_of(files, trainer.show_progress), trainer)

    def _checked(self, trainer: Trainer[Any] | None) -> Trainer[Any]:
        from arrowprep.tokenize.trainers import Trainer, default_trainer

        trainer = default_trainer(self.model) if trainer is None else trainer
        if not isinstance(trainer, Trainer):
            raise WrongType(f"trainer is a Trainer, not {type(trainer).__name__}", argument="trainer")
        trainer.check(self.model)
        return trainer

    def _learn(self, blocks: Iterable[Block], trainer: Trainer[Any]) -> None:
        from arrowprep.tokenize.trainers import count_words

        trainer.train(count_words(blocks, self.normalizer, self.pre_tokenizer), self.model)
        before, self._added = self._added.by_id(), self._added.emptied()
        self.add_special_tokens(trainer.special_tokens)
        self._added.add((token for _, token in before), self.model)

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
        *,
        offsets: str = "first",
    ) -> Encoding:
        """The encoding of a text or a pair, with the tokenizer's own truncation and padding.

        offsets: "full" gives a character that a normalizer made of several the span of
            all of them, "first" that of one (e and an accent become é: that of the e)
        """
        engine = self._engine_for(full_offsets=_is_full(offsets))
        return encode_row(engine, sequence, pair, _framing(engine, add_special_tokens, is_pretokenized))

    def encode_batch(
        self,
        input: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
        *,
        offsets: str = "first",
    ) -> list[Encoding]:
        """The encodings of texts; an element that is a pair, a tuple or a list of two, is encoded as one."""
        engine = self._engine_for(full_offsets=_is_full(offsets))
        return _encode_batch(engine, input, is_pretokenized, add_special_tokens)

    def encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """The same ids; offsets, words and, but for added ones, the texts of tokens are left empty.

        Types are 0, of a pair's second text too, but where the post-processor sets them.
        """
        return _encode_batch(self._engine, input, is_pretokenized, add_special_tokens, ids_only=True)

    def async_encode(
        self,
        sequence: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Awaitable[Encoding]:
        """`encode` in a thread of the running event loop, of what is given and set now."""
        engine = self._engine
        framing = _framing(engine, add_special_tokens, is_pretokenized)
        return in_thread(encode_row, engine, taken(sequence), taken(pair), framing)

    def async_encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Awaitable[list[Encoding]]:
        """`encode_batch` in such a thread."""
        return in_thread(_encode_batch, self._engine, taken(input), is_pretokenized, add_special_tokens)

    def async_encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Awaitable[list[Encoding]]:
        """`encode_batch_fast` in such a thread."""
        return in_thread(_encode_batch, self._engine, taken(input), is_pretokenized, add_special_tokens, True)

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
        offsets: bool | str = False,
        words: bool = False,
        special_tokens_mask: bool = False,
        is_pretokenized: bool = False,
        encode_special_tokens: bool | None = None,
        overflow: bool = True,
    ) -> Columns:
        """Many texts, or pairs, as Arrow columns, with this call's own settings.

        The tokenizer's truncation and padding play no part. A text that is None is a
        null row.

        offsets: True, or "first" or "full", as for `encode`
        overflow: what truncation cuts off becomes further rows, and `sample` says which
            text each is of; else it is dropped
        """
        full = _is_full(offsets) if isinstance(offsets, str) else False
        engine = self._engine_for(encode_special_tokens=encode_special_tokens, full_offsets=full)
        framing = Framing(add_special_tokens, truncation, padding, is_pretokenized)
        wanted = Wanted(bool(offsets), words, special_tokens_mask, overflow)
        return encode_columns(engine, texts, pairs, framing, wanted)

    def _engine_for(self, *, encode_special_tokens: bool | None = None, full_offsets: bool = False) -> Any:
        """The usual engine; for a call that wants something else one that is kept beside it."""
        engine = self._engine
        pipeline = engine.pipeline
        usual = pipeline.added.encode_special_tokens
        wanted = (usual if encode_special_tokens is None else encode_special_tokens, full_offsets)
        if wanted == (usual, False):
            return engine
        if wanted not in pipeline.variants:
            added = pipeline.added.copy()
            added.encode_special_tokens = wanted[0]
            other = replace(pipeline, added=added, full_offsets=full_offsets)
            pipeline.variants[wanted] = choose_engine(other, cache_bytes=self._cache_bytes).engine
        return pipeline.variants[wanted]

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of ids. An id that is in no vocabulary is passed over."""
        text: str = self._engine.decode_row([check_id(id) for id in ids], skip_special_tokens)
        return text

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """The text of each list of ids."""
        return _decode_batch(self._engine, sequences, skip_special_tokens)

    def async_decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> Awaitable[list[str]]:
        """`decode_batch` in a thread of the running event loop."""
        return in_thread(_decode_batch, self._engine, taken(sequences), skip_special_tokens)

    def decode_column(self, ids: pa.ListArray, skip_special_tokens: bool = False) -> pa.StringArray:
        """The text of each row of an Arrow list column; null where the row is."""
        return self._engine.decode(ids, skip_special_tokens=skip_special_tokens)


def _is_full(offsets: str) -> bool:
    check_choice("offsets", offsets, {"first": "first", "full": "full"})
    return offsets == "full"


def _framing(engine: Any, add_special_tokens: bool, words_given: bool, ids_only: bool = False) -> Framing:
    pipeline = engine.pipeline
    return Framing(add_special_tokens, pipeline.truncation, pipeline.padding, words_given, ids_only)


def _encode_batch(
    engine: Any, input: Sequence[Any], words_given: bool, add_special_tokens: bool, ids_only: bool = False
) -> list[Encoding]:
    if isinstance(input, str):
        raise NotText("a batch is a list of texts, not one text", given="str")
    pairs = [_as_pair(item, words_given) for item in input]
    return encode_rows(engine, pairs, _framing(engine, add_special_tokens, words_given, ids_only))


def _decode_batch(engine: Any, rows: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
    return [engine.decode_row([check_id(id) for id in ids], skip_special_tokens) for ids in rows]


def _as_pair(item: Any, words_given: bool) -> tuple[Any, Any]:
    """A batch's element as text and pair."""
    if words_given:
        is_pair = len(item) == 2 and not isinstance(item[0], str)
    else:
        is_pair = isinstance(item, (tuple, list)) and len(item) == 2
    return (item[0], item[1]) if is_pair else (item, None)


def check_id(id: int) -> int:
    """An id as a number. Raises TypeError for what is none, OverflowError below 0 and above 2**32 - 1."""
    number = index(id)
    if not 0 <= number < 2**32:
        raise OverflowError(f"an id is between 0 and 2**32 - 1, not {number}")
    return number
