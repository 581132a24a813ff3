"""Reading large mapped files through fills no memory that this process is charged with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arrowprep import Dataset, load_from_disk
from arrowprep.dataset.storage import pages

MEGABYTES = 48
ROWS = MEGABYTES * 1000
ROW = np.arange(250, dtype=np.int32)  # 1000 bytes


def _charged(*kinds: str) -> float:
    """Megabytes of this process, of some kinds."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(kinds)) / 1024


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "saved"
    Dataset.from_dict({"x": np.broadcast_to(ROW, (ROWS, 250)), "n": np.arange(ROWS)}).save_to_disk(folder)
    return folder


def _ones(batches: Iterable[Any]) -> int:
    """How many rows there are, by a look at each of them."""
    return sum(int(np.asarray(batch["x"])[:, 1].sum()) for batch in batches)


READERS: dict[str, Callable[[Dataset], Iterable[Any]]] = {
    "batches": lambda ds: ds.with_format("numpy").iter(1000),
    "large batches": lambda ds: ds.with_format("numpy").iter(9_000),
    "a column": lambda ds: ds.select_columns("x").with_format("numpy").iter(700),
    "a stream": lambda ds: ds.to_iterable_dataset().with_format("numpy").iter(1000),
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc on Linux")
@pytest.mark.parametrize("reader", READERS)
def test_rows_that_were_read_are_not_held(reader: str, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "LARGE", 0)
    ds = load_from_disk(saved)
    assert isinstance(ds, Dataset)
    shared, private = _charged("RssFile", "RssShmem"), _charged("RssAnon")
    assert _ones(READERS[reader](ds)) == ROWS
    assert _charged("RssFile", "RssShmem") - shared < MEGABYTES * 0.7  # all of them without letting go
    assert _charged("RssAnon") - private < MEGABYTES


def test_arrays_over_what_was_let_go_are_as_they_were(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "LARGE", 0)
    ds = load_from_disk(saved)
    kept = [batch["n"] for batch in ds.with_format("numpy").iter(1000)]
    np.testing.assert_array_equal(np.concatenate(kept), np.arange(ROWS))
    np.testing.assert_array_equal(ds.with_format("numpy")[ROWS - 1]["x"], ROW)


def test_memory_of_its_own_is_never_let_go() -> None:
    ds = Dataset.from_dict({"n": np.arange(100_000)})
    for batch in ds.data.to_batches():
        pages.let_go(batch)
    np.testing.assert_array_equal(ds.with_format("numpy")["n"], np.arange(100_000))
