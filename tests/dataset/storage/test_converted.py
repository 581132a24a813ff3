"""Converted files and generated rows are entries: listed, checked, pinned, pruned, and superseded."""

import gc
import json
import os
import subprocess
import sys

import pytest

from arrowprep import Dataset, configured, disable_caching, load_local
from arrowprep.cli.main import main
from arrowprep.dataset.storage import shelf
from arrowprep.dataset.storage.converted import Converted
from arrowprep.errors import ArrowprepWarning


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.jsonl"
    write(path, 0)
    return path


def write(path, first):
    path.write_text("".join(json.dumps({"n": n}) + "\n" for n in range(first, first + 500)))


def loaded(own_cache):
    gc.collect()
    return [entry for entry in shelf.entries(own_cache) if entry.operation == "load"]


def doubled(row):
    return {"m": row["n"] * 2}


class TestSuperseded:
    def test_the_copy_of_what_a_file_held_before_goes(self, path, own_cache):
        for first in range(5):
            write(path, first)
            assert load_local(path)["n"][0] == first
        [entry] = loaded(own_cache)
        assert entry.source == str(path)

    def test_not_while_somebody_uses_it(self, path, own_cache):
        old = load_local(path)
        write(path, 1)
        new = load_local(path)
        assert len(loaded(own_cache)) == 2
        assert old.map(doubled, num_proc=2)["m"][:3] == [0, 2, 4]
        del old, new
        shelf.prune(own_cache, 10**9)
        assert len(loaded(own_cache)) == 1

    def test_not_while_another_process_uses_it(self, path, own_cache):
        script = (
            "import sys, arrowprep; ds = arrowprep.load_local(sys.argv[1]); print('open', flush=True)\n"
            "sys.stdin.read(); print(ds.map(lambda row: {'m': -row['n']}, num_proc=2)['m'][3])"
        )
        command = [sys.executable, "-c", script, str(path)]
        user = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert user.stdout.readline() == "open\n"
        write(path, 1)
        load_local(path)
        assert len(loaded(own_cache)) == 2
        assert user.communicate()[0] == "-3\n"

    def test_not_while_another_file_holds_the_same(self, path, own_cache, tmp_path):
        copy = tmp_path / "copy.jsonl"
        write(copy, 0)
        assert load_local(path).fingerprint == load_local(copy).fingerprint
        write(path, 1)
        load_local(path)
        assert len(loaded(own_cache)) == 2
        write(copy, 2)
        load_local(copy)
        assert len(loaded(own_cache)) == 2  # of 1 and of 2

    def test_other_options_of_the_same_content_stay(self, path, own_cache):
        load_local(path)
        load_local(path, columns=["n"], reader="json")
        load_local(path, reader="text")
        os.utime(path, ns=(1, 1))
        load_local(path)
        assert len(loaded(own_cache)) == 3

    def test_results_of_it_are_found_when_the_content_comes_back(self, path, own_cache, tmp_path):
        def noted(row):
            (tmp_path / f"called-{row['n']}").touch()
            return {"m": row["n"]}

        load_local(path).map(noted)
        write(path, 1000)
        load_local(path)
        assert len(loaded(own_cache)) == 1
        for called in tmp_path.glob("called-*"):
            called.unlink()
        write(path, 0)
        assert load_local(path).map(noted)["m"][499] == 499
        assert list(tmp_path.glob("called-*")) == []

    def test_very_many_files_are_pinned_by_one_lock(self, tmp_path, own_cache, monkeypatch):
        monkeypatch.setattr("arrowprep.dataset.storage.converted._PINNED_ONE_BY_ONE", 3)
        paths = [tmp_path / f"{number}.jsonl" for number in range(6)]
        for number, path in enumerate(paths):
            write(path, number)
        ds = load_local(paths)
        shelf.prune(own_cache, 0)
        assert ds.map(doubled, num_proc=2)["m"][500] == 2
        assert len(loaded(own_cache)) == 6
        del ds
        gc.collect()
        shelf.prune(own_cache, 0)
        assert loaded(own_cache) == []


