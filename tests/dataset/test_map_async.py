"""Coroutine functions in map and filter: they wait together, and results keep their order."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from arrowprep.dataset.dataset import Dataset
from arrowprep.errors import MapError

ROWS = Dataset.from_dict({"i": list(range(60))})


class Together:
    """Counts how many wait at the same time."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def __call__(self, row: Any) -> dict[str, int]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001 * (row["i"] % 3))  # so they end in another order
        self.now -= 1
        return {"j": row["i"] * 2}


def test_rows_wait_together_and_keep_their_order() -> None:
    together = Together()
    made = ROWS.map(together, new_fingerprint="together")
    assert made["j"][:] == [2 * i for i in range(60)]
    assert together.most == 60


async def slowly(row: Any) -> dict[str, int]:
    await asyncio.sleep(0)
    return {"j": row["i"] + 1}


async def of_batch(batch: Any, *, by: int = 1) -> dict[str, list[int]]:
    await asyncio.sleep(0)
    return {"j": [i + by for i in batch["i"]]}


async def is_odd(row: Any) -> bool:
    await asyncio.sleep(0)
    return bool(row["i"] % 2)


async def are_odd(batch: Any) -> list[bool]:
    return [bool(i % 2) for i in batch["i"]]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_every_way_to_map_takes_a_coroutine_function(num_proc: int | None) -> None:
    expected = [i + 1 for i in range(60)]
    assert ROWS.map(slowly, num_proc=num_proc)["j"][:] == expected
    assert ROWS.map(of_batch, batched=True, batch_size=7, num_proc=num_proc)["j"][:] == expected
    assert ROWS.map(partial(of_batch, by=1), batched=True, num_proc=num_proc)["j"][:] == expected
    assert ROWS.filter(is_odd, num_proc=num_proc)["i"][:] == list(range(1, 60, 2))
    assert ROWS.filter(are_odd, batched=True, num_proc=num_proc)["i"][:] == list(range(1, 60, 2))


def test_streams_take_coroutine_functions_too() -> None:
    stream = ROWS.to_iterable_dataset().map(slowly).filter(is_odd)
    assert [row["j"] for row in stream] == list(range(2, 61, 2))


def test_one_loop_serves_all_rows() -> None:
    loops = set()

    async def note(row: Any) -> None:
        loops.add(id(asyncio.get_running_loop()))

    Dataset.from_dict({"i": list(range(2500))}).map(note)
    assert len(loops) == 1


def test_the_row_that_fails_is_named_and_the_others_are_cancelled() -> None:
    ended = []

    async def fails(row: Any) -> dict[str, int]:
        if row["i"] == 7:
            raise ValueError("seven")
        await asyncio.sleep(60)
        ended.append(row["i"])
        return {}

    with pytest.raises(MapError, match="failed on row 7: ValueError: seven"):
        ROWS.map(fails)
    assert ended == []


def test_it_works_where_a_loop_runs_already() -> None:
    async def notebook() -> list[int]:
        found: list[int] = ROWS.map(slowly, new_fingerprint="in-a-loop")["j"][:]
        return found

    assert asyncio.run(notebook()) == [i + 1 for i in range(60)]


class BatchesTogether:
    """Counts how many batches wait at the same time; one of them may fail."""

    def __init__(self, failing: int | None = None) -> None:
        self.now = self.most = 0
        self.failing = failing

    async def __call__(self, batch: Any) -> dict[str, list[int]]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001 * (batch["i"][0] % 7))
        self.now -= 1
        if self.failing in batch["i"]:
            raise ValueError("refused")
        return {"j": [2 * i for i in batch["i"]]}


def test_batches_wait_together_and_keep_their_order() -> None:
    together = BatchesTogether()
    made = ROWS.map(together, batched=True, batch_size=4, new_fingerprint="batches-together")
    assert made["j"][:] == [2 * i for i in range(60)]
    assert together.most == 15


def test_a_batch_that_fails_is_named_and_may_be_left_out() -> None:
    with pytest.raises(MapError, match=r"rows 20\.\.23: ValueError: refused"):
        ROWS.map(BatchesTogether(21), batched=True, batch_size=4, new_fingerprint="fails")
    with pytest.warns(UserWarning, match="4 rows"):
        made = ROWS.map(
            BatchesTogether(21), batched=True, batch_size=4, new_fingerprint="skips", on_error="skip"
        )
    assert made["i"][:] == [i for i in range(60) if not 20 <= i < 24]
