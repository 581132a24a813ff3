"""Loading one large JSON Lines file into an empty cache."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.dataset.groups import Figure, Given, Group, Row, timed


def _load(row: str, num_proc: int | None) -> Group:
    def run(given: Given) -> Iterator[Figure]:
        seconds, dataset = timed(lambda: given.load(given.inputs.lines, num_proc))
        yield Figure(row, seconds, [len(dataset), dataset[len(dataset) - 1]])

    what, ratio = ("1 process", 1.2) if num_proc is None else (f"num_proc={num_proc}", 2.0)
    return Group({row: Row(f"load JSON Lines, {what}", ratio)}, run, prepared=False)


GROUPS = {"load": _load("load", None), "load_2": _load("load_2", 2)}
