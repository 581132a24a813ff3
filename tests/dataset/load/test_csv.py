"""CSV keeps what was written: only the empty field is null, and types are those of the whole column."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowprep.dataset.features import ClassLabel, Features, Value
from arrowprep.errors import ArrowprepWarning, BadArgument, TypeConflict, UnreadableFile
from tests.dataset.load import load, rows, types


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str | bytes, name: str = "a.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("fields", "kind", "shown"),
    [
        (["1", "", "-3"], "int64", [1, None, -3]),
        (["1", "2.5", "1e3"], "double", [1.0, 2.5, 1000.0]),
        (["True", "false", ""], "bool", [True, False, None]),
        (["1", "x"], "string", ["1", "x"]),
        (["1", "true"], "string", ["1", "true"]),
        (["NA", "null", "None", "nan", ""], "string", ["NA", "null", "None", "nan", None]),
        (["nan", "1.5"], "string", ["nan", "1.5"]),
        (["007", "12"], "string", ["007", "12"]),
        (["00.5", "1.5"], "string", ["00.5", "1.5"]),
        (["+4930", "12"], "string", ["+4930", "12"]),
        (["0x10", "16"], "string", ["0x10", "16"]),
        (["0", "10", "-1"], "int64", [0, 10, -1]),
        ([" 1", "2 "], "int64", [1, 2]),
        (["2020-01-01", "2021-01-01"], "string", ["2020-01-01", "2021-01-01"]),
        (["9223372036854775807"], "int64", [2**63 - 1]),
        (["18446744073709551615", "1"], "uint64", [2**64 - 1, 1]),
        (["1e999", "1.5"], "string", ["1e999", "1.5"]),
        (['""', "x", ""], "string", ["", "x", None]),
        (["", ""], "null", [None, None]),
    ],
)
@pytest.mark.parametrize("block_bytes", [32, 10_000])
def test_a_field_is_what_it_is_spelled_as(
    write, tmp_path: Path, fields: list[str], kind: str, shown: list, block_bytes: int
) -> None:
    path = write("id,a\n" + "".join(f"r{row},{field}\n" for row, field in enumerate(fields)))
    loaded = load(path, tmp_path / "cache", block_bytes=block_bytes)
    assert types(loaded) == {"id": "string", "a": kind}
    assert [row["a"] for row in rows(loaded)] == shown


def test_integers_beyond_64_bits_keep_their_digits(write, tmp_path: Path) -> None:
    path = write("a\n-12345678901234567890123\n5\n")
    assert [int(row["a"]) for row in rows(load(path, tmp_path / "cache"))] == [-12345678901234567890123, 5]


def test_a_late_word_makes_text_spelled_as_written_and_names_its_row(write, tmp_path: Path) -> None:
    path = write("a\n" + "1.50\n" * 2000 + "oops\n" + "2\n" * 10)
    with pytest.warns(ArrowprepWarning, match=r"a\.csv: column 'a' is text because row 2000 holds 'oops'"):
        loaded = load(path, tmp_path / "cache")
    assert [row["a"] for row in rows(loaded)] == ["1.50"] * 2000 + ["oops"] + ["2"] * 10


def test_quoted_fields_hold_separators_quotes_and_line_ends(write, tmp_path: Path) -> None:
    path = write('a,b\n"x,\n\ny","he said ""no"""\n1,\n')
    assert rows(load(path, tmp_path / "cache")) == [
        {"a": "x,\n\ny", "b": 'he said "no"'},
        {"a": "1", "b": None},
    ]


@pytest.mark.parametrize(
    ("text", "line", "fields"),
    [
        ("a,b\n1,2\n3,4,5\n", 3, 3),
        ('a,b\n"x\ny",2\n3,4,5\n6,7\n', 4, 3),
        ("a,b\n1,2\n3\n", 3, 1),
        ("a,b\n" + "1,2\n" * 5000 + "1,2,3\n" + "1,2\n" * 5000, 5002, 3),
    ],
)
def test_a_row_of_another_width_is_named_by_line(
    write, tmp_path: Path, text: str, line: int, fields: int
) -> None:
    with pytest.raises(UnreadableFile, match=rf"a\.csv: line {line} has {fields} fields, where 2") as caught:
        load(write(text), tmp_path / "cache")
    assert caught.value.line == line


