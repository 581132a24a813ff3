"""Streams say what there is to say once, not with every row."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import pytest

from arrowprep import Dataset, IterableDataset, load_dataset


def test_going_on_with_a_shuffled_stream_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def stream() -> IterableDataset:
        made = Dataset.from_dict({"n": list(range(5000))}).to_iterable_dataset(7)
        return made.shuffle(seed=1, buffer_size=100).map(lambda row: {"m": row["n"]}).skip(3)

    with warnings.catch_warnings(record=True) as told, caplog.at_level(logging.INFO, "arrowprep"):
        warnings.simplefilter("always")
        first = stream()
        rows = iter(first)
        seen = [next(rows) for _ in range(1234)]
        again = stream()
        again.load_state_dict(first.state_dict())
        assert len(seen) + len(list(again)) == 4997
    assert (told, caplog.records) == ([], [])


def test_a_file_that_is_left_out_is_told_once_however_often_rows_are_read(tmp_path: Path) -> None:
    Dataset.from_dict({"n": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"none")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        files = str(tmp_path / "*.parquet")
        stream = load_dataset("parquet", data_files=files, split="train", streaming=True, on_bad_files="warn")
        for epoch in range(3):
            stream.set_epoch(epoch)
            assert [row["n"] for row in stream] == [1, 2]
    assert len(told) == 1
