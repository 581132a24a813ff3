"""Batches of rows → token ids, labels and what became of each row; no Python per token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from arrowprep.chat.mask import span_mask
from arrowprep.chat.packing import Packing
from arrowprep.chat.sft.examples import Example, Reader
from arrowprep.chat.sft.spec import IGNORED, SFTSpec

__all__ = ["TWO_BOS", "EncodeRows", "Fate", "SFTTokenizer", "token_columns"]

TWO_BOS = "the text begins with two bos tokens: the template, or the text, already writes one"


class SFTTokenizer(Protocol):
    """What a preparation asks of a tokenizer: a call that gives `input_ids` and `offset_mapping` as Arrow."""

    @property
    def bos_token_id(self) -> int | None: ...

    def __call__(self, text: Any, **options: Any) -> Any: ...


class Fate:
    """What became of a row."""

    KEPT = "kept"
    REFUSED = "refused"  # `problem` says why
    EMPTY = "no tokens"
    UNTRAINED = "nothing to train"
    TOO_LONG = "longer than max_length"
    CUT_AWAY = "everything to train was cut away"
    IDLE_PIECE = "a piece of a split row without anything to train"


@dataclass(frozen=True)
class Tokens:
    """n rows of tokens, one after the other.

    edges: (n + 1,) int64; row i is tokens edges[i] : edges[i + 1]
    ids: (tokens,) int32
    trained: (tokens,) bool
    """

    edges: Any
    ids: Any
    trained: Any

    @property
    def lengths(self) -> Any:
        return np.diff(self.edges)

    @property
    def trained_of_rows(self) -> Any:
        """(n,) how many tokens of each row are trained."""
        return np.diff(np.concatenate([[0], np.cumsum(self.trained)])[self.edges])

    def cut(self, pieces: Packing) -> Tokens:
        """Pieces of rows as rows of their own."""
        edges = np.concatenate([[0], np.cumsum(pieces.lengths)])
        places = np.repeat(self.edges[pieces.rows] + pieces.starts - edges[:-1], pieces.lengths)
        places += np.arange(edges[-1])
        return Tokens(edges, self.ids[places], self.trained[places])


@dataclass(frozen=True)
class EncodeRows:
    """What `map` is given: a table of rows → a table of tokens, labels and facts.

    A row that cannot be used stays, without tokens: `fate` and `problem` say why. A row that is split
    becomes several; `row` is the number of the row that it was.
    """

    spec: SFTSpec
    reader: Reader
    tokenizer: SFTTokenizer
    add_special_tokens: bool

    input_format = "arrow"

    def __call__(self, table: pa.Table, numbers: Sequence[int]) -> dict[str, Any]:
        sides = list(zip(*self.reader.examples(table), strict=True))
        if self.reader.shape == "preference":
            return self._sides(sides, np.asarray(numbers))
        [examples] = sides
        tokens, problems = self.tokens(examples)
        pieces = cut(tokens.lengths, self.spec)
        kept = tokens.cut(pieces)
        fates = self._fates(tokens, kept, pieces.rows, problems)
        kept = kept.cut(_blanked(kept.lengths, fates == Fate.KEPT))
        first = np.diff(pieces.rows, prepend=-1) > 0
        return {
            **token_columns(self.spec.wanted, kept.edges, kept.ids, kept.trained),
            **_facts(np.asarray(numbers)[pieces.rows], fates, problems[pieces.rows]),
            "length": pa.array(kept.lengths, pa.int32()),
            "trained": pa.array(kept.trained_of_rows, pa.int32()),
            "tokens": pa.array(np.where(first, tokens.lengths[pieces.rows], 0), pa.int32()),
            "stops": pa.array([examples[row].stops for row in pieces.rows], pa.bool_()),
        }

    def tokens(self, examples: Sequence[Example]) -> tuple[Tokens, Any]:
        """The tokens of examples, and (n,) the problem of each or None."""
        tokens, _, problems = self.tokens_and_offsets(examples)
        return tokens, problems

    def tokens_and_offsets(self, examples: Sequence[Example]) -> tuple[Tokens, Any, Any]:
        """The same, with (tokens, 2) where each token starts and stops in its text between them."""
        encoded = self.tokenizer(
            [example.text for example in examples],
            add_special_tokens=self.add_special_tokens,
            return_offsets_mapping=True,
            return_attention_mask=False,
            verbose=False,
        )
        batch = pa.record_batch(encoded)
        ids, offsets = batch.column("input_ids"), batch.column("offset_mapping")
        starts, ends = _starts_and_ends(offsets)
        mask = span_mask([example.spans for example in examples], starts, ends)
        edges = np.asarray(ids.offsets, np.int64)
        tokens = Tokens(edges - edges[0], _flat(ids), _flat(mask).astype(bool))
        if self.spec.train_on == "all" or self.reader.shape == "text":
            has_text = np.array([bool(example.text) for example in examples], bool)
            tokens = Tokens(tokens.edges, tokens.ids, np.repeat(has_text, tokens.lengths))
        elif self.add_special_tokens:
            tokens = Tokens(tokens.edges, tokens.ids, _from_first_on(tokens))
        problems = np.array([example.problem for example in examples], object)
        twice = _begins_twice(tokens, self.tokenizer.bos_token_id) & (problems == None)  # noqa: E711 - by element
        problems[twice] = TWO_BOS
        return tokens, _pairs(offsets), problems

    def _fates(self, whole: Tokens, kept: Tokens, rows: Any, problems: Any) -> Any:
        """(pieces,) the first thing that is wrong with each."""
        limit = self.spec.max_length
        dropped = self.spec.truncation == "drop" and limit is not None
        refused = np.array([problem is not None for problem in problems], bool)
        conditions = [
            (refused[rows], Fate.REFUSED),
            (whole.lengths[rows] == 0, Fate.EMPTY),
            (whole.trained_of_rows[rows] == 0, Fate.UNTRAINED),
            (whole.lengths[rows] > limit if dropped else np.zeros(len(rows), bool), Fate.TOO_LONG),
            (
                kept.trained_of_rows == 0,
                Fate.IDLE_PIECE if self.spec.truncation == "split" else Fate.CUT_AWAY,
            ),
        ]
        return np.select([c for c, _ in conditions], [fate for _, fate in conditions], Fate.KEPT)

    def _sides(self, sides: list[tuple[Example, ...]], numbers: Any) -> dict[str, Any]:
        """A row of a preference is kept if both sides are."""
        columns: dict[str, Any] = {}
        both: list[tuple[Tokens, Tokens, Any, Any]] = []
        for examples in sides:
            tokens, problems = self.tokens(examples)
            pieces = cut(tokens.lengths, self.spec)
            kept = tokens.cut(pieces)
            both.append((tokens, kept, self._fates(tokens, kept, pieces.rows, problems), problems))
        (_, _, fates, problems), (_, _, other_fates, other_problems) = both
        fates = np.where(fates == Fate.KEPT, other_fates, fates)
        lengths = []
        for name, (_, kept, _, _) in zip(("chosen", "rejected"), both, strict=True):
            kept = kept.cut(_blanked(kept.lengths, fates == Fate.KEPT))
            lengths.append(kept)
            wanted = ("input_ids", "completion_mask")
            made = token_columns(wanted, kept.edges, kept.ids, kept.trained)
            columns |= {f"{name}_{column}": values for column, values in made.items()}
        stops = [_both(*pair) for pair in zip(*([e.stops for e in side] for side in sides), strict=True)]
        return {
            **columns,
            **_facts(numbers, fates, np.where(problems == None, other_problems, problems)),  # noqa: E711
            "length": pa.array(sum(kept.lengths for kept in lengths), pa.int32()),
            "trained": pa.array(sum(kept.trained_of_rows for kept in lengths), pa.int32()),
            "tokens": pa.array(sum(tokens.lengths for tokens, *_ in both), pa.int32()),
            "stops": pa.array(stops, pa.bool_()),
        }


def cut(lengths: Any, spec: SFTSpec) -> Packing:
    """The pieces that rows of these lengths are cut to, each a pack of its own."""
    limit = spec.max_length
    rows, starts, sizes = np.arange(len(lengths)), np.zeros(len(lengths), np.int64), lengths
    if limit is not None and spec.truncation in ("keep_start", "keep_end"):
        sizes = np.minimum(lengths, limit)
        starts = lengths - sizes if spec.truncation == "keep_end" else starts
    elif limit is not None and spec.truncation == "split":
        counts = np.maximum(-(-lengths // limit), 1)
        rows = np.repeat(rows, counts)
        starts = (np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)) * limit
        sizes = np.minimum(lengths[rows] - starts, limit)
    return Packing(rows, starts, sizes, np.arange(len(rows) + 1), limit or 0, int(lengths.sum()))


def _blanked(lengths: Any, kept: Any) -> Packing:
    """Rows as they are, but without tokens where they are not kept."""
    sizes = np.where(kept, lengths, 0)
    rows = np.arange(len(lengths))
    return Packing(rows, np.zeros(len(rows), np.int64), sizes, np.arange(len(rows) + 1), 0, int(sizes.sum()))


def token_columns(wanted: Sequence[str], edges: Any, ids: Any, trained: Any) -> dict[str, pa.Array]:
    """Columns by name, for rows that are one document each."""
    makers: dict[str, Callable[[], Any]] = {
        "input_ids": lambda: ids,
        "labels": lambda: np.where(trained, ids, np.int32(IGNORED)),
        "attention_mask": lambda: np.ones(len(ids), np.int8),
        "position_ids": lambda: (np.arange(len(ids)) - np.repeat(edges[:-1], np.diff(edges))).astype(
            np.int32
        ),
        "completion_mask": lambda: trained.astype(np.int8),
        "assistant_masks": lambda: trained.astype(np.int8),
    }
    offsets = pa.array(edges, pa.int32())
    return {name: pa.ListArray.from_arrays(offsets, pa.array(makers[name]())) for name in wanted}


def _starts_and_ends(offsets: pa.Array) -> tuple[pa.Array, pa.Array]:
    """(n,) lists of starts and of ends, from lists of (start, end)."""
    edges, pairs = np.asarray(offsets.offsets), _pairs(offsets)
    columns = (pa.array(np.ascontiguousarray(pairs[:, side])) for side in (0, 1))
    starts, ends = (pa.ListArray.from_arrays(pa.array(edges - edges[0]), column) for column in columns)
    return starts, ends


def _pairs(offsets: pa.Array) -> Any:
    return offsets.flatten().flatten().to_numpy().reshape(-1, 2)


def _flat(lists: pa.Array) -> Any:
    return lists.flatten().to_numpy(zero_copy_only=False)


def _from_first_on(tokens: Tokens) -> Any:
    """(tokens,) bool: trained or after the first that is, where special tokens come from no text."""
    before = np.concatenate([[0], np.cumsum(tokens.trained)])
    return before[1:] > np.repeat(before[tokens.edges[:-1]], tokens.lengths)


def _begins_twice(tokens: Tokens, bos: int | None) -> Any:
    """(n,) bool: whether the first two tokens are both bos."""
    twice = np.zeros(len(tokens.edges) - 1, bool)
    if bos is not None:
        rows = np.flatnonzero(tokens.lengths >= 2)
        begins = tokens.edges[rows]
        twice[rows] = (tokens.ids[begins] == bos) & (tokens.ids[begins + 1] == bos)
    return twice


def _facts(rows: Any, fates: Any, problems: Any) -> dict[str, pa.Array]:
    return {
        "row": pa.array(rows, pa.int64()),
        "fate": pa.array(fates.tolist(), pa.string()),
        "problem": pa.array(problems.tolist(), pa.string()),
    }


def _both(one: bool | None, other: bool | None) -> bool | None:
    return None if one is None and other is None else bool(one) and bool(other)
