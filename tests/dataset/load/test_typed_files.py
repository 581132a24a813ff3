"""Parquet and Arrow files come as they are: their types, their metadata, and where they lie."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arrowprep.dataset.features import ClassLabel, Features, Value
from arrowprep.errors import BadArgument, TypeConflict, UnreadableFile
from tests.dataset.load import load, rows, types

TABLE = pa.table(
    {
        "n": pa.array([1, None, 3], pa.int16()),
        "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
        "deep": pa.array([[{"x": 1.5}], [], None], pa.list_(pa.struct([("x", pa.float32())]))),
    }
)
PLAIN = {"n": "int16", "kind": "string", "deep": "list<item: struct<x: float>>"}


def write_arrow(path: Path, table: pa.Table, *, stream: bool = False, compression: str | None = None) -> Path:
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(str(path), table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return path


def write_parquet(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path, row_group_size=2)
    return path


@pytest.fixture(params=["parquet", "file", "stream", "lz4 file", "zstd stream"])
def written(request, tmp_path: Path) -> Path:
    if request.param == "parquet":
        return write_parquet(tmp_path / "a.parquet", TABLE)
    compression = {"lz4 file": "lz4", "zstd stream": "zstd"}.get(request.param)
    return write_arrow(tmp_path / "a.arrow", TABLE, stream="stream" in request.param, compression=compression)


def test_rows_and_types_are_kept_and_dictionaries_are_their_values(written: Path, tmp_path: Path) -> None:
    loaded = load(written, tmp_path / "cache")
    assert types(loaded) == PLAIN
    assert rows(loaded) == TABLE.to_pylist()
    assert loaded.num_rows == 3


def test_a_truncated_file_is_named(written: Path, tmp_path: Path) -> None:
    os.truncate(written, written.stat().st_size // 2)
    with pytest.raises(UnreadableFile, match=rf"{written.name} is truncated"):
        load(written, tmp_path / "cache")


@pytest.mark.parametrize("mode", ["warn", "skip"])
def test_parquet_files_that_cannot_be_read_are_left_out_on_request(mode: str, tmp_path: Path) -> None:
    good, bad = write_parquet(tmp_path / "a.parquet", TABLE), tmp_path / "b.parquet"
    bad.write_bytes(b"none")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for files in ([good, bad], [bad, good]):
            loaded = load(files, tmp_path / "cache", on_bad_files=mode)
            assert rows(loaded) == TABLE.to_pylist()
            assert types(loaded) == PLAIN
    assert [str(bad) in str(warning.message) for warning in told] == ([True, True] if mode == "warn" else [])
    with pytest.raises(BadArgument, match="none of error, warn, skip"):
        load([good], tmp_path / "cache", on_bad_files="ignore")


def test_how_parquet_is_scanned_changes_no_row(tmp_path: Path) -> None:
    import pyarrow.dataset as pads

    file = write_parquet(tmp_path / "a.parquet", TABLE)
    how = pads.ParquetFragmentScanOptions(pre_buffer=False)
    loaded = load(file, tmp_path / "cache", fragment_scan_options=how)
    assert rows(loaded) == TABLE.to_pylist()


def test_a_file_of_something_else_is_named(written: Path, tmp_path: Path) -> None:
    written.write_bytes(b"{}\n" * 100)
    with pytest.raises(UnreadableFile, match=rf"{written.name}"):
        load(written, tmp_path / "cache")


def test_features_written_in_the_metadata_are_found(tmp_path: Path) -> None:
    features = Features({"label": ClassLabel(names=["no", "yes"])})
    labels = pa.table({"label": [0, 1]}, schema=features.arrow_schema)
    for path in (write_parquet(tmp_path / "a.parquet", labels), write_arrow(tmp_path / "a.arrow", labels)):
        assert Features.from_arrow_schema(load(path, tmp_path / "cache").schema) == features


def test_a_plain_arrow_file_is_mapped_where_it_lies(tmp_path: Path) -> None:
    path = write_arrow(tmp_path / "a.arrow", TABLE.drop_columns(["kind"]))
    loaded = load(path, tmp_path / "cache")
    assert loaded.parts == (path,)
    assert rows(loaded) == TABLE.drop_columns(["kind"]).to_pylist()
    assert not list((tmp_path / "cache").rglob("*.arrow"))


def test_features_of_the_same_types_leave_a_file_where_it_lies(tmp_path: Path) -> None:
    path = write_arrow(tmp_path / "a.arrow", pa.table({"label": [0, 1], "t": ["x", "y"]}))
    features = Features({"label": ClassLabel(names=["no", "yes"]), "t": Value("string")})
    loaded = load(path, tmp_path / "cache", features=features)
    assert loaded.parts == (path,)
    assert Features.from_arrow_schema(loaded.schema) == features


def test_columns_of_a_mapped_file_are_chosen_without_copying(tmp_path: Path) -> None:
    path = write_arrow(tmp_path / "a.arrow", TABLE.drop_columns(["kind"]))
    loaded = load(path, tmp_path / "cache", columns=["deep"])
    assert (loaded.parts, loaded.schema.names) == ((path,), ["deep"])


def test_a_large_arrow_file_is_named_by_its_stat_without_reading_it(tmp_path: Path, monkeypatch) -> None:
    path = write_arrow(tmp_path / "a.arrow", TABLE.drop_columns(["kind"]))
    monkeypatch.setattr("arrowprep.dataset.load.convert._HASH_BYTES", 10)
    monkeypatch.setattr("arrowprep.dataset.storage.sources._digest", None)
    first = load(path, tmp_path / "cache").fingerprint
    assert load(path, tmp_path / "cache").fingerprint == first
    os.utime(path, ns=(1, 1))
    assert load(path, tmp_path / "cache").fingerprint != first


def test_files_of_two_schemas_are_united(tmp_path: Path) -> None:
    a = write_arrow(tmp_path / "a.arrow", pa.table({"n": pa.array([1], pa.int8()), "x": [None]}))
    b = write_parquet(
        tmp_path / "b.parquet", pa.table({"n": pa.array([2], pa.int32()), "x": ["t"], "y": [True]})
    )
    loaded = load([a, b], tmp_path / "cache")
    assert types(loaded) == {"n": "int32", "x": "string", "y": "bool"}
    assert rows(loaded) == [{"n": 1, "x": None, "y": None}, {"n": 2, "x": "t", "y": True}]


def test_types_that_no_type_unites_name_file_and_column(tmp_path: Path) -> None:
    a = write_parquet(tmp_path / "a.parquet", pa.table({"n": [1]}))
    b = write_parquet(tmp_path / "b.parquet", pa.table({"n": ["t"]}))
    with pytest.raises(TypeConflict, match=r"b\.parquet does not fit the files before it: column 'n'"):
        load([a, b], tmp_path / "cache")


def test_parquet_columns_and_filters_are_pushed_down(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", TABLE)
    loaded = load(path, tmp_path / "cache", columns=["kind", "n"], filters=[("n", ">", 1)])
    assert rows(loaded) == [{"kind": "a", "n": 3}]
    assert loaded.schema.names == ["kind", "n"]
    with pytest.raises(BadArgument, match="filters"):
        load(path, tmp_path / "cache", filters=5)


def test_features_cast_and_name_the_row_that_does_not_fit(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", pa.table({"n": [1, 2, 300]}))
    assert types(load(path, tmp_path / "cache", features=Features({"n": Value("uint16")}))) == {"n": "uint16"}
    with pytest.raises(TypeConflict, match=r"a\.parquet: row 2: column 'n' holds 300") as caught:
        load(path, tmp_path / "cache", features=Features({"n": Value("int8")}))
    assert caught.value.row == 2


def test_no_rows_are_no_rows_with_their_types(tmp_path: Path) -> None:
    for path in (
        write_parquet(tmp_path / "a.parquet", TABLE[:0]),
        write_arrow(tmp_path / "a.arrow", TABLE[:0]),
    ):
        loaded = load(path, tmp_path / "cache")
        assert (loaded.num_rows, types(loaded)) == (0, PLAIN)
