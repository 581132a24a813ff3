"""Rows one by one, batches of 32 as NumPy and torch, and a DataLoader over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from benchmarks.dataset.groups import Figure, Given, Group, Row, timed

SIZE = 32  # rows of a batch
ACCESSES = 10_000
RANDOM_BATCHES = 500
LOADER_ROWS = 32 * 600


def _rows(given: Given) -> Iterator[Figure]:
    texts = given.load(given.inputs.texts)
    numbers = np.random.default_rng(1).integers(0, len(texts), ACCESSES).tolist()
    yield Figure("getitem", *timed(lambda: sum(texts[number]["id"] for number in numbers)))
    shuffled = texts.shuffle(seed=1)
    shuffled[0]
    seconds, texts_seen = timed(lambda: sum(len(shuffled[number]["text"]) > 0 for number in numbers))
    yield Figure("getitem_shuffled", seconds, texts_seen)


def _batches(given: Given) -> Iterator[Figure]:
    fixed, ragged = given.load(given.inputs.fixed), given.load(given.inputs.ragged)
    for row, dataset in (("fixed", fixed), ("ragged", ragged)):
        shown = dataset.with_format("numpy")
        yield Figure(row, *timed(lambda: _firsts(shown.iter(batch_size=SIZE))))  # noqa: B023
    shown = fixed.with_format("numpy")
    random = np.random.default_rng(1)
    chosen = [random.integers(0, len(fixed), SIZE).tolist() for _ in range(RANDOM_BATCHES)]
    yield Figure("random", *timed(lambda: _firsts(shown[numbers] for numbers in chosen)))


def _torch(given: Given) -> Iterator[Figure]:
    shown = given.load(given.inputs.fixed).with_format("torch")
    yield Figure("torch", *timed(lambda: _firsts(shown.iter(batch_size=SIZE))))


def _loader(given: Given) -> Iterator[Figure]:
    from torch.utils.data import DataLoader

    shown = given.load(given.inputs.fixed).select(range(LOADER_ROWS)).with_format("torch")
    shown[0]
    for row, workers in (("loader", 0), ("loader_2", 2)):
        loader = DataLoader(shown, batch_size=SIZE, shuffle=True, num_workers=workers)
        seconds, total = timed(lambda: sum(int(batch["input_ids"].sum()) for batch in loader))  # noqa: B023
        yield Figure(row, seconds, total)


def _firsts(batches: Iterable[Any]) -> int:
    """The sum of each batch's first number: every batch is made, none is read whole."""
    return sum(int(batch["input_ids"][0][0]) for batch in batches)


GROUPS = {
    "rows": Group(
        {"getitem": Row("ds[i], random i", 3), "getitem_shuffled": Row("the same after a shuffle", 4)}, _rows
    ),
    "batches": Group(
        {
            "fixed": Row("NumPy batches of 32, 128 integers a row", 20),
            "ragged": Row("NumPy batches of 32, ragged", 20),
            "random": Row("NumPy, 32 random rows at a time", 20),
        },
        _batches,
    ),
    "torch": Group({"torch": Row("torch batches of 32, 128 integers a row", 10)}, _torch),
    "loader": Group(
        {
            "loader": Row("DataLoader, shuffled, batches of 32", 5),
            "loader_2": Row("the same, 2 workers", 5),
        },
        _loader,
    ),
}
