"""Verbs that choose or order rows: the data stays where it is, row numbers are kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.dataset.compute import pc
from arrowprep.dataset.fingerprint import combine, fingerprint_of
from arrowprep.dataset.indices import Picks, RowArray, Rows, Span, permutation, rows_of, shard, simplest
from arrowprep.dataset.storage.cache import Cache
from arrowprep.dataset.view import View
from arrowprep.errors import BadArgument

LARGE_ROWS = 1 << 18  # more row numbers than this are kept in a file, mapped (2 MB)


def select(view: View, selection: Any, cache: Cache) -> View:
    """The rows of a slice, range, mask or collection of row numbers."""
    rows = rows_of(selection, view.num_rows)
    if rows == Span(0, view.num_rows):
        return view
    content = (rows.start, rows.stop) if isinstance(rows, Span) else fingerprint_of(rows.numbers)
    name = combine("select", view.fingerprint, content)
    return view.select(stored(rows, name, cache, _note(view, "select")), name)


def select_shard(view: View, num_shards: int, index: int, contiguous: bool) -> View:
    """One of several shards that together are the whole."""
    rows = shard(view.num_rows, num_shards, index, contiguous=contiguous)
    return view.select(rows, combine("shard", view.fingerprint, num_shards, index, contiguous))


def shuffle(view: View, generator: np.random.Generator, cache: Cache, reuse: bool) -> View:
    """All rows in an order drawn from the generator."""
    name = combine("shuffle", view.fingerprint, fingerprint_of(generator))
    rows: Rows | None = cache.find_rows(name) if reuse and view.num_rows > LARGE_ROWS else None
    if rows is None:
        rows = stored(permutation(view.num_rows, generator), name, cache, _note(view, "shuffle"))
    return view.select(rows, name)


def sort(view: View, columns: list[str], descending: list[bool], nulls_first: bool, cache: Cache) -> View:
    """Rows ordered by columns, the first counting most; equal rows keep their order."""
    view.check(columns)
    name = combine("sort", view.fingerprint, tuple(columns), tuple(descending), nulls_first)
    rows: Rows | None = cache.find_rows(name) if view.num_rows > LARGE_ROWS else None
    if rows is None:
        order = _order(
            view.read(Span(0, view.num_rows), list(dict.fromkeys(columns))), columns, descending, nulls_first
        )
        rows = stored(simplest(order), name, cache, _note(view, "sort"))
    return view.select(rows, name)


def _order(table: pa.Table, columns: list[str], descending: list[bool], nulls_first: bool) -> RowArray:
    """The row numbers that sort the table."""
    keys = []
    for column, down in zip(columns, descending, strict=True):
        if nulls_first:  # a key of its own: how null placement is asked for differs between pyarrow versions
            table = table.append_column(f"{column} is null", pc.is_null(table.column(column)))
            keys.append((f"{column} is null", "descending"))
        keys.append((column, "descending" if down else "ascending"))
    return pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.int64)  # type: ignore[no-any-return]


def stored(rows: Rows, name: str, cache: Cache, note: Mapping[str, Any]) -> Rows:
    """The same rows; many row numbers are mapped from a file instead of held."""
    if isinstance(rows, Picks) and len(rows) > LARGE_ROWS:
        return cache.publish_rows(name, np.ascontiguousarray(rows.numbers), note)
    return rows


def _note(view: View, operation: str) -> dict[str, Any]:
    return {"operation": operation, "parent": view.fingerprint, "parents": view.entries}


def generator_of(seed: Any, generator: np.random.Generator | None) -> np.random.Generator:
    """NumPy's default generator with the seed; without one, seeded from NumPy's global state."""
    if generator is not None:
        if seed is not None:
            raise BadArgument("give seed or generator, not both")
        if not isinstance(generator, np.random.Generator):
            raise BadArgument(f"generator must be a numpy.random.Generator, not {type(generator).__name__}")
        return generator
    if seed is None:
        seed = int(np.random.randint(0, 2**32, dtype=np.uint64))
    return np.random.default_rng(seed)


def split_sizes(
    num_rows: int, test_size: float | int | None, train_size: float | int | None
) -> tuple[int, int]:
    """Rows of the train and the test split: whole numbers, or fractions (test rounded up, train down).

    Both are empty where there is nothing to split, for a filter may leave nothing.
    """
    if num_rows == 0:
        return 0, 0
    if test_size is None and train_size is None:
        test_size = 0.25
    test = _rows_for("test_size", test_size, num_rows, math.ceil)
    train = _rows_for("train_size", train_size, num_rows, math.floor)
    test = num_rows - train if test is None and train is not None else test
    assert test is not None
    train = num_rows - test if train is None else train
    if train + test > num_rows:
        raise BadArgument(f"train_size and test_size ask for {train} + {test} rows of {num_rows}")
    if train == 0:
        raise BadArgument(
            f"no row of {num_rows} is left to train on: test_size={test_size}, train_size={train_size}"
        )
    return train, test


def _rows_for(name: str, size: float | int | None, num_rows: int, rounded: Any) -> int | None:
    if size is None:
        return None
    if isinstance(size, float) and 0 < size < 1:
        return int(rounded(size * num_rows))
    if isinstance(size, int) and not isinstance(size, bool) and 0 < size < num_rows:
        return size
    raise BadArgument(
        f"{name}={size!r} must be a fraction between 0 and 1 or a number of rows between 1 and {num_rows - 1}"
    )


def split_rows(
    num_rows: int, train: int, test: int, generator: np.random.Generator | None
) -> tuple[Rows, Rows]:
    """Rows of the train and the test split, drawn without replacement; in order without a generator."""
    if generator is None:
        return Span(0, train), Span(train, train + test)
    order = generator.permutation(num_rows).astype(np.int64)
    return simplest(order[test : test + train]), simplest(order[:test])


def unique(view: View, column: str) -> pa.Array:
    """The distinct values of a column, in the order of their first row."""
    view.check([column])
    try:
        return pc.unique(view.read(Span(0, view.num_rows), [column]).column(column))
    except pa.ArrowNotImplementedError as error:
        feature = view.features[column]
        raise BadArgument(f"column {column!r} holds {feature!r}, which has no distinct values") from error


def value_counts(view: View, column: str) -> dict[Any, int]:
    """How many rows hold each distinct value: the most frequent first, ties as they come first."""
    view.check([column])
    values = view.read(Span(0, view.num_rows), [column]).column(column)
    try:
        counted = pc.value_counts(values).to_pylist()
    except pa.ArrowNotImplementedError as error:
        feature = view.features[column]
        raise BadArgument(f"column {column!r} holds {feature!r}, which cannot be counted") from error
    counted.sort(key=lambda pair: -pair["counts"])
    return {pair["values"]: pair["counts"] for pair in counted}
