"""Rows that are read without a table are those of the table: one by one, scattered, and neighbours."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.dataset.dataset import Dataset, concatenate_datasets
from arrowprep.dataset.formats import make
from arrowprep.dataset.indices import rows_of
from tests.dataset.formats.contract import COLUMNS

FORMATS: list[tuple[str, dict[str, Any]]] = [
    ("python", {}),
    ("numpy", {}),
    ("numpy", {"dtype": np.float32}),
    ("torch", {}),
    ("torch", {"dtype": None}),
]
NUMBERS = [
    st.integers(-5, 5),
    st.floats(allow_nan=False, width=32),
    st.lists(st.integers(0, 9), max_size=3),
    st.lists(st.integers(0, 9), min_size=2, max_size=2),
    st.none() | st.integers(0, 9),
    st.none() | st.lists(st.none() | st.integers(0, 9), max_size=2),
]
TYPES = [
    [pa.int64(), pa.int16(), pa.uint8(), pa.bool_()],
    [pa.float64(), pa.float32()],
    [pa.list_(pa.int32()), pa.large_list(pa.float32())],
    [pa.list_(pa.int64(), 2), pa.list_(pa.int8())],
    [pa.int64()],
    [pa.list_(pa.int16())],
]


def same(a: Any, b: Any) -> bool:
    """Equal in kind, shape and value."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) or (isinstance(a, np.ndarray) and a.dtype == object):
        return len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "dtype"):
        return bool(a.dtype == b.dtype and a.shape == b.shape and repr(a.tolist()) == repr(b.tolist()))
    return repr(a) == repr(b)


def check(dataset: Dataset, keys: list[int]) -> None:
    """Each way to read some rows, beside the way through a table."""
    rows, spec, features = rows_of(keys, len(dataset)), dataset._format, dataset._view.features
    batch = spec.batch(dataset._read(rows), features)
    assert same(dataset[keys], batch)
    singles = [spec.row(dataset._read(rows_of([key], len(dataset))), features) for key in keys]
    assert all(same(dataset[key], row) for key, row in zip(keys, singles, strict=True))
    loaded = dataset.__getitems__(keys)
    assert all(isinstance(row, dict) for row in loaded)  # of a class that DataLoader collates at once
    assert same(list(map(dict, loaded)), list(spec.rows(dataset._read(rows), features)))


def shown(dataset: Dataset, name: str, options: dict[str, Any]) -> Dataset:
    if name == "torch":
        pytest.importorskip("torch", reason="torch is not installed")
    return dataset.with_format(name, **options)


# pyarrow cannot cast the one, nor take rows of the other (26)
@pytest.mark.parametrize("kind", sorted(COLUMNS.keys() - {"dictionary of lists", "list view"}))
@pytest.mark.parametrize(("name", "options"), FORMATS[:2])
def test_every_kind_of_column(kind: str, name: str, options: dict[str, Any]) -> None:
    array = COLUMNS[kind]
    column = pa.chunked_array([array, array[:0], array[1:], array[2:]])
    dataset = shown(Dataset(pa.table({"x": column, "n": pa.array(range(len(column)))})), name, options)
    for keys in ([0], [4, 1], [1, 2], [5, 0, 3, 0], [3, 4, 5], []):
        check(dataset, keys)
        check(dataset.shuffle(seed=1), keys)


@given(st.data(), st.sampled_from(FORMATS))
def test_numbers_in_any_batches(data: st.DataObject, how: tuple[str, dict[str, Any]]) -> None:
    at = data.draw(st.integers(0, len(NUMBERS) - 1))
    kind = data.draw(st.sampled_from(TYPES[at]))
    values = data.draw(st.lists(NUMBERS[at], min_size=1, max_size=12))
    values = [bool(v) if kind == pa.bool_() else abs(v) if kind == pa.uint8() else v for v in values]
    padded = pa.array([values[-1], *values], kind)[1:]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=3)))
    edges = [0, *cuts, len(values)]
    chunks = [padded[start:stop] for start, stop in pairwise(edges)]
    dataset = shown(Dataset(pa.table({"x": pa.chunked_array(chunks, kind)})), *how)
    check(dataset, data.draw(st.lists(st.integers(0, len(values) - 1), max_size=40)))
    start = data.draw(st.integers(0, len(values) - 1))
    check(dataset, list(range(start, data.draw(st.integers(start, len(values) - 1)))))


