"""One large file is read by several processes to the same rows, types, warnings and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arrowprep.dataset.features import Features, Value
from arrowprep.dataset.load import json as jsonl
from arrowprep.dataset.load import ranges
from arrowprep.dataset.load.convert import Loaded
from arrowprep.errors import ArrowprepWarning, UnreadableFile
from tests.dataset.load import load, shown, types


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_LEAST_BYTES", 100)
    monkeypatch.setattr(jsonl, "_NATIVE_RANGE_BYTES", 100)


def written(folder: Path, values: list[Any]) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps({"id": i, "v": value}) + "\n" for i, value in enumerate(values)))
    return path


def both(path: Path, folder: Path, **options: Any) -> tuple[Loaded, Loaded]:
    """As one process and as two read it."""
    return load(path, folder / "one", **options), load(path, folder / "two", num_proc=2, **options)


NUMBER, TEXT = list(range(100)), [f"é{i}" for i in range(100)]


@pytest.mark.parametrize(
    "values",
    [
        NUMBER,
        TEXT,
        [None] * 90 + TEXT[:10],
        NUMBER[:90] + [0.5] * 10,
        [-1] * 90 + [2**64 - 1] * 10,
        [{"a": 1}] * 90 + [{"b": None}] * 10,
        [{"a": None}] * 50 + [None] * 40 + [{"a": {"deep": [1]}}] * 10,
        [[{"a": 1, "b": i}] for i in range(50)] + [[]] * 50,
    ],
)
def test_ranges_agree_on_the_types_of_the_whole_file(tmp_path: Path, values: list[Any]) -> None:
    one, two = both(written(tmp_path, values), tmp_path)
    assert len(two.parts) > 1
    assert (shown(two), two.schema, two.fingerprint) == (shown(one), one.schema, one.fingerprint)


def test_features_columns_and_a_byte_order_mark_are_as_ever(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().rstrip(b"\n"))
    one, two = both(path, tmp_path, features=Features({"id": Value("int8"), "v": Value("string")}))
    assert shown(two) == shown(one)
    assert types(two) == {"id": "int8", "v": "string"}
    assert len(two.parts) > 1
    one, two = both(path, tmp_path, columns=["v"])
    assert shown(two) == shown(one)


def test_a_bad_line_is_named_by_its_place_in_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, NUMBER)
    lines = path.read_text().splitlines()
    lines[70] = '{"id": 70, "v": }'
    path.write_text("\n".join(lines))
    with pytest.raises(UnreadableFile, match=r"a\.jsonl: line 71 is not JSON"):
        load(path, tmp_path / "cache", num_proc=2)


def test_values_that_become_text_are_told_and_spelled_as_written(tmp_path: Path) -> None:
    path = written(tmp_path, [*NUMBER[:90], *TEXT[:10]])
    with pytest.warns(ArrowprepWarning, match="column 'v' mixes"):
        two = load(path, tmp_path / "cache", num_proc=2)
    assert [row["v"] for row in shown(two)] == [*map(str, NUMBER[:90]), *TEXT[:10]]


def test_files_that_are_no_plain_lines_are_read_by_one_process(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"id": i} for i in range(100)], indent=1))
    assert len(shown(load(path, tmp_path / "cache", num_proc=2))) == 100