class TestShelf:
    def test_they_are_listed_with_what_they_are_of(self, path, own_cache, capsys):
        ds = load_local(path).map(doubled)
        Dataset.from_generator(generated)
        main(["cache", "ls"])
        shown = capsys.readouterr().out
        [entry] = loaded(own_cache)
        assert f"load                             of {path}" in shown
        assert "generate generated" in shown
        assert f"map doubled                      of {entry.fingerprint[:12]}" in shown
        assert "3 entries" in shown
        assert ds["m"][1] == 2
        main(["cache", "explain", entry.fingerprint[:10]])
        assert f"source:        {path}" in capsys.readouterr().out

    def test_children_go_before_the_file_they_need(self, path, own_cache):
        name = load_local(path).map(doubled).select(range(100)).map(lambda row: {"k": row["m"]}).fingerprint
        gc.collect()
        sizes = [entry.size for entry in shelf.entries(own_cache)]
        assert len(sizes) == 3
        order = []
        while entries := shelf.entries(own_cache):
            order += shelf.prune(own_cache, sum(entry.size for entry in entries) - 1)
        assert [entry.operation for entry in order] == ["map", "map", "load"]
        assert order[0].fingerprint == name

    def test_one_budget_is_for_all(self, tmp_path, own_cache):
        with configured(cache_max_bytes=20_000):
            for number in range(12):
                path = tmp_path / f"{number}.jsonl"
                write(path, number)
                load_local(path)
                gc.collect()
        entries = shelf.entries(own_cache)
        assert 1 <= len(entries) < 12
        assert sum(entry.size for entry in entries) <= 20_000
        assert entries[0].source == str(path)

    def test_damage_is_found_and_mended(self, path, own_cache, capsys):
        assert load_local(path)["n"][3] == 3
        [entry] = loaded(own_cache)
        data = bytearray(entry.sealed[0].read_bytes())
        data[data.rindex((3).to_bytes(8, "little"))] ^= 8
        entry.sealed[0].write_bytes(data)
        assert main(["cache", "verify"]) == 1
        assert entry.fingerprint[:12] in capsys.readouterr().out
        assert load_local(path)["n"][3] == 11  # nobody looked
        assert load_local(path, verify=True)["n"][3] == 3
        assert main(["cache", "verify"]) == 0

    def test_generated_rows_too(self, own_cache):
        Dataset.from_generator(generated)
        [entry] = shelf.entries(own_cache)
        gc.collect()
        data = bytearray(entry.sealed[0].read_bytes())
        data[len(data) // 2] ^= 1
        entry.sealed[0].write_bytes(data)
        assert entry.damaged()
        assert Dataset.from_generator(generated, verify=True)["n"][:] == list(range(50))
        assert not entry.damaged()


def generated():
    yield from ({"n": n} for n in range(50))


def test_a_result_is_read_when_it_is_to_be_verified(own_cache):
    ds = Dataset.from_dict({"n": list(range(100))})
    name = ds.map(doubled).fingerprint
    path = own_cache / "results" / f"cache-{name}.arrow"
    data = bytearray(path.read_bytes())
    data[data.rindex((18).to_bytes(8, "little"))] ^= 1
    path.write_bytes(data)
    assert ds.map(doubled)["m"][9] == 19
    with pytest.warns(ArrowprepWarning, match=f"{path.name} is not as it was written"):
        assert ds.map(doubled, verify=True)["m"][9] == 18
    with configured(verify=True):
        assert ds.map(doubled)["m"][9] == 18


def test_refresh_makes_anew_what_the_name_does_not_cover(path, tmp_path):
    table = tmp_path / "table"
    table.write_text("1")

    def rows():
        yield {"x": table.read_text()}

    assert Dataset.from_generator(rows)["x"][:] == ["1"]
    table.write_text("2")
    assert Dataset.from_generator(rows)["x"][:] == ["1"]
    assert Dataset.from_generator(rows, refresh=True)["x"][:] == ["2"]
    assert Dataset.from_generator(rows)["x"][:] == ["2"]
    before = load_local(path)
    assert load_local(path, refresh=True)[:] == before[:]


def test_without_caching_loading_too_leaves_nothing(path, own_cache, tmp_path):
    with configured(caching=False):
        disable_caching()
        ds = load_local(path).map(doubled, num_proc=2).filter(lambda row: row["m"] > 10)
        assert ds["n"][0] == 6
        load_local(path, cache_dir=tmp_path / "mine")
        Dataset.from_generator(generated)
    assert list(own_cache.rglob("*")) == []
    assert not (tmp_path / "mine").exists()


def test_scratch_of_killed_processes_is_swept(tmp_path):
    script = (
        "import os, sys, arrowprep; arrowprep.disable_caching(); "
        "ds = arrowprep.load_local(sys.argv[1]); print(ds['n'][3], flush=True); os._exit(0)"
    )
    path = tmp_path / "rows.jsonl"
    write(path, 0)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)],
            env={**os.environ, "TMPDIR": str(temporary)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "3\n"
        assert len(list(temporary.iterdir())) == 1


def test_an_entry_that_is_removed_before_it_is_open_is_made_again(path, own_cache, monkeypatch):
    load_local(path)
    gc.collect()
    opened = Converted._opened
    tries = []

    def removed_first(self, entries):
        tries.append(entries)
        if len(tries) == 1:
            shelf.prune(own_cache, 0)
        return opened(self, entries)

    monkeypatch.setattr(Converted, "_opened", removed_first)
    assert len(load_local(path)) == 500
    assert len(tries) == 2
