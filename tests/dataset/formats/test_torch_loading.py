"""Rows that a DataLoader reads: collated to what torch makes of plain dicts, here and in workers."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pyarrow as pa
import pytest

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.formats import torch_loading

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.utils.data import DataLoader, Subset, default_collate  # noqa: E402


@pytest.fixture
def dataset() -> Dataset:
    columns = {
        "ids": pa.array([[n, n + 1, n + 2] for n in range(10)], pa.list_(pa.int32())),
        "label": pa.array(range(10)),
        "score": pa.array([n / 4 for n in range(10)], pa.float32()),
        "text": pa.array([f"row {n}" for n in range(10)]),
    }
    return Dataset(pa.table(columns)).with_format("torch")


def plain(value: Any) -> Any:
    """Tensors as their type and values, so that == compares them."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype), value.tolist()
    return {name: plain(inner) for name, inner in value.items()} if isinstance(value, dict) else value


def expected(rows: list[Any]) -> Any:
    return plain(default_collate([dict(row) for row in rows]))


class TestCollating:
    def test_the_rows_of_a_batch(self, dataset: Dataset) -> None:
        rows = dataset.__getitems__([3, 1, 3, 9])
        collated = default_collate(rows)
        assert type(collated) is dict
        assert plain(collated) == expected(rows)

    def test_rows_that_are_no_longer_their_batch(self, dataset: Dataset) -> None:
        first, second = dataset.__getitems__([0, 1, 2]), dataset.__getitems__([5, 6, 7])
        for rows in (first[::-1], first[:2], first[1:], first + second, [first[0], second[1], first[2]]):
            assert plain(default_collate(rows)) == expected(rows)

    def test_rows_that_were_edited(self, dataset: Dataset) -> None:
        rows = dataset.__getitems__([0, 1, 2])
        rows[1]["label"] = torch.tensor(77)
        assert default_collate(rows)["label"].tolist() == [0, 77, 2]
        for row in rows:
            row["new"] = 1
            del row["text"]
        assert plain(default_collate(rows)) == expected(rows)

    def test_a_row_edited_in_place_is_seen(self, dataset: Dataset) -> None:
        rows = dataset.__getitems__([0, 1])
        rows[0]["ids"].add_(10)
        assert default_collate(rows)["ids"].tolist() == [[10, 11, 12], [1, 2, 3]]

    def test_what_torch_does_not_collate_is_refused_as_torch_does(self) -> None:
        ragged = Dataset.from_dict({"ids": [[1], [1, 2]], "none": [None, None]}).with_format("torch")
        for name, message in (("ids", "equal size"), ("none", "NoneType")):
            rows = ragged.select_columns([name]).__getitems__([0, 1])
            with pytest.raises((RuntimeError, TypeError), match=message):
                default_collate(rows)

    def test_a_row_is_a_dict_to_whoever_copies_it(self, dataset: Dataset) -> None:
        row = dataset.__getitems__([4])[0]
        for copied in (row.copy(), copy.copy(row), pickle.loads(pickle.dumps(row))):
            assert type(copied) is dict
            assert plain(copied) == plain(dataset[4])


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_the_rows_in_tensors_of_their_own(dataset: Dataset, workers: int) -> None:
    wide = dataset.map(lambda row: {"wide": torch.arange(1 << 16) + row["label"]})  # sent as a file
    wide = wide.with_format("torch", columns=["ids", "label", "text", "wide"])
    loader = DataLoader(Subset(wide, range(1, 10)), batch_size=4, num_workers=workers)
    batches = list(loader)
    assert [batch["label"].tolist() for batch in batches] == [[1, 2, 3, 4], [5, 6, 7, 8], [9]]
    assert [type(batch) for batch in batches] == [dict] * 3
    for batch in batches:
        assert batch["text"] == [f"row {n}" for n in batch["label"].tolist()]
        assert batch["wide"][:, 5].tolist() == [n + 5 for n in batch["label"].tolist()]
        batch["ids"].zero_()
    assert wide[1]["ids"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", None])
def test_a_worker_sends_tensors_of_any_type(dataset: Dataset, dtype: str | None) -> None:
    numbers = dataset.select_columns(["ids", "score"]).with_format("torch", dtype=dtype)
    [sent] = DataLoader(numbers, batch_size=10, num_workers=1)
    [made] = DataLoader(numbers, batch_size=10)
    assert plain(sent) == plain(made)


def test_a_torch_without_that_table_collates_rows_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("torch.utils.data._utils.collate.default_collate_fn_map")
    torch_loading._teach_torch.cache_clear()
    rows = torch_loading.Together({"n": torch.tensor([1, 2])}).rows()
    assert [row["n"].item() for row in rows] == [1, 2]
    torch_loading._teach_torch.cache_clear()
