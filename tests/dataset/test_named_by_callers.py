"""Names that callers give: of results, and of files for row numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import arrowprep
from arrowprep import Dataset, Value
from arrowprep.errors import BadArgument


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path) -> Any:
    with arrowprep.configured(cache_dir=tmp_path / "cache"):
        yield


@pytest.fixture
def ds() -> Dataset:
    return Dataset.from_dict({"n": [3, 1, 2, 1], "s": [{"t": "a"}, {"t": "b"}, {"t": "c"}, {"t": "d"}]})


VERBS: dict[str, Callable[..., Dataset]] = {
    "select": lambda ds, **name: ds.select([2, 0], **name),
    "shuffle": lambda ds, **name: ds.shuffle(seed=2, **name),
    "sort": lambda ds, **name: ds.sort("n", **name),
    "filter": lambda ds, **name: ds.filter(lambda row: row["n"] == 1, **name),
    "map": lambda ds, **name: ds.map(lambda row: {"m": row["n"]}, **name),
    "batch": lambda ds, **name: ds.batch(2, **name),
    "batch by column": lambda ds, **name: ds.batch(by_column="n", **name),
    "flatten": lambda ds, **name: ds.flatten(**name),
    "remove_columns": lambda ds, **name: ds.remove_columns("s", **name),
    "select_columns": lambda ds, **name: ds.select_columns("s", **name),
    "rename_column": lambda ds, **name: ds.rename_column("n", "m", **name),
    "add_column": lambda ds, **name: ds.add_column("m", [1, 2, 3, 4], **name),
    "cast_column": lambda ds, **name: ds.cast_column("n", Value("float64"), **name),
    "add_item": lambda ds, **name: ds.add_item({"n": 5}, **name),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_result_has_the_name_that_it_is_given(ds: Dataset, verb: str) -> None:
    own, given = VERBS[verb](ds), VERBS[verb](ds, new_fingerprint="mine")
    assert given.fingerprint == given._fingerprint == "mine" != own.fingerprint
    assert given.to_list() == own.to_list()
    with pytest.raises(BadArgument, match="a/b"):
        VERBS[verb](ds, new_fingerprint="a/b")


def test_both_splits_can_be_named(ds: Dataset) -> None:
    parts = ds.train_test_split(2, seed=0, train_new_fingerprint="a", test_new_fingerprint="b")
    assert (parts["train"].fingerprint, parts["test"].fingerprint) == ("a", "b")


@pytest.mark.parametrize("verb", ["select", "shuffle", "sort"])
def test_row_numbers_go_into_a_file_that_is_asked_for(ds: Dataset, verb: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.arrow"
    chosen = VERBS[verb](ds, indices_cache_file_name=rows)
    ds.map(cache_file_name=tmp_path / "all.arrow")
    assert Dataset.from_file(tmp_path / "all.arrow", indices_filename=rows).to_list() == chosen.to_list()


def test_a_filter_keeps_its_row_numbers_in_a_file(ds: Dataset, tmp_path: Path) -> None:
    kept = ds.filter(lambda row: row["n"] != 1, cache_file_name=tmp_path / "rows.arrow")
    with pa.ipc.open_file(tmp_path / "rows.arrow") as file:
        assert file.read_all()["indices"].to_pylist() == [0, 2]
    assert kept["n"].to_list() == [3, 2]


def test_names_of_files_that_cannot_be_are_refused(ds: Dataset, tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="extension"):
        ds.map(cache_file_name=tmp_path / "bare")
    with pytest.raises(BadArgument, match="num_proc"):
        ds.map(num_proc=2, suffix_template="_{}_of_{}")


def test_a_buffer_of_row_numbers_selects_from_a_buffer_of_rows() -> None:
    def stream(table: pa.Table) -> pa.Buffer:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()

    rows = stream(pa.table({"n": [7, 8, 9]}))
    numbers = stream(pa.table({"indices": pa.array([2, 2, 0], pa.uint64())}))
    assert Dataset.from_buffer(rows, indices_buffer=numbers)["n"].to_list() == [9, 9, 7]


def test_an_added_row_takes_the_types_of_the_columns() -> None:
    ds = Dataset.from_dict({"n": [1], "t": ["a"], "u": pa.array([1], pa.uint8())})
    more = ds.add_item({"n": "7", "t": 2, "u": 3})
    assert more.features == ds.features
    assert more[-1] == {"n": 7, "t": "2", "u": 3}
    assert ds.add_item({"n": 2.5})["n"].to_list() == [1.0, 2.5]


def test_an_added_row_has_the_number_of_a_label() -> None:
    ds = Dataset.from_dict({"label": ["b", "a"]}).class_encode_column("label")
    assert ds.add_item({"label": 0})["label"].to_list() == [1, 0, 0]
    assert ds.add_item({"label": "b"}).features == ds.features


def test_columns_come_out_batch_by_batch(ds: Dataset) -> None:
    assert list(ds.select_columns("n").to_dict(batch_size=3, batched=True)) == [{"n": [3, 1, 2]}, {"n": [1]}]


def test_a_row_is_not_answered_by_a_table_of_several(ds: Dataset) -> None:
    with pytest.raises(ValueError, match="row 0"):
        ds.map(lambda row: pa.table({"m": [1, 2]}))


def test_a_tensor_of_one_row_keeps_its_type(ds: Dataset) -> None:
    torch = pytest.importorskip("torch")
    mapped = ds.map(lambda row: {"m": torch.tensor([1.5, 2.0])})
    assert mapped.features["m"] == arrowprep.List(Value("float32"))


def test_a_folder_of_one_dataset_is_opened_as_one(ds: Dataset, tmp_path: Path) -> None:
    ds.save_to_disk(tmp_path / "one")
    assert Dataset.load_from_disk(tmp_path / "one").to_list() == ds.to_list()
    arrowprep.DatasetDict({"train": ds}).save_to_disk(tmp_path / "splits")
    with pytest.raises(BadArgument, match="splits"):
        Dataset.load_from_disk(tmp_path / "splits")


def test_pushing_says_what_to_do_instead(ds: Dataset) -> None:
    with pytest.raises(BadArgument, match="upload_folder"):
        ds.push_to_hub("me/mine")


def test_neighbours_that_are_equal_become_one_row() -> None:
    ds = Dataset.from_dict({"k": ["a", "a", None, None, "b", "a"], "v": [1, 2, 3, 4, 5, 6]})
    by_key = ds.batch(by_column="k")
    assert by_key["v"].to_list() == [[1, 2], [3, 4], [5], [6]]
    assert by_key["k"].to_list() == [["a", "a"], [None, None], ["b"], ["a"]]
    assert ds.batch(by_column=["k", "v"]).num_rows == 6
    assert ds.batch(1, by_column="k").to_list() == by_key.to_list()
    structs = Dataset.from_dict({"s": [{"x": 1}, {"x": 1}, {"x": 2}]}).batch(by_column="s")
    assert structs["s"].to_list() == [[{"x": 1}, {"x": 1}], [{"x": 2}]]
    assert ds.select([]).batch(by_column="k").num_rows == 0


def test_a_column_of_several_kinds_is_json_where_that_is_asked_for() -> None:
    mixed = {"c": [1, "a", [0], {"k": None}]}
    ds = Dataset.from_dict(mixed, on_mixed_types="use_json")
    assert ds.to_dict() == mixed
    assert ds.features["c"] == arrowprep.Json()
    assert Dataset.from_list(ds.to_list(), on_mixed_types="use_json").to_dict() == mixed
    with pytest.raises(ValueError, match="'c'"):
        Dataset.from_dict(mixed)
