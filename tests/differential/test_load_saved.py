"""`datasets` opens what is saved here, and what it saved is opened here."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from arrowprep.dataset import features as ours
from arrowprep.dataset.load.hf_disk import read_hf_disk, saved_splits
from arrowprep.dataset.save.hf_disk import save_hf_disk, save_splits
from arrowprep.dataset.storage.ipc import open_mapped

datasets = pytest.importorskip(
    "datasets", reason="compares with the datasets library, which is not installed"
)

UTC = datetime.timezone.utc
VALUES = {
    "null": None,
    "bool": True,
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), 7),
    **dict.fromkeys(("float16", "float32", "float64"), 0.5),
    **dict.fromkeys(("string", "large_string", "string_view"), "é"),
    **dict.fromkeys(("binary", "large_binary", "binary_view"), b"\x00\xff"),
    "date32": datetime.date(2020, 1, 2),
    "date64": datetime.date(2020, 1, 2),
    "time32[s]": datetime.time(1, 2, 3),
    "time64[us]": datetime.time(1, 2, 3, 4),
    "timestamp[s]": datetime.datetime(2020, 1, 2),
    "timestamp[us, tz=UTC]": datetime.datetime(2020, 1, 2, tzinfo=UTC),
    "duration[ms]": datetime.timedelta(milliseconds=5),
    "decimal128(10, 2)": Decimal("1.50"),
    "decimal256(40, 3)": Decimal("1.500"),
}


def columns(lib):
    """A feature of every kind, with two values each."""
    return {
        **{f"v {dtype}": (lib.Value(dtype), [value, None]) for dtype, value in VALUES.items()},
        "label": (lib.ClassLabel(names=["no", "yes"]), [1, None]),
        "list": (lib.List(lib.Value("int16")), [[1, None], []]),
        "fixed": (lib.List(lib.Value("float32"), length=2), [[0.5, 1.5], None]),
        "large": (lib.LargeList(lib.Value("string")), [["a"], None]),
        "struct": ({"x": lib.Value("int8"), "y": [lib.Value("string")]}, [{"x": 1, "y": ["a"]}, None]),
        "rows": ([{"x": lib.Value("int8")}], [[{"x": 1}, {"x": None}], []]),
        "old": (lib.Sequence({"x": lib.Value("int8")}), [{"x": [1, 2]}, None]),
    }


def table_of(lib) -> tuple[object, pa.Table]:
    features = lib.Features({name: feature for name, (feature, _) in columns(lib).items()})
    arrays = [
        pa.array(values, type=features.arrow_schema.field(name).type)
        for name, (_, values) in columns(lib).items()
    ]
    return features, pa.Table.from_arrays(arrays, schema=features.arrow_schema)


def test_every_kind_of_feature_saved_here_is_opened_there(tmp_path: Path) -> None:
    features, table = table_of(ours)
    save_hf_disk(
        [table], tmp_path, features=features, fingerprint="f", num_rows=2, num_shards=2, split="train"
    )
    opened = datasets.load_from_disk(str(tmp_path))
    assert opened.features == table_of(datasets)[0]
    assert opened.data.table.to_pylist() == table.to_pylist()
    assert opened.split == "train"
    assert opened[0]["label"] == 1


def test_every_kind_of_feature_saved_there_is_opened_here(tmp_path: Path) -> None:
    features, table = table_of(datasets)
    theirs = datasets.Dataset(table, info=datasets.DatasetInfo(features=features), split=datasets.Split.TEST)
    theirs.with_format("numpy", columns=["label"]).save_to_disk(str(tmp_path), num_shards=2)
    saved = read_hf_disk(tmp_path)
    assert saved.features == table_of(ours)[0]
    assert [row for part in saved.parts for row in open_mapped(part).to_pylist()] == table.to_pylist()
    assert (saved.split, saved.num_rows) == ("test", 2)
    assert (saved.format["type"], saved.format["columns"]) == ("numpy", ["label"])


def test_formats_and_info_travel(tmp_path: Path) -> None:
    features, table = table_of(ours)
    format = {"type": "numpy", "columns": ["label"], "format_kwargs": {}, "output_all_columns": False}
    save_hf_disk(
        [table],
        tmp_path,
        features=features,
        fingerprint="f",
        num_rows=2,
        format=format,
        info={"license": "MIT"},
    )
    opened = datasets.load_from_disk(str(tmp_path))
    assert (opened.format["type"], opened.format["columns"]) == ("numpy", ["label"])
    assert opened.info.license == "MIT"


def test_json_columns_are_opened_on_both_sides(tmp_path: Path) -> None:
    values = [{"a": [1, "x"]}, None]
    there = datasets.Dataset.from_dict({"j": values}, features=datasets.Features({"j": datasets.Json()}))
    there.save_to_disk(str(tmp_path / "there"))
    saved = read_hf_disk(tmp_path / "there")
    assert saved.features == {"j": ours.Json()}
    stored = open_mapped(saved.parts[0])
    assert saved.features.decode_column(stored.column("j").to_pylist(), "j") == values
    save_hf_disk([stored], tmp_path / "here", features=saved.features, fingerprint="f", num_rows=2)
    assert datasets.load_from_disk(str(tmp_path / "here"))["j"][:] == values


def test_splits_are_opened_on_both_sides(tmp_path: Path) -> None:
    rows = {"train": {"a": [1, 2]}, "test": {"a": [3]}}
    there = datasets.DatasetDict({split: datasets.Dataset.from_dict(data) for split, data in rows.items()})
    there.save_to_disk(str(tmp_path / "there"))
    splits = saved_splits(tmp_path / "there")
    assert splits is not None
    for split, folder in splits.items():
        saved = read_hf_disk(folder)
        table = open_mapped(saved.parts[0])
        assert table.to_pydict() == rows[split]
        save_hf_disk(
            [table], tmp_path / "here" / split, features=saved.features, fingerprint="f", num_rows=len(table)
        )
    save_splits(tmp_path / "here", splits)
    back = datasets.load_from_disk(str(tmp_path / "here"))
    assert {split: data.to_dict() for split, data in back.items()} == rows
