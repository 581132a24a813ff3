"""JSON Lines load as json.loads reads them, with one type a column, whatever the blocks."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowprep.dataset.features import Features, Json, List, Value
from arrowprep.errors import ArrowprepWarning, BadArgument, TypeConflict, UnreadableFile
from tests.dataset.load import load, rows, shown, types


@pytest.fixture
def jsonl(tmp_path: Path):
    def write(*lines: str | bytes, name: str = "a.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
        return path

    return write


def test_rows_are_what_json_says(jsonl, tmp_path: Path) -> None:
    lines = ['{"a": 1, "b": "é\\u732b", "c": [1, 2], "d": {"x": null, "y": true}}', '{"a": 2, "b": null}', ""]
    loaded = load(jsonl(*lines), tmp_path / "cache")
    assert rows(loaded) == [json.loads(lines[0]), {"a": 2, "b": None, "c": None, "d": None}]
    assert loaded.num_rows == 2


BLOCKS = [8, 40, 10_000]  # bytes: a row or less, a few rows, all


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize(
    ("values", "kind", "shown"),
    [
        (["null", '"x"'], "string", [None, "x"]),
        (["1", "2.5"], "double", [1.0, 2.5]),
        (["2.5", "1"], "double", [2.5, 1.0]),
        (["[]", "[1]", "[1.5]"], "list<item: double>", [[], [1.0], [1.5]]),
        (["null", "[null]", '["x"]'], "list<item: string>", [None, [None], ["x"]]),
        (['{"x": 1, "y": null}', "null", '{"y": "t", "x": 0.5}'], "struct<x: double, y: string>", None),
        (["{}", '{"x": 1}', '{"y": "t"}'], "extension<arrow.json>", ["{}", '{"x":1}', '{"y":"t"}']),
        (['{"x": 1}', '{"x": [1]}', '{"y": 1}'], "extension<arrow.json>", None),
        (['"2020-01-01"', '"2021-02-03T04:05:06"'], "string", ["2020-01-01", "2021-02-03T04:05:06"]),
        (["9223372036854775807", "-9223372036854775808"], "int64", [2**63 - 1, -(2**63)]),
        (["1", "18446744073709551615"], "uint64", [1, 2**64 - 1]),
        (["-1", "18446744073709551615"], "decimal128(38, 0)", [Decimal(-1), Decimal(2**64 - 1)]),
        (
            ["12345678901234567890123", "1"],
            "decimal128(38, 0)",
            [Decimal(12345678901234567890123), Decimal(1)],
        ),
        (["9007199254740993", "0.5"], "double", [9007199254740992.0, 0.5]),
        (["[9007199254740993]", "[0.5]"], "list<item: double>", [[9007199254740992.0], [0.5]]),
        (["12345678901234567890123", "0.5"], "double", [12345678901234567890123.0, 0.5]),
        (["true", "null", "false"], "bool", [True, None, False]),
        (["null", "null"], "null", [None, None]),
        (["-0.0", "1e300", "-Infinity"], "double", [-0.0, 1e300, -math.inf]),
    ],
)
def test_a_column_has_the_one_type_that_holds_all_its_values(
    jsonl, tmp_path: Path, values: list[str], kind: str, shown: list[Any] | None, block_bytes: int
) -> None:
    loaded = load(
        jsonl(*(f'{{"a": {value}}}' for value in values)), tmp_path / "cache", block_bytes=block_bytes
    )
    assert types(loaded) == {"a": kind}
    if shown is not None:
        assert [row["a"] for row in rows(loaded)] == shown


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_scalars_of_several_kinds_become_text_and_a_warning_says_so(
    jsonl, tmp_path: Path, block_bytes: int
) -> None:
    path = jsonl('{"a": 1}', '{"a": 2.50}', '{"a": "x"}', '{"a": true}', '{"a": null}')
    with pytest.warns(ArrowprepWarning, match="column 'a' mixes"):
        loaded = load(path, tmp_path / "cache", block_bytes=block_bytes)
    assert [row["a"] for row in rows(loaded)] == ["1", "2.5", "x", "true", None]


def test_the_warning_counts_kinds_and_gives_first_lines(jsonl, tmp_path: Path) -> None:
    path = jsonl('{"a": 1}', "", '{"a": 2}', '{"a": "x"}')
    with pytest.warns(
        ArrowprepWarning, match=r"integers \(2 rows, first at line 1\), text \(1 row, first at line 4\)"
    ):
        load(path, tmp_path / "cache")


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_objects_beside_other_values_are_a_conflict_that_names_the_remedy(
    jsonl, tmp_path: Path, block_bytes: int
) -> None:
    path = jsonl('{"a": "x"}', '{"a": {"b": 1}}', '{"a": [2]}')
    with pytest.raises(TypeConflict, match=r"a\.jsonl.*column 'a'"):
        load(path, tmp_path / "cache", block_bytes=block_bytes)
    as_json = load(path, tmp_path / "cache", features=Features({"a": Json()}), block_bytes=block_bytes)
    assert [json.loads(row["a"]) for row in rows(as_json)] == ["x", {"b": 1}, [2]]
    as_text = load(
        path, tmp_path / "cache", features=Features({"a": Value("string")}), block_bytes=block_bytes
    )
    assert [row["a"] for row in rows(as_text)] == ["x", '{"b": 1}', "[2]"]


@pytest.mark.parametrize("block_bytes", [30, 10_000])
@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ('{"a": 2', "is not JSON"),
        ('{"a": 2} {"a": 3}', "Extra data"),
        ("[2]", "holds lists, where a row must be an object"),
        ("7", "holds integers"),
        ('{"a": "\\ud83d"}', "half of a surrogate pair"),
        (b'{"a": "\xff"}', "not UTF-8"),
    ],
)
def test_a_broken_line_is_named_by_file_and_number(
    jsonl, tmp_path: Path, broken: str | bytes, says: str, block_bytes: int
) -> None:
    path = jsonl('{"a": "1"}', "", '{"a": "x"}', broken, '{"a": "y"}')
    with pytest.raises(UnreadableFile, match=rf"a\.jsonl: line 4.*{says}") as caught:
        load(path, tmp_path / "cache", block_bytes=block_bytes)
    assert caught.value.line == 4
    assert caught.value.path == path


def test_digits_are_kept_beside_what_looks_like_a_date(jsonl, tmp_path: Path) -> None:
    loaded = load(jsonl('{"d": "2020-01-01", "n": 12345678901234567890123}'), tmp_path / "cache")
    assert rows(loaded) == [{"d": "2020-01-01", "n": Decimal(12345678901234567890123)}]


@pytest.mark.parametrize("depth", [61, 70, 500, 1100, 200_000])
def test_nesting_that_cannot_be_stored_is_named_by_line_and_kills_nothing(
    jsonl, tmp_path: Path, depth: int
) -> None:
    path = jsonl('{"a": []}', '{"a": ' + "[" * depth + "]" * depth + "}")
    with pytest.raises(
        UnreadableFile, match=r"a\.jsonl: line 2.* nested (deeper than 60 levels.*Json\(\)|too deeply)"
    ):
        load(path, tmp_path / "cache")


def test_nesting_up_to_what_can_be_stored_is_stored_and_deeper_as_json(jsonl, tmp_path: Path) -> None:
    deep = {"a": eval("[" * 60 + "]" * 60)}
    assert rows(load(jsonl(json.dumps(deep)), tmp_path / "cache")) == [deep]
    deeper = jsonl('{"a": ' + "[" * 300 + "]" * 300 + "}")
    [row] = rows(load(deeper, tmp_path / "cache", features=Features({"a": Json()})))
    assert row["a"] == "[" * 300 + "]" * 300


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_a_column_of_large_numbers_is_not_widened_for_another_ones_sake(
    jsonl, tmp_path: Path, block_bytes: int
) -> None:
    path = jsonl('{"a": 1, "b": -1}', '{"a": 18446744073709551615, "b": 18446744073709551615}')
    loaded = load(path, tmp_path / "cache", block_bytes=block_bytes)
    assert types(loaded) == {"a": "uint64", "b": "decimal128(38, 0)"}


def test_a_repeated_key_counts_last_as_in_python(jsonl, tmp_path: Path) -> None:
    assert rows(load(jsonl('{"a": 1, "a": 2}'), tmp_path / "cache")) == [{"a": 2}]


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "{}\n{}", "[]"])
def test_a_file_without_rows_is_refused(jsonl, tmp_path: Path, content: str) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.jsonl (is empty|holds no rows)"):
        load(jsonl(content), tmp_path / "cache")


def test_a_byte_order_mark_and_windows_line_ends_are_no_data(jsonl, tmp_path: Path) -> None:
    assert rows(load(jsonl('\ufeff{"a": "x"}\r\n{"a": "y"}\r\n'), tmp_path / "cache")) == [
        {"a": "x"},
        {"a": "y"},
    ]


def test_another_encoding_is_read_when_named(jsonl, tmp_path: Path) -> None:
    path = jsonl('{"a": "é"}'.encode("latin-1"))
    assert rows(load(path, tmp_path / "cache", encoding="latin-1")) == [{"a": "é"}]
    with pytest.raises(BadArgument, match="not known"):
        load(path, tmp_path / "cache", encoding="latin-0")


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_an_array_of_objects_is_rows(jsonl, tmp_path: Path, block_bytes: int) -> None:
    path = jsonl('  [{"a": "x, ]"},', ' {"a":', '  "y"} ,{"a":null}]', "", name="a.json")
    assert rows(load(path, tmp_path / "cache", block_bytes=block_bytes)) == [
        {"a": "x, ]"},
        {"a": "y"},
        {"a": None},
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[{"a": 1},\n{"a": }]', 2),
        ('[{"a": 1}\n{"a": 2}]', 2),
        ('[{"a": 1},\n{"a": 2}', 2),
        ('[{"a": 1}]\n[2]', 1),
    ],
)
def test_a_broken_array_is_named_by_line(jsonl, tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(UnreadableFile, match=f"line {line}"):
        load(jsonl(text, name="a.json"), tmp_path / "cache")


def test_field_picks_the_list_of_rows(jsonl, tmp_path: Path) -> None:
    path = jsonl("{", '"meta": 1, "data": [{"a": 1}, {"a": 2}]}', name="a.json")
    assert rows(load(path, tmp_path / "cache", field="data")) == [{"a": 1}, {"a": 2}]
    with pytest.raises(BadArgument, match="its lists are 'data'"):
        load(path, tmp_path / "cache", field="rows")
    with pytest.raises(UnreadableFile, match="its lists are 'data': choose one with field="):
        load(path, tmp_path / "cache")


def test_features_are_applied_and_a_misfit_is_named_by_row_and_column(jsonl, tmp_path: Path) -> None:
    path = jsonl('{"n": 1, "s": [1]}', '{"n": 300, "s": null}')
    loaded = load(
        path, tmp_path / "cache", features=Features({"s": List(Value("float32")), "n": Value("int16")})
    )
    assert types(loaded) == {"s": "list<item: float>", "n": "int16"}
    with pytest.raises(TypeConflict, match=r"a\.jsonl: row 1: column 'n' holds 300.*int8") as caught:
        load(path, tmp_path / "cache", features=Features({"s": List(Value("float32")), "n": Value("int8")}))
    assert (caught.value.row, caught.value.column) == (1, "n")


CHAT = [
    {"id": 1, "messages": [{"role": "user", "content": "Weather?"}]},
    {
        "id": 2,
        "messages": [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"name": "look", "arguments": {"at": "Rome"}}],
            },
            {"role": "tool", "content": "sunny", "name": "look"},
        ],
    },
    {"messages": None},
]


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_objects_whose_keys_differ_stay_as_they_were_written(jsonl, tmp_path: Path, block_bytes: int) -> None:
    loaded = load(jsonl(*map(json.dumps, CHAT)), tmp_path / "cache", block_bytes=block_bytes)
    assert types(loaded) == {"id": "int64", "messages": "list<item: extension<arrow.json>>"}
    assert shown(loaded) == [*CHAT[:2], {"id": None, "messages": None}]


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_only_the_smallest_part_that_differs_is_json(jsonl, tmp_path: Path, block_bytes: int) -> None:
    calls = [{"name": "a", "arguments": {"x": 1}}, None, {"name": None, "arguments": {"y": [1, None]}}]
    loaded = load(
        jsonl(*(json.dumps({"call": c}) for c in calls)), tmp_path / "cache", block_bytes=block_bytes
    )
    assert types(loaded) == {"call": "struct<name: string, arguments: extension<arrow.json>>"}
    assert [row["call"] for row in shown(loaded)] == calls


def test_files_whose_objects_have_other_keys_agree_on_json(jsonl, tmp_path: Path) -> None:
    first, second = jsonl('{"a": {"x": 1}}', name="1.jsonl"), jsonl('{"a": {"y": null}}', name="2.jsonl")
    loaded = load([first, second], tmp_path / "cache")
    assert shown(loaded) == [{"a": {"x": 1}}, {"a": {"y": None}}]


def test_an_object_and_text_in_one_column_are_a_conflict_in_any_order(jsonl, tmp_path: Path) -> None:
    for number, values in enumerate((['{"x": 1}', '{"y": 1}', '"t"'], ['"t"', '{"x": 1}', '{"y": 1}'])):
        path = jsonl(*(f'{{"a": {value}}}' for value in values), name=f"{number}.jsonl")
        for block_bytes in BLOCKS:
            with pytest.raises(TypeConflict, match="column 'a'"):
                load(path, tmp_path / "cache", block_bytes=block_bytes)


def test_features_that_ask_for_a_struct_get_nulls_for_absent_keys(jsonl, tmp_path: Path) -> None:
    path = jsonl('{"a": [{"x": 1}]}', '{"a": [{"y": "t"}, {"x": 2}]}')
    asked = Features({"a": [{"x": Value("int32"), "y": Value("string")}]})
    loaded = load(path, tmp_path / "cache", features=asked)
    assert rows(loaded) == [
        {"a": [{"x": 1, "y": None}]},
        {"a": [{"x": None, "y": "t"}, {"x": 2, "y": None}]},
    ]
    kept = load(path, tmp_path / "cache", features=Features({"a": [Json()]}))
    assert shown(kept) == [{"a": [{"x": 1}]}, {"a": [{"y": "t"}, {"x": 2}]}]


# Rows as json.loads gives them; keys are few, so that columns meet; some text looks like dates
_numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
_texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["2020-01-01", "1", ""])
_shapes: list[st.SearchStrategy[Any]] = [
    st.none() | _numbers,
    st.none() | _texts,
    st.none() | st.booleans(),
    st.none() | st.lists(st.none() | _numbers, max_size=3),
    st.none() | st.dictionaries(st.sampled_from("xy"), st.none() | _numbers, max_size=2),
    st.none()
    | st.lists(st.fixed_dictionaries({}, optional={"u": _texts, "v": st.lists(st.integers())}), max_size=2),
]
_tables = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 9)}, optional=dict(zip("abcdef", _shapes, strict=True))),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_tables, st.integers(1, 200), st.booleans())
def test_any_rows_load_as_json_loads_them_whatever_the_block_size(
    tmp_path_factory, table: list[dict[str, Any]], block_bytes: int, ascii: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=ascii) + "\n" for row in table), encoding="utf-8")
    loaded = load(path, folder / "cache", block_bytes=block_bytes)
    names = list(dict.fromkeys(name for row in table for name in row))
    assert loaded.schema.names == names
    assert types(load(path, folder / "whole")) == types(loaded)
    found = shown(loaded)
    for name in names:
        written = [row.get(name) for row in table]
        has_float = any(isinstance(number, float) for number in _leaves(written))
        assert [_comparable(row[name], has_float) for row in found] == [
            _comparable(value, has_float) for value in written
        ]


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in _leaves(inner)]
    return [value]


def _comparable(value: Any, has_float: bool) -> Any:
    """The documented widening: integers beside floats are floats."""
    if isinstance(value, list):
        return [_comparable(inner, has_float) for inner in value]
    if isinstance(value, dict):
        return {key: _comparable(inner, has_float) for key, inner in value.items()}
    if has_float and isinstance(value, int | Decimal) and not isinstance(value, bool):
        return float(value)
    return value


def test_rows_that_look_like_the_log_of_an_agent_are_rows(tmp_path: Path) -> None:
    rows = [
        {
            "id": str(n),
            "source": "chat",
            "model": "m",
            "system_prompt": "Be brief.",
            "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
        }
        for n in range(3)
    ]
    file = tmp_path / "chats.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert shown(load(file, tmp_path / "cache")) == rows


def test_values_of_several_kinds_are_json_on_request_and_told(tmp_path: Path) -> None:
    rows = [{"a": n, "b": [n] if n % 2 else {"k": n}, "c": "x"} for n in range(300)]
    file = tmp_path / "mixed.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(TypeConflict, match="mixes"):
        load(file, tmp_path / "cache")
    with pytest.warns(ArrowprepWarning, match=r"'b' is kept as JSON: .*objects \(.*lists \(.*line"):
        loaded = load(file, tmp_path / "cache", on_mixed_types="use_json", block_bytes=1 << 10)
    assert Features.from_arrow_schema(loaded.schema) == {
        "a": Value("int64"),
        "b": Json(),
        "c": Value("string"),
    }
    assert shown(loaded) == rows
