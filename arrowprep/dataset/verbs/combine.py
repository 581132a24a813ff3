"""Datasets end to end or side by side; nothing is copied."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arrowprep.dataset.feature_kinds import feature_of
from arrowprep.dataset.features import Features
from arrowprep.dataset.fingerprint import combine
from arrowprep.dataset.indices import Picks, RowArray, Rows, Span, simplest
from arrowprep.dataset.storage.backing import Cell, Memory, gather
from arrowprep.dataset.view import View
from arrowprep.dataset.widen import wider
from arrowprep.errors import BadArgument, LengthMismatch, TypeConflict


@dataclass(frozen=True)
class Stacked:
    """A backing whose rows are the rows of views of one schema, end to end."""

    views: tuple[View, ...]

    @property
    def schema(self) -> pa.Schema:
        return self.views[0].schema

    @cached_property
    def stops(self) -> list[int]:
        return np.cumsum([view.num_rows for view in self.views]).tolist()  # type: ignore[no-any-return]

    @property
    def num_rows(self) -> int:
        return self.stops[-1]

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(f for view in self.views for f in view.files))

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(name for view in self.views for name in view.entries)

    def cells(self, row: int, fields: Sequence[str]) -> list[Cell] | None:
        number = bisect_right(self.stops, row)
        view = self.views[number]
        return view.cells(row - (self.stops[number] - view.num_rows), fields)

    def numbers(self, field: str, rows: Rows) -> NDArray[Any] | None:
        """Of one view, or gathered in each and put together where all have one shape."""
        numbers = rows.array()
        which = np.searchsorted(self.stops, numbers, side="right")
        found: NDArray[Any] | None = None
        for number in np.unique(which).tolist():
            view, here = self.views[number], which == number
            part: NDArray[Any] | None = view.numbers(
                simplest(numbers[here] - (self.stops[number] - view.num_rows)), field
            )
            if part is None or here.all():
                return part
            if found is None:
                found = np.empty((len(numbers), *part.shape[1:]), part.dtype)
            if part.dtype == object or (part.dtype, part.shape[1:]) != (found.dtype, found.shape[1:]):
                return None
            found[here] = part
        return found

    def portable(self) -> Stacked:
        return Stacked(tuple(view.portable() for view in self.views))

    def read(self, rows: Rows, fields: Sequence[str]) -> pa.Table:
        if len(rows) == 0:
            return self.views[0].read(Span(0, 0), fields)
        if isinstance(rows, Picks):
            return gather(rows.numbers, self.stops, lambda k, numbers: self._take(k, numbers, fields))
        tables = []
        for view, stop in zip(self.views, self.stops, strict=True):
            start = stop - view.num_rows
            first, last = max(rows.start, start), min(rows.stop, stop)
            if first < last:
                tables.append(view.read(Span(first - start, last - start), fields))
        return pa.concat_tables(tables)

    def _take(self, view: int, numbers: RowArray, fields: Sequence[str]) -> pa.Table:
        return self.views[view].read(simplest(numbers), fields)


def stack(views: Sequence[View]) -> View:
    """All rows of the views, in order; columns that one lacks are null there."""
    every = list(dict.fromkeys(name for view in views for name in view.columns))
    views = [_with_nulls(view, every) for view in views]
    features = reduce(aligned, [view.features for view in views])
    filled = [view for view in views if view.num_rows] or list(views[:1])
    same = tuple(replace(view.keep(list(features), view.fingerprint), features=features) for view in filled)
    name = combine("concatenate", 0, tuple(view.fingerprint for view in views))
    origin = {path: content for view in views for path, content in view.origin.items()}
    return View.over(Stacked(same), name, features, origin)


def appended(view: View, rows: pa.Table) -> View:
    """The rows of a table after those of a view; columns that either lacks are null there."""
    name = combine("append", view.fingerprint, rows)
    features = Features.from_arrow_schema(rows.schema)
    more = View.over(Memory(rows), name, features)
    return replace(stack([view, more]), fingerprint=name)


def _with_nulls(view: View, names: Sequence[str]) -> View:
    """The view with a null column for each that it lacks."""
    missing = [name for name in names if name not in view.columns]
    if not missing:
        return view
    nulls = Memory(pa.table({name: pa.nulls(view.num_rows) for name in missing}))
    return view.beside(View.over(nulls, view.fingerprint), view.fingerprint)


def side_by_side(views: Sequence[View]) -> View:
    """All columns of the views; the rows must be as many and the names distinct."""
    names = [name for view in views for name in view.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadArgument(
            f"columns {twice} are duplicated: they are in more than one dataset; rename or remove them first"
        )
    if len({view.num_rows for view in views}) > 1:
        counts = ", ".join(str(view.num_rows) for view in views)
        raise LengthMismatch(f"datasets side by side need one number of rows, not {counts}")
    name = combine("concatenate", 1, tuple(view.fingerprint for view in views))
    return reduce(lambda left, right: left.beside(right, name), views)


def aligned(ours: Features, theirs: Features) -> Features:
    """Features that hold the rows of both. Raises TypeConflict with all differences."""
    if set(ours) != set(theirs):
        missing = sorted(set(ours) ^ set(theirs))
        raise TypeConflict(
            f"columns {missing} are not in every dataset; add them, or use remove_columns", columns=missing
        )
    joined, problems = Features(), []
    for name in ours:
        try:
            joined[name] = _joined(ours[name], theirs[name], name, ours, theirs)
        except TypeConflict as error:
            problems.append(f"{name!r}: {error}")
    if problems:
        raise TypeConflict("columns that cannot be aligned: " + "; ".join(problems))
    return joined


def _joined(a: Any, b: Any, name: str, ours: Features, theirs: Features) -> Any:
    if a == b:
        return a
    left, right = ours.arrow_schema.field(name).type, theirs.arrow_schema.field(name).type
    if pa.types.is_null(right):
        return a
    if pa.types.is_null(left):
        return b
    if left == right:
        raise TypeConflict(f"{a!r} is not {b!r}")
    return feature_of(wider(left, right))
