"""Files are found, ordered and given to splits by what their names say."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowprep.dataset.load.discover import discover, kind
from arrowprep.errors import BadArgument, MissingFile, UnknownFileType, UnreadableFile


@pytest.fixture
def folder(tmp_path: Path):
    def make(*names: str) -> Path:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
        return tmp_path

    return make


def below(root: Path, splits: dict[str, list[Path]]) -> dict[str, list[str]]:
    return {split: [str(path.relative_to(root)) for path in paths] for split, paths in splits.items()}


def test_one_file_is_train(folder) -> None:
    root = folder("a.jsonl")
    assert discover(root / "a.jsonl") == discover(str(root / "a.jsonl")) == {"train": [root / "a.jsonl"]}


def test_a_list_keeps_its_order_and_a_glob_is_in_natural_order(folder) -> None:
    root = folder("p10.csv", "p2.csv", "p1.csv", ".p3.csv")
    assert below(root, discover([root / "p10.csv", root / "p1.csv"])) == {"train": ["p10.csv", "p1.csv"]}
    assert below(root, discover(str(root / "*.csv"))) == {"train": ["p1.csv", "p2.csv", "p10.csv"]}


def test_a_dict_names_the_splits(folder) -> None:
    root = folder("a.csv", "b1.csv", "b2.csv")
    found = discover({"x": root / "a.csv", "y": str(root / "b*.csv"), "z": [root / "a.csv"]})
    assert below(root, found) == {"x": ["a.csv"], "y": ["b1.csv", "b2.csv"], "z": ["a.csv"]}


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        (["one.jsonl", "two.jsonl"], {"train": ["one.jsonl", "two.jsonl"]}),
        (["test.csv", "train.csv"], {"train": ["train.csv"], "test": ["test.csv"]}),
        (
            ["my-dev_set.csv", "training-1.csv"],
            {"train": ["training-1.csv"], "validation": ["my-dev_set.csv"]},
        ),
        (["x.eval.csv", "trained.csv"], {"test": ["x.eval.csv"]}),
        (["a/train/1.csv", "a/val/test.csv"], {"train": ["a/train/1.csv"], "validation": ["a/val/test.csv"]}),
        (
            [
                "data/extra-00000-of-00002.parquet",
                "data/extra-00001-of-00002.parquet",
                "data/train-00000-of-00001.parquet",
            ],
            {
                "train": ["data/train-00000-of-00001.parquet"],
                "extra": ["data/extra-00000-of-00002.parquet", "data/extra-00001-of-00002.parquet"],
            },
        ),
        (
            ["README.md", "config.json", ".hidden.csv", ".git/x.csv", "LICENSE.txt", "a.csv"],
            {"train": ["a.csv"]},
        ),
        (["a.jsonl", "b.jsonl.gz", "c.json", "notes.pdf"], {"train": ["a.jsonl", "b.jsonl.gz", "c.json"]}),
    ],
)
def test_a_folder_tells_its_splits_by_names(folder, names: list[str], splits: dict[str, list[str]]) -> None:
    root = folder(*names)
    assert below(root, discover(root)) == splits


def test_splits_come_in_the_order_train_validation_test_others(folder) -> None:
    root = folder(
        *(f"data/{split}-00000-of-00001.csv" for split in ("zoo", "test", "ant", "validation", "train"))
    )
    assert list(discover(root)) == ["train", "validation", "test", "ant", "zoo"]


def test_several_file_types_in_a_folder_are_counted_and_a_pattern_is_offered(folder) -> None:
    root = folder("a.csv", "b.csv", "c.jsonl")
    with pytest.raises(UnreadableFile, match=r"2 csv, 1 json.*\*\.csv") as caught:
        discover(root)
    assert caught.value.types == {"csv": 2, "json": 1}
    pattern = str(caught.value).split("'")[1]
    assert below(root, discover(pattern)) == {"train": ["a.csv", "b.csv"]}


def test_what_is_missing_is_named_with_what_is_there(folder) -> None:
    root = folder("a.csv", "b.csv")
    with pytest.raises(MissingFile, match=r"c\.csv does not exist; its folder has a\.csv, b\.csv"):
        discover(root / "c.csv")
    with pytest.raises(FileNotFoundError, match="nor does the folder"):
        discover(root / "no" / "c.csv")
    with pytest.raises(MissingFile, match=r"no file matches .*\*\.jsonl"):
        discover(str(root / "*.jsonl"))


def test_an_empty_folder_says_what_was_looked_for(folder, tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match="holds no data files; looked for"):
        discover(tmp_path)
    folder("README.md", ".a.csv")
    with pytest.raises(MissingFile, match="holds no data files"):
        discover(tmp_path)


def test_a_folder_of_unknown_types_names_them(folder) -> None:
    with pytest.raises(UnknownFileType, match=r"\.bin, \.pdf"):
        discover(folder("a.pdf", "b.bin"))
    assert set(discover(folder("a.pdf", "b.bin"), reader="json")) == {"train"}


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(BadArgument, match="empty"):
        discover([])


@pytest.mark.parametrize("name", ["state.json", "dataset_dict.json"])
def test_a_saved_folder_is_recognised_and_not_read_as_json(folder, name: str) -> None:
    root = folder(name, "data-00000-of-00001.arrow")
    assert kind(root) == "hf_disk"
    with pytest.raises(UnreadableFile, match="load_from_disk"):
        discover(root)


def test_other_paths_are_files(folder) -> None:
    root = folder("a.csv")
    assert kind(root) == kind(root / "a.csv") == kind({"train": root}) == "files"
