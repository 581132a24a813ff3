"""The subsets that a folder's README.md names, beside what `datasets` makes of the same folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arrowprep import Dataset, get_dataset_config_names, load_dataset, load_local
from arrowprep.errors import BadArgument, UnreadableFile

pytest.importorskip("yaml", reason="PyYAML is not installed, so no header can be read")

README = """---
license: mit
configs:
- config_name: plain
  data_files: main.csv
- config_name: split
  default: true
  data_files:
  - split: train
    path: data/train-*.csv
  - split: extra
    path: [main.csv, data/test.csv]
- config_name: below
  data_dir: data
- config_name: tabs
  data_files: "*.tsv"
  sep: "\\t"
---
# A card, with configs: in its text
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "ds"
    (place / "data").mkdir(parents=True)
    (place / "README.md").write_text(README)
    for name in ("main", "data/train-1", "data/train-2", "data/test"):
        (place / f"{name}.csv").write_text(f"a\n{name}\n")
    (place / "t.tsv").write_text("a\tb\n1\tx\n")
    return place


def contents(found: Any) -> dict[str, Any]:
    splits = {found.split: found} if isinstance(found, Dataset) else found
    return {name: split.to_dict() for name, split in splits.items()}


def test_a_subset_is_its_files_by_split(folder: Path) -> None:
    assert contents(load_local(folder, name="plain")) == {"train": {"a": ["main"]}}
    wanted = {"train": {"a": ["data/train-1", "data/train-2"]}, "extra": {"a": ["main", "data/test"]}}
    assert contents(load_local(folder)) == wanted  # it is the default
    assert contents(load_dataset(folder, "below")).keys() == {"train", "test"}
    assert get_dataset_config_names(folder) == ["plain", "split", "below", "tabs"]


def test_what_a_subset_says_of_its_reader_counts_until_the_caller_says_otherwise(folder: Path) -> None:
    assert load_local(folder, name="tabs")[:] == {"a": [1], "b": ["x"]}
    assert load_local(folder, name="tabs", sep=",", reader="csv").column_names == ["a\tb"]


def test_files_that_are_given_need_no_subset(folder: Path) -> None:
    assert load_dataset(folder, data_files="main.csv")["train"][:] == {"a": ["main"]}
    assert load_dataset("csv", "mine", data_files=str(folder / "main.csv"))["train"][:] == {"a": ["main"]}


def test_a_stream_takes_them_too(folder: Path) -> None:
    assert [row["a"] for row in load_local(folder, name="split", split="extra", streaming=True)] == [
        "main",
        "data/test",
    ]


def test_names_that_are_missing_or_wrong_name_those_there_are(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="no subset 'plane'; there are plain, split, below, tabs"):
        load_local(folder, name="plane")
    (folder / "README.md").write_text(README.replace("  default: true\n", ""))
    with pytest.raises(BadArgument, match="several subsets; name one of them: name='plain' or 'split'"):
        load_local(folder)
    (folder / "README.md").write_text("# only a text\n---\nconfigs: no\n---\n")
    with pytest.raises(BadArgument, match="names no subsets"):
        load_local(folder / "data", name="plain")
    with pytest.raises(BadArgument, match="a subset of a folder"):
        load_local(folder / "main.csv", name="plain")


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("configs: [", "no YAML"),
        ("configs: 3", "a list of subsets"),
        ("configs:\n- data_files: ../secret.csv", "no path in its folder"),
        ("configs:\n- data_files: /etc/passwd", "no path in its folder"),
        ("configs:\n- data_dir: data/../..", "no path in its folder"),
        ("configs:\n- data_files:\n  - split: train", "a split and a path"),
        ("configs: " + "[" * 5000, "no YAML"),
    ],
)
def test_a_header_that_is_wrong_is_refused(folder: Path, header: str, problem: str) -> None:
    (folder / "README.md").write_text(f"---\n{header}\n---\n")
    with pytest.raises(UnreadableFile, match=problem):
        load_local(folder)


@pytest.mark.parametrize("name", ["plain", "split", "below", None])
def test_the_peer_finds_the_same(folder: Path, tmp_path: Path, name: str | None) -> None:
    peer = pytest.importorskip("datasets", reason="datasets is not installed: nothing to compare with")
    theirs = peer.load_dataset(str(folder), name, cache_dir=str(tmp_path / "theirs"))
    assert contents(load_dataset(folder, name)) == {split: rows.to_dict() for split, rows in theirs.items()}
