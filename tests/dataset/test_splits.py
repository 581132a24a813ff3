"""DatasetDict: verbs on every split, splits from files and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import ClassLabel, Features, Value
from arrowprep.dataset.splits import DatasetDict
from arrowprep.errors import BadArgument


@pytest.fixture
def splits() -> DatasetDict:
    rows = Dataset.from_dict({"n": [1, 2, 1], "s": [{"a": 1}, {"a": 2}, {"a": 3}]})
    return DatasetDict({"train": rows, "test": rows.take(2)})


def test_columns_and_types_change_in_every_split(splits: DatasetDict) -> None:
    assert splits.flatten()["test"].column_names == ["n", "s.a"]
    assert splits.cast_column("n", Value("string"))["test"]["n"][:] == ["1", "2"]
    numbers = splits.select_columns("n")
    assert numbers.cast(Features({"n": Value("float32")}))["train"].features == {"n": Value("float32")}
    labels = numbers.class_encode_column("n")
    assert labels["test"].features == {"n": ClassLabel(names=["1", "2"])}
    assert labels.align_labels_with_mapping({"2": 0, "1": 1}, "n")["train"]["n"][:] == [1, 0, 1]


def test_a_function_may_ask_for_the_split(splits: DatasetDict) -> None:
    def describe(row: dict[str, int], number: int, split: str, mark: str) -> dict[str, str]:
        return {"from": f"{split}{mark}{number}"}

    made = splits.map(describe, with_split=True, with_indices=True, fn_kwargs={"mark": ":"})
    assert {name: split["from"][:] for name, split in made.items()} == {
        "train": ["train:0", "train:1", "train:2"],
        "test": ["test:0", "test:1"],
    }


def test_splits_come_from_files_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n1\n")
    (tmp_path / "b.jsonl").write_text('{"n": 2}\n')
    Dataset.from_dict({"n": [3]}).to_parquet(tmp_path / "c.parquet")
    for make, file, value in (
        (DatasetDict.from_csv, "a.csv", 1),
        (DatasetDict.from_json, "b.jsonl", 2),
        (DatasetDict.from_parquet, "c.parquet", 3),
        (DatasetDict.from_text, "a.csv", "n"),
    ):
        made = make({"dev": tmp_path / file, "test": [str(tmp_path / file)] * 2})
        assert next(iter(made["dev"][0].values())) == value
        assert (made["dev"].split, len(made["test"])) == ("dev", 2 * len(made["dev"]))


def test_saved_splits_load_under_their_names(splits: DatasetDict, tmp_path: Path) -> None:
    splits.save_to_disk(tmp_path / "splits")
    found = DatasetDict.load_from_disk(tmp_path / "splits")
    assert {name: split[:] for name, split in found.items()} == {
        name: split[:] for name, split in splits.items()
    }
    splits["train"].save_to_disk(tmp_path / "one")
    with pytest.raises(BadArgument, match="holds one dataset"):
        DatasetDict.load_from_disk(tmp_path / "one")


def test_cleaning_up_counts_by_split(splits: DatasetDict) -> None:
    assert splits.cleanup_cache_files() == {"train": 0, "test": 0}
