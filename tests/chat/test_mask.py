"""A token is the assistant's when it overlaps a span."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.chat.mask import span_mask
from arrowprep.errors import BadArgument, LengthMismatch

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


@given(rows)
def test_each_way_to_straddle_is_that_of_asking_each_character(data: list[tuple[Row, Row]]) -> None:
    spans, tokens = [of_row for of_row, _ in data], [of_row for _, of_row in data]
    covered = [{place for start, stop in of_row for place in range(start, stop)} for of_row in spans]
    overlap, inside, start = (
        span_mask(spans, *offsets(*tokens), straddle=straddle).to_pylist()
        for straddle in ("overlap", "inside", "start")
    )
    for row, of_row in enumerate(tokens):
        for number, token in enumerate(of_row):
            over = overlap[row][number]
            assert inside[row][number] == (over and set(range(*token)) <= covered[row])
            assert start[row][number] == (over and token[0] in covered[row])


def test_a_token_over_an_edge_goes_where_straddle_says() -> None:
    tokens = offsets([(0, 2), (1, 3), (3, 5), (4, 6), (2, 4)])
    assert span_mask([[(2, 4)]], *tokens, straddle="overlap").to_pylist() == [[0, 1, 1, 0, 1]]
    assert span_mask([[(2, 4)]], *tokens, straddle="inside").to_pylist() == [[0, 0, 0, 0, 1]]
    assert span_mask([[(2, 4)]], *tokens, straddle="start").to_pylist() == [[0, 0, 1, 0, 1]]
    with pytest.raises(BadArgument, match="not 'half'"):
        span_mask([[(2, 4)]], *tokens, straddle="half")  # type: ignore[arg-type]


@pytest.mark.parametrize("straddle", ["overlap", "inside", "start"])
def test_padding_is_never_marked(straddle: Any) -> None:
    assert span_mask([[(0, 9)]], *offsets([(0, 0), (0, 4), (0, 0)]), straddle).to_pylist() == [[0, 1, 0]]


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
