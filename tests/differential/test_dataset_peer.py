"""The verbs give the rows that `datasets` gives."""

import numpy as np
import pytest

from arrowprep.dataset.dataset import Dataset, concatenate_datasets, interleave_datasets
from arrowprep.dataset.features import Features, Value

peer = pytest.importorskip("datasets", reason="datasets is not installed: nothing to compare with")

OURS = {
    "concatenate": concatenate_datasets,
    "interleave": interleave_datasets,
    "Features": Features,
    "Value": Value,
}
THEIRS = {
    "concatenate": peer.concatenate_datasets,
    "interleave": peer.interleave_datasets,
    "Features": peer.Features,
    "Value": peer.Value,
}

COLUMNS = {
    "text": ["zero", "one", None, "three", "", "five", "si×", "七"],
    "n": [3, 1, 2, None, 1, 0, -5, 8],
    "x": [0.5, 1.5, float("inf"), -2.0, None, 3.25, 1e300, 0.0],
    "ids": [[1, 2], [], [3], None, [4, 5, 6], [7], [], [8, 9]],
    "meta": [{"a": i, "b": str(i)} for i in range(8)],
    "flag": [True, False, None, True, True, False, False, True],
}

VERBS = {
    "select": lambda d, lib: d.select([5, 0, 5, 2]),
    "select range": lambda d, lib: d.select(range(2, 6)),
    "select twice": lambda d, lib: d.select([5, 0, 2]).select([2, 0]),
    "skip and take": lambda d, lib: d.skip(2).take(3),
    "take more than there is": lambda d, lib: d.take(99),
    "shuffle": lambda d, lib: d.shuffle(seed=42),
    "shuffle with a generator": lambda d, lib: d.shuffle(generator=np.random.default_rng(5)),
    "shuffle of a selection": lambda d, lib: d.select([1, 2, 3, 5]).shuffle(seed=3),
    "shard": lambda d, lib: d.shard(3, 1),
    "shard strided": lambda d, lib: d.shard(3, 2, contiguous=False),
    "sort": lambda d, lib: d.sort("n"),
    "sort down, nulls first": lambda d, lib: d.sort("n", reverse=True, null_placement="at_start"),
    "sort by two": lambda d, lib: d.sort(["n", "x"], reverse=[False, True]),
    "split train": lambda d, lib: d.train_test_split(test_size=0.3, seed=1)["train"],
    "split test": lambda d, lib: d.train_test_split(test_size=3, train_size=2, seed=1)["test"],
    "split in order": lambda d, lib: d.train_test_split(shuffle=False)["test"],
    "remove_columns": lambda d, lib: d.remove_columns(["x", "meta"]),
    "select_columns": lambda d, lib: d.select_columns(["meta", "n"]),
    "rename": lambda d, lib: d.rename_columns({"n": "number", "x": "n"}),
    "add_column": lambda d, lib: d.shuffle(seed=1).add_column("new", list(range(8))),
    "filter": lambda d, lib: d.filter(lambda row: row["n"] is not None and row["n"] > 0),
    "filter batched": lambda d, lib: d.filter(
        lambda b: [t is not None for t in b["text"]], batched=True, batch_size=3
    ),
    "filter with indices": lambda d, lib: d.filter(lambda row, i: i % 2 == 0, with_indices=True),
    "concatenate": lambda d, lib: lib["concatenate"]([d.select([1, 3]), d, d.shuffle(seed=2)]),
    "concatenate columns": lambda d, lib: lib["concatenate"](
        [d.select_columns("n"), d.remove_columns("n")], axis=1
    ),
    "flatten_indices": lambda d, lib: d.shuffle(seed=9).flatten_indices(),
    "map adds": lambda d, lib: d.map(lambda row: {"length": len(row["text"] or "")}),
    "map replaces": lambda d, lib: d.map(lambda row: {"text": (row["text"] or "") + "!"}),
    "map edits": lambda d, lib: d.map(_edit),
    "map removes": lambda d, lib: d.map(lambda row: {"y": row["n"]}, remove_columns=["n", "ids"]),
    "map with indices": lambda d, lib: d.shuffle(seed=1).map(lambda row, i: {"i": i}, with_indices=True),
    "map input columns": lambda d, lib: d.map(lambda n, t: {"nt": f"{n}{t}"}, input_columns=["n", "text"]),
    "map batched": lambda d, lib: d.map(
        lambda b: {"up": [str(t).upper() for t in b["text"]]}, batched=True, batch_size=3
    ),
    "map grows": lambda d, lib: d.map(
        lambda b: {"c": [c for t in b["text"] for c in t or "-"]},
        batched=True,
        batch_size=2,
        remove_columns=list(COLUMNS),
    ),
    "map drops the last batch": lambda d, lib: d.map(
        lambda b: b, batched=True, batch_size=3, drop_last_batch=True
    ),
    "map arrays": lambda d, lib: d.map(
        lambda b: {"a": np.arange(2 * len(b["n"])).reshape(-1, 2)}, batched=True
    ),
    "map kwargs": lambda d, lib: d.map(lambda row, k: {"k": k}, fn_kwargs={"k": 5}),
    "repeat": lambda d, lib: d.repeat(3),
    "flatten": lambda d, lib: d.flatten(),
    "flatten outer structs": lambda d, lib: d.flatten(max_depth=2),
    "flatten a selection": lambda d, lib: d.shuffle(seed=3).flatten().select([1, 0]),
    "batch": lambda d, lib: d.batch(3),
    "batch without the rest": lambda d, lib: d.shuffle(seed=1).batch(3, drop_last_batch=True),
    "cast": lambda d, lib: d.select_columns(["n", "x"]).cast(
        lib["Features"]({"n": lib["Value"]("float32"), "x": lib["Value"]("float64")})
    ),
    "cast_column": lambda d, lib: d.cast_column("n", lib["Value"]("string")),
    "cast_column of a struct": lambda d, lib: d.cast_column(
        "meta", {"a": lib["Value"]("int8"), "b": lib["Value"]("string")}
    ),
    "class_encode_column": lambda d, lib: d.class_encode_column("text"),
    "class_encode_column with nulls": lambda d, lib: d.class_encode_column("text", include_nulls=True),
    "class_encode_column of booleans": lambda d, lib: d.class_encode_column("flag"),
    "class_encode_column of numbers": lambda d, lib: d.class_encode_column("n"),
    "align_labels": lambda d, lib: (
        d.filter(lambda r: r["flag"] is not None)
        .class_encode_column("flag")
        .align_labels_with_mapping({"true": 0, "false": 1}, "flag")
    ),
    "interleave": lambda d, lib: lib["interleave"]([d, d.take(3), d.skip(2)]),
    "interleave until all end": lambda d, lib: lib["interleave"](
        [d, d.take(3)], stopping_strategy="all_exhausted"
    ),
    "interleave each row once": lambda d, lib: lib["interleave"](
        [d.take(2), d, d.take(3)], stopping_strategy="all_exhausted_without_replacement"
    ),
    "interleave by chance": lambda d, lib: lib["interleave"](
        [d, d.take(3)], probabilities=[0.3, 0.7], seed=5
    ),
    "interleave by chance until all end": lambda d, lib: lib["interleave"](
        [d, d.take(3)], probabilities=[0.6, 0.4], seed=1, stopping_strategy="all_exhausted"
    ),
    "interleave by chance each row once": lambda d, lib: lib["interleave"](
        [d, d.take(3)],
        probabilities=[0.5, 0.5],
        seed=2,
        stopping_strategy="all_exhausted_without_replacement",
    ),
    "map over a selection": lambda d, lib: d.select([6, 2, 2]).map(lambda row: {"m": row["meta"]["a"]}),
}


