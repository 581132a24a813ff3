"""Batches of rows → token ids, labels and what became of each row; no Python per token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from arrowprep.chat.control_tokens import CLOSE, OPEN
from arrowprep.chat.mask import span_mask
from arrowprep.chat.packing import Packing
from arrowprep.chat.sft.examples import Example, Reader
from arrowprep.chat.sft.spec import SFTSpec
from arrowprep.chat.sft.tokens import Tokens, blanked, cut, pairs_of, starts_and_ends, token_columns

__all__ = ["TWO_BOS", "EncodeRows", "Fate", "SFTTokenizer"]

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
class EncodeRows:
    """What `map` is given: a table of rows → a table of tokens, labels and facts.

    A row that cannot be used stays, without tokens: `fate` and `problem` say why. A row that is split
    becomes several; `row` is the number of the row that it was.

    expects_bos: whether the tokenizer puts its bos token before texts
    """

    spec: SFTSpec
    reader: Reader
    tokenizer: SFTTokenizer
    add_special_tokens: bool
    expects_bos: bool

    input_format = "arrow"

    def __call__(self, table: pa.Table, numbers: Sequence[int]) -> dict[str, Any]:
        sides = [self._cut(examples) for examples in zip(*self.reader.examples(table), strict=True)]
        if self.reader.shape == "preference":
            chosen, rejected = sides
            return _preferences(chosen, rejected, np.asarray(numbers))
        [rows] = sides
        kept, owners = rows.kept(rows.fates), rows.pieces.rows
        first = np.diff(owners, prepend=-1) > 0
        return {
            **token_columns(self.spec.wanted, kept),
            **_facts(np.asarray(numbers)[owners], rows.fates, rows.problems[owners]),
            "length": pa.array(kept.lengths, pa.int32()),
            "trained": pa.array(kept.trained_of_rows, pa.int32()),
            "tokens": pa.array(np.where(first, rows.whole.lengths[owners], 0), pa.int32()),
            "stop": pa.array([rows.examples[row].stop for row in owners.tolist()], pa.string()),
            "has_end": pa.array(rows.whole.ends_in(rows.pieces)),
            "no_bos": pa.array(rows.no_bos[owners]),
        }

    @property
    def _trains_everything(self) -> bool:
        return self.spec.train_on == "all" or self.reader.shape == "text"

    def tokens(self, examples: Sequence[Example], *, offsets: bool) -> tuple[Tokens, Any]:
        """The tokens of examples; and, where asked for, (tokens, 2) where each is in its text."""
        needed = offsets or not self._trains_everything
        marks = {"plain_between": (OPEN, CLOSE)} if self.reader.controls else {}
        encoded = self.tokenizer(
            [example.text if example.marked is None else example.marked for example in examples],
            add_special_tokens=self.add_special_tokens,
            return_offsets_mapping=needed,
            return_attention_mask=False,
            verbose=False,
            **marks,
        )
        batch = pa.record_batch(encoded)
        ids, spans = batch.column("input_ids"), batch.column("offset_mapping") if needed else None
        pairs = pairs_of(spans) if spans is not None else None
        if spans is None or self._trains_everything:
            tokens = Tokens.of(ids)
            has_text = np.array([bool(example.text) for example in examples], bool)
            return replace(tokens, trained=np.repeat(has_text, tokens.lengths)), pairs
        mask = span_mask([example.spans for example in examples], *starts_and_ends(spans), self.spec.straddle)
        tokens = Tokens.of(ids, mask)
        return (tokens.from_first_on() if self.add_special_tokens else tokens), pairs

    def _cut(self, examples: Sequence[Example]) -> _Cut:
        """Examples as tokens, cut, with what becomes of each piece."""
        whole, _ = self.tokens(examples, offsets=False)
        problems = np.array([example.problem for example in examples], object)
        twice = whole.begin_with(self.tokenizer.bos_token_id, 2)
        problems[twice & (problems == None)] = TWO_BOS  # noqa: E711 - by element
        lacks = self.expects_bos & (whole.lengths > 0) & ~whole.begin_with(self.tokenizer.bos_token_id)
        pieces = cut(whole.lengths, self.spec)
        fates = self._fates(whole, whole.cut(pieces), pieces.rows, problems)
        return _Cut(examples, whole, pieces, fates, problems, lacks)

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


@dataclass(frozen=True)
class _Cut:
    """n examples as tokens, and the pieces that they are cut to.

    fates: of each piece
    problems: (n,) text, or None
    no_bos: (n,) bool
    """

    examples: Sequence[Example]
    whole: Tokens
    pieces: Packing
    fates: Any
    problems: Any
    no_bos: Any

    def kept(self, fates: Any) -> Tokens:
        """The pieces, those that these fates do not keep without tokens."""
        pieces = self.whole.cut(self.pieces)
        return pieces.cut(blanked(pieces.lengths, fates == Fate.KEPT))


def _preferences(chosen: _Cut, rejected: _Cut, numbers: Any) -> dict[str, Any]:
    """The columns of both sides; a row is kept if both are."""
    fates = np.where(chosen.fates == Fate.KEPT, rejected.fates, chosen.fates)
    columns: dict[str, Any] = {}
    kept = []
    for name, side in (("chosen", chosen), ("rejected", rejected)):
        kept.append(side.kept(fates))
        made = token_columns(("input_ids", "completion_mask"), kept[-1])
        columns |= {f"{name}_{column}": values for column, values in made.items()}
    problems = np.where(chosen.problems == None, rejected.problems, chosen.problems)  # noqa: E711 - by element
    pairs = zip(chosen.examples, rejected.examples, strict=True)
    stops = [_both(one.stop, other.stop) for one, other in pairs]
    return {
        **columns,
        **_facts(numbers, fates, problems),
        "length": pa.array(kept[0].lengths + kept[1].lengths, pa.int32()),
        "trained": pa.array(kept[0].trained_of_rows + kept[1].trained_of_rows, pa.int32()),
        "tokens": pa.array(chosen.whole.lengths + rejected.whole.lengths, pa.int32()),
        "stop": pa.array(stops, pa.string()),
        "has_end": pa.array(chosen.whole.ends_in(chosen.pieces) & rejected.whole.ends_in(rejected.pieces)),
        "no_bos": pa.array(chosen.no_bos | rejected.no_bos),
    }


def _facts(rows: Any, fates: Any, problems: Any) -> dict[str, pa.Array]:
    return {
        "row": pa.array(rows, pa.int64()),
        "fate": pa.array(fates.tolist(), pa.string()),
        "problem": pa.array(problems.tolist(), pa.string()),
    }


def _both(one: str | None, other: str | None) -> str | None:
    """The stop token of both sides; "" where one has none."""
    return one if other is None else other if one is None else one and other
