"""What every stream promises: the rows of a plain model, an exact place, shards that are each row once."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np
import pytest

from arrowprep.dataset.dataset import (
    Dataset,
    concatenate_datasets,
    interleave_datasets,
    split_dataset_by_node,
)
from arrowprep.dataset.features import Value
from arrowprep.dataset.stream.base import Run
from arrowprep.dataset.stream.iterable import IterableDataset
from arrowprep.errors import BadArgument

Row: TypeAlias = dict[str, Any]
ROWS: list[Row] = [{"i": i, "t": f"t{i}"} for i in range(41)]


def of_view(shards: int = 4) -> IterableDataset:
    return Dataset.from_list(ROWS).to_iterable_dataset(shards)


def yielded(numbers: list[range]) -> Iterator[Row]:
    for part in numbers:
        yield from (ROWS[i] for i in part)


def of_generator() -> IterableDataset:
    return IterableDataset.from_generator(
        yielded, gen_kwargs={"numbers": [range(17), range(17, 18), range(18, 41)]}
    )


def double(row: Row) -> Row:
    return {"i": row["i"] * 2}


def pairs(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {"s": [sum(batch["i"]), -len(batch["i"])]}


def is_odd(row: Row) -> bool:
    return bool(row["i"] % 2)


def are_large(batch: dict[str, list[Any]]) -> list[bool]:
    return [i > 20 for i in batch["i"]]


def numbered(row: Row, number: int) -> Row:
    return {"at": number}


def noisy(row: Row) -> Row:
    return {"r": random.random()}


def blocks(rows: list[Row], size: int) -> list[list[Row]]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def turns(
    rows: list[Row], others: list[Row], until: Callable[[list[bool]], bool], again: bool
) -> Iterator[Row]:
    """Interleaving as its description says it, row by row."""
    sources, places, ended = [rows, others], [0, 0], [False, False]
    while not until(ended):
        for number, source in enumerate(sources):
            if until(ended):
                return
            if ended[number] and not again:
                continue
            yield source[places[number] % len(source)]
            places[number] += 1
            ended[number] = ended[number] or places[number] == len(source)


Verb: TypeAlias = Callable[[IterableDataset], IterableDataset]
Model: TypeAlias = Callable[[list[Row]], list[Row]]

# name -> what is done, and what a list makes of it; None where only chance would tell
VERBS: dict[str, tuple[Verb, Model | None]] = {
    "nothing": (lambda s: s, lambda rows: rows),
    "map": (lambda s: s.map(double), lambda rows: [{**r, "i": r["i"] * 2} for r in rows]),
    "map with indices": (
        lambda s: s.map(numbered, with_indices=True),
        lambda rows: [{**r, "at": at} for at, r in enumerate(rows)],
    ),
    "map input columns": (
        lambda s: s.map(lambda i, t: {"u": t * i}, input_columns=["i", "t"], remove_columns="i"),
        lambda rows: [{"t": r["t"], "u": r["t"] * r["i"]} for r in rows],
    ),
    "map batched": (
        lambda s: s.map(pairs, batched=True, batch_size=6, remove_columns=["i", "t"]),
        lambda rows: [
            {"s": s} for block in blocks(rows, 6) for s in (sum(r["i"] for r in block), -len(block))
        ],
    ),
    "map whole batches": (
        lambda s: s.map(pairs, batched=True, batch_size=6, drop_last_batch=True, remove_columns=["i", "t"]),
        lambda rows: [
            {"s": s} for block in blocks(rows, 6) if len(block) == 6 for s in (sum(r["i"] for r in block), -6)
        ],
    ),
    "map all": (
        lambda s: s.map(pairs, batched=True, batch_size=None, remove_columns=["i", "t"]),
        lambda rows: [{"s": sum(r["i"] for r in rows)}, {"s": -len(rows)}],
    ),
    "filter": (lambda s: s.filter(is_odd), lambda rows: [r for r in rows if r["i"] % 2]),
    "filter batched": (
        lambda s: s.filter(are_large, batched=True, batch_size=7),
        lambda rows: [r for r in rows if r["i"] > 20],
    ),
    "take": (lambda s: s.take(13), lambda rows: rows[:13]),
    "take all": (lambda s: s.take(99), lambda rows: rows),
    "take none": (lambda s: s.take(0), lambda rows: []),
    "skip": (lambda s: s.skip(13), lambda rows: rows[13:]),
    "skip and take": (lambda s: s.skip(9).take(20).skip(1), lambda rows: rows[10:29]),
    "repeat": (lambda s: s.repeat(3), lambda rows: rows * 3),
    "batch": (
        lambda s: s.batch(6),
        lambda rows: [{n: [r[n] for r in block] for n in ("i", "t")} for block in blocks(rows, 6)],
    ),
    "select columns": (lambda s: s.select_columns(["t"]), lambda rows: [{"t": r["t"]} for r in rows]),
    "remove columns": (lambda s: s.remove_columns("t"), lambda rows: [{"i": r["i"]} for r in rows]),
    "rename": (lambda s: s.rename_column("t", "u"), lambda rows: [{"i": r["i"], "u": r["t"]} for r in rows]),
    "cast": (
        lambda s: s.cast_column("i", Value("string")),
        lambda rows: [{"i": str(r["i"]), "t": r["t"]} for r in rows],
    ),
    "add column": (
        lambda s: s.add_column("a", list(range(41))),
        lambda rows: [{**r, "a": a} for a, r in enumerate(rows)],
    ),
    "concatenate": (lambda s: concatenate_datasets([s, s.take(3), s]), lambda rows: rows + rows[:3] + rows),
    "interleave": (
        lambda s: interleave_datasets([s, s.skip(30)]),
        lambda rows: list(turns(rows, rows[30:], any, again=False)),
    ),
    "interleave until all end": (
        lambda s: interleave_datasets([s, s.skip(30)], stopping_strategy="all_exhausted"),
        lambda rows: list(turns(rows, rows[30:], all, again=True)),
    ),
    "interleave each row once": (
        lambda s: interleave_datasets([s, s.skip(30)], stopping_strategy="all_exhausted_without_replacement"),
        lambda rows: list(turns(rows, rows[30:], all, again=False)),
    ),
    "interleave by chance": (
        lambda s: interleave_datasets([s, s.map(double)], [0.3, 0.7], 3, stopping_strategy="all_exhausted"),
        None,
    ),
    "shuffle": (lambda s: s.shuffle(seed=5, buffer_size=12), None),
    "shuffle a lot": (lambda s: s.shuffle(seed=5), None),
    "shuffle after take": (lambda s: s.take(30).shuffle(seed=1, buffer_size=7), None),
    "shuffle by another generator": (
        lambda s: s.shuffle(generator=np.random.Generator(np.random.MT19937(3)), buffer_size=8),
        None,
    ),
    "take of a shuffle": (lambda s: s.shuffle(seed=5, buffer_size=12).take(9), None),
    "shuffle without a buffer": (lambda s: s.shuffle(seed=3, buffer_size=None), None),
    "random numbers": (lambda s: s.map(noisy), None),
    "one after the other": (
        lambda s: s.shuffle(seed=2, buffer_size=10).map(double).filter(is_even).skip(3).batch(4).repeat(2),
        None,
    ),
}


def is_even(row: Row) -> bool:
    return row["i"] % 4 == 0


SOURCES = {"view": of_view, "generator": of_generator}
OF_VIEWS = {"shuffle without a buffer"}  # which needs rows by number
CASES = [(source, verb) for source in SOURCES for verb in VERBS if source == "view" or verb not in OF_VIEWS]


@pytest.mark.parametrize(("source", "verb"), CASES)
def test_rows_are_those_of_a_list(source: str, verb: str) -> None:
    act, model = VERBS[verb]
    made = list(act(SOURCES[source]()))
    assert made == list(act(SOURCES[source]()))  # and of another pass
    if model is not None:
        assert made == model(ROWS)


@pytest.mark.parametrize(("source", "verb"), CASES)
def test_a_pass_goes_on_exactly_where_its_state_was_taken(source: str, verb: str) -> None:
    act, _ = VERBS[verb]
    whole = list(act(SOURCES[source]()))
    for given in {0, 1, 2, len(whole) // 3, len(whole) // 2, len(whole) - 1, len(whole)}:
        if given < 0:
            continue
        first = act(SOURCES[source]())
        rows = list(islice(first, given)) if given < len(whole) else list(first)
        state = json.loads(json.dumps(first.state_dict()))
        second = act(SOURCES[source]())
        second.load_state_dict(state)
        assert second.state_dict() == state
        rest: list[Row] = []
        for row in second:  # and from a place in the resumed pass
            rest.append(row)
            if len(rest) == 3:
                break
        third = act(SOURCES[source]())
        third.load_state_dict(second.state_dict())
        assert rows + rest + list(third) == whole


# what is made of rows does not depend on which stand beside them, nor on their number
ROW_WISE = [
    *(
        "nothing",
        "map",
        "map input columns",
        "filter",
        "filter batched",
        "take",
        "take all",
        "take none",
        "skip",
    ),
    *("skip and take", "repeat", "select columns", "remove columns", "rename", "cast", "add column"),
    *(
        "concatenate",
        "shuffle",
        "shuffle a lot",
        "shuffle after take",
        "take of a shuffle",
        "shuffle without a buffer",
    ),
]


@pytest.mark.parametrize(("source", "verb"), [case for case in CASES if case[1] in ROW_WISE])
def test_shards_are_each_row_once_however_they_are_dealt(source: str, verb: str) -> None:
    stage = VERBS[verb][0](SOURCES[source]())._stage

    def rows(shards: list[int]) -> list[str]:
        reader, found = stage.open(Run(worker=shards[0] if shards else 0), shards), []
        while (table := reader.read(5)) is not None:
            assert 0 < table.num_rows <= 5
            found += [repr(row) for row in table.to_pylist()]
        return found

    everything = sorted(rows(list(range(stage.num_shards))))
    for count in (2, 3, stage.num_shards + 1):
        dealt = [rows(list(range(stage.num_shards))[at::count]) for at in range(count)]
        assert sorted(chain(*dealt)) == everything


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - {"random numbers"}))
def test_nodes_share_the_rows_of_any_stream(verb: str) -> None:
    stream = VERBS[verb][0](of_view())
    parts = [list(split_dataset_by_node(stream, rank, 3, "examples")) for rank in range(3)]
    whole = list(stream)
    assert parts == [whole[rank::3] for rank in range(3)]


def test_nodes_share_shards_where_these_can_be_dealt_evenly() -> None:
    stream = of_view(4)
    assert [r["i"] for r in split_dataset_by_node(stream, 1, 2)] == [*range(11, 21), *range(31, 41)]
    assert [r["i"] for r in split_dataset_by_node(stream, 1, 3)] == list(range(1, 41, 3))
    assert [r["i"] for r in split_dataset_by_node(stream, 2, 3, "shards")] == list(range(21, 31))
    with pytest.raises(BadArgument, match="4 shards are too few for 5 nodes"):
        split_dataset_by_node(stream, 0, 5, "shards")
    rows = Dataset.from_list(ROWS)
    assert [len(split_dataset_by_node(rows, rank, 3)) for rank in range(3)] == [14, 14, 13]


def test_a_stream_pickles_with_its_place() -> None:
    stream = of_view().shuffle(seed=2, buffer_size=10).map(double).filter(is_even)
    whole = list(stream)
    assert list(islice(stream, 5)) == whole[:5]
    copy = pickle.loads(pickle.dumps(stream))
    assert list(copy) == whole[5:]
    assert list(copy) == whole  # the next pass is a whole one
