"""IterableDataset: lazy, bounded, and the rows that a Dataset would give."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.dataset.by_name import load_dataset
from arrowprep.dataset.dataset import Dataset, concatenate_datasets, interleave_datasets
from arrowprep.dataset.features import ClassLabel, Features, Value
from arrowprep.dataset.loading import load_local
from arrowprep.dataset.stream.iterable import IterableDataset
from arrowprep.dataset.stream.splits import IterableDatasetDict
from arrowprep.errors import BadArgument, ColumnNotFound, LengthMismatch, MapError, TypeConflict


def endless() -> Iterator[dict[str, int]]:
    yield from ({"i": i} for i in count())


def stream_of(**columns: list[Any]) -> IterableDataset:
    return Dataset.from_dict(columns).to_iterable_dataset()


# -- lazy and bounded -----------------------------------------------------------------------------


def test_the_first_row_costs_one_row() -> None:
    seen: list[int] = []

    def look(row: dict[str, int]) -> dict[str, int]:
        seen.append(row["i"])
        return row

    stream = IterableDataset.from_generator(endless).map(look)
    assert next(iter(stream)) == {"i": 0}
    assert seen == [0]
    assert len(list(stream.take(20))) == 20
    assert seen[1:] == list(range(20))  # and not a row beyond


def test_an_endless_stream_goes_through_every_step() -> None:
    stream = IterableDataset.from_generator(endless)
    steps = stream.filter(lambda row: row["i"] % 2).shuffle(seed=1, buffer_size=10).batch(2).skip(3).repeat(2)
    assert len(list(steps.take(5))) == 5
    both = interleave_datasets([stream, stream.map(lambda row: {"i": -row["i"]})])
    assert [row["i"] for row in both.take(6)] == [0, 0, 1, -1, 2, -2]
    assert len(list(islice(stream.repeat(None), 5))) == 5
    assert list(stream.take(0).repeat(None)) == []


def test_memory_holds_a_buffer_and_not_what_was_read() -> None:
    def long_texts() -> Iterator[dict[str, str]]:
        yield from ({"text": f"{i:06d}" * 2000} for i in range(4000))  # 48 MB

    stream = IterableDataset.from_generator(long_texts).map(lambda row: {"n": len(row["text"])})
    before, most = pa.total_allocated_bytes(), 0
    for _ in stream.shuffle(seed=1, buffer_size=100).filter(lambda row: row["n"] > 0):
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < 24_000_000  # a buffer is 1.2 MB, a block read ahead 3 MB


def test_nothing_is_written(tmp_path: Path, own_cache: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n')
    stream = load_local(file, split="train", streaming=True)
    assert list(stream.map(lambda row: {"b": 2}).shuffle(seed=1)) == [{"a": 1, "b": 2}]
    assert list(own_cache.iterdir()) == []


# -- files ----------------------------------------------------------------------------------------

READ = {
    "rows.jsonl": '{"a": 1, "t": "x"}\n{"a": 2, "t": null}\n{"a": 3, "t": "z"}\n',
    "rows.csv": "a,t\n1,x\n2,\n3,z\n",
    "rows.json": '[{"a": 1, "t": "x"}, {"a": 2, "t": null}, {"a": 3, "t": "z"}]',
}


@pytest.mark.parametrize("name", READ)
def test_files_stream_the_rows_that_they_load(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(READ[name])
    stream = load_local(tmp_path / name, split="train", streaming=True)
    assert list(stream) == list(load_local(tmp_path / name, split="train"))
    assert (stream.features, stream.column_names, stream.split) == (None, None, "train")
    part = load_local(tmp_path / name, split="train", streaming=True, columns=["t"])
    assert list(part) == [{"t": "x"}, {"t": None}, {"t": "z"}]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_typed_files_tell_their_columns_and_are_brought_to_one_type(suffix: str, tmp_path: Path) -> None:
    tables = [pa.table({"a": pa.array([1, 2], pa.int32())}), pa.table({"a": [2**40], "b": ["x"]})]
    for number, table in enumerate(tables):
        if suffix == "parquet":
            Dataset(table).to_parquet(tmp_path / f"{number}.parquet")
        else:
            with pa.ipc.new_file(str(tmp_path / f"{number}.arrow"), table.schema) as writer:
                writer.write_table(table)
    stream = load_local(str(tmp_path / f"*.{suffix}"), split="train", streaming=True)
    assert stream.features == {"a": Value("int64"), "b": Value("string")}
    assert stream.num_shards == 2
    assert list(stream) == [{"a": 1, "b": None}, {"a": 2, "b": None}, {"a": 2**40, "b": "x"}]
    assert "a  Value('int64')" in repr(stream)


def test_features_fix_the_types_of_files(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1, "l": "no"}\n{"a": 2, "l": "yes"}\n')
    wanted = Features({"a": Value("float64"), "l": ClassLabel(names=["no", "yes"])})
    stream = load_local(file, split="train", streaming=True, features=wanted)
    assert stream.features == wanted
    assert list(stream) == [{"a": 1.0, "l": 0}, {"a": 2.0, "l": 1}]
    part = load_local(file, split="train", streaming=True, features=wanted, columns=["l"])
    assert list(part) == [{"l": 0}, {"l": 1}]
    assert part.column_names == ["l"]
    file.write_text('{"a": 1, "l": "no"}\n{"a": 2, "l": "maybe"}\n')
    with pytest.raises(TypeConflict, match="row 1: column 'l' holds 'maybe'"):
        list(stream)


def test_a_long_file_goes_on_at_a_row(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("i\n" + "".join(f"{i}\n" for i in range(5000)))
    stream = load_local(file, split="train", streaming=True)
    rows = iter(stream)
    for _ in range(3210):
        next(rows)
    again = load_local(file, split="train", streaming=True)
    again.load_state_dict(stream.state_dict())
    assert next(iter(again)) == {"i": 3210}


def test_splits_stream_by_name(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "test.jsonl").write_text('{"a": 2}\n')
    splits = load_dataset("json", data_dir=tmp_path, streaming=True)
    assert isinstance(splits, IterableDatasetDict)
    made = splits.map(lambda row: {"b": row["a"]}).filter(lambda row: row["b"]).rename_column("b", "c")
    assert {name: list(stream) for name, stream in made.items()} == {
        "train": [{"a": 1, "c": 1}],
        "test": [{"a": 2, "c": 2}],
    }
    assert list(load_dataset(tmp_path, split="test", streaming=True)) == [{"a": 2}]
    assert list(load_dataset(tmp_path / "test.jsonl", streaming=True)) == ["train"]
    with pytest.raises(BadArgument, match="the splits train, test, not 'dev'"):
        load_local(tmp_path, split="dev", streaming=True)


def test_constructors_stream_what_they_load(tmp_path: Path) -> None:
    for name, text in READ.items():
        (tmp_path / name).write_text(text)
    assert list(IterableDataset.from_csv(tmp_path / "rows.csv", split="dev").take(1)) == [{"a": 1, "t": "x"}]
    assert list(IterableDataset.from_json([tmp_path / "rows.jsonl"] * 2).skip(5)) == [{"a": 3, "t": "z"}]
    assert len(list(IterableDataset.from_text(tmp_path / "rows.csv"))) == 4
    saved = Dataset.from_dict({"a": [1, 2]})
    saved.save_to_disk(tmp_path / "saved")
    assert list(load_local(tmp_path / "saved", split="train", streaming=True)) == [{"a": 1}, {"a": 2}]
    [file] = (tmp_path / "saved").glob("*.arrow")
    assert IterableDataset.from_file(file).to_list() == [{"a": 1}, {"a": 2}]


def test_parquet_files_can_be_parted_by_row_groups(tmp_path: Path) -> None:
    from pyarrow import parquet

    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"i": range(10), "t": ["x"] * 10}), file, row_group_size=3)
    stream = load_local(file, split="train", streaming=True, columns=["i"]).map(lambda row: {"j": row["i"]})
    parted = stream.reshard()
    assert (stream.num_shards, parted.num_shards) == (1, 4)
    assert list(parted) == list(stream) == [{"i": i, "j": i} for i in range(10)]
    assert [row["i"] for row in parted.shard(4, 2)] == [6, 7, 8]
    filtered = load_local(file, split="train", streaming=True, filters=[("i", ">", 4)])
    assert filtered.reshard().num_shards == 1
    assert stream_of(i=[1, 2]).reshard().num_shards == 1


def test_rows_in_memory_stream_too() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rows = [{"a": 1}, {"a": 2}]
    assert list(IterableDataset.from_list(rows)) == rows
    assert list(IterableDataset.from_dict({"a": [1, 2]})) == rows
    assert list(IterableDataset.from_pandas(pd.DataFrame({"a": [1, 2]}))) == rows


# -- functions ------------------------------------------------------------------------------------


def edited(row: Any) -> Any:
    row["c"] = [row.pop("b")] * row["a"]
    return row


MAPS: dict[str, tuple[Any, str | None, dict[str, Any]]] = {
    "edit": (edited, None, {}),
    "other type": (lambda row: {"a": str(row["a"])}, None, {}),
    "removed": (lambda row: {"d": 1}, None, {"remove_columns": ["b"]}),
    "removed and returned": (lambda row: {"b": 1}, None, {"remove_columns": ["b"]}),
    "nothing": (lambda row: None, None, {}),
    "whole tables": (lambda table: table.slice(1), "arrow", {"batched": True, "batch_size": 2}),
    "arrays": (lambda batch: {"n": np.zeros((len(batch["a"]), 2))}, None, {"batched": True}),
    "numpy": (lambda batch: {"n": batch["a"] * 2}, "numpy", {"batched": True}),
    "keywords": (lambda row, k: {"k": k}, None, {"fn_kwargs": {"k": 5}}),
}


@pytest.mark.parametrize("name", MAPS)
def test_a_map_has_the_rules_of_a_dataset(name: str) -> None:
    function, shown, options = MAPS[name]
    rows = Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"]}).with_format(shown)
    expected = list(rows.map(function, **options).with_format())
    assert list(rows.to_iterable_dataset().map(function, **options).with_format()) == expected


def test_a_function_that_fails_names_its_row() -> None:
    stream = stream_of(a=list(range(100))).map(lambda row: {"b": 1 // (row["a"] - 60)})
    with pytest.raises(MapError, match="failed on row 60: ZeroDivisionError"):
        list(stream)


def test_features_of_a_map_are_kept_and_other_columns_left() -> None:
    wanted = Features({"n": Value("int8"), "l": ClassLabel(names=["no", "yes"])})
    stream = stream_of(a=[0, 1]).map(lambda row: {"n": row["a"], "l": "yes"}, features=wanted)
    assert stream.features == wanted
    assert list(stream) == [{"n": 0, "l": 1}, {"n": 1, "l": 1}]
    assert stream_of(a=[1]).map(lambda row: row).features is None


def test_the_callers_random_state_is_kept() -> None:
    np.random.seed(3)
    expected = np.random.random()
    np.random.seed(3)
    list(stream_of(a=[1, 2]).map(lambda row: {"r": np.random.random()}))
    assert np.random.random() == expected


# -- columns and shapes ---------------------------------------------------------------------------


def test_unknown_columns_are_told_at_once_where_columns_are_known() -> None:
    stream = stream_of(a=[1], b=[2])
    for verb in (
        lambda s: s.select_columns(["c"]),
        lambda s: s.remove_columns("c"),
        lambda s: s.rename_column("c", "d"),
        lambda s: s.cast_column("c", Value("string")),
        lambda s: s.map(lambda row: row, remove_columns=["c"]),
        lambda s: s["c"],
    ):
        with pytest.raises(ColumnNotFound, match="no column 'c'"):
            verb(stream)
    with pytest.raises(ColumnNotFound, match="no column 'c'"):
        list(stream.map(lambda row: row).select_columns("c"))
    assert stream.rename_column("a", "c").column_names == ["c", "b"]
    assert stream.cast_column("a", Value("string")).features == {"a": Value("string"), "b": Value("int64")}


def test_streams_side_by_side_need_one_length() -> None:
    left, right = stream_of(a=[1, 2]), stream_of(b=["x", "y"])
    assert list(concatenate_datasets([left, right], axis=1)) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    for short in ([left, right.take(1)], [left.take(1), right]):
        with pytest.raises(LengthMismatch, match="one has ended before"):
            list(concatenate_datasets(short, axis=1))
    with pytest.raises(BadArgument, match="'a'"):
        list(concatenate_datasets([left, left], axis=1))


def test_streams_end_to_end_share_their_types() -> None:
    ints, floats = stream_of(x=[1]), stream_of(x=[0.5])
    both = concatenate_datasets([ints, floats])
    assert both.features == {"x": Value("float64")}
    assert list(both) == [{"x": 1.0}, {"x": 0.5}]
    with pytest.raises(TypeConflict, match="columns"):
        concatenate_datasets([ints, stream_of(y=[1])])
    with pytest.raises(BadArgument, match="all of one kind"):
        concatenate_datasets([ints, Dataset.from_dict({"x": [1]})])


def test_a_column_is_read_as_it_comes() -> None:
    stream = stream_of(a=[{"b": 1}, None, {"b": 3}])
    assert list(stream["a"]) == [{"b": 1}, None, {"b": 3}]
    assert list(stream["a"]["b"]) == [1, None, 3]


# -- formats --------------------------------------------------------------------------------------


def test_rows_and_batches_are_shown_in_the_format() -> None:
    stream = stream_of(n=[1, 2, 3], s=["a", "b", "c"]).with_format("numpy")
    assert [type(row["n"]) for row in stream] == [np.int64] * 3
    batches = list(stream.iter(2))
    assert [batch["n"].tolist() for batch in batches] == [[1, 2], [3]]
    assert [len(batch["n"]) for batch in stream.iter(2, drop_last_batch=True)] == [2]
    assert next(iter(stream.with_format("arrow").iter(3))).column_names == ["n", "s"]
    assert list(stream.with_format(None).iter(3)) == [{"n": [1, 2, 3], "s": ["a", "b", "c"]}]
    kept = Dataset.from_dict({"n": [1], "s": ["a"]}).with_format("numpy", columns=["n"]).to_iterable_dataset()
    assert [list(row) for row in kept] == [["n"]]


def test_batches_keep_their_place_too() -> None:
    stream = stream_of(n=list(range(50))).shuffle(seed=1, buffer_size=8)
    whole = [batch["n"] for batch in stream.iter(7)]
    batches = stream.iter(7)
    first = [next(batches)["n"] for _ in range(3)]
    again = stream_of(n=list(range(50))).shuffle(seed=1, buffer_size=8)
    again.load_state_dict(stream.state_dict())
    assert first + [batch["n"] for batch in again.iter(7)] == whole
    rows = iter(stream)
    taken = [next(rows)["n"] for _ in range(10)]
    again.load_state_dict(stream.state_dict())
    assert taken + [n for batch in again.iter(7) for n in batch["n"]] == [n for part in whole for n in part]


# -- state ----------------------------------------------------------------------------------------


def test_a_loaded_place_is_of_its_epoch_and_used_once() -> None:
    stream = stream_of(n=list(range(10)))
    assert list(islice(stream, 4))[-1] == {"n": 3}
    state = stream.state_dict()
    again = stream_of(n=list(range(10)))
    again.load_state_dict(state)
    assert [row["n"] for row in again] == list(range(4, 10))
    assert [row["n"] for row in again] == list(range(10))
    again.load_state_dict(state)
    again.set_epoch(1)
    assert [row["n"] for row in again] == list(range(10))


def test_a_buffer_is_written_down_once_while_it_is_given() -> None:
    stream = stream_of(n=list(range(100))).shuffle(seed=1, buffer_size=40)
    rows = iter(stream)
    texts = []
    for _ in range(70):
        next(rows)
        texts.append(stream.state_dict()["place"]["before"]["kept"])
    written = [next(iter(text.values())) for text in texts if text is not None]
    assert 1 < len({id(text) for text in written}) <= 4 < len(written)


def test_a_place_of_other_shards_is_refused() -> None:
    stream = Dataset.from_dict({"n": list(range(10))}).to_iterable_dataset(2)
    next(iter(stream))
    other = stream.shard(2, 0)
    other.load_state_dict(stream.state_dict())
    with pytest.raises(BadArgument, match="as many workers"):
        next(iter(other))


# -- bad arguments --------------------------------------------------------------------------------


def test_shards_come_from_rows_and_lists() -> None:
    rows = Dataset.from_dict({"n": list(range(5))})
    assert rows.to_iterable_dataset(5).num_shards == 5
    with pytest.raises(BadArgument, match="5 rows make no 6 shards"):
        rows.to_iterable_dataset(6)
    with pytest.raises(BadArgument, match="'a' has 1, 'b' has 2"):
        IterableDataset.from_generator(endless, gen_kwargs={"a": [1], "b": [1, 2]})
    with pytest.raises(BadArgument, match="buffer_size"):
        rows.to_iterable_dataset().shuffle(buffer_size=0)
    with pytest.raises(BadArgument, match="probabilities for"):
        interleave_datasets([rows.to_iterable_dataset()] * 2, probabilities=[1.0])
    with pytest.raises(BadArgument, match="needs a function"):
        rows.to_iterable_dataset().filter()


def test_streams_are_imported_where_there_are_some() -> None:
    script = "import sys, arrowprep; arrowprep.Dataset, arrowprep.load_local; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "arrowprep.dataset.dataset" in loaded
    assert [name for name in loaded if "dataset.stream" in name or name == "asyncio"] == []


@pytest.mark.parametrize("num_shards", [1, 3])
def test_rows_in_memory_stream_in_as_many_shards_as_asked(num_shards: int) -> None:
    columns = {"n": list(range(7))}
    rows = Dataset.from_dict(columns)
    streams = [
        IterableDataset.from_dict(columns, num_shards=num_shards, split="test"),
        IterableDataset.from_list(rows.to_list(), num_shards=num_shards, split="test"),
        IterableDataset.from_pandas(rows.to_pandas(), num_shards=num_shards, split="test"),
    ]
    for stream in streams:
        assert (stream.num_shards, stream.split) == (num_shards, "test")
        assert list(stream) == rows.to_list()


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("format", ["arrow", "pandas", "polars"])
def test_a_table_that_comes_back_with_a_column_more_keeps_the_others(format: str, batched: bool) -> None:
    pytest.importorskip("polars" if format == "polars" else "pandas", reason=f"{format} is not installed")

    def longer(table):
        if format == "pandas":
            return table.assign(c=[7] * len(table))
        if format == "polars":
            return table.with_columns(table["a"].alias("c") * 0 + 7)
        return table.append_column("c", pa.array([7] * len(table)))

    stream = stream_of(a=[1, 2, 3], b=["x", "y", "z"])
    mapped = stream.with_format(format).map(longer, batched=batched).with_format(None)
    assert list(mapped) == [{**row, "c": 7} for row in stream]
    dropped = stream.with_format("arrow").map(lambda table: table.select(["b"]), batched=batched)
    assert list(dropped.with_format(None)) == [{"b": row["b"]} for row in stream]


def test_a_table_may_come_back_with_fewer_rows() -> None:
    stream = stream_of(a=[1, 2, 3]).with_format("arrow").map(lambda table: table.slice(1, 1), batched=True)
    assert list(stream.with_format(None)) == [{"a": 2}]


def test_features_are_found_in_the_first_rows_where_a_library_asks_for_them() -> None:
    stream = stream_of(a=[1, 2, 3]).map(lambda row: {"b": str(row["a"])})
    assert stream.features is None
    found = stream._resolve_features()
    assert found.features == {"a": Value("int64"), "b": Value("string")}
    assert list(found) == list(stream)
    assert found._resolve_features() is found
    assert stream.filter(lambda row: False)._resolve_features().features == {}
