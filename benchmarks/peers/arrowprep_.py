"""arrowprep, as its README shows it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

# by name: the package loads each when it is first looked up, and a peer's import is not timed either
from arrowprep import Dataset, configure, load_local

PACKAGES = ("arrowprep", "pyarrow", "numpy")


def load(path: Path, cache_dir: Path, num_proc: int | None = None) -> Any:
    configure(cache_dir=cache_dir)
    return load_local(path, num_proc=num_proc)


def from_columns(columns: dict[str, list[Any]], cache_dir: Path) -> Any:
    configure(cache_dir=cache_dir)
    return Dataset.from_dict(columns)


def load_tokenizer(folder: Path) -> Any:
    from arrowprep import load_tokenizer

    return load_tokenizer(folder)


def count_characters(dataset: Any, num_proc: int) -> Any:
    return dataset.map(
        lambda batch: {"n": [len(text) for text in batch["text"]]}, batched=True, num_proc=num_proc
    )


def tokenize(dataset: Any, tokenizer: Any, num_proc: int | None) -> Any:
    def ids(batch: Any) -> Any:
        return tokenizer(batch["text"], return_attention_mask=False, verbose=False)

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
    return sum(map(len, tokenizer(texts, return_attention_mask=False, verbose=False)["input_ids"]))
