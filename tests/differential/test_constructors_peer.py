"""Constructors give the rows that those of `datasets` give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arrowprep.dataset.by_name import load_dataset
from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import ClassLabel

peer = pytest.importorskip("datasets", reason="datasets is not installed: nothing to compare with")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.jsonl").write_text('{"a": 1, "t": "x"}\n{"a": 2, "t": null}\n')
    (tmp_path / "rows.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "rows.txt").write_text("one\ntwo\n\nthree")
    peer.Dataset.from_dict({"a": [1, 2], "l": [[1], []]}).to_parquet(tmp_path / "rows.parquet")
    return tmp_path


def rows(start: int, words: list[str]) -> Any:
    for word in words:
        yield {"i": start, "word": word}


MAKES = {
    "generator": lambda lib, folder, cache: lib.from_generator(
        rows, gen_kwargs={"start": 2, "words": ["a", "b"]}, cache_dir=cache
    ),
    "csv": lambda lib, folder, cache: lib.from_csv(str(folder / "rows.csv"), cache_dir=cache),
    "json": lambda lib, folder, cache: lib.from_json(str(folder / "rows.jsonl"), cache_dir=cache),
    "text": lambda lib, folder, cache: lib.from_text([str(folder / "rows.txt")] * 2, cache_dir=cache),
    "parquet": lambda lib, folder, cache: lib.from_parquet(str(folder / "rows.parquet"), cache_dir=cache),
    "item": lambda lib, folder, cache: lib.from_dict({"a": [1], "b": ["x"]}).add_item({"a": 2, "b": "y"}),
    "item with another column": lambda lib, folder, cache: lib.from_dict({"a": [1]}).add_item(
        {"a": 2, "c": 3}
    ),
}


@pytest.mark.parametrize("make", MAKES)
def test_a_constructor_gives_the_rows_of_the_peer(make: str, folder: Path, tmp_path: Path) -> None:
    ours = MAKES[make](Dataset, folder, str(tmp_path / "ours"))
    wanted = MAKES[make](peer.Dataset, folder, str(tmp_path / "theirs"))
    assert ours[:] == wanted[:]
    assert ours.column_names == wanted.column_names
    assert str(ours.split) == str(wanted.split)


LOADS: dict[str, dict[str, Any]] = {
    "one file": {"data_files": "rows.jsonl"},
    "splits": {"data_files": {"train": "rows.jsonl", "dev": ["rows.jsonl", "rows.jsonl"]}},
    "a split": {"data_files": {"train": "rows.jsonl", "dev": "rows.jsonl"}, "split": "dev"},
    "a part": {"data_files": "rows.jsonl", "split": "train[:1]"},
}


@pytest.mark.parametrize("load", LOADS)
def test_load_dataset_gives_the_rows_of_the_peer(load: str, folder: Path, tmp_path: Path) -> None:
    options = {"data_dir": str(folder), **LOADS[load]}
    ours = load_dataset("json", **options, cache_dir=tmp_path / "ours")
    wanted = peer.load_dataset("json", **options, cache_dir=str(tmp_path / "theirs"))
    assert isinstance(ours, dict) == isinstance(wanted, dict)
    pairs = [(ours[name], wanted[name]) for name in wanted] if isinstance(wanted, dict) else [(ours, wanted)]
    assert all(one[:] == other[:] for one, other in pairs)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [{"test_size": 0.3}, {"test_size": 7, "train_size": 11}])
def test_stratified_rows_for_a_seed_are_those_of_the_peer(seed: int, sizes: dict[str, Any]) -> None:
    columns = {"i": list(range(40)), "label": [0, 1, 2, 1, 2, 2, 0, 1] * 5}

    def split(library: Any, label: Any) -> Any:
        made = library.from_dict(columns).cast_column("label", label)
        return made.train_test_split(**sizes, stratify_by_column="label", seed=seed)

    ours = split(Dataset, ClassLabel(num_classes=3))
    wanted = split(peer.Dataset, peer.ClassLabel(num_classes=3))
    for name in ("train", "test"):
        assert ours[name]["i"][:] == wanted[name]["i"][:]