def test_a_column_that_is_cast_or_renamed_is_read_as_what_it_is() -> None:
    table = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "s": [{"b": 1.5}] * 3})
    dataset = Dataset(table).flatten().cast_column("a", Dataset(pa.table({"a": [1.5]})).features["a"])
    for name in ("python", "numpy"):
        check(dataset.rename_column("a", "c").with_format(name), [2, 0])
    assert dataset[1] == {"a": 2.0, "s.b": 1.5}


@pytest.mark.parametrize("name", ["python", "numpy"])
def test_rows_of_datasets_end_to_end(name: str) -> None:
    ids = {"two": [[1, 2], [3, 4]], "more": [[5, 6]] * 3, "ragged": [[7], []], "null": [None, [8, 9]]}
    parts = {kind: Dataset(pa.table({"ids": rows, "n": range(len(rows))})) for kind, rows in ids.items()}
    for kinds in (["two", "more"], ["two", "ragged"], ["ragged", "more"], ["more", "null", "two"]):
        whole = concatenate_datasets([parts[kind] for kind in kinds]).with_format(name)
        for keys in ([0], [3, 0, 1], [1, 2], [2, 3], [0, 1, 2, 3]):
            check(whole, keys)
            check(whole.shuffle(seed=2), keys)


@pytest.mark.parametrize("width", [1, 7, (1 << 15) - 1, 1 << 15])
def test_rows_of_one_length_out_of_many_batches(width: int) -> None:
    chunks = [np.arange(n * width, dtype=np.int16).reshape(n, width) + n for n in (3, 1, 4, 2)]
    lists = [pa.FixedSizeListArray.from_arrays(pa.array(chunk.ravel()), width) for chunk in chunks]
    dataset = Dataset(pa.table({"x": pa.chunked_array(lists)})).with_format("numpy")
    keys = [9, 0, 3, 4, 9, 1, 7]
    assert (dataset[keys]["x"] == np.concatenate(chunks)[keys]).all()


def test_what_is_gathered_belongs_to_whoever_asked() -> None:
    dataset = Dataset(pa.table({"x": [[1, 2], [3, 4], [5, 6]]}))
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rows = dataset.with_format("torch")
    rows[[2, 0]]["x"].add_(1)
    rows[0:2]["x"].add_(1)
    rows.__getitems__([1, 2])[0]["x"].add_(1)
    assert torch.equal(rows[[0, 1, 2]]["x"], torch.tensor([[1, 2], [3, 4], [5, 6]]))


@given(
    st.lists(st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=2)), min_size=1, max_size=30),
    st.lists(st.integers(0, 30), max_size=3),
    st.integers(1, 5),
)
def test_batches_of_lists_in_any_chunks_are_what_each_would_be_alone(rows, cuts, size) -> None:
    array = pa.array([[5], *rows], pa.list_(pa.int16()))[1:]
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    table = pa.table({"x": pa.chunked_array([array[a:b] for a, b in pairwise(edges)], array.type)})
    shown = make("numpy")
    batches = [batch["x"] for batch in shown.batches(table, {}, size)]
    alone = [shown.batch(table.slice(at, size), {})["x"] for at in range(0, len(rows), size)]
    assert [(b.dtype, b.shape) for b in batches] == [(b.dtype, b.shape) for b in alone]
    assert [[None if row is None else row.tolist() for row in b] for b in batches] == [
        rows[at : at + size] for at in range(0, len(rows), size)
    ]
