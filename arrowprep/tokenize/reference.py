"""The reference engine: the pipeline in Python, text by text; what it does is right by definition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import accumulate, chain, islice, takewhile
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.errors import NotText, TokenizerError
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.bulk import uncollected
from arrowprep.tokenize.engine import Encoded
from arrowprep.tokenize.models.base import Token
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.pre_tokenizers.base import cut_all
from arrowprep.tokenize.ragged import from_flat

V = TypeVar("V")

CACHE_BYTES = 32 << 20
LONGEST_CACHED = 256  # characters: longer pieces do not come again
BYTES_AT_ONCE = 2 << 20  # of text, whose pieces are held until all are known
MANY = 64  # pieces that are worked out together sooner than one by one
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

    def learn(self, pieces: Iterable[str], compute_all: Callable[[list[str]], Iterable[V]]) -> None:
        """Work out together those of many pieces that are not there."""
        missing = [piece for piece in pieces if piece not in self and len(piece) <= LONGEST_CACHED]
        if self._limit and len(missing) >= MANY:
            for piece, value in zip(missing, compute_all(missing), strict=True):
                self._keep(piece, value)

    def __missing__(self, piece: str) -> V:
        return self._keep(piece, self._compute(piece))

    def _keep(self, piece: str, value: V) -> V:
        if self._limit and len(piece) <= LONGEST_CACHED:
            # the str, a tuple or six of them, and their share of the table: measured, rounded up
            self._size += 400 + 40 * len(piece)
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


class Cut(NamedTuple):
    """A stretch of a text, prepared, and its pieces with their places; or an added token with its id."""

    stretch: Aligned
    id: int | None
    places: list[int]
    pieces: list[str]


Located = tuple[list[Tokens], list[int]]


class ReferenceEngine:
    """An Engine over a pipeline's own components.

    What the first pre-tokenizer cuts is worked out once: all that follows, later
    pre-tokenizers and the model, depends on nothing but the piece. So ids of
    ordinary text are a `findall`, a lookup a piece, and a chain.
    """

    name = "reference"

    def __init__(self, pipeline: Pipeline, cache_bytes: int = CACHE_BYTES) -> None:
        self.pipeline = pipeline
        leaves = pipeline.leaves
        self._first = leaves[0] if leaves and leaves[0].in_steps else None
        self._later = leaves[1:] if self._first else leaves
        self._knows_start = any(leaf.knows_start for leaf in leaves)
        if pipeline.model.is_random or not all(leaf.in_steps for leaf in leaves):
            cache_bytes = 0  # each piece may come out in another way each time
        self._tokens = WordCache(self._tokenize, cache_bytes)
        self._ids = WordCache(self._ids_of, cache_bytes)

    # ------------------------------------------------------------------ one text

    def ids(self, text: str) -> list[int]:
        """The ids alone."""
        return self.trace(text).ids if self._knows_start else self._ids_in(self._cut(text))

    def _cut(self, text: str) -> list[list[str] | int]:
        """The pieces of each stretch of a text; an id where an added token stands."""
        stretches = self.pipeline.plain_stretches(text)
        return [self._pieces(stretch) if id is None else id for stretch, id in stretches]

    def _ids_in(self, cut: list[list[str] | int]) -> list[int]:
        ids: list[int] = []
        lookup = self._ids.__getitem__
        for pieces in cut:
            if isinstance(pieces, int):
                ids.append(pieces)
            else:
                ids.extend(chain.from_iterable(map(lookup, pieces)))
        return ids

    def trace(self, text: str) -> Trace:
        """Ids with where they came from."""
        pieces, places = self._located(text)
        trace = Trace([], [], [], [], [])
        word = 0
        for tokens, place in zip(pieces, places, strict=True):
            trace.ids.extend(tokens.ids)
            trace.starts.extend(place + start for start in tokens.starts)
            trace.ends.extend(place + end for end in tokens.ends)
            trace.words.extend(word + number for number in tokens.words)
            trace.values.extend(tokens.values)
            word += tokens.num_words
        return trace

    def traces(self, texts: list[str]) -> list[Trace]:
        """The same of several texts."""
        return list(map(self.trace, texts))

    def _located(self, text: str) -> Located:
        """The tokens of each piece of a text, and the place that they count from."""
        return self._located_in(self._cut_located(text))

    def _cut_located(self, text: str) -> list[Cut]:
        """The stretches of a text and the pieces of each."""
        cuts = []
        for stretch, id in self.pipeline.stretches(text):
            if id is not None:
                cuts.append(Cut(stretch, id, [], []))
                continue
            prepared = self._first.prepare(stretch) if self._first else stretch
            cuts.append(Cut(prepared, None, *self._placed(prepared.text)))
        return cuts

    def _located_in(self, cuts: list[Cut]) -> Located:
        pieces: list[Tokens] = []
        places: list[int] = []
        for prepared, id, at, cut in cuts:
            if id is not None:
                start, end = prepared.span(0, len(prepared.text))
                pieces.append(Tokens((id,), (0,), (end - start,), (0,), (prepared.text,), 1))
                places.append(start)
                continue
            # pieces that begin where the text does: several, where what is there was inserted
            first = sum(1 for _ in takewhile(_begins(prepared), at)) if self._knows_start else 0
            found = list(map(self._tokens.__getitem__, cut[first:]))
            if prepared.starts is not None:
                found = [
                    _moved(tokens, prepared, place) for tokens, place in zip(found, at[first:], strict=True)
                ]
                begun = zip(at[:first], cut[:first], strict=True)
                found[:0] = [self._begun(prepared.slice(place, place + len(piece))) for place, piece in begun]
                at = [0] * len(found)
            elif first:
                found[:0] = [self._tokenize(piece, 0) for piece in cut[:first]]
            elif prepared.start:
                at = [prepared.start + place for place in at]
            pieces += found
            places += at
        return pieces, places

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

    def _placed(self, prepared: str) -> tuple[list[int], list[str]]:
        """The same, and where each piece begins."""
        first = self._first
        pieces = [prepared] if first is None else first.pieces(prepared)
        if pieces is not None:
            return list(accumulate(map(len, pieces[:-1]), initial=0)), pieces
        assert first is not None
        spans = [(start, stop) for start, stop in first.spans(prepared) if start < stop]
        return [start for start, _ in spans], [prepared[start:stop] for start, stop in spans]

    def _tokenize(self, piece: str, start: int = 1) -> Tokens:
        """A piece of the first pre-tokenizer through all that follows.

        start: 0 where the piece is the start of the text, which some components know
        """
        pieces = self._aligned(piece, start)
        return _tokens(pieces, [self.pipeline.model.tokenize(small.text) for small in pieces], start)

    def _begun(self, piece: Aligned) -> Tokens:
        """The same of a piece whose later characters may stand for the start of the text as well."""
        pieces = cut_all(self._later, [self._first.finish(piece) if self._first else piece])
        return _tokens(pieces, [self.pipeline.model.tokenize(small.text) for small in pieces], 0)

    def _tokenize_all(self, pieces: list[str]) -> list[Tokens]:
        """The same of many pieces, in two thirds of the time."""
        cut = [self._aligned(piece, 1) for piece in pieces]
        found = iter(self.pipeline.model.tokenize_all([small.text for smaller in cut for small in smaller]))
        return [_tokens(smaller, list(islice(found, len(smaller))), 1) for smaller in cut]

    def _aligned(self, piece: str, start: int) -> list[Aligned]:
        aligned = Aligned(piece, start, full=self.pipeline.full_offsets)
        return cut_all(self._later, [self._first.finish(aligned) if self._first else aligned])

    def _ids_of(self, piece: str) -> tuple[int, ...]:
        """The ids of `_tokenize` alone, in half the time."""
        return tuple(id for small in self._smaller(piece) for id in self.pipeline.model.ids(small))

    def _ids_of_all(self, pieces: list[str]) -> list[tuple[int, ...]]:
        """The same of many pieces, in a quarter of that."""
        if not any(leaf.cuts for leaf in self._later):
            for leaf in (self._first, *self._later):
                pieces = leaf.finish_all(pieces) if leaf else pieces
            return list(map(tuple, self.pipeline.model.ids_of_all(pieces)))
        smaller = list(map(self._smaller, pieces))
        ids = iter(self.pipeline.model.ids_of_all(list(chain.from_iterable(smaller))))
        return [tuple(chain.from_iterable(islice(ids, len(parts)))) for parts in smaller]

    def _smaller(self, piece: str) -> list[str]:
        """What the model sees of a piece of the first pre-tokenizer."""
        texts = [self._first.finish_str(piece) if self._first else piece]
        for leaf in self._later:
            texts = [small for text in texts for small in leaf.cut_str(text)]
        return texts

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
            return Encoded(_id_column(self._rows_of_ids(texts)))
        return _located_columns(self._rows_of_places(texts), offsets, words)

    def _rows_of_ids(self, texts: pa.Array) -> list[list[int] | None]:
        """`ids` of each text; new pieces are worked out together, for some hundred texts at once."""
        if self._knows_start:
            return self._each(texts.to_pylist(), self.ids)
        rows: list[list[int] | None] = []
        for part in _parts(texts):
            with uncollected():
                cuts = self._each(part, self._cut, len(rows))
                pieces = (pieces for cut in cuts if cut for pieces in cut if not isinstance(pieces, int))
                with suppress(TokenizerError):  # whose row is found below
                    self._ids.learn(set().union(*pieces), self._ids_of_all)
                rows += self._each(cuts, self._ids_in, len(rows))
        return rows

    def _rows_of_places(self, texts: pa.Array) -> list[Located | None]:
        """`_located` of each text, in the same way."""
        rows: list[Located | None] = []
        for part in _parts(texts):
            with uncollected():
                cuts = self._each(part, self._cut_located, len(rows))
                with suppress(TokenizerError):
                    pieces = set().union(*(pieces for cut in cuts if cut for *_, pieces in cut))
                    self._tokens.learn(pieces, self._tokenize_all)
                rows += self._each(cuts, self._located_in, len(rows))
        return rows

    @staticmethod
    def _each(items: list[Any], work: Callable[[Any], Any], before: int = 0) -> list[Any]:
        """`work` of each item that is not None; an error says the row, of which `before` were before."""
        rows: list[Any] = []
        try:
            for item in items:
                rows.append(None if item is None else work(item))  # noqa: PERF401 - the row is wanted below
        except TokenizerError as error:
            row = before + len(rows)
            raise type(error)(f"row {row}: {error.message}", **{**error.facts, "row": row}) from error
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


def _parts(texts: pa.Array) -> Iterator[list[str | None]]:
    step = max(1, len(texts) * BYTES_AT_ONCE // max(texts.nbytes, 1))
    for start in range(0, len(texts), step):
        yield texts.slice(start, step).to_pylist()


def _tokens(pieces: list[Aligned], tokens: list[list[Token]], start: int) -> Tokens:
    """The tokens of what a piece, which begins at `start`, was cut into."""
    found = []
    for word, (small, parts) in enumerate(zip(pieces, tokens, strict=True)):
        for token in parts:
            first, last = small.span(*token.offsets)
            found.append((token.id, first - start, last - start, word, token.value))
    ids, starts, ends, words, values = tuple(zip(*found, strict=True)) or ((),) * 5
    return Tokens(ids, starts, ends, words, values, len(pieces))


def _begins(text: Aligned) -> Callable[[int], bool]:
    """Whether what stands at a place of a text stands for the start of the original."""
    return lambda place: text.span(place, place + 1)[0] == 0


def _moved(tokens: Tokens, text: Aligned, place: int) -> Tokens:
    """Tokens of a piece at `place` of a changed text, counted from the start of the original."""
    spans = [text.span(place + s, place + e) for s, e in zip(tokens.starts, tokens.ends, strict=True)]
    starts, ends = tuple(start for start, _ in spans), tuple(end for _, end in spans)
    return tokens._replace(starts=starts, ends=ends)


def _located_columns(rows: list[Located | None], offsets: bool, words: bool) -> Encoded:
    """The tokens of each row's pieces put one after the other: all steps per token are NumPy's.

    Most pieces come again and again, and are the same object each time: what is in each is read once.
    """
    pieces = [tokens for row in rows if row for tokens in row[0]]
    _, firsts, which = np.unique(
        np.fromiter(map(id, pieces), np.uint64, len(pieces)), return_index=True, return_inverse=True
    )
    distinct = [pieces[place] for place in firsts.tolist()]
    sizes = np.fromiter((len(tokens.ids) for tokens in distinct), np.int64, len(distinct))
    counts = sizes[which]
    per_row = np.fromiter((len(row[0]) if row else 0 for row in rows), np.int64, len(rows))
    pieces_before = np.cumsum(per_row) - per_row
    tokens_before = np.concatenate([[0], np.cumsum(counts)])
    lengths = tokens_before[pieces_before + per_row] - tokens_before[pieces_before]
    missing = np.fromiter((row is None for row in rows), bool, len(rows))
    begins = (np.cumsum(sizes) - sizes)[which]
    sources = np.repeat(begins - tokens_before[:-1], counts) + np.arange(tokens_before[-1])

    def flat(field: int) -> npt.NDArray[np.int32]:
        values = chain.from_iterable(map(itemgetter(field), distinct))
        of_distinct = np.fromiter(values, np.int32, int(sizes.sum()))
        found: npt.NDArray[np.int32] = of_distinct[sources]
        return found

    def column(values: npt.NDArray[np.int32]) -> pa.ListArray:
        return _rows(values, lengths, missing)

    starts = ends = numbers = None
    if offsets:
        places = chain.from_iterable(row[1] for row in rows if row)
        shift = np.repeat(np.fromiter(places, np.int32, len(pieces)), counts)
        starts, ends = column(flat(1) + shift), column(flat(2) + shift)
    if words:
        num_words = np.fromiter((tokens.num_words for tokens in distinct), np.int32, len(distinct))[which]
        words_before = np.concatenate([[0], np.cumsum(num_words)])
        first = np.repeat(words_before[pieces_before], per_row)  # the word that each row begins with
        numbers = column(flat(3) + np.repeat(words_before[:-1] - first, counts).astype(np.int32))
    return Encoded(column(flat(0)), starts, ends, numbers)


def _id_column(rows: list[list[int] | None]) -> pa.ListArray:
    lengths = np.fromiter((len(row) if row else 0 for row in rows), np.int64, len(rows))
    flat = np.fromiter(chain.from_iterable(row for row in rows if row), np.int32, int(lengths.sum()))
    return _rows(flat, lengths, np.fromiter((row is None for row in rows), bool, len(rows)))


def _rows(
    values: npt.NDArray[np.int32], lengths: npt.NDArray[np.int64], missing: npt.NDArray[np.bool_]
) -> pa.ListArray:
    """(n,) list<int32>, null where a row is missing."""
    rows = from_flat(values, lengths)
    if not missing.any():
        return rows
    return pa.ListArray.from_arrays(rows.offsets, rows.values, mask=pa.array(missing))
