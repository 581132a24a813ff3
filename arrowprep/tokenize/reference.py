"""The reference engine: the pipeline in Python, text by text; what it does is right by definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from arrowprep.errors import NotText, TokenizerError
from arrowprep.tokenize.bulk import uncollected
from arrowprep.tokenize.cutting import Cutter, Stretch, TokenizeAll, moved
from arrowprep.tokenize.engine import Encoded
from arrowprep.tokenize.piece_table import (
    IDS,
    LOCATED,
    LONGEST_CACHED,
    Entries,
    Ints,
    PieceTable,
    WordCache,
)
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.ragged import from_flat, row_edges

CACHE_BYTES = 32 << 20
BYTES_AT_ONCE = 2 << 20  # of text, whose pieces are held until all are known
SHORT = 200  # characters of a text that is sooner encoded piece by piece: 0.03 ms, not 0.1
TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


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
    pre-tokenizers and the model, depends on nothing but the piece. So ordinary text
    takes a `findall` a text, a lookup a piece, and NumPy's steps for all tokens; the
    new pieces of many texts are worked out together.
    """

    name = "reference"

    def __init__(
        self, pipeline: Pipeline, cache_bytes: int = CACHE_BYTES, tokenize_all: TokenizeAll | None = None
    ) -> None:
        """tokenize_all: what does what the model's does; None is the model's own"""
        self.pipeline = pipeline
        self._cutter = Cutter(pipeline, tokenize_all or pipeline.model.tokenize_all)
        self._limit = cache_bytes if self._cutter.is_steady else 0
        self._known = WordCache(self._cutter.tokens, self._limit)
        # a call takes its table from here and puts it back: two at once share none, and a fork no lock
        self._tables: dict[tuple[str, ...], PieceTable] = {}

    # ------------------------------------------------------------------ one text

    def ids(self, text: str) -> list[int]:
        """The ids alone."""
        if len(text) < SHORT:
            return self.trace(text).ids
        found: list[int] = self._columns([text], IDS).columns["ids"].tolist()
        return found

    def trace(self, text: str) -> Trace:
        """Ids with where they came from."""
        trace = Trace([], [], [], [], [])
        word = 0
        for stretch in self._cutter.stretches(text):
            for key, place in zip(stretch.keys, stretch.located(), strict=True):
                tokens = self._known[key] if isinstance(key, str) else self._cutter.tokens(key)
                if stretch.changed is not None:
                    tokens, place = moved(tokens, stretch.changed, place), 0
                trace.ids.extend(tokens.ids)
                trace.starts.extend(place + start for start in tokens.starts)
                trace.ends.extend(place + end for end in tokens.ends)
                trace.words.extend(word + number for number in tokens.words)
                trace.values.extend(tokens.values)
                word += tokens.num_words
        return trace

    def traces(self, texts: list[str]) -> list[Trace]:
        """The same of several texts."""
        if not self._cutter.is_steady or self.pipeline.model.untold is None:
            return list(map(self.trace, texts))
        try:
            encoded = self.encode(pa.array(texts, pa.large_string()), offsets=True, words=True)
        except TokenizerError:
            return list(map(self.trace, texts))  # which name no row
        return traces_of(encoded, texts, self.pipeline, self.trace)

    # ------------------------------------------------------------------ many texts

    def encode(self, texts: pa.Array, *, offsets: bool = False, words: bool = False) -> Encoded:
        """Ids of each text without the post-processor's tokens, truncation or padding."""
        if pa.types.is_dictionary(texts.type):
            encoded = self.encode(texts.dictionary, offsets=offsets, words=words)
            return Encoded(*(None if column is None else column.take(texts.indices) for column in encoded))
        if not any(is_text(texts.type) for is_text in TEXT_TYPES) and not pa.types.is_null(texts.type):
            raise NotText(f"texts are Arrow strings, not {texts.type}", given=str(texts.type))
        names = LOCATED if offsets or words else IDS
        found = [Entries.of([], names)]
        before = 0
        for part in _parts(texts):
            with uncollected():
                found.append(self._columns(part, names, before))
            before += len(part)
        lengths = np.concatenate([part.counts for part in found])

        def column(name: str) -> pa.ListArray:
            return _rows(np.concatenate([part.columns[name] for part in found]), lengths, texts)

        starts, ends = (column("starts"), column("ends")) if offsets else (None, None)
        return Encoded(column("ids"), starts, ends, column("words") if words else None)

    def _columns(self, texts: list[str | None], names: tuple[str, ...], before: int = 0) -> Entries:
        """The tokens of each text; an error says the row, of which `before` were before."""
        if len(texts) == 1 and len(texts[0] or "") < SHORT:
            return self._one(texts[0], names, before)
        plain = names == IDS and not self._cutter.knows_start
        cuts = self._each(texts, self._cutter.pieces if plain else self._cutter.stretches, before)
        keys = [cut or () for cut in cuts] if plain else [_keys_of(cut or ()) for cut in cuts]
        pieces = self._pieces(keys, names, before)
        per_row = np.fromiter(map(len, keys), np.int64, len(keys))
        if names != IDS:
            _place(pieces, [stretch for cut in cuts for stretch in cut or () if stretch.keys], per_row)
        return Entries(_sums(pieces.counts, per_row), per_row, pieces.columns)

    def _one(self, text: str | None, names: tuple[str, ...], before: int) -> Entries:
        """The same of a text that takes less time than steps of NumPy."""
        [trace] = self._each([text], self.trace, before)
        columns: dict[str, Ints] = {
            name: np.array(getattr(trace, name) if trace else [], np.int32) for name in names
        }
        counts = np.array([len(columns[names[0]])])
        return Entries(counts, counts, columns)

    def _pieces(self, rows: Sequence[Sequence[Any]], names: tuple[str, ...], before: int) -> Entries:
        """The tokens of each piece, as it was cut, of each row."""
        if not self._cutter.is_steady:
            found = self._each(rows, self._cutter.all_tokens, before)
            return Entries.of(list(chain.from_iterable(found)), names)
        table = self._tables.pop(names, None) or PieceTable(names)
        new = table.missing(rows)
        kept = [key for key in new if isinstance(key, str) and len(key) <= LONGEST_CACHED]
        passing = list(new.difference(kept))
        long = [key for key in passing if isinstance(key, str)]
        odd: list[Any] = [key for key in passing if not isinstance(key, str)]
        try:
            table.add(kept + long, self._cutter.entries(kept + long, names))
            table.add(odd, Entries.of(self._cutter.all_tokens(odd), names))
        except TokenizerError:
            self._each(rows, self._cutter.all_tokens, before)  # to say the row
            raise
        entries = table.entries(table.numbers(chain.from_iterable(rows), sum(map(len, rows))))
        table.forget(long + odd)
        if table.bytes <= self._limit:
            self._tables[names] = table
        return entries

    @staticmethod
    def _each(items: Sequence[Any], work: Callable[[Any], Any], before: int = 0) -> list[Any]:
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


