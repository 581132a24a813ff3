"""The order for a seed is a promise: a model in plain Python, from the description, and values to keep."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from arrowprep.dataset.dataset import Dataset, interleave_datasets
from arrowprep.dataset.stream import permute
from arrowprep.dataset.stream.iterable import IterableDataset
from arrowprep.errors import BadArgument


def numbers(rows: int, shards: int) -> IterableDataset:
    return Dataset.from_dict({"i": list(range(rows))}).to_iterable_dataset(shards)


def order_of(stream: IterableDataset) -> list[int]:
    return [row["i"] for row in stream]


def dealt(items: list[Any], parts: int) -> list[list[Any]]:
    """Neighbours together, the first parts one longer."""
    return [list(part) for part in np.array_split(np.array(items), parts)]


def shuffled(rows: int, shards: int, buffer_size: int, most: int, draw: Any) -> list[int]:
    """draw: makes a generator at its beginning."""
    order = list(range(shards))
    draw().shuffle(order)
    parts = dealt(list(range(rows)), shards)
    groups = [
        list(itertools.chain(*(parts[number] for number in group)))
        for group in dealt(order, min(shards, most))
    ]
    block = max(1, buffer_size // most)
    by_turns = [
        group[at : at + block]
        for at in range(0, max(map(len, groups)), block)
        for group in groups
        if at < len(group)
    ]
    generator, buffer, given = draw(), [], []
    for rows_of_block in by_turns:
        buffer += rows_of_block
        if len(buffer) >= buffer_size:
            buffer = [buffer[int(place)] for place in generator.permutation(len(buffer))]
            stay = buffer_size // 2
            given += buffer[: len(buffer) - stay]
            buffer = buffer[len(buffer) - stay :]
    return [int(i) for i in given + [buffer[int(place)] for place in generator.permutation(len(buffer))]]


@pytest.mark.parametrize("shards", [1, 3, 12])
@pytest.mark.parametrize(("buffer_size", "most"), [(1, 10), (7, 2), (10, 10), (25, 10), (1000, 10)])
@pytest.mark.parametrize("seed", [0, 42])
def test_shuffling_follows_its_description(shards: int, buffer_size: int, most: int, seed: int) -> None:
    stream = numbers(57, shards).shuffle(seed, buffer_size=buffer_size, max_buffer_input_shards=most)
    assert order_of(stream) == shuffled(57, shards, buffer_size, most, lambda: np.random.default_rng(seed))


# the first three are those of datasets 5.2, the last is what `shuffled` gives
GOLDEN = {
    "three shards": [9, 0, 1, 5, 4, 6, 2, 11, 7, 3, 10, 8],
    "one shard": [3, 2, 5, 7, 8, 0, 9, 6, 1, 4, 10, 11],
    "after take": [3, 2, 5, 1, 7, 4, 8, 6, 0],
    "second epoch": [4, 0, 5, 8, 9, 1, 6, 7, 2, 3, 10, 11],
}


def test_orders_never_change() -> None:
    assert order_of(numbers(12, 3).shuffle(seed=42, buffer_size=4)) == GOLDEN["three shards"]
    assert order_of(numbers(12, 1).shuffle(seed=0, buffer_size=6)) == GOLDEN["one shard"]
    assert order_of(numbers(12, 3).take(9).shuffle(seed=42, buffer_size=4)) == GOLDEN["after take"]
    second = numbers(12, 3).shuffle(seed=42, buffer_size=4)
    second.set_epoch(1)
    assert order_of(second) == GOLDEN["second epoch"]


def test_another_epoch_is_another_order_and_comes_again() -> None:
    stream = numbers(40, 4).shuffle(seed=3, buffer_size=10)
    orders = []
    for epoch in (0, 1, 2, 1):
        stream.set_epoch(epoch)
        orders.append(order_of(stream))
    assert orders[1] == orders[3]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == list(range(40)) for order in orders)

    def draw() -> np.random.Generator:
        base = int(np.random.default_rng(3).integers(0, 1 << 63))
        return np.random.default_rng([base, 2])

    assert orders[2] == shuffled(40, 4, 10, 10, draw)


def test_without_shuffling_an_epoch_changes_nothing() -> None:
    stream = numbers(20, 4)
    stream.set_epoch(5)
    assert order_of(stream) == list(range(20))


def test_turns_by_chance_are_drawn_a_thousand_at_a_time() -> None:
    sources = [numbers(3000, 1), numbers(3000, 1).map(_shifted)]
    found = order_of(interleave_datasets(sources, probabilities=[0.25, 0.75], seed=11))
    generator, places, expected = np.random.default_rng(11), [0, 0], []
    while max(places) < 3000:
        for source in generator.choice(2, size=1000, p=[0.25, 0.75]):
            expected.append(places[source] + 10_000 * int(source))
            places[source] += 1
            if max(places) == 3000:
                break
    assert found == expected


def _shifted(row: dict[str, int]) -> dict[str, int]:
    return {"i": row["i"] + 10_000}


def test_a_seed_from_numpys_state_is_drawn_once() -> None:
    np.random.seed(1)
    stream = numbers(30, 2).shuffle()
    assert order_of(stream) == order_of(stream)
    np.random.seed(1)
    assert order_of(numbers(30, 2).shuffle()) == order_of(stream)


# -- without a buffer -----------------------------------------------------------------------------


@pytest.mark.parametrize("shards", [1, 3])
def test_shuffling_without_a_buffer_follows_its_description(
    shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permute, "BLOCK_ROWS", 5)
    monkeypatch.setattr(permute, "WINDOW_BLOCKS", 4)
    blocks = [list(range(at, min(at + 5, 203))) for at in range(0, 203, 5)]
    order = np.random.default_rng(9).permutation(len(blocks))
    base = int(np.random.default_rng(9).integers(0, 1 << 63))
    expected: list[int] = []
    for number, part in enumerate(dealt(order.tolist(), shards)):
        for window in range(0, len(part), 4):
            rows = [i for block in part[window : window + 4] for i in blocks[block]]
            generator = np.random.default_rng([base, number, window // 4])
            expected += [rows[int(place)] for place in generator.permutation(len(rows))]
    assert order_of(numbers(203, shards).shuffle(seed=9, buffer_size=None)) == expected
    assert sorted(expected) == list(range(203))


def test_without_a_buffer_any_row_may_come_first() -> None:
    first = [order_of(numbers(1000, 1).shuffle(seed, buffer_size=None).take(1))[0] for seed in range(200)]
    assert max(first) > 900
    assert min(first) < 100


def test_without_a_buffer_the_rows_of_a_selection_are_shuffled() -> None:
    chosen = Dataset.from_dict({"i": list(range(100))}).select(range(40, 60)).to_iterable_dataset(2)
    assert sorted(order_of(chosen.shuffle(seed=1, buffer_size=None))) == list(range(40, 60))
    with pytest.raises(BadArgument, match="before other steps"):
        chosen.filter(bool).shuffle(seed=1, buffer_size=None)
