"""A cache in which everything goes wrong: processes are killed, disks are full, files are damaged."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.hostile import faults

ROOT = Path(__file__).parents[2]
SCENARIOS = [
    faults.killed_at_random_moments,
    faults.workers_killed,
    faults.killed_at_each_step,
    faults.computed_once,
    faults.loaded_once,
    faults.two_writers_without_locks,
    faults.truncated,
    faults.flipped,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_the_rows_are_right_whatever_befalls(scenario: object, tmp_path: Path) -> None:
    name = getattr(scenario, "__name__", "")
    command = [sys.executable, "-m", "tests.hostile.faults", name, str(tmp_path), "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "right\n", f"{inspect.getdoc(scenario)}\n{done.stderr}"


FILLED = """
    import os, resource, subprocess, sys
    from pathlib import Path
    from arrowprep import Dataset, configured
    from arrowprep.dataset.storage import ipc
    from arrowprep.errors import DiskFull

    folder, how, guess = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "guess"
    ipc.BATCH_BYTES = 1 << 18

    def shrink():
        if how == "tmpfs":
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], check=True)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, resource.RLIM_INFINITY))

    def grow():
        if how == "tmpfs":
            subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    calls = Path("calls")  # a list would be part of the function's name

    def long(batch):
        with calls.open("a") as file:
            file.write(f"{batch['n'][0]} ")
        return {"text": [f"{n:04}" * 16384 for n in batch["n"]]}

    shrink()
    with configured(cache_dir=folder, check_room=guess):
        ds = Dataset.from_dict({"n": list(range(80))})
        for _ in range(2):
            try:
                ds.map(long, batched=True, batch_size=4)
                sys.exit("it was not full")
            except DiskFull as full:
                print(full, flush=True)
                assert str(folder) in str(full) and "kept" in str(full) and "ARROWPREP_CACHE" in str(full)
                assert full.needed > 0 and full.free >= 0
        grow()
        out = ds.map(long, batched=True, batch_size=4)
        assert [text[:4] for text in out["text"]] == [f"{n:04}" for n in range(80)]
        assert all(len(text) == 65536 for text in out["text"])
        seen = calls.read_text().split()
        assert set(seen) == {str(n) for n in range(0, 80, 4)} and len(seen) <= 22, seen  # two did not fit
        left = [p.name for p in (folder / "results").iterdir()]
        assert left == [f"cache-{out.fingerprint}.arrow"], left
"""


def can_mount(folder: Path) -> bool:
    """Whether a process of ours may have a file system of its own."""
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("guess", ["guess", "write"])
@pytest.mark.parametrize("how", ["tmpfs", "limit"])
def test_a_full_disk_keeps_what_was_whole(tmp_path: Path, how: str, guess: str) -> None:
    """Where it is seen to fill up, and where only a write that fails shows it."""
    folder = tmp_path / "cache"
    folder.mkdir()
    if how == "tmpfs" and not can_mount(folder):
        pytest.skip("no file system can be mounted here; the limit on a file's size stands in for it")
    script = tmp_path / "job.py"
    script.write_text(textwrap.dedent(FILLED))
    command = [sys.executable, str(script), str(folder), how, guess]
    if how == "tmpfs":
        command = ["unshare", "-rm", *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = done.stdout.splitlines()
    if how == "tmpfs":
        assert ("the rest of the result needs" in first) == (guess == "guess"), first
    else:
        assert "File too large" in second
