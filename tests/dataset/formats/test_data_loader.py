"""A PyTorch DataLoader over a Dataset: the same rows whatever the workers, and no data copied into them."""

from __future__ import annotations

import pickle
from multiprocessing import context, reduction
from pathlib import Path
from typing import Any

import pytest

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.loading import load_local

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.utils.data import DataLoader  # noqa: E402

ROWS = 103


@pytest.fixture
def mapped(tmp_path: Path) -> Dataset:
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(f'{{"n": {i}, "ids": [{i}, {i + 1}], "text": "t{i}"}}\n' for i in range(ROWS)))
    return load_local(source, split="train", cache_dir=tmp_path / "cache")


KINDS = {
    "mapped": lambda mapped: mapped,
    "selected": lambda mapped: mapped.shuffle(seed=1),
    "in memory": lambda mapped: Dataset(mapped.data),
    "mapped by a function": lambda mapped: mapped.map(lambda row: {"n": row["n"]}),
}
# spawned workers import torch, which takes seconds: once is enough
RUNS = [
    *((kind, workers, start) for kind in KINDS for workers, start in ((0, None), (2, "fork"))),
    ("in memory", 2, "spawn"),
]


@pytest.mark.parametrize(("kind", "workers", "start"), RUNS)
def test_batches_are_the_rows_in_order(mapped: Dataset, kind: str, workers: int, start: str | None) -> None:
    dataset = KINDS[kind](mapped)
    shown = dataset.with_format("torch")
    shown[0]  # the parent has the files open already
    loader = DataLoader(shown, batch_size=10, num_workers=workers, multiprocessing_context=start)
    batches = list(loader)
    assert [len(batch["n"]) for batch in batches] == [10] * 10 + [3]
    assert torch.cat([batch["n"] for batch in batches]).tolist() == dataset["n"][:]
    assert torch.cat([batch["ids"] for batch in batches]).tolist() == dataset["ids"][:]
    assert [text for batch in batches for text in batch["text"]] == dataset["text"][:]


def test_what_a_spawned_worker_gets_is_names_of_files(tmp_path: Path) -> None:
    wide = Dataset.from_dict({"text": ["x" * 1000] * 1000}).with_format("torch")
    sent: list[int] = []

    class Spy(reduction.ForkingPickler):  # type: ignore[misc, type-arg]
        @classmethod
        def dumps(cls, obj: Any, protocol: int | None = None) -> Any:
            data = super().dumps(obj, protocol)
            sent.append(len(data))
            return data

    context.set_spawning_popen(object())
    try:
        data = Spy.dumps(wide)
    finally:
        context.set_spawning_popen(None)
    assert sent[-1] < 10_000
    assert pickle.loads(data)["text"][:] == wide["text"][:]


def test_a_dataset_pickled_for_keeps_has_its_rows(tmp_path: Path) -> None:
    wide = Dataset.from_dict({"text": ["x" * 1000] * 1000})
    assert len(pickle.dumps(wide)) > 1_000_000
