"""A saved folder is the old save or the new one, whatever happens in between."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from arrowprep import Dataset, DatasetDict, load_from_disk
from arrowprep.dataset.features import ClassLabel, Features, List, Value
from arrowprep.dataset.load.hf_disk import read_hf_disk, saved_splits
from arrowprep.dataset.save.hf_disk import save_hf_disk, save_splits, size_in_bytes
from arrowprep.dataset.storage.ipc import open_mapped
from arrowprep.errors import BadArgument, MissingFile, UnreadableFile

FEATURES = Features(
    {"n": Value("int32"), "label": ClassLabel(names=["no", "yes"]), "tags": List(Value("string"))}
)
ROWS = [{"n": n, "label": n % 2, "tags": ["x"] * (n % 3)} for n in range(10)]
TABLE = pa.Table.from_pylist(ROWS, schema=FEATURES.arrow_schema)


def save(folder: Path, table: pa.Table = TABLE, **options) -> list[Path]:
    return save_hf_disk(
        [table.slice(start, 3) for start in range(0, table.num_rows, 3)],
        folder,
        features=FEATURES,
        fingerprint="abc123",
        num_rows=table.num_rows,
        **options,
    )


def rows(folder: Path) -> list[dict]:
    return [row for part in read_hf_disk(folder).parts for row in open_mapped(part).to_pylist()]


def test_what_is_saved_is_read_back_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    format = {
        "type": "numpy",
        "columns": ["n"],
        "format_kwargs": {"dtype": "int8"},
        "output_all_columns": True,
    }
    save(tmp_path / "ds", split="train", format=format, info={"description": "ten rows"})
    saved = read_hf_disk(tmp_path / "ds")
    assert rows(tmp_path / "ds") == ROWS
    assert (saved.num_rows, saved.fingerprint, saved.split) == (10, "abc123", "train")
    assert (saved.features, saved.format) == (FEATURES, format)
    assert saved.info["description"] == "ten rows"
    assert saved_splits(tmp_path / "ds") is None


@pytest.mark.parametrize(
    ("num_shards", "sizes"), [(1, [10]), (3, [4, 3, 3]), (10, [1] * 10), (12, [1] * 10 + [0, 0])]
)
def test_shards_are_of_one_size_the_first_a_row_larger(
    tmp_path: Path, num_shards: int, sizes: list[int]
) -> None:
    paths = save(tmp_path, num_shards=num_shards)
    assert [open_mapped(path).num_rows for path in paths] == sizes
    assert [path.name for path in paths] == [
        f"data-{shard:05d}-of-{num_shards:05d}.arrow" for shard in range(num_shards)
    ]
    assert rows(tmp_path) == ROWS


def test_shards_stay_below_the_size_asked_for(tmp_path: Path) -> None:
    table = pa.table({"t": ["x" * 1000] * 100})
    features = Features({"t": Value("string")})
    paths = save_hf_disk(
        [table], tmp_path, features=features, fingerprint="f", num_rows=100, max_shard_size="11KB"
    )
    assert len(paths) >= 10
    assert all(open_mapped(path).nbytes <= 11_000 for path in paths)
    assert sum(open_mapped(path).num_rows for path in paths) == 100


def test_a_second_save_replaces_the_first_and_spares_other_files(tmp_path: Path) -> None:
    first = save(tmp_path, num_shards=3)
    (tmp_path / "notes.txt").write_text("mine")
    mapped = open_mapped(first[0])
    save(tmp_path, TABLE.slice(0, 2), num_shards=3)
    assert rows(tmp_path) == ROWS[:2]
    assert mapped.to_pylist() == ROWS[:4]  # who had the old one open still has it
    assert len(list(tmp_path.glob("*.arrow"))) == 3
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_save_that_fails_leaves_the_old_one_whole(tmp_path: Path) -> None:
    def failing():
        yield TABLE.slice(0, 2)
        raise RuntimeError("no more")

    save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(RuntimeError, match="no more"):
        save_hf_disk(failing(), tmp_path, features=FEATURES, fingerprint="f", num_rows=9, max_shard_size=10)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_dataset_is_not_saved_over_its_own_files(tmp_path: Path) -> None:
    paths = save(tmp_path)
    with pytest.raises(BadArgument, match="own files; save it to another folder"):
        save(tmp_path, sources=paths)
    assert rows(tmp_path) == ROWS


def test_no_rows_are_one_empty_shard(tmp_path: Path) -> None:
    save(tmp_path, TABLE.slice(0, 0))
    assert (read_hf_disk(tmp_path).num_rows, read_hf_disk(tmp_path).features) == (0, FEATURES)


def test_a_shard_cut_between_two_batches_is_noticed(tmp_path: Path) -> None:
    [path] = save(tmp_path)
    whole = path.read_bytes()
    for size in (len(whole) - 8, len(whole) // 2, 3, 0):
        path.write_bytes(whole[:size])
        with pytest.raises(UnreadableFile, match=rf"{path.name} is truncated"):
            read_hf_disk(tmp_path)
    path.unlink()
    with pytest.raises(MissingFile, match="does not exist, though"):
        read_hf_disk(tmp_path)


def test_a_folder_of_something_else_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match=r"was not written by save_to_disk: it has no state\.json"):
        read_hf_disk(tmp_path)
    save(tmp_path)
    (tmp_path / "state.json").write_text("{")
    with pytest.raises(UnreadableFile, match=r"state\.json is not JSON"):
        read_hf_disk(tmp_path)
    (tmp_path / "state.json").write_text("{}")
    with pytest.raises(UnreadableFile, match=r"state\.json lacks '_data_files'"):
        read_hf_disk(tmp_path)


def test_features_that_contradict_the_data_are_not_believed(tmp_path: Path) -> None:
    save(tmp_path)
    for info in (
        {},
        {"features": {"n": {"dtype": "string", "_type": "Value"}}},
        {"features": {"n": {"_type": "Odd"}}},
    ):
        (tmp_path / "dataset_info.json").write_text(json.dumps(info))
        assert read_hf_disk(tmp_path).features == FEATURES  # as the schema's metadata says


def test_splits_are_folders_beside_their_list(tmp_path: Path) -> None:
    save_splits(tmp_path, ["train", "test"])
    assert saved_splits(tmp_path) == {"train": tmp_path / "train", "test": tmp_path / "test"}


@pytest.mark.parametrize(
    "options", [{"num_shards": 0}, {"num_shards": 2, "max_shard_size": 5}, {"max_shard_size": "5 apples"}]
)
def test_options_without_sense_are_refused_before_anything_is_written(tmp_path: Path, options: dict) -> None:
    with pytest.raises(BadArgument):
        save(tmp_path / "ds", **options)
    assert not list(tmp_path.rglob("*.*"))


@pytest.mark.parametrize(
    ("written", "size"), [("500MB", 500 * 10**6), ("1.5 GiB", 3 * 2**29), (12, 12), ("7", 7), ("2kb", 2000)]
)
def test_sizes_are_read_in_both_kinds_of_units(written: str | int, size: int) -> None:
    assert size_in_bytes(written) == size


@pytest.mark.parametrize(
    ("num_proc", "size", "files"), [(None, None, 1), (1, None, 1), (3, None, 3), (2, 80, 7)]
)
def test_several_processes_ask_for_as_many_files(
    tmp_path: Path, num_proc: int | None, size: int | None, files: int
) -> None:
    ds = Dataset.from_dict({"n": list(range(60))})  # of 480 bytes
    ds.save_to_disk(tmp_path / "one", max_shard_size=size, num_proc=num_proc)
    DatasetDict({"train": ds}).save_to_disk(tmp_path / "split", max_shard_size=size, num_proc=num_proc)
    for folder in (tmp_path / "one", tmp_path / "split" / "train"):
        assert len(list(folder.glob("*.arrow"))) == files
        assert load_from_disk(folder)["n"][:] == list(range(60))
