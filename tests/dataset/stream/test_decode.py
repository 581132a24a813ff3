"""Streams show pictures, JSON and arrays as they are, or as they are stored."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from arrowprep import Array2D, Dataset, Features, IterableDataset, Json, List, Value
from arrowprep.dataset.formats.python import PythonFormat
from arrowprep.errors import BadArgument

FEATURES = Features({"j": Json(), "a": Array2D((1, 2), "int8"), "n": Value("int64")})
ROWS = {"j": [{"k": n} for n in range(300)], "a": [[[n % 100, 0]] for n in range(300)], "n": list(range(300))}


def _stream() -> IterableDataset:
    return Dataset.from_dict(ROWS, features=FEATURES).to_iterable_dataset(3)


def test_what_is_stored_is_shown_on_request_and_back() -> None:
    stored = _stream().decode(False)
    assert next(iter(stored)) == {"j": '{"k":0}', "a": [[0, 0]], "n": 0}
    assert stored.features == {"j": Json(decode=False), "a": List(List(Value("int8"))), "n": Value("int64")}
    assert next(iter(stored.decode()))["j"] == {"k": 0}
    np.testing.assert_array_equal(next(iter(_stream().decode()))["a"], [[0, 0]])


def test_several_threads_show_the_same_rows_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    names: set[str] = set()
    plain = PythonFormat.column

    def told(self: Any, *args: Any) -> Any:
        names.add(threading.current_thread().name)
        return plain(self, *args)

    monkeypatch.setattr(PythonFormat, "column", told)
    stream = _stream().decode(num_threads=3)
    rows = [{**row, "a": row["a"].tolist()} for row in stream]
    assert rows == [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    assert len(names - {threading.current_thread().name}) > 1
    resumed = _stream().decode(num_threads=3)
    taken = iter(resumed)
    for _ in range(7):
        next(taken)
    again = _stream().decode(num_threads=2)
    again.load_state_dict(resumed.state_dict())
    assert next(iter(again))["n"] == 7


def test_features_must_be_known_and_threads_a_number() -> None:
    with pytest.raises(BadArgument, match="features="):
        _stream().map(lambda row: row).decode()
    with pytest.raises(BadArgument, match="num_threads"):
        _stream().decode(num_threads=-1)
