"""A token is the assistant's when it overlaps a span."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.chat.mask import span_mask
from arrowprep.errors import LengthMismatch

Row = list[tuple[int, int]]

ranges = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda pair: (min(pair), max(pair)))
rows = st.lists(st.tuples(st.lists(ranges, max_size=3), st.lists(ranges, max_size=6)), min_size=1, max_size=4)


def offsets(*tokens: Row) -> tuple[pa.Array, pa.Array]:
    kind = pa.list_(pa.int32())
    starts = pa.array([[start for start, _ in row] for row in tokens], kind)
    return starts, pa.array([[end for _, end in row] for row in tokens], kind)


def overlaps(span: tuple[int, int], token: tuple[int, int]) -> bool:
    return span[0] < span[1] and token[1] > span[0] and token[0] < span[1]


@given(rows)
def test_the_mask_is_that_of_asking_each_token_for_each_span(data: list[tuple[Row, Row]]) -> None:
    spans = [of_row for of_row, _ in data]
    mask = span_mask(spans, *offsets(*(tokens for _, tokens in data)))
    assert mask.to_pylist() == [
        [int(any(overlaps(span, token) for span in of_row)) for token in tokens] for of_row, tokens in data
    ]
    assert mask.type == pa.list_(pa.int8())


def test_a_token_over_an_edge_is_in_on_both_sides() -> None:
    assert span_mask([[(2, 4)]], *offsets([(0, 2), (1, 3), (3, 5), (4, 6)])).to_pylist() == [[0, 1, 1, 0]]


def test_padding_and_empty_spans_mark_nothing() -> None:
    assert span_mask(
        [[(0, 9), (3, 3)], [(1, 1)]], *offsets([(0, 0), (0, 4), (0, 0)], [(0, 3)])
    ).to_pylist() == [
        [0, 1, 0],
        [0],
    ]


def test_a_slice_and_large_lists_are_read_as_they_are() -> None:
    starts, ends = offsets([(0, 1)], [(0, 2), (2, 4)], [], [(5, 6)])
    wanted = [[0, 1], [], [1]]
    spans = [[(3, 4)], [], [(5, 6)]]
    assert span_mask(spans, starts.slice(1), ends.slice(1)).to_pylist() == wanted
    large = pa.large_list(pa.int64())
    assert span_mask(spans, starts.slice(1).cast(large), ends.slice(1).cast(large)).to_pylist() == wanted


def test_a_null_row_stays_null() -> None:
    kind = pa.list_(pa.int32())
    starts, ends = pa.array([[0], None, [0]], kind), pa.array([[3], None, [3]], kind)
    assert span_mask([[(0, 1)], [], [(0, 1)]], starts, ends).to_pylist() == [[1], None, [1]]


def test_no_rows_give_no_rows() -> None:
    assert span_mask([], *offsets()).to_pylist() == []


def test_rows_that_do_not_pair_are_refused() -> None:
    with pytest.raises(LengthMismatch):
        span_mask([[]], *offsets([(0, 1)], [(0, 1)]))
