"""Texts cut into the pieces whose tokens depend on nothing but the piece, and what becomes of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice, takewhile
from typing import NamedTuple, Protocol

import numpy as np

from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.models.base import FlatTokens
from arrowprep.tokenize.piece_table import IDS, Entries, Ints, Tokens
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.pre_tokenizers.base import cut_all


class Added(NamedTuple):
    """An added token as it was found: `text` may have spaces beside it, `length` is that of the original."""

    id: int
    text: str
    length: int


class Begins(NamedTuple):
    """A piece that is the start of the text, which some components know."""

    piece: str


class BegunByMany(NamedTuple):
    """A piece whose later characters may stand for the start of the text too; its places are the text's."""

    piece: Aligned


Key = str | Added | Begins | BegunByMany


class TokenizeAll(Protocol):
    """`Model.tokenize_all`, or what does the same."""

    def __call__(self, sequences: Sequence[str], *, located: bool) -> FlatTokens: ...


class Stretch(NamedTuple):
    """What is between two added tokens, in pieces; or an added token.

    start: what is added to the places of pieces
    places: where each piece begins; None where each begins at the end of the one before
    changed: what the places are of, and what they stand for; None where they are the text's own
    """

    keys: Sequence[Key]
    start: int
    places: Sequence[int] | None = None
    changed: Aligned | None = None

    def located(self) -> Sequence[int]:
        """Where each piece begins."""
        sizes = (len(key) for key in self.keys if isinstance(key, str))
        places = accumulate(sizes, initial=0) if self.places is None else self.places
        return [self.start + place for place, _ in zip(places, self.keys, strict=False)]


class Cutter:
    """Cuts by the first pre-tokenizer; all that follows is done to a piece once, however often it comes."""

    def __init__(self, pipeline: Pipeline, tokenize_all: TokenizeAll) -> None:
        self.pipeline = pipeline
        self._tokenize_all = tokenize_all
        leaves = pipeline.leaves
        self._first = leaves[0] if leaves and leaves[0].in_steps else None
        self._later = leaves[1:] if self._first else leaves
        self.knows_start = any(leaf.knows_start for leaf in leaves)
        # whether a piece comes out the same each time
        self.is_steady = not pipeline.model.is_random and all(leaf.in_steps for leaf in leaves)
        self._cuts_again = any(leaf.cuts for leaf in self._later)

    # ------------------------------------------------------------------ a text in pieces

    def pieces(self, text: str) -> list[str | int]:
        """The pieces of a text; an id where an added token stands."""
        found: list[str | int] = []
        for stretch, id in self.pipeline.plain_stretches(text):
            if id is not None:
                found.append(id)
            elif self._first is not None:
                found += self._first.texts(self._first.prepare_str(stretch))
            else:
                found.append(stretch)
        return found

    def stretches(self, text: str) -> list[Stretch]:
        """The same with what says where each token is."""
        found: list[Stretch] = []
        for stretch, id in self.pipeline.stretches(text):
            if id is not None:
                start, end = stretch.span(0, len(stretch.text))
                found.append(Stretch([Added(id, stretch.text, end - start)], start))
                continue
            prepared = self._first.prepare(stretch) if self._first else stretch
            self._cut(prepared, found)
        return found

    def _cut(self, text: Aligned, found: list[Stretch]) -> None:
        pieces, places = self._pieces(text.text)
        changed = text if text.starts is not None else None
        start, skipped = 0 if changed else text.start, 0
        if self.knows_start:
            located = Stretch(pieces, 0, places).located()
            # pieces that begin where the text does: several, where what is there was inserted
            for place in takewhile(lambda place: text.span(place, place + 1)[0] == 0, located):
                piece = pieces[skipped]
                begun = BegunByMany(text.slice(place, place + len(piece))) if changed else Begins(piece)
                found.append(Stretch([begun], 0))
                skipped += 1
            if skipped and places is None:
                start += sum(map(len, pieces[:skipped]))
        found.append(Stretch(pieces[skipped:], start, places and places[skipped:], changed))

    def _pieces(self, prepared: str) -> tuple[list[str], list[int] | None]:
        """What the first pre-tokenizer cuts a stretch into, and where each piece begins, as in `Stretch`."""
        first = self._first
        if first is None:
            return [prepared], None
        pieces = first.pieces(prepared)
        if pieces is not None:
            return pieces, None
        spans = [(start, stop) for start, stop in first.spans(prepared) if start < stop]
        return [prepared[start:stop] for start, stop in spans], [start for start, _ in spans]

    # ------------------------------------------------------------------ what becomes of a piece

    def tokens(self, key: Key | int) -> Tokens:
        """The tokens of what was cut, one by one."""
        if isinstance(key, int | Added):
            return _added(key)
        piece, start = self._located(key)
        found: list[tuple[int, int, int, int, str]] = []
        pieces = self._smaller(piece)
        tokenize = self.pipeline.model.tokenize
        for word, small in enumerate(pieces):
            for token in tokenize(small.text):
                first, last = small.span(*token.offsets)
                found.append((token.id, first - start, last - start, word, token.value))
        ids, starts, ends, words, values = tuple(zip(*found, strict=True)) or ((),) * 5
        return Tokens(ids, starts, ends, words, values, len(pieces))

    def all_tokens(self, keys: Sequence[Key | int]) -> list[Tokens]:
        """The same of several, whose pieces the model gets together; but for the texts of tokens."""
        added = [_added(key) if isinstance(key, int | Added) else None for key in keys]
        located = [self._located(key) for key in keys if not isinstance(key, int | Added)]
        smaller = [self._smaller(piece) for piece, _ in located]
        tokens = self._tokenize_all([small.text for pieces in smaller for small in pieces], located=True)
        rows = _rows(tokens)
        made = iter([_told(pieces, start, rows) for pieces, (_, start) in zip(smaller, located, strict=True)])
        return [next(made) if known is None else known for known in added]

    def _located(self, key: str | Begins | BegunByMany) -> tuple[Aligned, int]:
        """A piece, and the place in it that its tokens are counted from."""
        if isinstance(key, str):
            return Aligned(key, 1, full=self.pipeline.full_offsets), 1
        begun = key.piece
        return Aligned(begun, 0, full=self.pipeline.full_offsets) if isinstance(begun, str) else begun, 0

    def entries(self, pieces: list[str], names: tuple[str, ...]) -> Entries:
        """The same of many pieces at once; ids alone in a quarter of the time."""
        if not self._cuts_again:
            return self._entries_of_wholes(pieces, names)
        if names != IDS:
            return Entries.of(self.all_tokens(pieces), names)
        texts = [self._smaller_texts(piece) for piece in pieces]
        many = np.fromiter(map(len, texts), np.int64, len(texts))
        tokens = self._tokenize_all(list(chain.from_iterable(texts)), located=False)
        before = np.append(0, np.cumsum(tokens.counts))
        stops = np.cumsum(many)
        return Entries(before[stops] - before[stops - many], many, {"ids": tokens.ids})

    def _entries_of_wholes(self, pieces: list[str], names: tuple[str, ...]) -> Entries:
        """Of pieces that nothing cuts further: only how they are spelled changes."""
        stands_for = None
        texts = pieces
        for leaf in (self._first, *self._later):
            if leaf is not None:
                texts, sources = leaf.finish_all(texts)
                if sources is not None:
                    stands_for = sources if stands_for is None else stands_for[sources]
        tokens = self._tokenize_all(texts, located=names != IDS)
        columns: dict[str, Ints] = {"ids": tokens.ids}
        if names != IDS:
            columns["starts"], columns["ends"] = _in_pieces(tokens, pieces, texts, stands_for)
            columns["words"] = np.zeros(len(tokens.ids), np.int64)
        return Entries(tokens.counts, np.ones(len(pieces), np.int64), columns)

    def _smaller(self, piece: Aligned) -> list[Aligned]:
        """What the model sees of a piece of the first pre-tokenizer."""
        return cut_all(self._later, [self._first.finish(piece) if self._first else piece])

    def _smaller_texts(self, piece: str) -> list[str]:
        """The same where nobody asks for places."""
        texts = [self._first.finish_str(piece) if self._first else piece]
        for leaf in self._later:
            texts = [small for text in texts for small in leaf.cut_str(text)]
        return texts


