"""What is written as JSON, CSV or Parquet reads back as it was."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowprep.dataset.features import ClassLabel, Features, Value
from arrowprep.dataset.save.csv import write_csv
from arrowprep.dataset.save.json import ORIENTS, write_json
from arrowprep.dataset.save.parquet import write_parquet
from arrowprep.errors import BadArgument, TypeConflict
from tests.dataset.load import load, rows

TABLE = pa.table(
    {
        "n": pa.array([1, None, -3], pa.int32()),
        "t": ['a "quoted", é\n猫', "", None],
        "f": [1.0, 1e300, None],
        "b": [True, False, None],
        "l": [[1, 2], [], None],
        "s": [{"x": "y"}, {"x": None}, None],
    }
)


def batches(table: pa.Table = TABLE, rows: int = 2) -> list[pa.Table]:
    return [table.slice(start, rows) for start in range(0, table.num_rows, rows)]


def test_json_lines_are_one_object_a_row(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.jsonl"
    written = write_json(batches(), path)
    assert written == path.stat().st_size
    assert [json.loads(line) for line in path.read_text().splitlines()] == TABLE.to_pylist()
    assert rows(load(path, tmp_path / "cache")) == TABLE.to_pylist()


@pytest.mark.parametrize("indent", [None, 2])
def test_json_without_lines_is_one_array(tmp_path: Path, indent: int | None) -> None:
    buffer = io.BytesIO()
    write_json(batches(), buffer, lines=False, indent=indent)
    assert json.loads(buffer.getvalue()) == TABLE.to_pylist()
    empty = io.BytesIO()
    write_json([], empty, lines=False)
    assert json.loads(empty.getvalue()) == []


def test_json_spells_what_it_lacks(tmp_path: Path) -> None:
    table = pa.table(
        {
            "when": [datetime.datetime(2020, 1, 2, 3, 4, 5)],
            "day": [datetime.date(2020, 1, 2)],
            "whole": pa.array([Decimal(12345678901234567890123)]),
            "part": pa.array([Decimal("1.50")]),
            "nan": [math.nan],
            "deep": [[math.inf, 1.0]],
            "raw": [b"\x00\xff"],
        }
    )
    buffer = io.BytesIO()
    write_json([table], buffer)
    assert json.loads(buffer.getvalue()) == {
        "when": "2020-01-02T03:04:05",
        "day": "2020-01-02",
        "whole": 12345678901234567890123,
        "part": "1.50",
        "nan": None,
        "deep": [None, 1.0],
        "raw": "AP8=",
    }


def test_json_columns_are_written_as_the_values_they_hold() -> None:
    if not hasattr(pa, "json_"):
        pytest.skip("this pyarrow has no arrow.json type")
    storage = pa.array(['{"a":[1,"x"]}', None])
    column = pa.ExtensionArray.from_storage(pa.json_(pa.string()), storage)
    buffer = io.BytesIO()
    write_json([pa.table({"j": column})], buffer)
    assert buffer.getvalue() == b'{"j":{"a":[1,"x"]}}\n{"j":null}\n'


def test_json_escapes_what_is_not_ascii_on_request() -> None:
    buffer = io.BytesIO()
    write_json(batches(), buffer, force_ascii=True)
    assert buffer.getvalue().isascii()
    assert [json.loads(line) for line in buffer.getvalue().splitlines()] == TABLE.to_pylist()


@pytest.mark.parametrize("orient", ORIENTS)
def test_json_orients_are_those_of_pandas(orient: str) -> None:
    pd = pytest.importorskip("pandas", reason="orients other than records go through pandas")
    buffer = io.BytesIO()
    write_json(batches(TABLE.select(["t", "b"])), buffer, orient=orient, lines=False)
    frame = pd.DataFrame(TABLE.select(["t", "b"]).to_pylist(), dtype=object)
    index = False if orient in ("split", "table") else None  # as `datasets` has it
    assert json.loads(buffer.getvalue()) == json.loads(frame.to_json(orient=orient, index=index))


@pytest.mark.parametrize(
    "options", [{"orient": "rows"}, {"orient": "split", "lines": True}, {"compression": "zip"}]
)
def test_json_options_without_sense_are_refused(options: dict) -> None:
    with pytest.raises(BadArgument):
        write_json(batches(), io.BytesIO(), **options)


def test_csv_keeps_null_empty_text_and_types_apart(tmp_path: Path) -> None:
    table = TABLE.select(["n", "t", "f", "b"])
    written = write_csv(batches(table), tmp_path / "a.csv", schema=table.schema)
    assert written == (tmp_path / "a.csv").stat().st_size
    assert rows(load(tmp_path / "a.csv", tmp_path / "cache")) == table.to_pylist()


def test_csv_quotes_text_only_where_it_must() -> None:
    buffer = io.BytesIO()
    write_csv(batches(), buffer, schema=TABLE.schema)
    assert buffer.getvalue().decode() == (
        "n,t,f,b,l,s\n"
        '1,"a ""quoted"", é\n猫",1.0,True,"[1,2]","{""x"":""y""}"\n'
        ',"",1e+300,False,[],"{""x"":null}"\n'
        "-3,,,,,\n"
    )


def test_csv_of_one_column_keeps_its_rows() -> None:
    buffer = io.BytesIO()
    table = pa.table({"a": [1, None, 2]})
    write_csv([table], buffer, schema=table.schema)
    assert list(csv.reader(io.StringIO(buffer.getvalue().decode()))) == [["a"], ["1"], [""], ["2"]]


def test_csv_styles() -> None:
    table = TABLE.select(["n", "t"]).slice(2)
    for options, expected in (
        ({"sep": "\t"}, "n\tt\n-3\t\n"),
        ({"header": False, "na_rep": "NULL"}, "-3,NULL\n"),
        ({"quoting": csv.QUOTE_ALL}, '"n","t"\n"-3",\n'),
        ({"quoting": csv.QUOTE_NONNUMERIC}, '"n","t"\n-3,\n'),
    ):
        buffer = io.BytesIO()
        write_csv([table], buffer, schema=table.schema, **options)
        assert buffer.getvalue().decode() == expected


def as_csv(table: pa.Table) -> str:
    buffer = io.BytesIO()
    write_csv([table], buffer, schema=table.schema)
    return buffer.getvalue().decode()


def test_csv_gives_times_their_fractions_where_there_are_any() -> None:
    noon = datetime.datetime(2020, 1, 2, 12)
    utc = pa.array([noon, None], pa.timestamp("ms", "UTC"))
    whole = as_csv(pa.table({"t": [noon, None], "clock": [noon.time(), None], "utc": utc}))
    assert whole.splitlines()[1] == "2020-01-02 12:00:00,12:00:00,2020-01-02 12:00:00Z"
    finer = as_csv(pa.table({"t": [noon, noon.replace(microsecond=5)]})).splitlines()[1:]
    assert [datetime.datetime.fromisoformat(line) for line in finer] == [noon, noon.replace(microsecond=5)]


def test_csv_of_no_rows_is_its_header() -> None:
    buffer = io.BytesIO()
    assert write_csv([], buffer, schema=TABLE.schema) == len(b"n,t,f,b,l,s\n")


def test_csv_cannot_hold_bytes() -> None:
    table = pa.table({"raw": [b"x"]})
    with pytest.raises(TypeConflict, match="column 'raw' holds bytes"):
        write_csv([table], io.BytesIO(), schema=table.schema)
    with pytest.raises(BadArgument, match="sep"):
        write_csv([], io.BytesIO(), schema=table.schema, sep="ab")


def test_parquet_keeps_types_and_features(tmp_path: Path) -> None:
    features = Features(
        {**Features.from_arrow_schema(TABLE.schema), "label": ClassLabel(names=["no", "yes"])}
    )
    table = TABLE.append_column("label", pa.array([0, 1, None])).cast(features.arrow_schema)
    write_parquet(batches(table), tmp_path / "a.parquet", schema=table.schema)
    back = pq.read_table(tmp_path / "a.parquet")
    assert back.to_pylist() == table.to_pylist()
    assert Features.from_arrow_schema(back.schema) == features
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0).column(0).compression == "SNAPPY"


def test_parquet_row_groups_are_of_the_batch_size_asked_for() -> None:
    buffer = io.BytesIO()
    table = pa.table({"a": range(25)})
    write_parquet(batches(table, 4), buffer, schema=table.schema, batch_size=10, compression="zstd")
    metadata = pq.ParquetFile(io.BytesIO(buffer.getvalue())).metadata
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [10, 10, 5]
    assert metadata.row_group(0).column(0).compression == "ZSTD"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_the_suffix_compresses(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    write_json(batches(), path)
    assert not path.read_bytes().startswith(b"{")
    assert rows(load(path, tmp_path / "cache")) == TABLE.to_pylist()
    explicit = io.BytesIO()
    write_json(batches(), explicit, compression="gzip")
    assert gzip.decompress(explicit.getvalue()).startswith(b"{")


@pytest.mark.parametrize("write", [write_json, write_csv, write_parquet])
def test_a_failed_write_leaves_the_old_file_whole(tmp_path: Path, write) -> None:
    def failing():
        yield TABLE.select(["t"])
        raise RuntimeError("no more")

    path = tmp_path / "a.out"
    path.write_text("old")
    options = {} if write is write_json else {"schema": TABLE.select(["t"]).schema}
    with pytest.raises(RuntimeError, match="no more"):
        write(failing(), path, **options)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=6)
_rows = st.lists(
    st.tuples(
        st.none() | _text,
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
        st.none() | st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_rows)
def test_any_rows_come_back_from_csv_and_json(tmp_path_factory, values: list[tuple]) -> None:
    folder = tmp_path_factory.mktemp("any")
    wanted = Features({"t": Value("string"), "f": Value("float64"), "b": Value("bool")})
    table = pa.Table.from_pylist(
        [dict(zip(wanted, row, strict=True)) for row in values], schema=wanted.arrow_schema
    )
    write_csv([table], folder / "a.csv", schema=table.schema)
    write_json([table], folder / "a.jsonl")
    for name in ("a.csv", "a.jsonl"):
        assert rows(load(folder / name, folder / "cache", features=wanted)) == table.to_pylist()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_bytes)
        write_json([TABLE.select(["n"])], pipe)
        assert read.result(10) == b'{"n":1}\n{"n":null}\n{"n":-3}\n'
    assert pipe.is_fifo()


def test_a_link_stays_and_what_it_points_at_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "there" / "real.jsonl")
    for number in (1, 2):  # not there yet, and there
        write_json([pa.table({"n": [number]})], link)
        assert link.is_symlink()
        assert (tmp_path / "there" / "real.jsonl").read_text() == f'{{"n":{number}}}\n'
