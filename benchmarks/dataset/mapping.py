"""map and filter over short texts, in one process and in two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc

from benchmarks.dataset.groups import Figure, Given, Group, Row, timed

ROWS = 40_000  # of the functions that take one row
SMALL = 5_000


def length_of_row(row: Any) -> dict[str, int]:
    return {"n": len(row["text"])}


def lengths(batch: Any) -> dict[str, list[int]]:
    return {"n": [len(text) for text in batch["text"]]}


def arrow_lengths(table: Any) -> Any:
    return table.append_column("n", pc.utf8_length(table.column("text")))


def next_ids(batch: Any) -> dict[str, list[int]]:
    return {"next": [number + 1 for number in batch["id"]]}


def arrow_next_ids(table: Any) -> Any:
    return table.append_column("next", pc.add(table.column("id"), 1))


def is_even(row: Any) -> bool:
    return bool(row["id"] % 2 == 0)


def _maps(given: Given) -> Iterator[Figure]:
    texts = given.load(given.inputs.texts)
    some = texts.select(range(ROWS))
    seconds, mapped = timed(lambda: some.map(length_of_row))
    yield Figure("row", seconds, [len(mapped), mapped[ROWS - 1]["n"]])
    seconds, mapped = timed(lambda: texts.map(lengths, batched=True))
    yield Figure("batched", seconds, [len(mapped), mapped[ROWS - 1]["n"]])
    shown = texts.with_format("arrow")
    seconds, mapped = timed(lambda: shown.map(arrow_lengths, batched=True))
    yield Figure("arrow", seconds, [len(mapped), mapped.with_format(None)[ROWS - 1]["n"]])
    seconds, kept = timed(lambda: some.filter(is_even))
    yield Figure("filter", seconds, [len(kept), kept[len(kept) - 1]["id"]])
    seconds, mapped = timed(lambda: texts.shuffle(seed=1).map(lengths, batched=True))
    yield Figure("shuffled", seconds, sum(mapped.with_format("arrow")["n"][:].to_pylist()))


def _pages(given: Given) -> Iterator[Figure]:
    """A small column beside long texts, which a function reads or not."""
    pages = given.load(given.inputs.pages)
    seconds, mapped = timed(lambda: pages.map(lengths, batched=True))
    yield Figure("pages", seconds, [len(mapped), mapped[7]["n"]])
    seconds, mapped = timed(lambda: pages.map(next_ids, batched=True))
    yield Figure("pages_ids", seconds, [len(mapped), mapped[7]["next"]])
    shown = pages.with_format("arrow")
    seconds, mapped = timed(lambda: shown.map(arrow_next_ids, batched=True))
    yield Figure("pages_arrow", seconds, [len(mapped), mapped.with_format(None)[7]["next"]])


def _small(given: Given) -> Iterator[Figure]:
    """What processes cost where there is little to do: the same map in two and in one."""
    some = given.load(given.inputs.texts).select(range(SMALL))
    in_two, _ = timed(lambda: some.map(lengths, batched=True, num_proc=2))
    in_one, mapped = timed(lambda: some.map(lengths, batched=True, load_from_cache_file=False))
    yield Figure("small", in_two - in_one, len(mapped))


GROUPS = {
    "map": Group(
        {
            "row": Row("map, row function, adds a column", 3),
            "batched": Row("map, cheap batched function", 8),
            "arrow": Row("map, batched, Arrow to Arrow", 20),
            "filter": Row("filter, row function", 1.5),
            "shuffled": Row("shuffle, then map", 4),
        },
        _maps,
    ),
    "pages": Group(
        {
            "pages": Row("map, cheap batched function, long texts", 8),
            "pages_ids": Row("the same, of a number beside them", 8),
            "pages_arrow": Row("map, Arrow to Arrow, of a number", 20),
        },
        _pages,
    ),
    "small": Group({"small": Row("num_proc=2 over num_proc=1, 5,000 texts", most=0.6)}, _small),
}
