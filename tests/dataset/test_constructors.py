"""Datasets out of functions, frames and files by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep import config
from arrowprep.dataset.by_name import load_dataset
from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import ClassLabel, Features, Value
from arrowprep.dataset.storage import ipc
from arrowprep.errors import ArrowprepWarning, BadArgument, ColumnNotFound, MissingFile, UnreadableFile
from tests.waiting import until_processes


class Calls:
    """Counts through a file, for a name of content covers every value that a generator captures."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def note(self) -> None:
        with self.path.open("a") as file:
            file.write("x")

    @property
    def count(self) -> int:
        return len(self.path.read_text()) if self.path.exists() else 0


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    return Calls(tmp_path / "calls")


# -- generators -----------------------------------------------------------------------------------


def test_a_generator_runs_once_for_each_name(calls: Calls) -> None:
    def rows(n: int) -> Any:
        calls.note()
        yield from ({"i": i} for i in range(n))

    first = Dataset.from_generator(rows, gen_kwargs={"n": 3})
    again = Dataset.from_generator(rows, gen_kwargs={"n": 3})
    assert first[:] == again[:] == {"i": [0, 1, 2]}
    assert first.fingerprint == again.fingerprint
    assert first.cache_files
    assert calls.count == 1
    assert len(Dataset.from_generator(rows, gen_kwargs={"n": 4})) == 4
    assert calls.count == 2


def test_types_are_decided_by_all_rows() -> None:
    def rows() -> Any:
        yield from ({"x": None} for _ in range(1500))
        yield {"x": 1}
        yield {"x": 0.5, "late": "y"}

    made = Dataset.from_generator(rows)
    assert made.features == {"x": Value("float64"), "late": Value("string")}
    assert made[-2] == {"x": 1.0, "late": None}


def test_a_fingerprint_stands_for_what_cannot_be_named(calls: Calls) -> None:
    lock = (item for item in ())  # a running generator has no content

    def rows() -> Any:
        calls.note()
        list(lock)
        yield {"i": 1}

    with pytest.warns(ArrowprepWarning, match="fingerprint="):
        Dataset.from_generator(rows)
    for _ in range(2):
        assert Dataset.from_generator(rows, fingerprint="mine")[:] == {"i": [1]}
    assert calls.count == 2


def test_without_caching_nothing_of_a_generator_is_kept(calls: Calls, tmp_path: Path) -> None:
    def rows() -> Any:
        calls.note()
        yield {"i": 1}

    with config.configured(cache_dir=tmp_path / "unused", caching=False):
        assert Dataset.from_generator(rows)[:] == {"i": [1]}
    assert not (tmp_path / "unused").exists()


def test_features_of_a_generator_are_those_asked_for() -> None:
    label = Features({"label": ClassLabel(names=["no", "yes"])})
    made = Dataset.from_generator(lambda: iter([{"label": "yes"}, {"label": 0}]), features=label)
    assert made.features == label
    assert made["label"][:] == [1, 0]
    assert len(Dataset.from_generator(lambda: iter(()), features=label)) == 0
    with pytest.raises(BadArgument, match="features="):
        Dataset.from_generator(lambda: iter(()))


def test_several_processes_share_the_lists_of_a_generator(tmp_path: Path) -> None:
    parent = os.getpid()

    def rows(starts: list[int], marks: list[Any], step: int) -> Any:
        until_processes(tmp_path, 1 if os.getpid() == parent else 3)
        for start, mark in zip(starts, marks, strict=True):
            yield from ({"n": n, "mark": mark} for n in range(start, start + 3 * step, step))

    kwargs: dict[str, Any] = {"starts": [0, 10, 20, 30], "marks": [None, 1, 2.5, None], "step": 2}
    alone = Dataset.from_generator(rows, gen_kwargs=kwargs, fingerprint="alone")
    shared = Dataset.from_generator(rows, gen_kwargs=kwargs, num_proc=2)
    assert shared.to_dict() == alone.to_dict()
    assert shared.features == alone.features == {"n": Value("int64"), "mark": Value("float64")}
    assert len(list(tmp_path.iterdir())) == 3  # this process and two others
    assert Dataset.from_generator(rows, gen_kwargs=kwargs).fingerprint == shared.fingerprint


def test_a_share_that_yields_nothing_has_no_say_in_the_types() -> None:
    def rows(counts: list[int]) -> Any:
        yield from ({"n": n} for count in counts for n in range(count))

    assert Dataset.from_generator(rows, gen_kwargs={"counts": [0, 2, 0]}, num_proc=2)[:] == {"n": [0, 1]}
    with pytest.raises(BadArgument, match="features="):
        Dataset.from_generator(rows, gen_kwargs={"counts": [0, 0]}, num_proc=2)
    with pytest.raises(BadArgument, match="one length"):
        Dataset.from_generator(rows, gen_kwargs={"counts": [0], "more": [1, 2]}, num_proc=2)


# -- files ----------------------------------------------------------------------------------------


def test_one_arrow_file_is_mapped_where_it_lies(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2, 3], "d": pa.array(["a", "b", "a"]).dictionary_encode()})
    path, rows = tmp_path / "data.arrow", tmp_path / "rows.arrow"
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)
    with pa.ipc.new_stream(str(rows), pa.schema({"indices": pa.uint64()})) as writer:
        writer.write_table(pa.table({"indices": pa.array([2, 0], pa.uint64())}))
    mapped = Dataset.from_file(path, split="test")
    assert mapped[:] == {"n": [1, 2, 3], "d": ["a", "b", "a"]}
    assert (mapped.split, mapped.cache_files) == ("test", [{"filename": str(path)}])
    assert Dataset.from_file(path, indices_filename=rows)["n"][:] == [3, 1]
    assert Dataset.from_file(path, in_memory=True).cache_files == []
    assert Dataset.from_buffer(path.read_bytes())[:] == mapped[:]
    with pytest.raises(UnreadableFile, match="no Arrow stream"):
        Dataset.from_buffer(b"nothing")


