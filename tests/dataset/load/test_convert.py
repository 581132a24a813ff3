"""A file is converted once, is found again by stat and content, and never served stale."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from arrowprep.dataset.load import json as json_reader
from arrowprep.dataset.load.convert import convert
from arrowprep.dataset.storage.converted import Converted
from arrowprep.dataset.storage.sources import Sources
from arrowprep.errors import (
    BadArgument,
    CacheError,
    ColumnNotFound,
    MissingFile,
    UnknownFileType,
    UnreadableFile,
)
from tests.dataset.load import load, rows, table, types


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n')
    return path


@pytest.fixture
def reads(monkeypatch) -> list[Path]:
    """The files that were really read."""
    seen: list[Path] = []

    read = json_reader.read

    def counting(path, spec):
        seen.append(path)
        return read(path, spec)

    monkeypatch.setattr(json_reader, "read", counting)
    return seen


def test_a_second_load_reads_nothing_and_gives_the_same(path: Path, tmp_path: Path, reads: list) -> None:
    first = load(path, tmp_path / "cache")
    assert load(path, tmp_path / "cache") == first
    assert reads == [path]


def test_a_known_stat_spares_even_the_hashing(path: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("arrowprep.dataset.storage.sources._SETTLED_NS", -1)
    first = load(path, tmp_path / "cache")
    monkeypatch.setattr("arrowprep.dataset.storage.sources._digest", None)
    assert load(path, tmp_path / "cache") == first


def test_a_touched_moved_or_copied_file_is_found_by_content(path: Path, tmp_path: Path, reads: list) -> None:
    first = load(path, tmp_path / "cache")
    os.utime(path, ns=(1, 1))
    moved = path.rename(tmp_path / "b.jsonl")
    copied = Path(shutil.copy(moved, tmp_path / "c.jsonl"))
    for found in (load(moved, tmp_path / "cache"), load(copied, tmp_path / "cache")):
        assert (found.parts, found.fingerprint, found.num_rows) == (first.parts, first.fingerprint, 2)
    assert reads == [path]
    assert len(list((tmp_path / "cache" / "converted").iterdir())) == 1


def test_an_edit_is_seen_with_the_same_size_and_mtime(path: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("arrowprep.dataset.storage.sources._SETTLED_NS", -1)
    first = load(path, tmp_path / "cache")
    before = path.stat()
    threading.Event().wait(0.02)  # a tick of the file system's clock
    path.write_text(path.read_text().replace("x", "z"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    second = load(path, tmp_path / "cache")
    assert rows(second)[0] == {"a": 1, "b": "z"}
    assert second.fingerprint != first.fingerprint


def test_a_fresh_file_is_not_yet_known_by_its_stat(path: Path, tmp_path: Path, monkeypatch) -> None:
    """Within one tick of the clock an edit could leave the same stat."""
    load(path, tmp_path / "cache")
    monkeypatch.setattr("arrowprep.dataset.storage.sources._digest", lambda path: "read again")
    assert Sources(tmp_path / "cache").content(path) == "read again"


def test_the_fingerprint_names_content_order_and_options_but_no_speed(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.jsonl"
    other.write_text('{"a": 3, "b": "z"}\n')
    cache = tmp_path / "cache"
    known = {
        load(path, cache).fingerprint,
        load([path, other], cache).fingerprint,
        load([other, path], cache).fingerprint,
        load(path, cache, columns=["a"]).fingerprint,
        load(path, cache, reader="text").fingerprint,
        load(path, cache, encoding="latin-1").fingerprint,
    }
    assert len(known) == 6
    assert load(path, cache, block_bytes=10).fingerprint in known
    assert load(path, tmp_path / "elsewhere").fingerprint in known


def test_columns_that_differ_between_files_are_united_with_null(
    path: Path, tmp_path: Path, reads: list
) -> None:
    other = tmp_path / "b.jsonl"
    other.write_text('{"a": 2.5, "c": [1]}\n')
    loaded = load([path, other], tmp_path / "cache")
    assert types(loaded) == {"a": "double", "b": "string", "c": "list<item: int64>"}
    assert rows(loaded) == [
        {"a": 1.0, "b": "x", "c": None},
        {"a": 2.0, "b": "y", "c": None},
        {"a": 2.5, "b": None, "c": [1]},
    ]
    assert all(part.exists() for part in loaded.parts)
    done = len(reads)
    assert load([path, other], tmp_path / "cache") == loaded
    assert len(reads) == done


def test_numbers_beside_text_of_another_file_are_read_again_as_written(tmp_path: Path) -> None:
    for name, content in {"a": "v\n1.50\n", "b": "v\nx\n"}.items():
        (tmp_path / f"{name}.csv").write_text(content)
    loaded = load([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "cache")
    assert [row["v"] for row in rows(loaded)] == ["1.50", "x"]


def test_a_negative_number_beside_a_large_one_of_another_file_keeps_both(tmp_path: Path) -> None:
    for name, number in {"a": -1, "b": 2**64 - 1}.items():
        (tmp_path / f"{name}.jsonl").write_text(f'{{"n": {number}}}\n')
    loaded = load([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "cache")
    assert [int(row["n"]) for row in rows(loaded)] == [-1, 2**64 - 1]


def test_columns_are_picked_and_an_unknown_one_is_named_with_those_there(path: Path, tmp_path: Path) -> None:
    assert rows(load(path, tmp_path / "cache", columns=["b"])) == [{"b": "x"}, {"b": "y"}]
    with pytest.raises(ColumnNotFound, match="no column 'z'; the columns are 'a', 'b'"):
        load(path, tmp_path / "cache", columns=["a", "z"])


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", lambda data: pa.compress(data, codec="zstd", asbytes=True)),
    ],
)
def test_compressed_files_are_read_and_truncated_ones_named(
    path: Path, tmp_path: Path, suffix: str, compress
) -> None:
    whole = compress(path.read_bytes() * 2000)
    packed = tmp_path / f"a.jsonl{suffix}"
    packed.write_bytes(whole)
    loaded = load(packed, tmp_path / "cache")
    assert rows(loaded) == rows(load(path, tmp_path / "cache")) * 2000
    packed.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(UnreadableFile, match=rf"a\.jsonl{suffix}"):
        load(packed, tmp_path / "cache")
    packed.write_bytes(b"no such thing" * 100)
    with pytest.raises(UnreadableFile, match=rf"a\.jsonl{suffix} is truncated or broken"):
        load(packed, tmp_path / "cache")


def test_a_converted_file_that_was_damaged_is_converted_again(
    path: Path, tmp_path: Path, reads: list
) -> None:
    loaded = load(path, tmp_path / "cache")
    for damage in (
        lambda part: os.truncate(part, 100),
        Path.unlink,
        lambda part: (part.parent / "entry.json").unlink(),
    ):
        damage(loaded.parts[0])
        assert rows(load(path, tmp_path / "cache")) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert len(reads) == 4


def test_a_failed_conversion_leaves_nothing(path: Path, tmp_path: Path) -> None:
    path.write_text('{"a": 1}\n' * 50 + "broken\n")
    with pytest.raises(UnreadableFile):
        load(path, tmp_path / "cache", block_bytes=20)
    assert list((tmp_path / "cache" / "converted").iterdir()) == []


def test_what_a_killed_conversion_left_is_swept_by_the_next(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    convert_and_die = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from arrowprep.dataset.storage.converted import Converted\n"
        "with Converted(Path(sys.argv[1])).workplace() as place:\n"
        "    (place / 'part.arrow').write_text('half')\n"
        "    os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", convert_and_die, str(folder)], check=True)
    [left] = (folder / "converted").iterdir()
    foreign = left.with_name(".00000000" + left.name[9:])
    with Converted(folder).workplace() as living:
        assert not left.exists()
        shutil.copytree(living, foreign)
        load(path, folder)
        assert living.exists()
        assert foreign.exists()


def test_a_cache_that_cannot_be_written_says_where_and_what_to_set(path: Path, tmp_path: Path) -> None:
    """A file stands where the folder should be: as root, permissions would stop nobody."""
    (tmp_path / "cache").write_text("")
    with pytest.raises(CacheError, match=r"cache.*ARROWPREP_CACHE or cache_dir=") as caught:
        load(path, tmp_path / "cache")
    assert str(caught.value.path).startswith(str(tmp_path / "cache"))


def test_a_full_disk_says_so_and_leaves_nothing(path: Path, tmp_path: Path, monkeypatch) -> None:
    def full(self, batch, metadata=None):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pa.RecordBatchFileWriter, "write_batch", full)
    with pytest.raises(CacheError, match="No space left on device"):
        load(path, tmp_path / "cache")
    assert list((tmp_path / "cache" / "converted").iterdir()) == []


def test_two_loads_at_once_are_both_right(path: Path, tmp_path: Path) -> None:
    path.write_text("".join(f'{{"a": {number}}}\n' for number in range(2000)))
    found: list = []
    loads = [threading.Thread(target=lambda: found.append(load(path, tmp_path / "cache"))) for _ in range(4)]
    for one in loads:
        one.start()
    for one in loads:
        one.join()
    assert len(found) == 4
    assert all(rows(loaded) == [{"a": number} for number in range(2000)] for loaded in found)
    assert len(list((tmp_path / "cache" / "converted").iterdir())) == 1


def test_a_file_that_changes_while_it_is_read_is_refused(path: Path, tmp_path: Path, monkeypatch) -> None:
    read = json_reader.read

    def growing(at, spec):
        yield from read(at, spec)
        with at.open("a") as file:
            file.write('{"a": 3}\n')

    monkeypatch.setattr(json_reader, "read", growing)
    with pytest.raises(UnreadableFile, match="was changed while it was read"):
        load(path, tmp_path / "cache")


def test_record_batches_are_of_the_size_that_opens_fast(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = '{"t": "' + "x" * 2000 + '"}\n'
    path.write_text(line * 25_000)
    batches = table(load(path, tmp_path / "cache", block_bytes=1 << 20)).to_batches()
    assert 2 <= len(batches) <= 5


def test_what_is_no_loadable_file_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match="does not exist"):
        load(tmp_path / "none.jsonl", tmp_path / "cache")
    other = path.rename(tmp_path / "a.data")
    with pytest.raises(UnknownFileType, match=r'\.data.*reader="json"'):
        load(other, tmp_path / "cache")
    assert load(other, tmp_path / "cache", reader="json").num_rows == 2
    with pytest.raises(BadArgument, match="the readers are json, csv"):
        load(other, tmp_path / "cache", reader="jason")
    with pytest.raises(BadArgument, match="json reader has no option 'sep'"):
        load(other, tmp_path / "cache", reader="json", sep=",")
    with pytest.raises(BadArgument, match="no files"):
        convert([], cache_dir=tmp_path)


def test_loading_imports_no_pandas(path: Path, tmp_path: Path) -> None:
    """pyarrow imports it, for half a second, as soon as it makes an array of Python or NumPy values."""
    code = (
        "import sys; from pathlib import Path; from arrowprep.dataset.load.convert import convert; "
        f"convert([Path({str(path)!r})], cache_dir=Path({str(tmp_path / 'cache')!r})); "
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
