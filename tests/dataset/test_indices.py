"""Selections select what Python's own lists would."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.dataset.indices import Picks, Span, compose, permutation, row_of, rows_of, shard, simplest
from arrowprep.errors import BadArgument, BadSelection, RowOutOfRange

ends = st.none() | st.integers(-12, 12)
steps = st.none() | st.integers(-4, 4).filter(bool)


def listed(rows):
    return rows.array().tolist()


@given(st.integers(0, 10), ends, ends, steps)
def test_a_slice_selects_what_a_list_slice_does(n, start, stop, step):
    assert listed(rows_of(slice(start, stop, step), n)) == list(range(n))[start:stop:step]


@given(st.integers(1, 10), st.data())
def test_numbers_select_in_their_order_with_repeats_and_from_the_end(n, data):
    picks = data.draw(st.lists(st.integers(-n, n - 1)))
    expected = [list(range(n))[i] for i in picks]
    for given_as in (
        picks,
        tuple(picks),
        np.array(picks, dtype=np.int64),
        pa.array(picks, pa.int64()),
        iter(picks),
    ):
        assert listed(rows_of(given_as, n)) == expected


@given(st.lists(st.booleans(), min_size=1))
def test_a_mask_selects_the_true_rows(mask):
    expected = [i for i, keep in enumerate(mask) if keep]
    for given_as in (mask, np.array(mask), pa.array(mask)):
        assert listed(rows_of(given_as, len(mask))) == expected


@given(st.integers(1, 9), st.data())
def test_selecting_twice_is_selecting_once(n, data):
    first = data.draw(st.lists(st.integers(0, n - 1), min_size=1))
    second = data.draw(st.lists(st.integers(0, len(first) - 1)))
    both = compose(rows_of(first, n), rows_of(second, len(first)))
    assert listed(both) == [first[i] for i in second]


@given(st.integers(0, 20), st.integers(1, 7), st.booleans())
def test_shards_are_a_partition_in_sizes_that_differ_by_one(n, num_shards, contiguous):
    shards = [listed(shard(n, num_shards, i, contiguous=contiguous)) for i in range(num_shards)]
    end_to_end = list(itertools.chain(*shards))
    assert sorted(end_to_end) == list(range(n))
    assert max(map(len, shards)) - min(map(len, shards)) <= 1
    assert not contiguous or end_to_end == list(range(n))


def test_contiguous_rows_cost_nothing():
    assert simplest(np.arange(3, 9)) == Span(3, 9)
    assert isinstance(rows_of([4, 5, 6], 10), Span)
    assert isinstance(simplest(np.array([3, 5, 4, 6])), Picks)
    assert isinstance(compose(Span(10, 90), Span(5, 7)), Span)


def test_a_permutation_holds_every_row():
    assert sorted(listed(permutation(50, np.random.default_rng(0)))) == list(range(50))


@pytest.mark.parametrize("selection", [[10], [-11], range(5, 11), np.array([2**63], dtype=np.uint64)])
def test_rows_out_of_range_are_named(selection):
    with pytest.raises(RowOutOfRange, match=r"the rows are 0\.\.9"):
        rows_of(selection, 10)
    assert row_of(-1, 10) == 9
    with pytest.raises(IndexError):
        row_of(10, 10)


@pytest.mark.parametrize("selection", ["name", 1.5, [1.5], [[1]], ["a"], [True, False], None])
def test_what_cannot_select_rows_is_refused(selection):
    with pytest.raises(BadSelection):
        rows_of(selection, 10)


def test_a_shard_that_does_not_exist_is_refused():
    with pytest.raises(BadArgument, match=r"index 3 is not in 0\.\.2"):
        shard(10, 3, 3)
