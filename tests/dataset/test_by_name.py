"""What can be asked by name before anything is loaded, and verbs over splits that take arguments in order."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from arrowprep import (
    Dataset,
    DatasetDict,
    IterableDataset,
    IterableDatasetDict,
    get_dataset_default_config_name,
    get_dataset_split_names,
    load_dataset,
)
from arrowprep.errors import BadArgument, MissingFile


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("train", "test"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"n": len(name)}) + "\n")
    return tmp_path


def test_splits_are_named_without_loading_them(folder: Path) -> None:
    assert get_dataset_split_names(folder) == list(load_dataset(folder)) == ["train", "test"]
    files = {"a": str(folder / "train.jsonl"), "b": str(folder / "test.jsonl")}
    assert get_dataset_split_names("json", data_files=files) == ["a", "b"]
    assert get_dataset_split_names("json", data_files=files["a"]) == ["train"]
    DatasetDict({"x": Dataset.from_dict({"n": [1]})}).save_to_disk(folder / "saved")
    assert get_dataset_split_names(folder / "saved") == ["x"]
    with pytest.raises(MissingFile):
        get_dataset_split_names(folder / "none")


def test_the_default_subset_is_named_where_there_is_one(folder: Path) -> None:
    assert get_dataset_default_config_name(folder) == "default"
    pytest.importorskip("yaml", reason="PyYAML is not installed, so no header can be read")
    one = "---\nconfigs:\n- config_name: small\n  data_files: test.jsonl\n"
    (folder / "README.md").write_text(one + "---\n")
    assert get_dataset_default_config_name(folder) == "small"
    assert get_dataset_split_names(folder, "small") == ["train"]
    (folder / "README.md").write_text(one + "- config_name: large\n  data_files: train.jsonl\n---\n")
    assert get_dataset_default_config_name(folder) is None


def test_files_are_read_again_where_that_is_asked_and_nothing_of_a_hub_is_taken(folder: Path) -> None:
    file = str(folder / "train.jsonl")
    again = load_dataset("json", data_files=file, split="train", download_mode="force_redownload")
    assert again[:] == {"n": [5]}
    with pytest.raises(BadArgument, match="revision"):
        load_dataset("json", data_files=file, revision="main")


def test_splits_take_arguments_in_their_order() -> None:
    splits = DatasetDict({"a": Dataset.from_dict({"n": [3, 1]}), "b": Dataset.from_dict({"n": [2]})})
    mapped = splits.map(lambda row, i, split: {"m": f"{split}{i}"}, True, False, True)
    assert {name: ds["m"].to_list() for name, ds in mapped.items()} == {"a": ["a0", "a1"], "b": ["b0"]}
    assert splits.sort("n", True)["a"]["n"].to_list() == [3, 1]
    assert splits.filter(lambda row, i: i == 0, True).num_rows == {"a": 1, "b": 1}
    assert splits.with_format("numpy", ["n"])["a"][0]["n"].dtype == np.int64
    assert splits.shuffle({"a": 1, "b": 2}).flatten_indices().num_rows == {"a": 2, "b": 1}


def test_streams_by_split_take_the_name_of_their_split() -> None:
    splits = IterableDatasetDict({"a": IterableDataset.from_dict({"n": [1, 2]})})
    mapped = splits.map(lambda row, split: {"m": split}, with_split=True)
    assert list(mapped["a"]) == [{"n": 1, "m": "a"}, {"n": 2, "m": "a"}]
    assert splits.num_columns == {"a": 1}
    assert list(splits.filter(lambda row, i: i == 1, True)["a"]) == [{"n": 2}]
    with pytest.raises(BadArgument, match="uploads nothing"):
        splits.push_to_hub("name")


@pytest.mark.parametrize("streamed", [True, False])
def test_rows_are_written_to_urls_and_to_databases(streamed: bool, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    ds = Dataset.from_dict({"n": [1, 2]})
    rows = ds.to_iterable_dataset() if streamed else ds
    written = rows.to_json("memory://by-name/a.jsonl.gz")
    with fsspec.open("memory://by-name/a.jsonl.gz", "rb", compression="gzip") as file:
        assert file.read() == b'{"n":1}\n{"n":2}\n'
    assert written == 16
    rows.to_csv("memory://by-name/a.csv", storage_options={})
    rows.to_parquet("memory://by-name/a.parquet")
    assert load_dataset("parquet", data_files="memory://by-name/a.parquet", split="train")[:] == ds[:]
    with sqlite3.connect(tmp_path / "a.sqlite") as con:
        rows.to_sql("t", con)
        assert con.execute("select n from t").fetchall() == [(1,), (2,)]
    with pytest.raises((BadArgument, TypeError)):
        rows.to_json(tmp_path / "x", num_proc=0)
