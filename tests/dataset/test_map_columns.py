"""What becomes of columns and rows where a function returns other keys for other rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import arrowprep
from arrowprep import Dataset

ROWS = 200  # more than are decoded together, so that whole batches lack a key


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path) -> Any:
    with arrowprep.configured(cache_dir=tmp_path):
        yield


@pytest.fixture
def ds() -> Dataset:
    return Dataset.from_dict({"n": list(range(ROWS))})


WAYS: list[dict[str, Any]] = [{}, {"num_proc": 2}, {"keep_in_memory": True}, {"on_error": "null"}]


@pytest.mark.parametrize("way", WAYS)
def test_a_row_without_a_key_is_null_where_nothing_is_kept(ds: Dataset, way: dict[str, Any]) -> None:
    late = ds.map(lambda row: {"m": row["n"]} if row["n"] >= 100 else {}, remove_columns="n", **way)
    assert late.to_dict() == {"m": [None] * 100 + list(range(100, ROWS))}
    early = ds.map(lambda row: {"m": row["n"]} if row["n"] < 100 else {}, remove_columns="n", **way)
    assert early.to_dict() == {"m": list(range(100)) + [None] * 100}


def test_rows_are_counted_also_when_no_column_is_left(ds: Dataset) -> None:
    bare = ds.map(lambda row: {}, remove_columns="n")
    assert (len(bare), bare.column_names) == (ROWS, [])


@pytest.mark.parametrize("way", WAYS)
def test_a_removed_column_is_not_brought_back_for_rows_that_do_not_return_it(
    ds: Dataset, way: dict[str, Any]
) -> None:
    mapped = ds.map(lambda row: {"n": -1} if row["n"] >= 100 else {"m": 1}, remove_columns="n", **way)
    assert mapped["n"].to_list() == [None] * 100 + [-1] * 100


@pytest.mark.parametrize("batched", [False, True])
def test_a_removed_column_that_is_returned_as_it_was_stays(ds: Dataset, batched: bool) -> None:
    mapped = ds.map(lambda shown: {"n": shown["n"]}, remove_columns="n", batched=batched)
    assert mapped.to_dict() == ds.to_dict()


def test_a_removed_column_that_is_set_in_place_stays(ds: Dataset) -> None:
    def negated(row: Any) -> Any:
        row["n"] = -row["n"] if row["n"] < 100 else row["n"]
        return row

    mapped = ds.map(negated, remove_columns="n")
    assert mapped["n"].to_list() == [-n for n in range(100)] + list(range(100, ROWS))


MIXED = [1, "a", None, {"k": 1}, [1, 2], 2.5]


@pytest.mark.parametrize(("num_proc", "batch_size"), [(None, 1), (None, 2), (None, 6), (2, 1), (2, 2)])
def test_values_of_no_one_type_are_json_where_asked_for(num_proc: int | None, batch_size: int) -> None:
    ds = Dataset.from_dict({"n": list(range(6)), "m": list(range(6))})

    def mixed(batch: Any) -> dict[str, Any]:
        return {"n": [MIXED[n] for n in batch["n"]], "v": [MIXED[5 - n] for n in batch["n"]]}

    options: dict[str, Any] = {"batched": True, "batch_size": batch_size, "num_proc": num_proc}
    with pytest.raises(TypeError, match="returned values"):
        ds.map(mixed, **options)
    for _ in range(2):  # computed, and found
        out = ds.map(mixed, on_mixed_types="use_json", **options)
        assert out.to_dict() == {"n": MIXED, "m": list(range(6)), "v": MIXED[::-1]}
    assert {name: type(kind).__name__ for name, kind in out.features.items()} == {
        "n": "Json",
        "m": "Value",
        "v": "Json",
    }


def test_mixed_types_change_nothing_where_there_are_none(ds: Dataset) -> None:
    double = {"function": lambda row: {"m": row["n"] * 2}}
    plain, asked = ds.map(**double), ds.map(**double, on_mixed_types="use_json")
    assert (asked.features, asked.to_dict()) == (plain.features, plain.to_dict())
    with pytest.raises(ValueError, match="neither None nor"):
        ds.map(**double, on_mixed_types="drop")
