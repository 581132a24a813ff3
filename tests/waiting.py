"""Tests that wait do so for what happens, never for a time that is long enough on a quiet machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait for it. The time is only what a broken program costs."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def until_processes(folder: Path, count: int) -> None:
    """Wait, in each of some processes, until as many have come here; so that none does the work of all."""
    (folder / f"process-{os.getpid()}").touch()
    until(lambda: len(list(folder.glob("process-*"))) >= count)


def group_of(leader: int) -> list[int]:
    """Live processes of a process group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found
