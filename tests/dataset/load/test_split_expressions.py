"""Split expressions name the rows that Python slices would."""

from __future__ import annotations

import pytest

from arrowprep.dataset.load.split_expressions import rows_of_expression
from arrowprep.errors import BadArgument

ROWS = {"train": 95, "test": 7, "my-split": 3}


@pytest.mark.parametrize("start", ["", "0", "3", "-5", "200", "-200", "1_0"])
@pytest.mark.parametrize("stop", ["", "0", "9", "-1", "300", "-200"])
def test_numbers_are_read_as_python_slices(start: str, stop: str) -> None:
    numbers = slice(int(start) if start else None, int(stop) if stop else None)
    [(split, first, last)] = rows_of_expression(f"train[{start}:{stop}]", ROWS)
    assert split == "train"
    assert list(range(first, last)) == list(range(95))[numbers]


@pytest.mark.parametrize(
    ("expression", "ranges"),
    [
        ("train", [("train", 0, 95)]),
        ("train[:10%]", [("train", 0, 10)]),  # 9.5 rows
        ("train[90%:]", [("train", 86, 95)]),  # from 85.5
        ("train[-10%:]", [("train", 85, 95)]),
        ("train[50%:75%]", [("train", 48, 71)]),
        ("train+test[1:3]", [("train", 0, 95), ("test", 1, 3)]),
        (" my-split [1:] + test", None),
        ("my-split[1:] + test", [("my-split", 1, 3), ("test", 0, 7)]),
        ("all", [("train", 0, 95), ("test", 0, 7), ("my-split", 0, 3)]),
    ],
)
def test_expressions_name_ranges_in_their_order(expression: str, ranges: list | None) -> None:
    if ranges is None:
        with pytest.raises(BadArgument):
            rows_of_expression(expression, ROWS)
    else:
        assert rows_of_expression(expression, ROWS) == ranges


def test_percents_of_one_size_leave_the_rest_out() -> None:
    assert rows_of_expression("a[50%:](pct1_dropremainder)", {"a": 1234}) == [("a", 600, 1234)]
    with pytest.raises(BadArgument, match="no row"):
        rows_of_expression("a[:50%](pct1_dropremainder)", {"a": 99})


@pytest.mark.parametrize(
    "wrong", ["", "train[", "train[1]", "train[1:2:3]", "train[a:]", "train[:10%](up)", "train[:1.5%]"]
)
def test_what_is_no_expression_is_refused(wrong: str) -> None:
    with pytest.raises(BadArgument, match="is no split expression"):
        rows_of_expression(wrong, ROWS)


def test_an_unknown_split_is_named_with_the_known_ones() -> None:
    with pytest.raises(BadArgument, match="no split 'dev'; the splits are train, test"):
        rows_of_expression("dev", ROWS)
