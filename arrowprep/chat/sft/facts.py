"""What became of the rows of a dataset, counted; and what must never reach a trainer, refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.chat.sft.encode import Fate
from arrowprep.errors import ChatError

__all__ = ["FACTS", "Facts"]

FACTS = ("row", "fate", "problem", "length", "trained", "tokens", "stop", "has_end", "no_bos")
_SHOWN = 5  # rows that an error or a report names


@dataclass(frozen=True)
class Facts:
    """n encoded rows; a row of the data that was split is several.

    rows: (n,) the number of the row in the data
    fates: (n,) dictionary codes into names
    lengths, trained: (n,) tokens, and trained tokens, that are kept
    tokens: (n,) of the whole row, at its first piece; else 0
    stop: (n,) Arrow text; the stop token that the trained text of the whole row ends in, "" for none; null
        where none is known
    has_end: (n,) bool; whether the end of the trained text was not cut off
    no_bos: (n,) bool; whether the row lacks the bos token that the tokenizer puts before other texts
    problems: (n,) Arrow text; null where there is none
    """

    rows: Any
    fates: Any
    names: list[str]
    lengths: Any
    trained: Any
    tokens: Any
    stop: pa.ChunkedArray
    has_end: Any
    no_bos: Any
    problems: pa.ChunkedArray

    @classmethod
    def of(cls, table: pa.Table) -> Facts:
        """From the columns FACTS of encoded rows."""
        codes = table.column("fate").combine_chunks().dictionary_encode()
        if isinstance(codes, pa.ChunkedArray):
            codes = codes.combine_chunks()
        numbers = {name: table.column(name).to_numpy() for name in ("row", "length", "trained", "tokens")}
        return cls(
            numbers["row"],
            codes.indices.to_numpy(),
            codes.dictionary.to_pylist(),
            numbers["length"],
            numbers["trained"],
            numbers["tokens"],
            table.column("stop"),
            table.column("has_end").to_numpy(),
            table.column("no_bos").to_numpy(),
            table.column("problem"),
        )

    @property
    def kept(self) -> Any:
        """(n,) bool."""
        return self.of_fate(Fate.KEPT)

    def of_fate(self, fate: str) -> Any:
        """(n,) bool."""
        return self.fates == (self.names.index(fate) if fate in self.names else -1)

    def first_rows(self, chosen: Any, count: int = _SHOWN) -> list[int]:
        """The first rows of the data among the chosen ones."""
        return [int(row) for row in np.unique(self.rows[chosen])[:count]]

    def rows_by_stop(self) -> tuple[Any, Any, Any]:
        """The numbers of kept rows that train a stop token, that do not, and of which nobody knows."""
        known = self.stop.is_valid().to_numpy()
        stops = self._ends_in_stop
        kept = np.unique(self.rows[self.kept])
        train = np.unique(self.rows[self.kept & stops & self.has_end])
        unknown = np.unique(self.rows[self.kept & ~known])
        return train, np.setdiff1d(kept, np.union1d(train, unknown)), unknown

    @property
    def _ends_in_stop(self) -> Any:
        """(n,) bool."""
        return self.stop.fill_null("").combine_chunks().to_numpy(zero_copy_only=False) != ""

    def trained_stops(self) -> dict[str, int]:
        """How many kept rows end in which stop token, the most frequent first."""
        ends = self.kept & self._ends_in_stop & self.has_end
        counts = Counter(self.stop.filter(pa.array(ends)).to_pylist())
        return dict(counts.most_common())

    def check(self, *, refuse: bool = True) -> None:
        """Raise ChatError where nothing is left to train on, or no row stops, and for a row that was refused.

        refuse: False leaves rows that were refused out
        """
        refused = self.of_fate(Fate.REFUSED)
        if refuse and refused.any():
            rows = self.first_rows(refused)
            first = int(np.flatnonzero(refused)[0])
            raise ChatError(
                f"row {rows[0]}: {self.problems[first].as_py()} ({_and_others(int(refused.sum()))}"
                'errors="drop" leaves such rows out)',
                rows=rows,
                row=rows[0],
            )
        if not len(self.rows):
            raise ChatError("the dataset has no rows")
        if not self.kept.any():
            counts = {name: int(self.of_fate(name).sum()) for name in self.names}
            why = "; ".join(f"{count} rows: {name}" for name, count in counts.items())
            raise ChatError(f"no row is left to train on ({why})", counts=counts)
        known = self.kept & self.stop.is_valid().to_numpy()
        if known.any() and not self._ends_in_stop[known].any():
            raise ChatError(
                "no row trains a stop token, so the model would never learn to end its turn: the template's "
                "spans, or the completions, leave it out; where a text ends a turn, name it in stop_strings",
                rows=self.first_rows(self.kept),
            )


def _and_others(count: int) -> str:
    others = "1 other" if count == 2 else f"{count - 1:,} others"
    return f"and {others}; " if count > 1 else ""
