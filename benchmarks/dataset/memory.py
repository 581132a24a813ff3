"""The peak of private memory of a process and its children: pages that nobody else has mapped."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.dataset.groups import Figure, Given, Group, Row
from benchmarks.dataset.mapping import lengths

_POLL_S = 0.02


def peak_of(process: subprocess.Popen[str]) -> float:
    """In MB, looked at until the process ends; 0 where there is no /proc."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_private, _tree(process.pid))))
        time.sleep(_POLL_S)
    return peak / 1e6


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return
    for child in children:
        yield from _tree(child)


def _private(pid: int) -> int:
    """Bytes that are the process's own."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def _map(given: Given) -> Iterator[Figure]:
    mapped = given.load(given.inputs.texts).map(lengths, batched=True, num_proc=4)
    yield Figure("memory", 0, len(mapped))


GROUPS = {
    "memory": Group(
        {"memory": Row("peak private memory, map, num_proc=4", 1, unit="MB")}, _map, watched="memory"
    )
}
