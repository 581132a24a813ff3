"""Split expressions: "train", "train[:10%]", "train[100:200]", "train[-5:]+test", "all"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from arrowprep.errors import BadArgument

_TERM = re.compile(
    r"""
    (?P<split>\w+(?:[.-]\w+)*)
    (?:\[
        (?:(?P<start>-?[\d_]+)(?P<start_percent>%)?)?
        :
        (?:(?P<stop>-?[\d_]+)(?P<stop_percent>%)?)?
    \])?
    (?:\((?P<rounding>closest|pct1_dropremainder)\))?
    """,
    re.VERBOSE,
)


def rows_of_expression(expression: str, num_rows: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """The row ranges (split, start, stop) that an expression names, in its order.

    num_rows: of each split

    A percentage is rounded to the closest row, halves to even, as `datasets` does;
    "(pct1_dropremainder)" behind it makes all percents equally large instead.

    >>> rows_of_expression("train[:10%] + test[-2:]", {"train": 95, "test": 7})
    [('train', 0, 10), ('test', 5, 7)]
    """
    if expression.strip() == "all" and "all" not in num_rows:
        return [(split, 0, rows) for split, rows in num_rows.items()]
    return [_range(term, num_rows) for term in terms_of(expression)]


def terms_of(expression: str) -> list[re.Match[str]]:
    """The terms between the plus signs. Raises BadArgument for one that is no split expression."""
    found = []
    for term in map(str.strip, expression.split("+")):
        match = _TERM.fullmatch(term)
        if match is None:
            raise BadArgument(
                f"{term!r} is no split expression; write train, train[:10%], train[100:200] or train+test",
                split=term,
            )
        found.append(match)
    return found


def _range(found: re.Match[str], num_rows: Mapping[str, int]) -> tuple[str, int, int]:
    split = found["split"]
    if split not in num_rows:
        raise BadArgument(f"no split {split!r}; the splits are {', '.join(num_rows)}", split=split)
    rows = num_rows[split]
    # one % makes both ends percentages, as `datasets` reads it
    percent = bool(found["start_percent"] or found["stop_percent"])
    exact = found["rounding"] == "pct1_dropremainder"
    start, stop = (_row(found[end], rows, percent, exact) for end in ("start", "stop"))
    start = 0 if start is None else start
    stop = rows if stop is None else stop
    return split, min(start, stop), stop


def _row(written: str | None, rows: int, percent: bool, exact: bool) -> int | None:
    """A boundary as a row number in 0..rows; None where none is written."""
    if written is None:
        return None
    number = int(written)
    if percent:
        if exact and rows < 100:
            raise BadArgument(f"pct1_dropremainder of {rows} rows: one percent would be no row", rows=rows)
        number = number * (rows // 100) if exact else round(number * rows / 100)
    return min(max(number + rows, 0) if number < 0 else number, rows)
