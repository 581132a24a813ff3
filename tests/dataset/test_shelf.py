"""The cache can be listed, checked and shrunk, and nobody who uses an entry is hurt."""

import gc
import os
import subprocess
import sys
import time

import pytest

from arrowprep import Dataset, configured
from arrowprep.cli.main import main
from arrowprep.dataset.storage import shelf
from arrowprep.dataset.storage.locks import only_one
from arrowprep.dataset.storage.seal import intact


@pytest.fixture
def folder(own_cache):
    return own_cache / "results"


def chain(ds):
    """Three maps, each of the one before; only their names are kept."""
    names = []
    for step in range(3):
        ds = ds.map(_added, fn_kwargs={"step": step})
        names.append(ds.fingerprint)
    return names


def _added(row, step):
    return {f"c{step}": [row["n"] + step] * 50}


@pytest.fixture
def names(folder):
    names = chain(Dataset.from_dict({"n": list(range(100))}))
    gc.collect()  # nothing holds the entries any more
    return names


def names_left(folder):
    return {entry.fingerprint for entry in shelf.entries(folder.parent)}


def test_entries_tell_what_they_are(folder, names):
    by_name = {entry.fingerprint: entry for entry in shelf.entries(folder.parent)}
    assert set(by_name) == set(names)
    last = by_name[names[2]]
    assert (last.operation, last.function, last.parent) == ("map", "_added", names[1])
    assert last.needs_parent
    assert last.size == sum(file.stat().st_size for file in last.files)


def test_pruning_takes_children_before_parents(folder, names):
    sizes = {entry.fingerprint: entry.size for entry in shelf.entries(folder.parent)}
    removed = shelf.prune(folder.parent, sum(sizes.values()) - 1)
    assert [entry.fingerprint for entry in removed] == [names[2]]
    assert names_left(folder) == set(names[:2])
    shelf.prune(folder.parent, 0)
    assert names_left(folder) == set()


def test_pruning_takes_the_least_recently_used(folder):
    ds = Dataset.from_dict({"n": list(range(100))})
    made = [ds.map(_added, fn_kwargs={"step": step}).fingerprint for step in range(3)]
    gc.collect()
    for age, name in zip((30, 10, 20), made, strict=True):
        path = folder / f"cache-{name}.arrow"
        when = time.time_ns() - age * 10**9
        os.utime(path, ns=(when, when))
    ds.map(_added, fn_kwargs={"step": 0})  # used again
    gc.collect()
    size = {entry.fingerprint: entry.size for entry in shelf.entries(folder.parent)}
    shelf.prune(folder.parent, sum(size.values()) - 1)
    assert names_left(folder) == {made[0], made[1]}


def test_a_budget_is_kept_by_forgetting_what_was_used_least(folder):
    ds = Dataset.from_dict({"n": list(range(1000))})
    with configured(cache_max_bytes=900_000):
        for step in range(6):
            last = ds.map(_added, fn_kwargs={"step": step}).fingerprint
            gc.collect()
    left = shelf.entries(folder.parent)
    assert sum(entry.size for entry in left) <= 900_000  # each is of some 400 kB
    assert left[0].fingerprint == last
    assert len(left) == 2


def test_what_is_in_use_stays(folder):
    ds = Dataset.from_dict({"n": list(range(100))}).map(_added, fn_kwargs={"step": 1})
    assert ds[3]["c1"][0] == 4
    assert shelf.prune(folder.parent, 0) == []
    assert ds.map(_added, fn_kwargs={"step": 2}, num_proc=2)[99]["c2"][0] == 101


