"""Arithmetic on row numbers; touches no data.

A selection is a `Rows`: a `Span` (contiguous and ascending, costs nothing) or
`Picks` (any row numbers, in any order, repeats allowed). *Logical* rows are
what a user counts; *physical* rows are places in the table behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arrowprep.errors import BadArgument, BadSelection, RowOutOfRange

RowArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Span:
    """Rows start..stop, stop exclusive."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def array(self) -> RowArray:
        return np.arange(self.start, self.stop, dtype=np.int64)

    def at(self, row: int) -> int:
        return self.start + row

    def part(self, start: int, stop: int) -> Span:
        return Span(self.start + start, self.start + stop)


@dataclass(frozen=True, slots=True, eq=False)
class Picks:
    """Row numbers in the order they are wanted. numbers: (n,) int64, perhaps memory-mapped."""

    numbers: RowArray

    def __len__(self) -> int:
        return len(self.numbers)

    def array(self) -> RowArray:
        return self.numbers

    def at(self, row: int) -> int:
        return int(self.numbers[row])

    def part(self, start: int, stop: int) -> Picks:
        return Picks(self.numbers[start:stop])


Rows: TypeAlias = Span | Picks


def rows_of(selection: Any, num_rows: int) -> Rows:
    """The rows that a slice, range, boolean mask or collection of numbers means.

    Negative numbers count from the end; a boolean mask must have one entry a row.
    Raises RowOutOfRange, or BadSelection for what cannot select rows.
    """
    if isinstance(selection, slice):
        return _rows_of_range(range(num_rows)[selection])
    if isinstance(selection, range):
        return _rows_of_range(selection, num_rows)
    numbers = _as_array(selection)
    if numbers.dtype.kind == "b":
        if len(numbers) != num_rows:
            raise BadSelection(
                f"a boolean mask needs one entry a row: {len(numbers)} entries for {num_rows} rows",
                entries=len(numbers),
                num_rows=num_rows,
            )
        return simplest(np.flatnonzero(numbers))
    return simplest(_wrapped(numbers, num_rows))


def row_of(number: int, num_rows: int) -> int:
    """One row number, counted from the end when negative."""
    row = number + num_rows if number < 0 else number
    if not 0 <= row < num_rows:
        raise RowOutOfRange(number, num_rows)
    return row


def compose(rows: Rows, selection: Rows) -> Rows:
    """`selection` of `rows`: what selecting twice selects."""
    if isinstance(selection, Span):
        if selection.stop - selection.start == 1 and isinstance(rows, Picks):
            row = int(rows.numbers[selection.start])
            return Span(row, row + 1)
        return rows.part(selection.start, selection.stop)
    if isinstance(rows, Span):
        return Picks(selection.numbers + rows.start) if rows.start else selection
    return Picks(rows.numbers[selection.numbers])


def simplest(numbers: RowArray) -> Rows:
    """A Span where the numbers are contiguous and ascending, else Picks."""
    n = len(numbers)
    if n == 0:
        return Span(0, 0)
    first = int(numbers[0])
    # the ends decide most cases before every number is looked at
    if int(numbers[-1]) - first == n - 1 and bool(np.all(np.diff(numbers) == 1)):
        return Span(first, first + n)
    return Picks(numbers)


def permutation(num_rows: int, generator: np.random.Generator) -> Rows:
    """All rows in an order drawn from the generator."""
    return simplest(generator.permutation(num_rows).astype(np.int64, copy=False))


def shard(num_rows: int, num_shards: int, index: int, *, contiguous: bool = True) -> Rows:
    """Shard `index` of `num_shards`; contiguous ones differ by at most one row, the longer first."""
    if num_shards < 1:
        raise BadArgument(f"num_shards must be at least 1, not {num_shards}", num_shards=num_shards)
    if not 0 <= index < num_shards:
        raise BadArgument(f"index {index} is not in 0..{num_shards - 1}", index=index, num_shards=num_shards)
    if not contiguous:
        return _rows_of_range(range(index, num_rows, num_shards))
    size, longer = divmod(num_rows, num_shards)
    start = index * size + min(index, longer)
    return Span(start, start + size + (index < longer))


def _rows_of_range(span: range, num_rows: int | None = None) -> Rows:
    if num_rows is not None and len(span):
        for end in (span[0], span[-1]):
            if not -num_rows <= end < num_rows:
                raise RowOutOfRange(end, num_rows)
        if min(span[0], span[-1]) < 0:
            return simplest(_wrapped(np.arange(span.start, span.stop, span.step, dtype=np.int64), num_rows))
    if len(span) == 0:
        return Span(0, 0)
    if span.step == 1:
        return Span(span.start, span.stop)
    return Picks(np.arange(span.start, span.stop, span.step, dtype=np.int64))


def _as_array(selection: Any) -> npt.NDArray[Any]:
    known = type(selection) is list  # as most are, and an abstract class takes a microsecond to ask
    if not known and (isinstance(selection, str | bytes) or not isinstance(selection, Iterable)):
        raise BadSelection(
            f"{type(selection).__name__} cannot select rows; "
            "use a row number, a slice, a range, a list of row numbers or a boolean mask"
        )
    if not known and not hasattr(selection, "__array__"):
        selection = list(selection)
    numbers = np.asarray(selection)
    if numbers.ndim != 1:
        raise BadSelection(f"row numbers must be one-dimensional, not of shape {numbers.shape}")
    if len(numbers) == 0:
        return numbers.astype(np.int64)
    kind = numbers.dtype.kind
    if kind == "O" and {type(x) for x in selection} <= {bool, np.bool_}:
        return numbers.astype(bool)
    if kind not in "iub":
        raise BadSelection(f"row numbers must be whole numbers, not {numbers.dtype}")
    return numbers


def _wrapped(numbers: npt.NDArray[Any], num_rows: int) -> RowArray:
    """Row numbers from 0, checked; a copy only where there are negative ones."""
    if len(numbers) == 0:
        return numbers.astype(np.int64)
    signed = numbers.astype(np.int64, copy=False)
    if (
        int(np.maximum.reduce(signed.view(np.uint64))) < num_rows
    ):  # one look: negative ones are the largest so
        return signed
    for end in (int(numbers.min()), int(numbers.max())):
        if not -num_rows <= end < num_rows:
            raise RowOutOfRange(end, num_rows)
    return np.where(signed < 0, signed + num_rows, signed)
