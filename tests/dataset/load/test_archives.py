"""Archives are folders of data files; a file may be compressed in any usual way."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from arrowprep import load_dataset, load_local
from arrowprep.errors import UnreadableFile

FILES = {"train.csv": b"n\n1\n2\n", "deep/test.csv": b"n\n3\n"}


def _zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def _tar(path: Path, files: dict[str, bytes]) -> Path:
    mode = {".gz": "w:gz", ".tgz": "w:gz", ".bz2": "w:bz2", ".xz": "w:xz"}.get(path.suffix, "w")
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def _archive(path: Path, files: dict[str, bytes] = FILES) -> Path:
    return _zip(path, files) if path.suffix == ".zip" else _tar(path, files)


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.tar.bz2", "a.tar.xz"])
def test_an_archive_is_a_folder_of_its_files(name: str, tmp_path: Path) -> None:
    path = _archive(tmp_path / name)
    splits = load_local(path, cache_dir=tmp_path / "cache")
    assert {split: ds["n"].to_list() for split, ds in splits.items()} == {"train": [1, 2], "test": [3]}
    streamed = load_dataset("csv", data_files={"all": [str(path)]}, split="all", streaming=True)
    assert sorted(row["n"] for row in streamed) == [1, 2, 3]


def test_a_changed_archive_is_taken_apart_again(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", {"train.csv": b"n\n1\n"})
    assert load_local(path, cache_dir=tmp_path / "cache")[:] == {"n": [1]}
    _zip(path, {"train.csv": b"n\n1\n2\n"})
    assert load_local(path, cache_dir=tmp_path / "cache")[:] == {"n": [1, 2]}


@pytest.mark.parametrize("name", ["a.zip", "a.tar"])
def test_nothing_is_written_outside_and_what_is_no_archive_is_named(name: str, tmp_path: Path) -> None:
    path = _archive(tmp_path / name, {"../out.csv": b"n\n1\n"})
    with pytest.raises(UnreadableFile, match="outside"):
        load_local(path, cache_dir=tmp_path / "cache")
    assert not list(tmp_path.rglob("out.csv"))
    path.write_bytes(b"none of these")
    with pytest.raises(UnreadableFile, match="no archive"):
        load_local(path, cache_dir=tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.csv"))


def test_lz4_is_one_of_the_compressions(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.lz4"
    with pa.CompressedOutputStream(str(path), "lz4") as stream:
        stream.write(b"n\n1\n2\n")
    assert load_local(path, cache_dir=tmp_path / "cache")[:] == {"n": [1, 2]}