def test_a_file_of_new_columns_names_its_missing_parent() -> None:
    parent = Dataset.from_dict({"text": ["a", "bb"]})
    result = parent.map(lambda row: {"n": len(row["text"])})
    new = next(f["filename"] for f in result.cache_files if "n" in ipc.schema_of(Path(f["filename"])).names)
    with pytest.raises(UnreadableFile, match=f"text are in its parent, the dataset {parent.fingerprint}"):
        Dataset.from_file(new)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    (tmp_path / "test.jsonl").write_text('{"a": 3}\n')
    return tmp_path


def test_files_are_read_by_the_name_of_their_format(folder: Path) -> None:
    odd = folder / "data.odd"
    odd.write_text("a,b\n1,x\n")
    assert Dataset.from_csv(odd)[:] == {"a": [1], "b": ["x"]}
    assert Dataset.from_csv(str(odd), split="dev").split == "dev"
    assert Dataset.from_text(odd)[:] == {"text": ["a,b", "1,x"]}
    assert Dataset.from_json([folder / "train.jsonl", folder / "test.jsonl"])["a"][:] == [1, 2, 3]
    Dataset.from_dict({"a": [1], "b": [2]}).to_parquet(folder / "data.parquet")
    assert Dataset.from_parquet(folder / "data.parquet", columns=["b"])[:] == {"b": [2]}


def test_load_dataset_takes_a_format_or_a_place(folder: Path) -> None:
    assert load_dataset(folder).num_rows == {"train": 2, "test": 1}
    assert load_dataset(folder, split="test")[:] == {"a": [3]}
    assert load_dataset("json", data_dir=folder).num_rows == {"train": 2, "test": 1}
    files = {"train": "train.jsonl", "dev": ["test.jsonl"]}
    assert load_dataset("json", data_dir=folder, data_files=files).num_rows == {"train": 2, "dev": 1}
    assert load_dataset(folder, data_files="t*.jsonl").num_rows == {"train": 3}
    one = load_dataset("json", data_files=str(folder / "train.jsonl"), split="train[1:]")
    assert one[:] == {"a": [2]}


def test_load_dataset_says_that_it_stays_on_this_machine(folder: Path) -> None:
    with pytest.raises(MissingFile, match="nothing here fetches datasets by name"):
        load_dataset("someone/something")
    with pytest.raises(BadArgument, match="revision has a meaning on a hub"):
        load_dataset("json", data_files=folder / "train.jsonl", revision="main")
    with pytest.raises(BadArgument, match="needs data_files="):
        load_dataset("csv")


# -- frames, items, facts -------------------------------------------------------------------------


def test_polars_frames_go_in_and_out() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"n": [1, None], "s": ["a", "b"]})
    made = Dataset.from_polars(frame.lazy())
    assert made[:] == {"n": [1, None], "s": ["a", "b"]}
    assert made.to_polars().equals(frame)
    assert [part.height for part in made.to_polars(batch_size=1, batched=True)] == [1, 1]
    assert Dataset.from_polars(frame, Features({"n": Value("int8"), "s": Value("string")}))["n"][:] == [
        1,
        None,
    ]


def test_an_item_goes_to_the_end_and_lacks_are_null() -> None:
    rows = Dataset.from_dict({"n": [1], "s": ["a"]})
    more = rows.add_item({"n": 0.5, "new": True})
    assert more.to_list() == [{"n": 1.0, "s": "a", "new": None}, {"n": 0.5, "s": None, "new": True}]
    assert len(rows) == 1
    assert rows.add_item({"n": 2, "s": "b"}, new_fingerprint="mine").fingerprint == "mine"


def test_info_tells_features_and_size(tmp_path: Path) -> None:
    rows = Dataset.from_dict({"n": list(range(1000))})
    assert rows.info.features == rows.features
    assert rows.dataset_size == 8000
    assert rows.map(lambda row: {"m": 1}).dataset_size > 4000


# -- stratified splits ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_each_class_has_its_share_in_both_splits(seed: int) -> None:
    labels = [0] * 60 + [1] * 30 + [2] * 10
    rows = Dataset.from_dict({"i": list(range(100)), "label": labels}).class_encode_column("label")
    split = rows.train_test_split(test_size=0.2, stratify_by_column="label", seed=seed)
    assert np.bincount(split["test"]["label"][:]).tolist() == [12, 6, 2]
    assert np.bincount(split["train"]["label"][:]).tolist() == [48, 24, 8]
    assert sorted(split["train"]["i"][:] + split["test"]["i"][:]) == list(range(100))


def test_what_cannot_be_stratified_is_refused() -> None:
    rows = Dataset.from_dict({"n": [0, 1], "label": ["a", "b"]}).class_encode_column("label")
    with pytest.raises(BadArgument, match="one row only, which cannot be in both"):
        rows.train_test_split(test_size=1, stratify_by_column="label")
    with pytest.raises(BadArgument, match="needs a ClassLabel"):
        rows.train_test_split(test_size=1, stratify_by_column="n")
    with pytest.raises(BadArgument, match="shuffle=False"):
        rows.train_test_split(test_size=1, stratify_by_column="label", shuffle=False)
    with pytest.raises(ColumnNotFound, match="'lab'"):
        rows.train_test_split(test_size=1, stratify_by_column="lab")
