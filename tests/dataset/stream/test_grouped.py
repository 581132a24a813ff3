"""Neighbouring rows of a stream that are equal in some columns become one row of lists."""

from __future__ import annotations

import json
from itertools import groupby

import pytest

from arrowprep import ClassLabel, Dataset, Features, IterableDataset, List, Value
from arrowprep.errors import BadArgument, ColumnNotFound

KINDS = ["a", "a", None, None, "b", "b", "b", "a", "c", "c"]
ROWS = [{"n": n, "kind": kind, "even": n % 4 == 0} for n, kind in enumerate(KINDS)]


def _stream(num_shards: int) -> IterableDataset:
    return Dataset.from_list(ROWS).to_iterable_dataset(num_shards)


@pytest.mark.parametrize("num_shards", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("by", ["kind", ["kind", "even"]])
def test_groups_are_those_of_itertools_whatever_the_shards(num_shards: int, by: str | list[str]) -> None:
    names = [by] if isinstance(by, str) else by
    runs = [list(run) for _, run in groupby(ROWS, key=lambda row: [row[name] for name in names])]
    wanted = [{name: [row[name] for row in run] for name in ROWS[0]} for run in runs]
    assert list(_stream(num_shards).batch(by_column=by)) == wanted
    assert list(_stream(num_shards).batch(2, by_column=by)) == wanted  # a size cuts no group
    assert list(Dataset.from_list(ROWS).batch(by_column=by)) == wanted


def test_a_group_longer_than_what_is_read_at_once_is_one_row() -> None:
    rows = [{"k": n // 700} for n in range(2000)]
    grouped = IterableDataset.from_list(rows).batch(by_column="k")
    assert [len(row["k"]) for row in grouped] == [700, 700, 600]


@pytest.mark.parametrize("given", range(6))
def test_the_place_of_a_pass_is_exact(given: int) -> None:
    whole = list(_stream(3).batch(by_column="kind"))
    stream = _stream(3).batch(by_column="kind")
    rows = iter(stream)
    for _ in range(given):
        next(rows)
    state = json.loads(json.dumps(stream.state_dict()))
    again = _stream(3).batch(by_column="kind")
    again.load_state_dict(state)
    assert list(again) == whole[given:]


def test_shards_are_grouped_apart_where_they_are_read_apart() -> None:
    grouped = _stream(2).batch(by_column="kind")
    parts = [list(grouped.shard(2, at)) for at in range(2)]
    assert [n for part in parts for row in part for n in row["n"]] == list(range(10))


def test_lists_keep_what_is_known_of_their_elements() -> None:
    label = ClassLabel(names=["no", "yes"])
    stream = IterableDataset.from_dict({"l": [0, 1]}, features=Features({"l": label}))
    for batched in (stream.batch(by_column="l"), stream.batch(2)):
        assert batched.features == {"l": List(label)}
    assert stream.map(lambda row: row).batch(2).features is None


def test_columns_are_checked_and_something_must_be_said() -> None:
    with pytest.raises(ColumnNotFound):
        _stream(1).batch(by_column="x")
    with pytest.raises(BadArgument, match="batch_size, or by_column"):
        _stream(1).batch()
    assert IterableDataset.from_dict({"n": []}).batch(by_column="n").take(1).to_list() == []
    assert _stream(1).features == {"n": Value("int64"), "kind": Value("string"), "even": Value("bool")}