def test_what_another_process_uses_stays(folder, names):
    script = (
        "import sys, arrowprep.dataset.storage.cache as c, pathlib\n"
        "entry = c.Cache(pathlib.Path(sys.argv[1])).find(sys.argv[2])\n"
        "print('open', flush=True); sys.stdin.read()\n"
    )
    user = subprocess.Popen(
        [sys.executable, "-c", script, str(folder.parent), names[2]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert user.stdout.readline() == "open\n"
        shelf.prune(folder.parent, 0)
        assert names_left(folder) == set(names)
    finally:
        user.communicate()
    shelf.prune(folder.parent, 0)
    assert names_left(folder) == set()


def test_cleaning_up_spares_what_is_open(folder):
    ds = Dataset.from_dict({"n": list(range(100))})
    held = ds.map(_added, fn_kwargs={"step": 1})
    ds.map(_added, fn_kwargs={"step": 2})
    gc.collect()
    assert ds.cleanup_cache_files() == 1
    assert names_left(folder) == {held.fingerprint}


def test_files_of_stopped_runs_are_swept_when_they_are_old(folder, names):
    old = folder / ".cache-00112233445566778899aabbccddeeff-deadbeef-0-0.arrow.999999-abcd1234.tmp"
    new = folder / "cache-00112233445566778899aabbccddeeff-deadbeef-0-0.arrow"
    old.write_bytes(b"x")
    new.write_bytes(b"x")
    os.utime(old, (1, 1))
    assert shelf.sweep(folder.parent) == [old]
    assert new.exists()
    assert names_left(folder) == set(names)


def test_old_files_of_a_run_that_goes_on_stay(folder, names):
    left = folder / "cache-00112233445566778899aabbccddeeff-deadbeef-0-0.arrow"
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    with only_one(folder / ".cache-00112233445566778899aabbccddeeff.lock"):
        assert shelf.sweep(folder.parent) == []
    assert shelf.sweep(folder.parent) == [left]


def test_parts_of_an_old_entry_stay(folder):
    ds = Dataset.from_dict({"n": list(range(100))})
    out = ds.map(_added, fn_kwargs={"step": 1}, num_proc=2)
    for path in folder.iterdir():
        os.utime(path, (1, 1))
    assert len(list(folder.iterdir())) == 3
    del out
    gc.collect()
    assert shelf.sweep(folder.parent) == []
    assert ds.map(_added, fn_kwargs={"step": 1})[99]["c1"][0] == 100


def test_a_process_sweeps_once(folder, names):
    old = folder / "cache-00112233445566778899aabbccddeeff-deadbeef-0-0.arrow"
    old.write_bytes(b"x")
    os.utime(old, (1, 1))
    script = "from arrowprep import Dataset; Dataset.from_dict({'n': [1]}).map(lambda row: {'m': 1})"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert not old.exists()
    assert set(names) < names_left(folder)


def test_an_entry_of_parts_stays_while_one_is_open(folder):
    ds = Dataset.from_dict({"n": list(range(100))})
    out = ds.map(_added, fn_kwargs={"step": 1}, num_proc=2)
    assert shelf.prune(folder.parent, 0) == []
    assert ds.cleanup_cache_files() == 0
    assert out.map(lambda row: {"m": 1}, num_proc=2)[99]["c1"][0] == 100


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


def test_every_flipped_byte_is_found(folder, names):
    path = folder / f"cache-{names[0]}.arrow"
    assert intact(path)
    size = path.stat().st_size
    for at in [*range(0, size, 97), *range(size - 40, size)]:
        flip(path, at)
        assert not intact(path), f"byte {at} of {size}"
        flip(path, at)
    assert intact(path)
    os.truncate(path, 7)
    assert not intact(path)


class TestCommand:
    def test_it_lists_entries(self, names, capsys):
        assert main(["cache", "ls"]) == 0
        shown = capsys.readouterr().out
        assert all(name[:12] in shown for name in names)
        assert "map _added" in shown
        assert "3 entries" in shown

    def test_it_explains_an_entry_and_what_differs_from_another(self, names, capsys):
        main(["cache", "explain", names[0][:8]])
        assert "fn_kwargs 'step'" in capsys.readouterr().out
        main(["cache", "explain", names[0][:8], names[1][:8]])
        assert "fn_kwargs 'step': 0 → 1" in capsys.readouterr().out

    def test_it_finds_damage(self, folder, names, capsys):
        assert main(["cache", "verify"]) == 0
        path = folder / f"cache-{names[0]}.arrow"
        flip(path, path.read_bytes().rindex((41).to_bytes(8, "little")))
        assert main(["cache", "verify"]) == 1
        assert path.name in capsys.readouterr().out

    def test_it_prunes_and_removes(self, folder, names, capsys):
        assert main(["cache", "rm", names[2][:10]]) == 0
        assert names_left(folder) == set(names[:2])
        assert main(["cache", "prune", "--max-bytes", "0"]) == 0
        assert names_left(folder) == set()
        assert "removed 2 entries" in capsys.readouterr().out

    def test_an_unknown_entry_is_an_error(self, names, capsys):
        assert main(["cache", "rm", "nothing"]) == 1
        assert "no entry begins with 'nothing'" in capsys.readouterr().err
