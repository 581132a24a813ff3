"""A dataset saved behind a URL is what is loaded from there: the old save or the new one, never a mix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arrowprep import Dataset, DatasetDict, load_from_disk, load_local
from arrowprep.errors import FileError

fsspec = pytest.importorskip("fsspec", reason="remote files go through fsspec, which is not installed")

ROWS = Dataset.from_dict({"n": list(range(10))})
URL = "memory://saved/ds"


@pytest.fixture
def memory() -> Any:
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def names(memory: Any) -> set[str]:
    return {path.rpartition("/")[2] for path in memory.find("/saved")}


def test_a_dataset_comes_back_from_where_it_was_saved(memory: Any) -> None:
    ROWS.with_format("numpy").save_to_disk(URL, num_shards=2)
    again = load_from_disk(URL)
    assert again.format["type"] == "numpy"
    assert again.to_dict() == ROWS.to_dict()
    assert load_local(URL).to_dict() == ROWS.to_dict()


def test_splits_come_back_from_where_they_were_saved(memory: Any) -> None:
    splits = DatasetDict({"train": ROWS, "test": ROWS.take(2)})
    splits.save_to_disk(f"{URL}/")
    assert {name: ds.to_dict() for name, ds in load_from_disk(URL).items()} == {
        name: ds.to_dict() for name, ds in splits.items()
    }
    assert DatasetDict.load_from_disk(URL).num_rows == {"train": 10, "test": 2}


def test_a_new_save_takes_the_place_of_the_old_one(memory: Any) -> None:
    ROWS.save_to_disk(URL, num_shards=3)
    first = names(memory)
    ROWS.take(4).save_to_disk(URL, num_shards=3)
    assert len(names(memory)) == len(first)
    assert load_from_disk(URL)["n"][:] == [0, 1, 2, 3]


def test_a_save_that_breaks_off_leaves_the_old_one(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ROWS.save_to_disk(URL, num_shards=2)
    sent = []

    def put_file(self: Any, local: str, there: str, **options: Any) -> None:
        if len(sent) == 2:
            raise OSError("connection lost")
        sent.append(there)
        memory.pipe(there, Path(local).read_bytes())

    monkeypatch.setattr(type(memory), "put_file", put_file)
    with pytest.raises(FileError, match=r"memory://saved/ds cannot be written: connection lost"):
        ROWS.take(4).save_to_disk(URL, num_shards=2)
    assert load_from_disk(URL)["n"][:] == list(range(10))
