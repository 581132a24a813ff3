"""A stream to Python, to data frames and to files: always the rows of the dataset that it streams."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from arrowprep import Dataset, IterableDataset, load_local
from arrowprep.errors import TypeConflict

ROWS = Dataset.from_dict({"n": list(range(25)), "text": [None, *map(str, range(24))]})


@pytest.fixture(params=["known", "unknown"])
def stream(request: Any) -> IterableDataset:
    """25 rows, whose columns are known beforehand or not."""
    made = ROWS.to_iterable_dataset(num_shards=3)
    return made if request.param == "known" else made.map(lambda row: row).with_format("numpy")


def test_rows_and_columns_are_those_of_the_dataset(stream: IterableDataset) -> None:
    assert stream.to_list() == ROWS.to_list()
    assert stream.to_dict() == ROWS.to_dict()
    assert stream.to_pandas().equals(ROWS.to_pandas())


def test_batches_hold_as_many_rows_as_asked_for(stream: IterableDataset) -> None:
    batches = list(stream.to_dict(batch_size=10, batched=True))
    assert [len(batch["n"]) for batch in batches] == [10, 10, 5]
    assert [n for batch in batches for n in batch["n"]] == list(range(25))
    assert [len(frame) for frame in stream.to_pandas(batch_size=20, batched=True)] == [20, 5]


@pytest.mark.parametrize(
    ("suffix", "method"), [("jsonl", "to_json"), ("csv", "to_csv"), ("parquet", "to_parquet")]
)
def test_a_written_file_reads_as_the_same_rows(
    stream: IterableDataset, suffix: str, method: str, tmp_path: Path
) -> None:
    path = tmp_path / f"rows.{suffix}"
    assert getattr(stream, method)(path, batch_size=4) > 0
    assert load_local(path).to_dict() == {
        "n": list(range(25)),
        "text": ROWS["text"].to_list() if suffix != "csv" else [None, *range(24)],
    }


def test_polars_frames(stream: IterableDataset) -> None:
    pytest.importorskip("polars", reason="Polars is not installed")
    assert stream.to_polars().equals(ROWS.to_polars())


def test_types_that_widen_within_the_stream() -> None:
    def rows() -> Any:
        yield from ({"x": None} for _ in range(20_000))
        yield {"x": 1.5}

    whole = IterableDataset.from_generator(rows).to_dict()
    assert whole["x"][-2:] == [None, 1.5]
    with pytest.raises(TypeConflict, match="features="):
        IterableDataset.from_generator(rows).to_csv(io.BytesIO())


def test_an_empty_stream_has_the_columns_that_are_known() -> None:
    empty = ROWS.to_iterable_dataset().take(0)
    assert empty.to_list() == []
    assert empty.to_dict() == {"n": [], "text": []}
    sink = io.BytesIO()
    empty.to_csv(sink)
    assert sink.getvalue() == b"n,text\n"


def test_a_loaded_place_is_where_the_export_begins() -> None:
    stream = ROWS.to_iterable_dataset()
    rows = iter(stream)
    for _ in range(7):
        next(rows)
    later = ROWS.to_iterable_dataset()
    later.load_state_dict(stream.state_dict())
    assert later.to_dict()["n"] == list(range(7, 25))
