"""The reference engine: the pipeline in Python, text by text; what it does is right by definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from arrowprep.errors import NotText, TokenizerError
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.engine import Encoded
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.pre_tokenizers.base import cut_all
from arrowprep.tokenize.ragged import from_flat

V = TypeVar("V")

CACHE_BYTES = 32 << 20
LONGEST_CACHED = 256  # characters: longer pieces do not come again
TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


class WordCache(dict[str, V], Generic[V]):
    """What was worked out for a piece; bounded, and emptied when it is full.

    A miss is worked out by `__missing__`, so that a lookup stays one call in C:
    `map(cache.__getitem__, pieces)`.
    """

    def __init__(self, compute: Callable[[str], V], limit_bytes: int) -> None:
        super().__init__()
        self._compute = compute
        self._limit = limit_bytes
        self._size = 0

    def __missing__(self, piece: str) -> V:
        value = self._compute(piece)
        if self._limit and len(piece) <= LONGEST_CACHED:
            # a str of 50 bytes and its letters, the tuple, its share of the table
            self._size += 250 + 4 * len(piece) + 16 * len(piece)
            if self._size > self._limit:
                self.clear()
                self._size = 0
            self[piece] = value
        return value


class Tokens(NamedTuple):
    """The tokens of one piece; places and word numbers count from where the piece begins.

    num_words: into how many pieces the later pre-tokenizers cut it
    """

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    words: tuple[int, ...]
    values: tuple[str, ...]
    num_words: int


class Trace(NamedTuple):
    """The tokens of one text: ids, character spans, word numbers, and their texts."""

    ids: list[int]
    starts: list[int]
    ends: list[int]
    words: list[int]
    values: list[str]


class ReferenceEngine:
    """An Engine over a pipeline's own components.

    What the first pre-tokenizer cuts is worked out once: all that follows, later
    pre-tokenizers and the model, depends on nothing but the piece. So ids of
    ordinary text are a `findall`, a lookup a piece, and a chain.
    """

    name = "reference"

    def __init__(self, pipeline: Pipeline, cache_bytes: int = CACHE_BYTES) -> None:
        self.pipeline = pipeline
        self._first = pipeline.leaves[0] if pipeline.leaves else None
        self._later = pipeline.leaves[1:]
        self._knows_start = any(leaf.knows_start for leaf in pipeline.leaves)
        if getattr(pipeline.model, "dropout", None):
            cache_bytes = 0  # each piece may come out in another way each time
        self._tokens = WordCache(self._tokenize, cache_bytes)
        self._ids = WordCache(lambda piece: self._tokenize(piece).ids, cache_bytes)

    # ------------------------------------------------------------------ one text

    def ids(self, text: str) -> list[int]:
        """The ids alone."""
        if self._knows_start:
            return self.trace(text).ids
        ids: list[int] = []
        lookup = self._ids.__getitem__
        for stretch, id in self.pipeline.plain_stretches(text):
            if id is None:
                ids.extend(chain.from_iterable(map(lookup, self._pieces(stretch))))
            else:
                ids.append(id)
        return ids

    def trace(self, text: str) -> Trace:
        """Ids with where they came from."""
        trace = Trace([], [], [], [], [])
        word = 0
        for stretch, id in self.pipeline.stretches(text):
            if id is None:
                word = self._trace_stretch(stretch, word, trace)
                continue
            start, end = stretch.span(0, len(stretch.text))
            for column, value in zip(trace, (id, start, end, word, stretch.text), strict=True):
                column.append(value)  # type: ignore[attr-defined]
            word += 1
        return trace

    def _trace_stretch(self, stretch: Aligned, word: int, trace: Trace) -> int:
        """Add the tokens of a stretch; returns the number of the next word."""
        prepared = self._first.prepare(stretch) if self._first else stretch
        ids, starts, ends, words, values = trace
        at_start = self._knows_start and prepared.start == 0
        changed = prepared.starts is not None
        base = prepared.start
        for at, piece in self._placed(prepared.text):
            tokens = self._tokenize(piece, 0) if at_start and not at else self._tokens[piece]
            ids += tokens.ids
            values += tokens.values
            if changed:
                for start, end in zip(tokens.starts, tokens.ends, strict=True):
                    start, end = prepared.span(at + start, at + end)
                    starts.append(start)
                    ends.append(end)
            else:
                starts += [base + at + start for start in tokens.starts]
                ends += [base + at + end for end in tokens.ends]
            words += [word + number for number in tokens.words]
            word += tokens.num_words
        return word

    def _pieces(self, stretch: str) -> list[str]:
        """What the first pre-tokenizer cuts a stretch into."""
        first = self._first
        if first is None:
            return [stretch]
        prepared = first.prepare_str(stretch)
        pieces = first.pieces(prepared)
        if pieces is None:
            pieces = [prepared[start:stop] for start, stop in first.spans(prepared) if start < stop]
        return pieces

    def _placed(self, prepared: str) -> Iterator[tuple[int, str]]:
        """The same, each piece with where it begins."""
        first = self._first
        pieces = [prepared] if first is None else first.pieces(prepared)
        if pieces is None:
            assert first is not None
            for start, stop in first.spans(prepared):
                if start < stop:
                    yield start, prepared[start:stop]
            return
        at = 0
        for piece in pieces:
            yield at, piece
            at += len(piece)

    def _tokenize(self, piece: str, start: int = 1) -> Tokens:
        """A piece of the first pre-tokenizer through all that follows.

        start: 0 where the piece is the start of the text, which some components know
        """
        aligned = Aligned(piece, start)
        pieces = cut_all(self._later, [self._first.finish(aligned) if self._first else aligned])
        found = []
        for word, small in enumerate(pieces):
            for token in self.pipeline.model.tokenize(small.text):
                first, last = small.span(*token.offsets)
                found.append((token.id, first - start, last - start, word, token.value))
        ids, starts, ends, words, values = tuple(zip(*found, strict=True)) or ((),) * 5
        return Tokens(ids, starts, ends, words, values, len(pieces))

    # ------------------------------------------------------------------ many texts

    def encode(self, texts: pa.Array, *, offsets: bool = False, words: bool = False) -> Encoded:
        """Ids of each text without the post-processor's tokens, truncation or padding."""
        if pa.types.is_dictionary(texts.type):
            encoded = self.encode(texts.dictionary, offsets=offsets, words=words)
            columns = (encoded.ids, encoded.starts, encoded.ends, encoded.words)
            return Encoded(*(None if column is None else column.take(texts.indices) for column in columns))
        if not any(is_text(texts.type) for is_text in TEXT_TYPES) and not pa.types.is_null(texts.type):
            raise NotText(f"texts are Arrow strings, not {texts.type}", given=str(texts.type))
        if not offsets and not words:
            rows = self._each(texts, self.ids)
            return Encoded(_list_array(rows, chain.from_iterable(row for row in rows if row is not None)))
        traces = self._each(texts, self.trace)

        def column(i: int) -> pa.ListArray:
            rows = [trace and trace[i] for trace in traces]
            return _list_array(rows, chain.from_iterable(row for row in rows if row is not None))

        return Encoded(
            ids=column(0),
            starts=column(1) if offsets else None,
            ends=column(2) if offsets else None,
            words=column(3) if words else None,
        )

    @staticmethod
    def _each(texts: pa.Array, encode: Callable[[str], Any]) -> list[Any]:
        rows: list[Any] = []
        try:
            for text in texts.to_pylist():
                rows.append(None if text is None else encode(text))  # noqa: PERF401 - the row is wanted below
        except TokenizerError as error:
            raise type(error)(
                f"row {len(rows)}: {error.message}", **{**error.facts, "row": len(rows)}
            ) from error
        return rows

    def decode(self, ids: pa.ListArray, *, skip_special_tokens: bool = False) -> pa.StringArray:
        """The text of each list of ids."""
        rows = ids.to_pylist()
        texts = [None if row is None else self.decode_row(row, skip_special_tokens) for row in rows]
        return pa.array(texts, pa.string())

    def decode_row(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        """The text of ids. Ids that are in no vocabulary are passed over."""
        pipeline = self.pipeline
        special = pipeline.added.special if skip_special_tokens else ()
        tokens = [
            token for id in ids if (token := pipeline.id_to_token(id)) is not None and token not in special
        ]
        # without a decoder nothing says how tokens join: a space is right for whole words alone
        return pipeline.decoder.decode(tokens) if pipeline.decoder else " ".join(tokens)


def _list_array(rows: list[list[int] | None], values: Iterator[int]) -> pa.ListArray:
    """(n,) list<int32> of rows that are lists or None."""
    lengths = np.fromiter((0 if row is None else len(row) for row in rows), np.int64, len(rows))
    flat = np.fromiter(values, np.int32, int(lengths.sum()))
    whole = from_flat(flat, lengths)
    if None not in rows:
        return whole
    missing = np.fromiter((row is None for row in rows), bool, len(rows))
    return pa.ListArray.from_arrays(whole.offsets, whole.values, mask=pa.array(missing))
