"""Data loading processes share a stream: each row once, with any number of them."""

from __future__ import annotations

from typing import Any

import pytest

from arrowprep.dataset.dataset import Dataset, interleave_datasets
from arrowprep.dataset.stream.iterable import IterableDataset

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.utils.data import DataLoader  # noqa: E402


def numbers(shards: int, rows: int = 43) -> IterableDataset:
    return Dataset.from_dict({"i": list(range(rows))}).to_iterable_dataset(shards).with_format("torch")


def loaded(stream: IterableDataset, workers: int, start: str | None = "fork", **options: Any) -> list[int]:
    context = start if workers else None
    loader = DataLoader(stream, batch_size=4, num_workers=workers, multiprocessing_context=context, **options)
    return [int(i) for batch in loader for i in batch["i"]]


STEPS = {
    "nothing": lambda s: s,
    "map": lambda s: s.map(doubled),
    "shuffle": lambda s: s.shuffle(seed=3, buffer_size=5),
    "shuffle, then take": lambda s: s.shuffle(seed=3, buffer_size=5).take(17),
    "shuffle, then skip": lambda s: s.shuffle(seed=3, buffer_size=5).skip(17).map(doubled),
    "take": lambda s: s.take(17),
    "skip": lambda s: s.skip(17),
    "interleave": lambda s: interleave_datasets(
        [s, s.map(doubled)], stopping_strategy="all_exhausted_without_replacement"
    ),
}


def doubled(row: Any) -> Any:
    return {"i": row["i"] * 2}


# fewer shards than workers, as many for each, and one more for some
WORKERS = {1: (0, 2), 4: (0, 2, 3), 5: (0, 3)}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("shards", WORKERS)
def test_each_row_comes_once(step: str, shards: int) -> None:
    expected = sorted(int(row["i"]) for row in STEPS[step](numbers(shards)))
    for workers in WORKERS[shards]:
        assert sorted(loaded(STEPS[step](numbers(shards)), workers)) == expected


def test_spawned_workers_do_the_same() -> None:
    assert sorted(loaded(numbers(3).shuffle(seed=3), 2, "spawn")) == list(range(43))


def test_workers_that_live_on_see_another_epoch() -> None:
    stream = numbers(4).shuffle(seed=3, buffer_size=6)
    loader = DataLoader(
        stream, batch_size=None, num_workers=2, multiprocessing_context="fork", persistent_workers=True
    )
    orders = []
    for epoch in (0, 1, 0):
        stream.set_epoch(epoch)
        orders.append([int(row["i"]) for row in loader])
    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[1]) == list(range(43))


def test_workers_draw_different_numbers() -> None:
    chosen = interleave_datasets([numbers(2, 200), numbers(2, 200).map(negated)], [0.5, 0.5], seed=1)
    loader = DataLoader(chosen, batch_size=None, num_workers=2, multiprocessing_context="fork")
    signs: dict[int, list[bool]] = {0: [], 1: []}
    for row in loader:
        half = int(abs(int(row["i"])) > 100)
        signs[half].append(int(row["i"]) > 0)
    shorter = min(map(len, signs.values()))
    assert signs[0][:shorter] != signs[1][:shorter]


def negated(row: Any) -> Any:
    return {"i": -row["i"]}