def test_what_is_not_utf8_is_named_by_line_and_read_when_the_encoding_is_given(write, tmp_path: Path) -> None:
    path = write("a\nx\né\n".encode("latin-1"))
    with pytest.raises(UnreadableFile, match=r"line 3 is not UTF-8.*encoding="):
        load(path, tmp_path / "cache")
    assert rows(load(path, tmp_path / "cache", encoding="latin-1")) == [{"a": "x"}, {"a": "é"}]


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(write, tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.csv is empty"):
        load(write(text), tmp_path / "cache")


def test_a_header_alone_is_columns_without_rows(write, tmp_path: Path) -> None:
    loaded = load(write("a,b\n"), tmp_path / "cache")
    assert (loaded.num_rows, loaded.schema.names) == (0, ["a", "b"])


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a;b\n1;2\n", {"sep": ";"}, [{"a": 1, "b": 2}]),
        ("a;b\n1;2\n", {"delimiter": ";"}, [{"a": 1, "b": 2}]),
        ("1,2\n3,4\n", {"header": None}, [{"0": 1, "1": 2}, {"0": 3, "1": 4}]),
        ("1,2\n", {"names": ["x", "y"]}, [{"x": 1, "y": 2}]),
        ("a,b\n1,2\n", {"names": ["x", "y"], "header": 0}, [{"x": 1, "y": 2}]),
        ("junk\na,b\n1,2\n", {"skiprows": 1}, [{"a": 1, "b": 2}]),
        ("junk\na,b\n1,2\n", {"header": 1}, [{"a": 1, "b": 2}]),
        ("a,b,c\n1,2,3\n", {"usecols": ["c", "a"]}, [{"a": 1, "c": 3}]),
        ("a,b,c\n1,2,3\n", {"usecols": [0]}, [{"a": 1}]),
        ("a\n1\nNA\n", {"na_values": "NA"}, [{"a": 1}, {"a": None}]),
        ("a,b\n'x,y',2\n", {"quotechar": "'"}, [{"a": "x,y", "b": 2}]),
        ('a,b\n"x,2\n', {"quoting": csv.QUOTE_NONE}, [{"a": '"x', "b": 2}]),
        ('a,b\n"x\\"y",2\n', {"escapechar": "\\"}, [{"a": 'x"y', "b": 2}]),
        ("a,a,\n1,2,3\n", {}, [{"a": 1, "a.1": 2, "Unnamed: 2": 3}]),
    ],
)
def test_options_mean_what_they_mean_to_pandas(
    write, tmp_path: Path, text: str, options: dict, expected: list
) -> None:
    assert rows(load(write(text), tmp_path / "cache", **options)) == expected


def test_tabs_part_the_fields_of_tsv(write, tmp_path: Path) -> None:
    assert rows(load(write("a\tb\n1\tx,y\n", name="a.tsv"), tmp_path / "cache")) == [{"a": 1, "b": "x,y"}]


@pytest.mark.parametrize("options", [{"sep": "||"}, {"skiprows": -1}, {"usecols": ["z"]}, {"nrows": 5}])
def test_options_without_sense_are_refused(write, tmp_path: Path, options: dict) -> None:
    with pytest.raises(BadArgument, match=next(iter(options))):
        load(write("a,b\n1,2\n"), tmp_path / "cache", **options)


def test_features_give_the_types_and_name_what_does_not_fit(write, tmp_path: Path) -> None:
    path = write("zip,label,n\n1,yes,5\n2,no,x\n")
    wanted = Features(
        {"zip": Value("string"), "label": ClassLabel(names=["no", "yes"]), "n": Value("string")}
    )
    assert rows(load(path, tmp_path / "cache", features=wanted)) == [
        {"zip": "1", "label": 1, "n": "5"},
        {"zip": "2", "label": 0, "n": "x"},
    ]
    with pytest.raises(
        TypeConflict, match=r"row 1: column 'n' holds 'x', which does not fit Value\('int64'\)"
    ):
        load(path, tmp_path / "cache", features=Features({**wanted, "n": Value("int64")}))
    with pytest.raises(TypeConflict, match=r"row 0: column 'label' holds 'yes'"):
        load(path, tmp_path / "cache", features=Features({**wanted, "label": ClassLabel(names=["no"])}))
    with pytest.raises(TypeConflict, match="does not name: n"):
        load(path, tmp_path / "cache", features=Features({"zip": Value("string"), "label": Value("string")}))


_fields = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(_fields, _fields), min_size=1, max_size=6), st.integers(40, 200))
def test_any_text_that_pythons_csv_writes_is_read_back(
    tmp_path_factory, pairs: list, block_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("a", "b"), *pairs])
    (folder / "a.csv").write_text(out.getvalue(), encoding="utf-8")
    wanted = Features({"a": Value("string"), "b": Value("string")})
    loaded = load(folder / "a.csv", folder / "cache", features=wanted, block_bytes=block_bytes)
    assert [(row["a"], row["b"]) for row in rows(loaded)] == pairs
