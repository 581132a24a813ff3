"""A class given to map: made once in each process, called there for every row."""

from __future__ import annotations

import os
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arrowprep import Dataset
from arrowprep.errors import MapError
from tests.waiting import until_processes

ROWS = Dataset.from_dict({"i": list(range(40))})
PAIRS = {"i": list(range(40)), "j": [i + 5 for i in range(40)]}


class Adds:
    """Notes each time that it is made, and works when as many processes have come."""

    def __init__(self, folder: Path, by: int = 5, processes: int = 1) -> None:
        (folder / f"made-{os.getpid()}-{uuid.uuid4()}").touch()
        self.by, self.folder, self.processes = by, folder, processes

    def __call__(self, row: Any) -> dict[str, int]:
        until_processes(self.folder, self.processes)
        return {"j": row["i"] + self.by}


class Counts:
    """What no plain function has: memory of earlier rows."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, batch: Any) -> dict[str, list[int]]:
        self.seen += len(batch["i"])
        return {"seen": [self.seen] * len(batch["i"])}


class IsOdd:
    def __call__(self, row: Any) -> bool:
        return bool(row["i"] % 2)


class Later:
    async def __call__(self, row: Any) -> dict[str, int]:
        return {"j": row["i"] + 5}


class Broken:
    def __init__(self) -> None:
        raise ValueError("no model there")

    def __call__(self, row: Any) -> None: ...


@pytest.mark.parametrize(("num_proc", "processes"), [(None, 1), (2, 2)])
def test_an_instance_is_made_once_in_each_process(
    num_proc: int | None, processes: int, tmp_path: Path
) -> None:
    made = ROWS.map(partial(Adds, tmp_path, processes=processes), num_proc=num_proc)
    assert made.to_dict() == PAIRS
    noted = [path.name.split("-")[1] for path in tmp_path.glob("made-*")]
    assert len(noted) == len(set(noted)) == processes


def test_a_class_is_named_by_its_code_and_arguments(tmp_path: Path) -> None:
    first = ROWS.map(partial(Adds, tmp_path))
    assert ROWS.map(partial(Adds, tmp_path)).fingerprint == first.fingerprint
    assert len(list(tmp_path.glob("made-*"))) == 1  # the second was found
    assert ROWS.map(partial(Adds, tmp_path, by=6)).fingerprint != first.fingerprint


def test_batches_filters_streams_and_coroutines_take_classes() -> None:
    assert ROWS.map(Counts, batched=True, batch_size=16)["seen"][:] == [16] * 16 + [32] * 16 + [40] * 8
    assert ROWS.filter(IsOdd)["i"][:] == list(range(1, 40, 2))
    assert ROWS.map(Later).to_dict() == PAIRS
    assert ROWS.to_iterable_dataset().map(Later).to_dict() == PAIRS
    assert ROWS.to_iterable_dataset().filter(IsOdd).to_dict() == {"i": list(range(1, 40, 2))}


def test_a_class_that_cannot_be_made_is_told_before_any_row() -> None:
    with pytest.raises(MapError, match=r"Broken.*no model there.*functools\.partial"):
        ROWS.map(Broken)
    with pytest.raises(MapError, match="no model there"):
        ROWS.map(Broken, num_proc=2)


def test_a_class_without_call_is_a_function_that_makes_rows() -> None:
    class Row(dict[str, int]):
        pass

    assert ROWS.map(lambda row: Row(i=1)).to_dict() == {"i": [1] * 40}
    assert ROWS.map(Row).to_dict() == ROWS.to_dict()
