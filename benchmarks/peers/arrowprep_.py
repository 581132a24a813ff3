"""arrowprep, as its README shows it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import arrowprep

PACKAGES = ("arrowprep", "pyarrow", "numpy")


def load(path: Path, cache_dir: Path) -> Any:
    arrowprep.configure(cache_dir=cache_dir)
    return arrowprep.load_local(path)


def load_tokenizer(folder: Path) -> Any:
    return arrowprep.load_tokenizer(folder)


def count_characters(dataset: Any, num_proc: int) -> Any:
    return dataset.map(
        lambda batch: {"n": [len(text) for text in batch["text"]]}, batched=True, num_proc=num_proc
    )


def tokenize(dataset: Any, tokenizer: Any, num_proc: int) -> Any:
    def ids(batch: Any) -> Any:
        return tokenizer(batch["text"], return_attention_mask=False)

    return dataset.map(ids, batched=True, num_proc=num_proc, remove_columns=dataset.column_names)


def rows_at(dataset: Any, numbers: Iterable[int]) -> int:
    return sum(dataset[number]["id"] for number in numbers)


def iterate_numpy(dataset: Any, batch_size: int) -> float:
    """The sum of the first number of every batch's columns: each is made, none is read whole."""
    total = 0.0
    for batch in dataset.with_format("numpy").iter(batch_size=batch_size):
        total += sum(float(np.asarray(values[0]).ravel()[0]) for values in batch.values())
    return total


def encode(tokenizer: Any, texts: list[str]) -> int:
    """How many ids the texts have."""
    return sum(map(len, tokenizer(texts, return_attention_mask=False)["input_ids"]))
