"""A stopped map goes on where it was, and one name is computed once."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.indices import Span
from arrowprep.dataset.storage.leftovers import gaps
from arrowprep.errors import CacheError, MapError


@pytest.fixture
def ds():
    return Dataset.from_dict({"n": list(range(100))})


@pytest.fixture(autouse=True)
def every_batch_is_written(monkeypatch):
    monkeypatch.setattr("arrowprep.dataset.storage.ipc.BATCH_BYTES", 1)


class Steps:
    """A batched function that notes the batches it saw, and fails at one while a file is there."""

    def __init__(self, folder, fail_at=60):
        self.folder, self.fail_at = folder, fail_at

    def __call__(self, batch):
        first = batch["n"][0]
        if first == self.fail_at and (self.folder / "fail").exists():
            raise RuntimeError("stopped")
        (self.folder / f"saw-{first}-{len(list(self.folder.iterdir()))}").touch()
        return {"n": [n for n in batch["n"] for _ in range(n % 3)]}

    def seen(self):
        firsts = sorted(int(path.name.split("-")[1]) for path in self.folder.glob("saw-*"))
        for path in self.folder.glob("saw-*"):
            path.unlink()
        return firsts


@pytest.fixture
def steps(tmp_path):
    return Steps(tmp_path)


EXPECTED = [n for n in range(100) for _ in range(n % 3)]


@pytest.mark.parametrize(("first", "then"), [(None, None), (2, None), (None, 2), (2, 3)])
def test_a_failed_map_goes_on_whatever_the_processes(ds, steps, first, then):
    options = {"batched": True, "batch_size": 10}
    (steps.folder / "fail").touch()
    with pytest.raises(MapError, match="stopped"):
        ds.map(steps, num_proc=first, **options)
    before = steps.seen()
    assert before
    (steps.folder / "fail").unlink()
    out = ds.map(steps, num_proc=then, **options)
    assert out["n"][:] == EXPECTED
    after = steps.seen()
    assert {*before, *after} == set(range(0, 100, 10))
    # a batch that another worker was at when one failed may be done again, no more
    assert len(before) + len(after) <= 10 + (first or 1) - 1
    ds.map(steps, **options)
    assert steps.seen() == []


def test_a_map_goes_on_after_ctrl_c(ds, tmp_path):
    def interrupted(batch):
        with (tmp_path / "saw").open("a") as file:
            file.write(f"{batch['n'][0]} ")
        if batch["n"][0] == 60 and not (tmp_path / "go").exists():
            raise KeyboardInterrupt
        return {"m": batch["n"]}

    with pytest.raises(KeyboardInterrupt):
        ds.map(interrupted, batched=True, batch_size=10)
    (tmp_path / "go").touch()
    assert ds.map(interrupted, batched=True, batch_size=10)["m"][:] == list(range(100))
    assert (tmp_path / "saw").read_text().split() == [str(n) for n in (*range(0, 70, 10), 60, 70, 80, 90)]


def test_a_resumed_map_in_one_process_leaves_one_file(ds, steps, own_cache):
    (steps.folder / "fail").touch()
    with pytest.raises(MapError):
        ds.map(steps, batched=True, batch_size=10)
    (steps.folder / "fail").unlink()
    out = ds.map(steps, batched=True, batch_size=10)
    assert [path.name for path in (own_cache / "results").iterdir()] == [f"cache-{out.fingerprint}.arrow"]


def test_a_recomputed_map_takes_nothing_from_a_stopped_one(ds, steps):
    (steps.folder / "fail").touch()
    with pytest.raises(MapError):
        ds.map(steps, batched=True, batch_size=10)
    (steps.folder / "fail").unlink()
    steps.seen()
    out = ds.map(steps, batched=True, batch_size=10, load_from_cache_file=False)
    assert steps.seen() == list(range(0, 100, 10))
    assert out["n"][:] == EXPECTED


SCRIPT = """
    import os, signal, sys, time
    import arrowprep.dataset.storage.ipc as ipc
    from arrowprep.dataset.dataset import Dataset
    ipc.BATCH_BYTES = 1
    folder = sys.argv[1]

    def slow(batch):
        first = batch["n"][0]
        open(f"{folder}/saw-{first}-{os.getpid()}", "w").close()
        if first == 50 and os.path.exists(f"{folder}/kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(float(sys.argv[2]))
        return {"m": [n * 2 for n in batch["n"]]}

    ds = Dataset.from_dict({"n": list(range(100))})
    print(sum(ds.map(slow, batched=True, batch_size=10)["m"][:]))
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(SCRIPT))
    return [sys.executable, str(path), str(tmp_path)]


def test_a_killed_map_goes_on_from_its_whole_batches(script, tmp_path):
    (tmp_path / "kill").touch()
    assert subprocess.run([*script, "0"], check=False).returncode == -signal.SIGKILL
    (tmp_path / "kill").unlink()
    again = subprocess.run([*script, "0"], check=True, capture_output=True, text=True)
    assert again.stdout.strip() == str(sum(range(100)) * 2)
    seen = sorted(int(path.name.split("-")[1]) for path in tmp_path.glob("saw-*"))
    assert seen == [0, 10, 20, 30, 40, 50, 50, 60, 70, 80, 90]


def test_several_processes_compute_one_name_once(script, tmp_path):
    runs = [subprocess.Popen([*script, "0.02"], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [run.communicate(timeout=60)[0].strip() for run in runs] == [str(sum(range(100)) * 2)] * 3
    assert len(list(tmp_path.glob("saw-*"))) == 10


def test_a_full_disk_is_named_and_loses_nothing(ds, steps, monkeypatch):
    from arrowprep.dataset.storage import ipc

    written = []
    write_batch = ipc.Writer.write_batch

    def full_after_three(self, batch, metadata=None):
        if len(written) >= 3:
            with ipc.telling_folder(self._folder):
                raise OSError(28, "No space left on device")
        written.append(batch)
        write_batch(self, batch, metadata)

    monkeypatch.setattr(ipc.Writer, "write_batch", full_after_three)
    with pytest.raises(CacheError, match="No space left"):
        ds.map(steps, batched=True, batch_size=10)
    monkeypatch.setattr(ipc.Writer, "write_batch", write_batch)
    steps.seen()
    assert ds.map(steps, batched=True, batch_size=10)["n"][:] == EXPECTED
    assert steps.seen() == [30, 40, 50, 60, 70, 80, 90]


def test_gaps_are_what_no_span_covers():
    assert gaps(10, [Span(4, 6), Span(0, 2), Span(6, 6)]) == [Span(2, 4), Span(6, 10)]
    assert gaps(3, [Span(0, 3)]) == []
    assert gaps(2, []) == [Span(0, 2)]


def test_a_lock_whose_owner_died_is_taken_over(script, tmp_path, own_cache):
    run = subprocess.Popen([*script, "5"])
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("saw-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    again = subprocess.run([*script, "0"], check=True, capture_output=True, text=True, timeout=60)
    assert again.stdout.strip() == str(sum(range(100)) * 2)
    assert list((own_cache / "results").glob("*.lock")) == []
