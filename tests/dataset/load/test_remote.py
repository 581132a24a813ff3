"""What lies behind a URL is fetched once, and again when it changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowprep.dataset.load.remote import is_remote, localized
from arrowprep.errors import BadArgument, MissingFile

fsspec = pytest.importorskip("fsspec", reason="remote files go through fsspec, which is not installed")


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def test_a_file_is_fetched_once_and_again_when_it_changed(memory, tmp_path: Path, monkeypatch) -> None:
    memory.pipe("/ds/a.jsonl", b"one")
    first = localized("memory://ds/a.jsonl", tmp_path)
    assert (first.name, first.read_bytes()) == ("a.jsonl", b"one")
    memory.pipe("/ds/a.jsonl", b"two")
    second = localized("memory://ds/a.jsonl", tmp_path)
    assert (second.read_bytes(), first.read_bytes()) == (b"two", b"one")
    monkeypatch.setattr(type(memory), "get_file", None)
    assert localized("memory://ds/a.jsonl", tmp_path) == second


def test_folders_patterns_lists_and_splits_keep_their_shape(memory, tmp_path: Path) -> None:
    for name in ("train/1.csv", "train/2.csv", "test/1.csv", "notes.txt"):
        memory.pipe(f"/ds/{name}", name.encode())
    folder = localized("memory://ds", tmp_path)
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.*")}
    assert found == {"train/1.csv", "train/2.csv", "test/1.csv", "notes.txt"}
    pattern = localized("memory://ds/train/*.csv", tmp_path)
    assert [path.read_text() for path in pattern] == ["train/1.csv", "train/2.csv"]
    mixed = localized({"a": ["memory://ds/train/*.csv", "here.csv"], "b": Path("there.csv")}, tmp_path)
    assert mixed == {"a": [*pattern, "here.csv"], "b": Path("there.csv")}


def test_local_paths_stay_as_they_are(tmp_path: Path) -> None:
    assert localized("a.csv", tmp_path) == "a.csv"
    assert localized("file:///data/a.csv", tmp_path) == "/data/a.csv"
    assert not is_remote("C:/a.csv")
    assert is_remote("s3://bucket/a.csv")


def test_nothing_there_and_no_such_file_system_are_named(memory, tmp_path: Path) -> None:
    for url in ("memory://ds/none.csv", "memory://ds/*.csv"):
        with pytest.raises(MissingFile, match="there is nothing at memory://ds"):
            localized(url, tmp_path)
    with pytest.raises(BadArgument, match=r"nosuch://x cannot be opened"):
        localized("nosuch://x", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_load_local_takes_urls(memory, tmp_path: Path) -> None:
    from arrowprep import load_local

    memory.pipe("/ds/train.jsonl", b'{"a": 1}\n')
    memory.pipe("/ds/test.jsonl", b'{"a": 2}\n')
    loaded = load_local("memory://ds", cache_dir=tmp_path)
    assert {split: data[0] for split, data in loaded.items()} == {"train": {"a": 1}, "test": {"a": 2}}
    assert load_local("memory://ds/test.jsonl", cache_dir=tmp_path)[0] == {"a": 2}