def traces_of(
    encoded: Encoded, texts: list[str], pipeline: Pipeline, alone: Callable[[str], Trace]
) -> list[Trace]:
    """The rows of columns, which have all but the texts of tokens. `alone` traces what these do not tell."""
    columns = (encoded.ids, encoded.starts, encoded.ends, encoded.words)
    flat = [column.flatten().to_numpy().tolist() for column in columns if column is not None]
    values: list[Any] = list(map(pipeline.value_of, flat[0]))
    stops = row_edges(encoded.ids).tolist()
    found = []
    for text, start, stop in zip(texts, stops, stops[1:], strict=False):
        trace = Trace(*(part[start:stop] for part in (*flat, values)))
        found.append(trace if pipeline.tells(trace.ids) else alone(text))
    return found


def _parts(texts: pa.Array) -> Iterator[list[str | None]]:
    step = max(1, len(texts) * BYTES_AT_ONCE // max(texts.nbytes, 1))
    for start in range(0, len(texts), step):
        yield texts.slice(start, step).to_pylist()


def _keys_of(stretches: Sequence[Stretch]) -> list[Any]:
    return [key for stretch in stretches for key in stretch.keys]


def _sums(values: Ints, per_row: Ints) -> Ints:
    """The sum of the values of each row."""
    before = np.append(0, np.cumsum(values))
    stops = np.cumsum(per_row)
    sums: Ints = before[stops] - before[stops - per_row]
    return sums


def _place(pieces: Entries, stretches: list[Stretch], per_row: Ints) -> None:
    """Make places in pieces places in the text, and numbers of words in pieces those in the row."""
    sizes = np.fromiter((len(stretch.keys) for stretch in stretches), np.int64, len(stretches))
    stops = np.cumsum(sizes)
    lengths = np.fromiter(
        map(len, chain.from_iterable(s.keys for s in stretches)), np.int64, int(sizes.sum())
    )
    places = np.cumsum(lengths) - lengths
    places -= np.repeat(places[stops - sizes], sizes)
    for stretch, stop in zip(stretches, stops.tolist(), strict=True):
        if stretch.places is not None:
            places[stop - len(stretch.keys) : stop] = stretch.places
    places += np.repeat(np.fromiter((s.start for s in stretches), np.int64, len(stretches)), sizes)
    starts, ends, words = (pieces.columns[name] for name in ("starts", "ends", "words"))
    shift = np.repeat(places, pieces.counts)
    starts += shift
    ends += shift
    tokens = np.append(0, np.cumsum(pieces.counts))
    for stretch, stop in zip(stretches, stops.tolist(), strict=True):
        if stretch.changed is not None:
            these = slice(tokens[stop - len(stretch.keys)], tokens[stop])
            starts[these], ends[these] = stretch.changed.all_spans(starts[these], ends[these])
    words_before = np.cumsum(pieces.num_words) - pieces.num_words
    in_row = np.cumsum(per_row) - per_row
    words_before -= np.repeat(words_before[in_row[per_row > 0]], per_row[per_row > 0])
    words += np.repeat(words_before, pieces.counts)


def _rows(values: Ints, lengths: Ints, texts: pa.Array) -> pa.ListArray:
    """(n,) list<int32>, null where a text is."""
    rows = from_flat(values, lengths)
    if not texts.null_count:
        return rows
    return pa.ListArray.from_arrays(rows.offsets, rows.values, mask=texts.is_null())
