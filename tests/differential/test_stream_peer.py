"""Streams give the rows that those of `datasets` give, in the same order, shuffled ones too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arrowprep.dataset.by_name import load_dataset
from arrowprep.dataset.dataset import (
    Dataset,
    concatenate_datasets,
    interleave_datasets,
    split_dataset_by_node,
)
from arrowprep.dataset.features import Value
from arrowprep.dataset.stream.iterable import IterableDataset

peer = pytest.importorskip("datasets", reason="datasets is not installed: nothing to compare with")
from datasets.distributed import split_dataset_by_node as split_by_peer  # noqa: E402

OURS = {
    "interleave": interleave_datasets,
    "concatenate": concatenate_datasets,
    "Value": Value,
    "split": split_dataset_by_node,
}
THEIRS = {
    "interleave": peer.interleave_datasets,
    "concatenate": peer.concatenate_datasets,
    "Value": peer.Value,
    "split": split_by_peer,
}
COLUMNS = {
    "i": list(range(37)),
    "t": [None if i % 5 == 0 else f"t{i}" for i in range(37)],
    "l": [[i] * (i % 3) for i in range(37)],
}

VERBS = {
    "nothing": lambda s, lib: s,
    "map": lambda s, lib: s.map(lambda r: {"n": len(r["t"] or "")}),
    "map removes": lambda s, lib: s.map(lambda r: {"n": r["i"]}, remove_columns=["i", "l"]),
    "map with indices": lambda s, lib: s.map(lambda r, at: {"at": at}, with_indices=True),
    "map input columns": lambda s, lib: s.map(lambda i, t: {"u": f"{i}{t}"}, input_columns=["i", "t"]),
    "map batched": lambda s, lib: s.map(
        lambda b: {"c": [x for row in b["l"] for x in row]},
        batched=True,
        batch_size=5,
        remove_columns=list(COLUMNS),
    ),
    "map whole batches": lambda s, lib: s.map(
        lambda b: {"n": [len(b["i"])] * len(b["i"])}, batched=True, batch_size=5, drop_last_batch=True
    ),
    "map keywords": lambda s, lib: s.map(lambda r, k: {"k": k}, fn_kwargs={"k": 3}),
    "filter": lambda s, lib: s.filter(lambda r: r["i"] % 3),
    "filter batched": lambda s, lib: s.filter(lambda b: [i > 9 for i in b["i"]], batched=True, batch_size=4),
    "filter with indices": lambda s, lib: s.filter(lambda r, at: at % 2 == 0, with_indices=True),
    "take": lambda s, lib: s.take(9),
    "skip": lambda s, lib: s.skip(30),
    "repeat": lambda s, lib: s.repeat(2),
    "batch": lambda s, lib: s.batch(4),
    "batch without the rest": lambda s, lib: s.batch(4, drop_last_batch=True),
    "shard": lambda s, lib: s.shard(2, 1),
    "shard strided": lambda s, lib: s.shard(2, 1, contiguous=False),
    "select columns": lambda s, lib: s.select_columns(["t", "i"]),
    "remove columns": lambda s, lib: s.remove_columns(["t"]),
    "rename": lambda s, lib: s.rename_columns({"t": "text"}),
    "cast": lambda s, lib: s.cast_column("i", lib["Value"]("string")),
    "add column": lambda s, lib: s.add_column("a", list(range(37))),
    "concatenate": lambda s, lib: lib["concatenate"]([s.take(2), s]),
    "concatenate columns": lambda s, lib: lib["concatenate"](
        [s.select_columns(["i"]), s.remove_columns(["i"])], axis=1
    ),
    "interleave": lambda s, lib: lib["interleave"]([s, s.skip(30)]),
    "interleave until all end": lambda s, lib: lib["interleave"](
        [s, s.skip(30)], stopping_strategy="all_exhausted"
    ),
    "interleave each row once": lambda s, lib: lib["interleave"](
        [s, s.skip(30), s.take(1)], stopping_strategy="all_exhausted_without_replacement"
    ),
    "interleave by chance": lambda s, lib: lib["interleave"](
        [s, s.skip(9)], probabilities=[0.4, 0.6], seed=7
    ),
    "interleave by chance until all end": lambda s, lib: lib["interleave"](
        [s, s.skip(9)], probabilities=[0.4, 0.6], seed=7, stopping_strategy="all_exhausted"
    ),
    "shuffle": lambda s, lib: s.shuffle(seed=42, buffer_size=10),
    "shuffle all": lambda s, lib: s.shuffle(seed=42),
    "shuffle an odd buffer": lambda s, lib: s.shuffle(seed=1, buffer_size=13, max_buffer_input_shards=3),
    "shuffle after take": lambda s, lib: s.take(30).shuffle(seed=4, buffer_size=8),
    "shuffle, then map": lambda s, lib: s.shuffle(seed=5, buffer_size=8).map(lambda r: {"n": r["i"] + 1}),
    "a node by shards": lambda s, lib: lib["split"](s, 1, 2),
    "a node by rows": lambda s, lib: lib["split"](s, 1, 3),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("shards", [1, 4])
def test_a_verb_gives_the_rows_of_the_peer(verb: str, shards: int) -> None:
    if shards == 1 and verb.startswith("shard"):
        shards = 2
    ours = VERBS[verb](Dataset.from_dict(COLUMNS).to_iterable_dataset(shards), OURS)
    wanted = VERBS[verb](peer.Dataset.from_dict(COLUMNS).to_iterable_dataset(shards), THEIRS)
    assert list(ours) == list(wanted)


def yielded(numbers: list[int]) -> Iterator[dict[str, int]]:
    yield from ({"n": n} for n in numbers)


@pytest.mark.parametrize("numbers", [[1, 2, 3, 4, 5], []])
def test_what_a_generator_yields_is_the_same(numbers: list[int]) -> None:
    options = {"gen_kwargs": {"numbers": numbers or (0,)}}
    ours = IterableDataset.from_generator(yielded, **options)
    wanted = peer.IterableDataset.from_generator(yielded, **options)
    assert list(ours) == list(wanted)
    assert (ours.num_shards, str(ours.split)) == (wanted.num_shards, str(wanted.split))


@pytest.mark.parametrize("split", [None, "train"])
def test_files_stream_the_same_rows(split: str | None, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1, "t": "x"}\n{"a": 2, "t": null}\n')
    options: dict[str, Any] = {"data_files": str(tmp_path / "a.jsonl"), "split": split, "streaming": True}
    ours, wanted = load_dataset("json", **options), peer.load_dataset("json", **options)
    if split is None:
        assert list(ours) == list(wanted)
        ours, wanted = ours["train"], wanted["train"]
    assert list(ours) == list(wanted)