def _added(token: Added | int) -> Tokens:
    """Of an added token, or of its id."""
    if isinstance(token, int):
        return Tokens([token], [0], [0], [0], [""], 1)
    return Tokens([token.id], [0], [token.length], [0], [token.text], 1)


def _rows(tokens: FlatTokens) -> Iterator[list[tuple[int, int, int]]]:
    """Id, start and end of the tokens of each piece."""
    assert tokens.starts is not None
    assert tokens.ends is not None
    flat = zip(tokens.ids.tolist(), tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
    return (list(islice(flat, count)) for count in tokens.counts.tolist())


def _told(pieces: list[Aligned], start: int, rows: Iterator[list[tuple[int, int, int]]]) -> Tokens:
    """The tokens of what a piece was cut into, whose rows are the next."""
    ids: list[int] = []
    spans: list[tuple[int, int]] = []
    words: list[int] = []
    for word, (small, row) in enumerate(zip(pieces, rows, strict=False)):
        ids += [id for id, _, _ in row]
        spans += [small.span(first, last) for _, first, last in row]
        words += [word] * len(row)
    starts, ends = [first - start for first, _ in spans], [last - start for _, last in spans]
    return Tokens(ids, starts, ends, words, (), len(pieces))


def _in_pieces(
    tokens: FlatTokens, pieces: list[str], texts: list[str], stands_for: Ints | None
) -> tuple[Ints, Ints]:
    """The characters of its piece that each token stands for, given those of how it is spelled."""
    assert tokens.starts is not None
    assert tokens.ends is not None
    if stands_for is None:
        return tokens.starts, tokens.ends
    spelled, before = (_before(of, tokens.counts) for of in (texts, pieces))
    starts = stands_for[tokens.starts + spelled] - before
    ends = stands_for[tokens.ends + spelled - 1] + 1 - before
    return starts, np.where(tokens.ends > tokens.starts, ends, starts)


def _before(texts: list[str], counts: Ints) -> Ints:
    """(t,) how many characters stand before the text that a token is of."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return np.repeat(np.cumsum(lengths) - lengths, counts)


def moved(tokens: Tokens, text: Aligned, place: int) -> Tokens:
    """Tokens of a piece at `place` of a changed text, counted from the start of the original."""
    spans = [text.span(place + s, place + e) for s, e in zip(tokens.starts, tokens.ends, strict=True)]
    return tokens._replace(starts=[start for start, _ in spans], ends=[end for _, end in spans])
