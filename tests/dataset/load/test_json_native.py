"""What the kernel reads of JSON Lines is what is read without it; all else it leaves alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arrowprep import config, kernel
from arrowprep.dataset.load import json as jsonl
from arrowprep.dataset.load.json_native import read_lines
from arrowprep.dataset.load.sources import Block
from arrowprep.errors import ArrowprepError
from tests.dataset.load import load, shown

pytestmark = pytest.mark.skipif(isinstance(kernel.load(), str), reason="the native kernel is not there")

PATH = Path("rows.jsonl")
TYPES = {"t": pa.string(), "i": pa.int64(), "f": pa.float64(), "b": pa.bool_(), "é": pa.string()}
SCHEMA = pa.schema(list(TYPES.items()))

text = st.text(max_size=60) | st.sampled_from(["2020-01-01", '"\\/\b\f\n\r\t\x00', "😀" * 9, "a" * 31 + '"'])
usual = {
    "t": text,
    "i": st.integers(-(10**18) + 1, 10**18 - 1),
    "f": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53),
    "b": st.booleans(),
    "é": text,
}
usual_row = st.fixed_dictionaries({}, optional={name: st.none() | kind for name, kind in usual.items()})
unusual = st.none() | text | st.integers() | st.floats() | st.booleans() | st.lists(text, max_size=2)
any_row = usual_row | st.dictionaries(st.sampled_from([*TYPES, "other"]), unusual, max_size=4)


@st.composite
def lines(draw: st.DrawFn, rows: st.SearchStrategy[Any]) -> bytes:
    """Rows as some writer writes them: keys in any order, with or without spaces and escapes."""
    chance = random.Random(draw(st.integers(0, 1 << 32)))
    written = []
    for row in draw(st.lists(rows, min_size=1, max_size=6)):
        items = chance.sample(list(row.items()), len(row))
        line = json.dumps(
            dict(items),
            ensure_ascii=chance.random() < 0.5,
            separators=chance.choice([(",", ":"), (", ", ": "), (" ,\t", " :  ")]),
        )
        written.append(chance.choice(["", " ", "\n"]) + line + chance.choice(["\n", "\r\n", " \n"]))
    return "".join(written).encode("utf-8", "surrogatepass")


def parsed(data: bytes, kernel: bool, known: pa.Schema = SCHEMA) -> Any:
    """What becomes of a block: its schema and rows, or the error."""
    with mock.patch.object(jsonl, "read_lines", read_lines if kernel else lambda data, schema: None):
        try:
            table, mixed = jsonl._parse(Block.of(data, 1), PATH, known, pa.schema([]))
        except ArrowprepError as error:
            return type(error), str(error)
    table.validate(full=True)
    return table.schema, repr(table.to_pylist()), mixed


@given(lines(usual_row))
@example(b'{"f":1,"i":999999999999999999}\n{"f":-0.0}\n{"f":1E400}\n')
def test_usual_lines_are_read_to_the_same_rows(data: bytes) -> None:
    assert parsed(data, kernel=True) == parsed(data, kernel=False)


@given(lines(usual_row))
def test_usual_lines_are_read_by_the_kernel(data: bytes) -> None:
    table = read_lines(data, SCHEMA)
    assert table is not None
    rows = [json.loads(line) for line in data.split(b"\n") if line.strip()]
    assert table.to_pylist() == [{name: row.get(name) for name in TYPES} for row in rows]


@given(lines(any_row))
@example(b'{"i":-0}\n')
@example(b'{"t":"a","t":"b"}\n')
@example(b'{"\\u0074":"a"}\n')
@example(b'{"t":"\\ud800"}\n')
@example(b'{"t":"a"}{"t":"b"}\n')
@example(b'{"t":\n"a"}\n')
@example(b'{"t":"\xff"}\n')
@example(b'{"i":01}\n')
def test_unusual_lines_mean_what_they_do_without_it(data: bytes) -> None:
    assert parsed(data, kernel=True) == parsed(data, kernel=False)


@given(lines(usual_row), st.integers(0, 1 << 16), st.binary(max_size=2), st.integers(0, 2))
def test_so_do_lines_in_which_a_byte_is_wrong(data: bytes, place: int, other: bytes, gone: int) -> None:
    at = place % (len(data) + 1)
    broken = data[:at] + other + data[at + gone :]
    assert parsed(broken, kernel=True) == parsed(broken, kernel=False)


def test_numbers_are_those_that_python_reads() -> None:
    chance = random.Random(7)
    digits = [f"{chance.randrange(10**17)}e{chance.randrange(-330, 290)}" for _ in range(3000)]
    digits += [repr(chance.uniform(-1, 1) * 10.0 ** chance.randrange(-20, 20)) for _ in range(3000)]
    table = read_lines(
        "".join(f'{{"f":{number}}}\n' for number in digits).encode(), pa.schema([SCHEMA.field("f")])
    )
    assert table is not None
    assert table["f"].to_pylist() == list(map(float, digits))


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([]),
        pa.schema([("t", pa.large_string())]),
        pa.schema([("t", pa.string()), ("t", pa.string())]),
        pa.schema([("t", pa.list_(pa.string()))]),
    ],
)
def test_columns_of_other_types_are_left_to_others(schema: pa.Schema) -> None:
    assert read_lines(b'{"t":"a"}\n', schema) is None


def test_the_rows_outlive_the_file_and_the_call(tmp_path: Path) -> None:
    rows = [{"t": f"text {i}" * 50, "i": i + 1, "b": i % 3 == 0} for i in range(5000)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    tables = list(jsonl.read(path, jsonl.ReadSpec({"block_bytes": 100_000})))
    path.unlink()
    assert pa.concat_tables(tables).to_pylist() == rows


def test_the_reference_engine_reads_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"t": "é", "i": 1}\n{"i": null}\n')
    natively = shown(load(path, tmp_path / "one"))
    with config.configured(engine="reference"):
        assert read_lines(path.read_bytes(), pa.schema([SCHEMA.field("t"), SCHEMA.field("i")])) is None
        assert shown(load(path, tmp_path / "two")) == natively
