"""Rows by number out of many record batches: those that Arrow itself would take."""

from __future__ import annotations

import gc
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.dataset.indices import Picks
from arrowprep.dataset.storage.backing import Chunks, Memory, own_copy

TABLE = pa.table({"n": range(60), "t": [None if i % 7 == 0 else f"t{i}" for i in range(60)]})


@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=12),
    st.lists(st.integers(0, 59), max_size=40),
    st.booleans(),
)
def test_picked_rows_are_those_of_take(sizes: list[int], numbers: list[int], ascending: bool) -> None:
    edges = [0, *(int(stop) for stop in np.cumsum(sizes) if stop < 60), 60]
    batches = [
        batch for start, stop in pairwise(edges) for batch in TABLE.slice(start, stop - start).to_batches()
    ]
    wanted = sorted(numbers) if ascending else numbers
    found = Chunks(TABLE.schema, batches).read(Picks(np.array(wanted, np.int64)))
    assert found.to_pylist() == [{"n": i, "t": TABLE["t"][i].as_py()} for i in wanted]


def test_rows_that_nobody_has_any_more_go_at_once() -> None:
    gc.disable()
    try:
        before = pa.total_allocated_bytes()
        held = Memory(pa.table({"n": np.arange(1_000_000), "m": np.arange(1_000_000)}).combine_chunks())
        held = Memory(own_copy(held.table))
        held.read(Picks(np.array([5, 3])), ["n", "m"])
        held.read(Picks(np.array([5, 3])), ["m"])
        assert pa.total_allocated_bytes() - before > 8_000_000
        del held
        assert pa.total_allocated_bytes() - before < 1_000_000
    finally:
        gc.enable()
