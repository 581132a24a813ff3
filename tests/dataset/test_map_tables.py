"""Functions from table to table: what they pass through is not written, whatever they do in some batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.verbs.untouched import untouched
from arrowprep.errors import BadResult
from tests.dataset.formats.contract import COLUMNS

ROWS = 40
TEXT = [f"text number {i}" for i in range(ROWS)]


@pytest.fixture
def rows() -> Dataset:
    return Dataset.from_dict(
        {"text": TEXT, "n": list(range(ROWS)), "ids": [[i] * (i % 3) for i in range(ROWS)]}
    )


def appended(table: pa.Table) -> pa.Table:
    return table.append_column("length", pc.utf8_length(table.column("text")))


def replaced_in_some(table: pa.Table) -> pa.Table:
    if table.column("n")[0].as_py() < 20:
        return appended(table)
    at = table.schema.get_field_index("text")
    return appended(table.set_column(at, "text", pc.utf8_upper(table.column("text"))))


def fewer_in_some(table: pa.Table) -> pa.Table:
    return appended(table) if table.column("n")[0].as_py() < 20 else appended(table.slice(1))


def reordered(table: pa.Table) -> pa.Table:
    return table.select(["n", "text"])


def dropped(table: pa.Table) -> pa.Table:
    return table.drop_columns(["ids"])


def unchanged(table: pa.Table) -> pa.Table:
    return table


def sliced_inside(table: pa.Table) -> pa.Table:
    """The same offsets over other values."""
    lists = table.column("ids").combine_chunks()
    moved = pa.ListArray.from_arrays(lists.offsets, pa.concat_arrays([lists.values[1:], lists.values[:1]]))
    return table.set_column(2, "ids", moved)


FUNCTIONS = [
    appended, replaced_in_some, fewer_in_some, reordered, dropped, unchanged, sliced_inside,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("num_proc", [None, 2])
@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_are_those_of_the_tables(
    rows: Dataset, function: Callable[[pa.Table], pa.Table], num_proc: int | None, shuffled: bool
) -> None:
    given = (rows.sort("n", reverse=True) if shuffled else rows).with_format("arrow")
    expected = pa.concat_tables([function(table) for table in given.iter(10)])
    mapped = given.map(function, batched=True, batch_size=10, num_proc=num_proc)
    assert mapped.column_names == expected.column_names
    assert mapped[:].to_pylist() == expected.to_pylist()


def test_what_is_passed_through_is_not_written(rows: Dataset, tmp_path: Any) -> None:
    mapped = rows.with_format("arrow").map(appended, batched=True)
    written = pa.memory_map(mapped.cache_files[-1]["filename"])
    assert pa.ipc.open_file(written).schema.names == ["length"]


def test_a_column_that_only_some_batches_pass_through_is_told(rows: Dataset) -> None:
    def forgetful(table: pa.Table) -> pa.Table:
        return appended(table) if table.column("n")[0].as_py() < 20 else dropped(appended(table))

    with pytest.raises(BadResult, match="returned ids for some batches only"):
        rows.with_format("arrow").map(forgetful, batched=True, batch_size=10)


def test_flattened_rows_are_written_out(rows: Dataset) -> None:
    flat = rows.sort("n", reverse=True).flatten_indices()
    assert flat["n"][:] == list(range(ROWS))[::-1]
    assert all(isinstance(source.rows, type(rows._view.sources[0].rows)) for source in flat._view.sources)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_untouched_where_it_is_the_same_memory(kind: str) -> None:
    column = pa.chunked_array([COLUMNS[kind]])
    table = pa.table({"x": column, "y": pa.array(np.arange(3))})
    assert untouched(table.append_column("z", [[1, 2, 3]]), table, ["x", "y"]) >= {"y"}
    moved = pa.table({"x": pa.chunked_array([COLUMNS[kind][1:], COLUMNS[kind][:1]]), "y": table["y"]})
    assert untouched(moved, table, ["x", "y"]) == {"y"}
    copied = pa.ipc.open_stream(_stream(table)).read_all()
    assert untouched(copied, table, ["x", "y"]) <= ({"x"} if kind in ("null", "empty struct") else set())


def _stream(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
