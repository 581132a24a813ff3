"""What a type checker sees of the public names; `make lint` checks this file, nothing runs it."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import assert_type

import arrowprep
from arrowprep import (
    BatchEncoding,
    Dataset,
    DatasetDict,
    Encoding,
    IterableDataset,
    PreTrainedTokenizer,
    Settings,
    Tokenizer,
    concatenate_datasets,
    load_local,
    load_tokenizer,
)


def loading(path: Path) -> None:
    assert_type(load_local(path, split="train"), Dataset)
    assert_type(load_local(path), Dataset | DatasetDict)
    assert_type(load_local(path, split="train", streaming=True), IterableDataset)


def datasets(dataset: Dataset, splits: DatasetDict) -> None:
    assert_type(len(dataset), int)
    assert_type(dataset.column_names, list[str])
    assert_type(dataset.select([0]), Dataset)
    assert_type(dataset.map(lambda row: row), Dataset)
    assert_type(dataset.train_test_split(0.1), DatasetDict)
    assert_type(splits["train"], Dataset)


def streams(dataset: Dataset) -> None:
    stream = dataset.to_iterable_dataset(4)
    assert_type(stream, IterableDataset)
    assert_type(stream.map(lambda row: row).shuffle(seed=1).take(3), IterableDataset)
    assert_type(concatenate_datasets([stream, stream]), IterableDataset)
    assert_type(concatenate_datasets([dataset, dataset]), Dataset)
    assert_type(stream.column_names, list[str] | None)


def tokenizers(path: str) -> None:
    tokenizer = load_tokenizer(path)
    assert_type(tokenizer, PreTrainedTokenizer)
    assert_type(tokenizer(["text"]), BatchEncoding)
    assert_type(tokenizer.tokenize("text"), list[str])
    assert_type(tokenizer.encode("text"), list[int])
    assert_type(tokenizer.decode([1, 2]), str)
    assert_type(tokenizer.pad_token, str | None)
    assert_type(tokenizer.pad_token_id, int | None)
    assert_type(tokenizer.backend_tokenizer, Tokenizer)
    assert_type(tokenizer.backend_tokenizer.encode("text"), Encoding)


def settings() -> None:
    assert_type(arrowprep.settings(), Settings)
    assert_type(arrowprep.settings().cache_dir, Path)
