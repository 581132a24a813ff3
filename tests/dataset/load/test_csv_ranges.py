"""One large CSV file is read by several processes to the rows, types, warnings and errors of one."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowprep.dataset.load import csv_ranges, ranges
from arrowprep.dataset.load.csv import read
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.errors import ArrowprepWarning, UnreadableFile
from tests.dataset.load import load, shown


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_LEAST_BYTES", 100)


def written(path: Path, rows: list[list[Any]], **dialect: Any) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file, **dialect).writerows([["id", "v"], *rows])
    return path


def in_ranges(path: Path, count: int, **options: Any) -> list[dict[str, Any]] | None:
    """The rows, read range by range in this process; None where a range is not whole."""
    spec = ReadSpec(options=options)
    cuts = csv_ranges.cuts(path, spec, count)
    rows = []
    for start, stop in pairwise(cuts):
        try:
            rows += rows_in(csv_ranges.read_range(path, spec, start, stop))
        except UnreadableFile:
            return None
    return rows


def rows_in(tables: Any) -> list[dict[str, Any]]:
    return [row for table in tables for row in table.to_pylist()]


ODD = ["", "a", "line\nend", 'a "quoted" word', "\n", '"', '""', ",", "é\r\n,", "x" * 30, '"\n"']


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(ODD), st.sampled_from(ODD)), min_size=1, max_size=30),
    st.integers(2, 9),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_ranges_hold_the_rows_of_the_file(
    tmp_path: Path, rows: list[tuple[str, str]], count: int, quoting: int, end: str, mark: bool
) -> None:
    path = written(tmp_path / "a.csv", list(map(list, rows)), quoting=quoting, lineterminator=end)
    if mark:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    found = in_ranges(path, count)
    assert found == rows_in(read(path, ReadSpec()))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text('ab",\n', max_size=120), st.integers(2, 6))
def test_ranges_of_any_text_are_right_or_refused(tmp_path: Path, text: str, count: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,v\n" + text)
    try:
        expected = rows_in(read(path, ReadSpec()))
    except UnreadableFile:
        return
    found = in_ranges(path, count)
    assert found is None or found == expected


@pytest.mark.parametrize(
    "values",
    [
        [str(i) for i in range(100)],
        [f"line {i}\nof 'text', \"quoted\"" for i in range(100)],
        [""] * 90 + ["x"] * 10,
        [str(i) for i in range(90)] + ["0.5"] * 10,
        ["true"] * 100,
    ],
)
@pytest.mark.parametrize("options", [{}, {"skiprows": 1, "names": ["a", "b"]}, {"usecols": ["v"]}])
def test_two_processes_read_what_one_reads(
    tmp_path: Path, values: list[str], options: dict[str, Any]
) -> None:
    path = written(tmp_path / "a.csv", [[i, value] for i, value in enumerate(values)])
    one = load(path, tmp_path / "one", **options)
    two = load(path, tmp_path / "two", num_proc=2, **options)
    assert len(two.parts) > 1
    assert (shown(two), two.schema, two.fingerprint) == (shown(one), one.schema, one.fingerprint)


def test_a_stray_quote_leaves_the_file_to_one_process(tmp_path: Path) -> None:
    rows = [f'{i},a 5" pipe' for i in range(99)]
    path = tmp_path / "a.csv"
    path.write_text("id,v\n" + "\n".join(rows) + "\n")
    loaded = load(path, tmp_path / "cache", num_proc=2)
    assert [row["v"] for row in shown(loaded)] == ['a 5" pipe'] * 99
    assert len(loaded.parts) == 1


def test_a_bad_line_is_named_by_its_place_in_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", [[i, i] for i in range(100)])
    path.write_text(path.read_text().replace("70,70", "70,70,70"))
    with pytest.raises(UnreadableFile, match=r"a\.csv: line 72 has 3 fields, where 2 are expected"):
        load(path, tmp_path / "cache", num_proc=2)


def test_text_after_many_numbers_is_told_by_one_process_and_by_two(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", [[i, i] for i in range(3000)] + [[3000, "x"]])
    for num_proc in (None, 2):
        with pytest.warns(ArrowprepWarning, match="column 'v' is text because row 3000 holds 'x'"):
            loaded = load(path, tmp_path / f"cache {num_proc}", num_proc=num_proc)
        assert shown(loaded)[7] == {"id": 7, "v": "7"}


def test_other_dialects(tmp_path: Path) -> None:
    rows = [[str(i), f"{i};'\n'"] for i in range(60)]
    path = written(tmp_path / "a.csv", rows, delimiter=";", quotechar="'")
    assert in_ranges(path, 4, sep=";", quotechar="'") == rows_in(
        read(path, ReadSpec(options={"sep": ";", "quotechar": "'"}))
    )
    plain = {"quoting": csv.QUOTE_NONE}
    path.write_text("id,v\n" + '1,"\n' * 60)
    assert in_ranges(path, 4, **plain) == rows_in(read(path, ReadSpec(options=plain)))
    for options in ({"escapechar": "\\"}, {"doublequote": False}, {"encoding": "latin-1"}, {"skiprows": 500}):
        assert csv_ranges.cuts(path, ReadSpec(options=options), 4) == []
