"""datasets and tokenizers, as their documentation shows them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from tokenizers import Tokenizer

PACKAGES = ("datasets", "tokenizers", "pyarrow", "numpy")
BUILDERS = {".jsonl": "json", ".parquet": "parquet"}


def load(path: Path, cache_dir: Path, num_proc: int | None = None) -> Any:
    return datasets.load_dataset(
        BUILDERS[path.suffix],
        data_files=str(path),
        split="train",
        cache_dir=str(cache_dir),
        num_proc=num_proc,
    )


def from_columns(columns: dict[str, list[Any]], cache_dir: Path) -> Any:
    return datasets.Dataset.from_dict(columns)


def load_tokenizer(folder: Path) -> Any:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def count_characters(dataset: Any, num_proc: int) -> Any:
    return dataset.map(
        lambda batch: {"n": [len(text) for text in batch["text"]]}, batched=True, num_proc=num_proc
    )


def tokenize(dataset: Any, tokenizer: Any, num_proc: int | None) -> Any:
    def ids(batch: Any) -> Any:
        return {"input_ids": [encoding.ids for encoding in tokenizer.encode_batch(batch["text"])]}

    return dataset.map(ids, batched=True, num_proc=num_proc, remove_columns=dataset.column_names)


def rows_at(dataset: Any, numbers: Iterable[int]) -> int:
    return sum(dataset[number]["id"] for number in numbers)


def iterate_numpy(dataset: Any, batch_size: int) -> float:
    """The sum of the first number of every batch's columns: each is made, none is read whole."""
    total = 0.0
    for batch in dataset.with_format("numpy", dtype=None).iter(batch_size=batch_size):
        total += sum(float(np.asarray(values[0]).ravel()[0]) for values in batch.values())
    return total


def encode(tokenizer: Any, texts: list[str]) -> int:
    """How many ids the texts have."""
    return sum(len(encoding.ids) for encoding in tokenizer.encode_batch(texts))
