"""Packing puts every token of every row in its place, in few packs, and says what it lost."""

from __future__ import annotations

import bisect
import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.chat.packing import Packing, pack
from arrowprep.errors import BadArgument

sizes = st.lists(st.integers(0, 20), max_size=40)
limits = st.integers(1, 12)


def rows_of(lengths: list[int]) -> Any:
    """A column whose tokens are numbered through."""
    edges = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(edges), pa.array(np.arange(edges[-1])))


def slow_best_fit(lengths: list[int], seq_length: int) -> list[list[int]]:
    """The rows of each pack, by trying for each row, the longest first, which pack has the least room."""
    packs: list[list[int]] = []
    rooms: list[int] = []
    since: list[int] = []  # when each pack came to its room
    for now, row in enumerate(sorted(range(len(lengths)), key=lambda row: -min(lengths[row], seq_length))):
        length = min(lengths[row], seq_length)
        if not length:
            continue
        fitting = [i for i, room in enumerate(rooms) if room >= length]
        if fitting:
            best = min(fitting, key=lambda i: (rooms[i], since[i]))
        else:
            best = len(packs)
            packs.append([])
            rooms.append(seq_length)
            since.append(0)
        packs[best].append(row)
        rooms[best] -= length
        since[best] = now
    return packs


def pieces(plan: Packing) -> list[list[int]]:
    return [plan.rows[start:stop].tolist() for start, stop in zip(plan.edges, plan.edges[1:], strict=False)]


@given(sizes, limits)
def test_best_fit_is_that_of_trying_every_pack(lengths: list[int], seq_length: int) -> None:
    assert pieces(pack(lengths, seq_length)) == slow_best_fit(lengths, seq_length)


def packs_of_online_best_fit(lengths: list[int], seq_length: int) -> int:
    """How many packs there are when each row, as it comes, goes where the least room is left after it."""
    rooms: list[int] = []  # of the packs, the least first
    packs = 0
    for length in lengths:
        fits = bisect.bisect_left(rooms, length)
        packs += fits == len(rooms)
        room = (rooms.pop(fits) if fits < len(rooms) else seq_length) - length
        if room:
            bisect.insort(rooms, room)
    return packs


@pytest.mark.parametrize("middle", [4.0, 5.5, 6.5, 7.2])
def test_packs_are_as_full_as_those_of_an_exact_online_best_fit(middle: float) -> None:
    random = np.random.default_rng(int(10 * middle))
    lengths = np.clip(random.lognormal(middle, 1.0, 20_000).astype(np.int64), 1, 2048)
    plan = pack(lengths, 2048)
    packs = packs_of_online_best_fit(lengths.tolist(), 2048)
    assert len(plan) <= packs
    assert plan.efficiency >= lengths.sum() / (packs * 2048)
    assert plan.tokens_lost == 0


@given(sizes, limits)
def test_splitting_keeps_every_token_once(lengths: list[int], seq_length: int) -> None:
    plan = pack(lengths, seq_length, "bfd_split")
    packed = plan.gather(rows_of(lengths)).to_pylist()
    assert sorted(token for row in packed for token in row) == list(range(sum(lengths)))
    assert all(0 < len(row) <= seq_length for row in packed)
    assert plan.tokens_lost == 0


@given(sizes, limits)
def test_wrapping_keeps_the_order_and_fills_all_packs_but_the_last(
    lengths: list[int], seq_length: int
) -> None:
    packed = pack(lengths, seq_length, "wrapped").gather(rows_of(lengths)).to_pylist()
    assert [token for row in packed for token in row] == list(range(sum(lengths)))
    assert all(len(row) == seq_length for row in packed[:-1])


@given(sizes, limits)
def test_rows_in_their_order_stay_whole_and_a_pack_ends_where_the_next_does_not_fit(
    lengths: list[int], seq_length: int
) -> None:
    packs = pieces(pack(lengths, seq_length, "in_order"))
    sizes_of = [[min(lengths[row], seq_length) for row in rows] for rows in packs]
    assert [row for rows in packs for row in rows] == [row for row, length in enumerate(lengths) if length]
    assert all(sum(sizes) <= seq_length for sizes in sizes_of)
    assert all(sum(one) + other[0] > seq_length for one, other in itertools.pairwise(sizes_of))


@given(sizes, limits, st.sampled_from(["bfd", "bfd_split", "wrapped", "in_order"]))
def test_documents_are_known_in_every_pack(lengths: list[int], seq_length: int, strategy: Any) -> None:
    plan = pack(lengths, seq_length, strategy)
    packed, documents = plan.gather(rows_of(lengths)).to_pylist(), plan.seq_lengths.to_pylist()
    assert [len(row) for row in packed] == [sum(row) for row in documents]
    assert plan.position_ids.to_pylist() == [
        [i for length in row for i in range(length)] for row in documents
    ]
    assert sum(map(sum, documents)) + plan.tokens_lost == sum(lengths)


def test_what_is_cut_off_is_counted() -> None:
    plan = pack([5, 2, 3, 1], 4)
    assert plan.gather(rows_of([5, 2, 3, 1])).to_pylist() == [[0, 1, 2, 3], [7, 8, 9, 10], [5, 6]]
    assert (plan.tokens_lost, plan.efficiency) == (1, 10 / 12)
    assert repr(plan) == "Packing(11 tokens in 3 packs of 4, 83.3% full, 1 tokens lost)"


def test_columns_keep_their_type_and_may_be_sliced_or_chunked() -> None:
    column = pa.chunked_array(
        [pa.array([[9], [1, 2]], pa.list_(pa.int8())), pa.array([[3]], pa.list_(pa.int8()))]
    )
    plan = pack([2, 1], 3)
    assert plan.gather(column.slice(1)).to_pylist() == [[1, 2, 3]]
    assert plan.gather(column.slice(1)).type == pa.list_(pa.int8())


def test_no_rows_make_no_packs() -> None:
    for strategy in ("bfd", "bfd_split", "wrapped"):
        assert len(pack([], 8, strategy)) == len(pack([0, 0], 8, strategy)) == 0
    assert pack([], 8).efficiency == 1.0


@pytest.mark.parametrize(
    ("lengths", "seq_length", "strategy"),
    [([1], 0, "bfd"), ([-1], 4, "bfd"), ([[1]], 4, "bfd"), ([1], 4, "ffd")],
)
def test_what_cannot_be_packed_is_refused(lengths: Any, seq_length: int, strategy: Any) -> None:
    with pytest.raises(BadArgument):
        pack(lengths, seq_length, strategy)
