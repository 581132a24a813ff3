"""One user function on one batch: shown lazily, called, and its result made Arrow."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import repeat, starmap
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from arrowprep.dataset.convert import Column, is_column, to_column, to_feature
from arrowprep.dataset.feature_kinds import needs_decoding
from arrowprep.dataset.features import Features
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.indices import Span
from arrowprep.dataset.shaped import ShapedArray
from arrowprep.dataset.verbs.coroutines import Loop, is_async
from arrowprep.dataset.verbs.lazy import AnyTable, LazyBatch, LazyMapping, LazyRow, Shown
from arrowprep.dataset.verbs.returned import HIDDEN, Returned, as_table, is_table, kind_of, with_errors
from arrowprep.dataset.verbs.spec import MapSpec, label_of
from arrowprep.dataset.verbs.stateful import ready
from arrowprep.dataset.verbs.text_rows import remembered
from arrowprep.dataset.verbs.untouched import untouched
from arrowprep.errors import ArrowprepError, BadResult, LengthMismatch, MapError

BATCHES_AT_ONCE = 64  # at most so many batches of a coroutine function wait together


class BatchFunction:
    """A MapSpec ready to be applied to tables of the parent's columns."""

    def __init__(self, spec: MapSpec, features: Features, seed: str) -> None:
        self.spec = spec
        self.label = label_of(spec.function)
        self._function = ready(spec.function)
        self._of_rows: Callable[[list[Any]], Mapping[str, Any]] | None = None
        if not spec.batched and hasattr(self._function, "of_rows"):  # a wrapper costs as much as a row
            self._of_rows, self._function = self._function.of_rows, self._function.function
        self._features = features
        self._seed_name = seed
        wanted = getattr(spec.function, "input_format", None)
        self._format = spec.format if wanted is None else FormatSpec(wanted)
        self._loop = Loop() if is_async(spec.function) else None
        self._originals = {f.name: f.type for f in features.arrow_schema}

    @property
    def at_once(self) -> int:
        """How many batches to give to `together`: several where they wait for something."""
        return BATCHES_AT_ONCE if self._loop is not None and self.spec.batched else 1

    def __call__(self, table: AnyTable, first: int, rank: int | None) -> Returned:
        """Apply to one batch, whose first row is the dataset's row `first`."""
        return next(self.together([table], [first], rank))

    def together(
        self, tables: Sequence[AnyTable], firsts: Sequence[int], rank: int | None
    ) -> Iterator[Returned]:
        """Apply to some batches, in order; those of a coroutine function all wait at the same time.

        Python's and NumPy's global random state are seeded by the map's name and the batch's
        first row, so that no run draws other numbers than another.
        """
        apply = self._batches if self.spec.batched else self._row_batches
        errors: dict[int, str] = {}  # by row, where the function failed and is to go on
        for table, first, returned in zip(tables, firsts, apply(tables, firsts, rank, errors), strict=True):
            if self.spec.on_error != "raise":
                returned = with_errors(returned, errors, first, table.num_rows)
            self._check_lengths(returned, table.num_rows, first)
            yield returned

    def _seed(self, first: int) -> None:
        seed = xxhash.xxh32_intdigest(f"{self._seed_name}:{first}".encode())
        np.random.seed(seed)
        random.seed(seed)

    # -- rows ------------------------------------------------------------------------------------

    def _row_batches(
        self, tables: Sequence[AnyTable], firsts: Sequence[int], rank: int | None, errors: dict[int, str]
    ) -> Iterator[Returned]:
        for table, first in zip(tables, firsts, strict=True):
            self._seed(first)
            yield self._rows(table, first, rank, errors)

    def _rows(self, table: AnyTable, first: int, rank: int | None, errors: dict[int, str]) -> Returned:
        shown = self._shown(table)
        results = self._called_for_rows(shown, first, rank, errors)
        if self._loop is not None:
            results = self._awaited(self._loop, results, first, errors)
        if self._of_rows is not None:
            return Returned(self._table(self._of_rows(results), len(results), first))
        if all(r is None for r in results):
            return Returned(None)
        self._refuse_mixed(results, first)
        if not isinstance(results[0], Mapping):
            self._check_one_row_each(results, first)
            return self._whole_tables(results, shown, first)
        return self._merged(results, shown, first)

    def _awaited(self, loop: Loop, results: list[Any], first: int, errors: dict[int, str]) -> list[Any]:
        """What the rows' coroutines gave; {} for one that failed where the map goes on."""
        going_on = self.spec.on_error != "raise"
        waiting = [number for number in range(len(results)) if first + number not in errors]
        outcomes = loop.outcomes([results[number] for number in waiting], stop_at_error=not going_on)
        for number, outcome in zip(waiting, outcomes, strict=True):
            if isinstance(outcome, Exception):
                if not going_on:
                    raise self._failed(outcome, Span(first + number, first + number + 1)) from outcome
                errors[first + number], outcome = f"{type(outcome).__name__}: {outcome}", {}
            results[number] = outcome
        return results

    def _called_for_rows(
        self, shown: Shown, first: int, rank: int | None, errors: dict[int, str]
    ) -> list[Any]:
        """What the function returns for each row; {} where it fails and the map goes on."""
        size, keywords = shown.table.num_rows, self.spec.fn_kwargs
        function = partial(self._function, **keywords) if keywords else self._function
        arguments = self._row_arguments(shown, first, rank)
        calls = map(function, *arguments) if arguments else starmap(function, repeat((), size))
        results: list[Any] = []
        while len(results) < size:
            try:
                results.extend(calls)  # what came before an error is kept, and the calls go on behind it
                if len(results) < size:
                    raise StopIteration  # that of the function ended the calls
            except Exception as error:
                number = first + len(results)
                if self.spec.on_error == "raise":
                    raise self._failed(error, Span(number, number + 1)) from error
                errors[number] = f"{type(error).__name__}: {error}"
                results.append({})
        return results

    def _row_arguments(self, shown: Shown, first: int, rank: int | None) -> list[Iterable[Any]]:
        """The arguments of the calls, each for all rows: the row or its columns, its number, the rank."""
        size, names = shown.table.num_rows, self.spec.input_columns
        if names is not None:
            arguments = [shown[name] for name in names]
        elif self._format.shows_lazily:
            arguments = [map(LazyRow, repeat(shown), range(size))]
        else:
            arguments = [map(partial(self._row, shown.whole()), range(size))]
        if self.spec.with_indices:
            arguments.append(range(first, first + size))
        if self.spec.with_rank:
            arguments.append(repeat(rank, size))
        return arguments

    def _row(self, table: pa.Table, at: int) -> Any:
        return self._format.row(table.slice(at, 1), self._features)

    def _refuse_mixed(self, results: list[Any], first: int) -> None:
        """One kind for all rows: mappings, or tables of one row."""
        if set(map(type, results)) == {dict}:
            return  # an abstract class takes a microsecond to ask
        kind = Mapping if isinstance(results[0], Mapping) else type(results[0])
        for row, result in enumerate(results, first):
            if not isinstance(result, kind) or not (kind is Mapping or is_table(result)):
                raise self.bad(
                    f"returned {kind_of(result)}; return a dict for every row ({{}} leaves a row as it is; "
                    "`filter` drops rows), or None for all of them",
                    Span(row, row + 1),
                )

    def _check_one_row_each(self, results: list[Any], first: int) -> None:
        for row, result in enumerate(results, first):
            if (count := as_table(result).num_rows) != 1:
                raise LengthMismatch(
                    f"{self.label} returned a table of {count} rows for row {row}; "
                    "return one row for a row, or use batched=True",
                    returned=count,
                    rows=1,
                )

    def _merged(self, results: list[Mapping[str, Any]], shown: Shown, first: int) -> Returned:
        """New and changed columns of row results; a key that a row lacks keeps its value, or is null."""
        changes = [r.new if isinstance(r, LazyMapping) else r for r in results]
        gone = [r.gone for r in results if isinstance(r, LazyMapping)]
        values: dict[str, list[Any]] = {}
        for name in dict.fromkeys(name for change in changes for name in change):
            kept = name in shown.names and name not in self.spec.remove_columns
            originals = shown[name] if kept else None
            column = [
                change[name] if name in change else None if originals is None else originals[i]
                for i, change in enumerate(changes)
            ]
            if (
                originals is not None
                and all(a is b for a, b in zip(column, originals, strict=True))
                and shown.is_as_shown(name)
            ):
                continue
            values[name] = column
        if any(isinstance(r, LazyMapping) for r in results):
            self._add_edited(values, shown)
        removed = frozenset.intersection(*map(frozenset, gone)) if len(gone) == len(results) else frozenset()
        for name in frozenset().union(*gone) - removed:  # taken from some rows only
            values[name] = [
                None if isinstance(r, LazyMapping) and name in r.gone else value
                for r, value in zip(results, values.get(name) or shown[name], strict=True)
            ]
        return Returned(self._table(values, len(results), first), removed)

    # -- batches ---------------------------------------------------------------------------------

    def _batches(
        self, tables: Sequence[AnyTable], firsts: Sequence[int], rank: int | None, errors: dict[int, str]
    ) -> Iterator[Returned]:
        batches = [self._shown(table) for table in tables]
        results: Iterable[Any] = (
            self._called(shown, first, rank) for shown, first in zip(batches, firsts, strict=True)
        )
        if self._loop is not None:
            results = self._all_awaited(self._loop, list(results))
        for shown, first, result in zip(batches, firsts, results, strict=True):
            if isinstance(result, BaseException) and not isinstance(result, Exception):
                continue  # cancelled, for a later one failed, which is raised when its turn comes
            yield self._of_batch(result, shown, first, errors)

    def _all_awaited(self, loop: Loop, results: list[Any]) -> list[Any]:
        """What the batches' coroutines gave; exceptions stay where they are."""
        waiting = [at for at, result in enumerate(results) if not isinstance(result, Exception)]
        stop = self.spec.on_error == "raise"
        outcomes = loop.outcomes([results[at] for at in waiting], stop_at_error=stop)
        for at, outcome in zip(waiting, outcomes, strict=True):
            results[at] = outcome
        return results

    def _called(self, shown: Shown, first: int, rank: int | None) -> Any:
        """What the function returns for a batch, or the exception that it raises."""
        self._seed(first)
        arguments = self._batch_arguments(shown, first, first + shown.table.num_rows, rank)
        try:
            return self._function(*arguments, **self.spec.fn_kwargs)
        except Exception as error:
            return error

    def _of_batch(self, result: Any, shown: Shown, first: int, errors: dict[int, str]) -> Returned:
        """What the function made of a batch, out of its result or the exception that it raised."""
        stop = first + shown.table.num_rows
        if isinstance(result, Exception):
            if self.spec.on_error == "raise":
                raise self._failed(result, Span(first, stop)) from result
            errors.update(dict.fromkeys(range(first, stop), f"{type(result).__name__}: {result}"))
            result = {}
        if result is None:
            return Returned(None)
        if type(result) is dict:  # most are, and an abstract class takes a microsecond to ask
            return Returned(self._mapping(result, shown, first, stop))
        if isinstance(result, LazyMapping):
            values = dict(result.new)
            self._add_edited(values, shown)
            return Returned(self._table(values, None, first, stop), frozenset(result.gone))
        if isinstance(result, Mapping):
            return Returned(self._mapping(result, shown, first, stop))
        return self._whole_tables([result], shown, first, stop)

    def _batch_arguments(self, shown: Shown, first: int, stop: int, rank: int | None) -> Iterator[Any]:
        names = self.spec.input_columns
        if names is not None:
            yield from (shown[name] for name in names)
        elif self._format.shows_lazily:
            yield LazyBatch(shown)
        else:
            yield self._format.batch(shown.whole(), self._features)
        if self.spec.with_indices:
            yield list(range(first, stop))
        if self.spec.with_rank:
            yield rank

    def _mapping(self, result: Mapping[str, Any], shown: Shown, first: int, stop: int) -> pa.Table:
        if hasattr(result, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(result).read_all()  # `pa.table` would load pandas
        values = {}
        for name, column in result.items():
            unchanged = name in shown.touched and column is shown[name] and shown.is_as_shown(name)
            if unchanged and name not in self.spec.remove_columns:
                continue
            if not is_column(column):
                raise self.bad(
                    f"returned {kind_of(column)} for column {name!r} of a batch; "
                    "a batch needs a list or an array with one value a row",
                    Span(first, stop),
                    column=name,
                )
            values[name] = column
        return self._table(values, None, first, stop)

    # -- results ---------------------------------------------------------------------------------

    def _shown(self, table: AnyTable) -> Shown:
        if self.spec.input_columns is None:
            table = table.select(self._format.covered(table.column_names))
        return Shown(table, self._decoded)

    def _decoded(self, name: str, column: pa.ChunkedArray) -> Any:
        rows = self._format.column(name, column, self._features)
        is_stored = self._format.transform is None and not needs_decoding(self._features[name])
        return remembered(rows, column) if is_stored else rows

    def _add_edited(self, values: dict[str, Any], shown: Shown) -> None:
        """Columns whose shown lists were edited in place."""
        for name in shown.touched:
            if name not in values and not shown.is_as_shown(name):
                values[name] = shown[name]

    def _table(self, values: Mapping[str, Any], rows: int | None, first: int, stop: int = 0) -> pa.Table:
        columns: dict[str, Column] = {}
        for name, column in values.items():
            try:
                columns[name] = self._typed(name, column)
            except ArrowprepError as error:
                span = Span(first, stop or first + (rows or 0))
                raise self.bad(f"returned values of more than one type: {error}", span, name) from error
        if rows is not None and not columns:
            return pa.table({"": pa.nulls(rows)}).select([])
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise LengthMismatch(
                f"{self.label} returned columns of unequal length for rows {first}..{stop - 1}: "
                + ", ".join(f"{name!r} has {n}" for name, n in lengths.items()),
                lengths=lengths,
            )
        return pa.Table.from_arrays(list(columns.values()), names=list(columns))

    def _typed(self, name: str, values: Any) -> Column:
        wanted = self.spec.features
        if wanted is None or name not in wanted:
            column = to_column(
                values, name, self._originals.get(name) if self.spec.try_original_type else None
            )
            known = self._features.get(name)
            if isinstance(known, ShapedArray) and column.type == known.pa_type:
                return known.fitted(column)
            return column
        return to_feature(values, name, wanted[name])

    def _whole_tables(
        self, results: list[Any], shown: Shown, first: int, stop: int | None = None
    ) -> Returned:
        """Tables and data frames: they stand for all columns."""
        for result in results:
            if not is_table(result):
                raise self.bad(
                    f"returned {kind_of(result)}; return a dict of columns, a pyarrow Table, "
                    "a data frame, or None",
                    Span(first, stop or first + len(results)),
                )
        if len(results) == 1:
            table = as_table(results[0])
            same = untouched(table, shown.whole(), self._features) if shown.is_whole else frozenset()
            changed = [name for name in table.column_names if name not in same] if same else None
            new = table if changed is None else table.select(changed)
            return Returned(new, frozenset(self._features) - same, whole=True)
        tables = [as_table(r) for r in results]
        return Returned(pa.concat_tables(tables), frozenset(self._features), whole=True)

    def _check_lengths(self, returned: Returned, rows: int, first: int) -> None:
        if returned.table is None or returned.table.num_rows == rows:
            return
        out = returned.table
        if not out.column_names and rows:
            return  # nothing new: an empty mapping leaves the batch as it is
        away = {*self.spec.remove_columns, *returned.gone, *out.column_names}
        kept = [name for name in self._features if name not in away]
        if kept and all(name.startswith(HIDDEN) for name in out.column_names):
            raise LengthMismatch(
                f"{self.label} returned {out.num_rows} booleans for rows {first}..{first + rows - 1}, "
                f"which are {rows} rows",
                returned=out.num_rows,
                rows=rows,
            )
        if kept:
            new = ", ".join(map(repr, out.column_names))
            raise LengthMismatch(
                f"{self.label} returned {out.num_rows} rows ({new}) for rows "
                f"{first}..{first + rows - 1}, but the columns {', '.join(map(repr, kept))} are kept with "
                f"{rows} rows; return them too, or add remove_columns={kept!r}",
                returned=out.num_rows,
                rows=rows,
                kept=kept,
            )

    def bad(self, what: str, rows: Span, column: str | None = None) -> BadResult:
        """The error for what the function made of these rows."""
        where = f"row {rows.start}" if len(rows) == 1 else f"rows {rows.start}..{rows.stop - 1}"
        return BadResult(
            f"{self.label} {what} ({where})",
            function=self.label,
            start=rows.start,
            stop=rows.stop,
            column=column,
        )

    def _failed(self, error: Exception, rows: Span) -> Exception:
        """What to raise for an error of the function: one that names the function and the rows."""
        if isinstance(error, BadResult):
            return error
        where = f"row {rows.start}" if len(rows) == 1 else f"rows {rows.start}..{rows.stop - 1}"
        return MapError(
            f"{self.label} failed on {where}: {type(error).__name__}: {error}",
            function=self.label,
            start=rows.start,
            stop=rows.stop,
            column=getattr(error, "column", None),
            cause=f"{type(error).__name__}: {error}",
        )


@contextmanager
def random_state_kept() -> Iterator[None]:
    """The caller's random state is as it was, whatever was drawn inside."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