def _edit(row):
    row["m"] = row.pop("meta")["a"]
    row["ids"] = [*(row["ids"] or []), 0]
    return row


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    peer.disable_progress_bars()
    return peer.Dataset.from_dict(COLUMNS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_gives_the_rows_of_the_peer(verb, theirs):
    ours = VERBS[verb](Dataset.from_dict(COLUMNS), OURS)
    wanted = VERBS[verb](theirs, THEIRS)
    assert ours.column_names == wanted.column_names
    assert ours[:] == wanted[:]
    assert len(ours) == len(wanted)


READS = {
    "row": lambda d: d[3],
    "negative row": lambda d: d[-1],
    "slice": lambda d: d[2:7:2],
    "list": lambda d: d[[6, 0, 6]],
    "range": lambda d: d[range(1, 4)],
    "array": lambda d: d[np.array([2, 5])],
    "iteration": lambda d: list(d),
    "batches": lambda d: list(d.iter(3)),
    "column": lambda d: d["text"][:],
    "column slice": lambda d: d["ids"][1:3],
    "field": lambda d: d["meta"]["b"][:],
    "getitems": lambda d: d.__getitems__([4, 1]),
    "unique": lambda d: d.unique("n"),
    "shuffled row": lambda d: d.shuffle(seed=4)[2],
    "formatted columns": lambda d: d.with_format(None, columns=["n", "text"])[1:3],
    "transform": lambda d: d.with_transform(lambda b: {"l": [len(t or "") for t in b["text"]]})[1:4],
    "transformed row": lambda d: d.with_transform(lambda b: {"l": [len(t or "") for t in b["text"]]})[1],
}


@pytest.mark.parametrize("read", READS)
def test_reading_gives_what_the_peer_gives(read, theirs):
    assert READS[read](Dataset.from_dict(COLUMNS)) == READS[read](theirs)


def test_numpy_values_are_those_of_the_peer_without_its_narrowing(theirs):
    columns = ["n", "x"]
    rows = [1, 2, 6]
    ours = Dataset.from_dict(COLUMNS).with_format("numpy", columns=columns)[rows]
    wanted = theirs.with_format("numpy", columns=columns, dtype=None)[rows]
    for name in columns:
        assert ours[name].dtype == wanted[name].dtype
        assert ours[name].tolist() == wanted[name].tolist()


def test_a_dataset_goes_to_the_peer_and_back_without_a_copy(tmp_path):
    ours = Dataset.from_dict(COLUMNS).map(lambda row: {"m": row["n"]}, cache_file_name=tmp_path / "x.arrow")
    there = ours.to_hf()
    assert isinstance(there, peer.Dataset)
    assert there[:] == ours[:]
    assert (
        there.data.column("m").chunk(0).buffers()[1].address
        == ours.data.column("m").chunk(0).buffers()[1].address
    )
    assert there._fingerprint == ours.fingerprint
    back = Dataset.from_hf(there.shuffle(seed=3).select([5, 1]))
    assert back[:] == there.shuffle(seed=3).select([5, 1])[:]
    assert back.map(lambda row: {"k": row["n"]})["k"][:] == back["n"][:]


def test_labels_and_splits_go_along():
    label = peer.Features({"y": peer.ClassLabel(names=["no", "yes"])})
    there = peer.Dataset.from_dict({"y": [1, 0]}, features=label, split="test")
    ours = Dataset.from_hf(there)
    assert ours.features["y"].names == ["no", "yes"]
    assert ours.split == "test"
    assert ours.to_hf().features == there.features
    assert str(ours.to_hf().split) == "test"
