"""Absent is not null: dicts whose keys differ by row come back as they were written."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep import Dataset, concatenate_datasets, load_from_disk, load_local
from arrowprep.chat.template import ChatTemplate
from arrowprep.dataset.convert import to_column
from arrowprep.dataset.features import Features, Json, LargeList, List, Value
from arrowprep.dataset.formats.python import to_list

CHAT: list[Any] = [
    [{"role": "user", "content": "Weather?"}],
    [
        {"role": "assistant", "content": None, "tool_calls": [{"name": "look", "arguments": {"at": "Rome"}}]},
        {"role": "tool", "content": "sunny", "name": "look"},
    ],
    None,
    [],
]


def shown(column: Any) -> list[Any]:
    return to_list(column, Features.from_arrow_schema(pa.schema([("c", column.type)]))["c"])


class TestColumns:
    def test_keys_that_differ_are_json_where_they_differ(self):
        calls = [{"name": "a", "args": {"x": 1}}, {"name": None, "args": {"y": None}}, None]
        column = to_column(calls, "c")
        assert column.type == pa.struct([("name", pa.string()), ("args", pa.json_(pa.string()))])
        assert shown(column) == calls

    def test_a_struct_stays_a_struct_when_its_nulls_were_written(self):
        values = [{"a": 1, "b": None}, None, {"b": "x", "a": None}]
        column = to_column(values, "c")
        assert column.type == pa.struct([("a", pa.int64()), ("b", pa.string())])
        assert column.to_pylist() == values

    def test_parts_that_fit_no_one_type_are_no_conflict_where_keys_differ(self):
        values = [{"at": "Rome"}, {"at": 5, "unit": "C"}]
        assert shown(to_column(values, "c")) == values

    def test_a_key_with_values_of_several_kinds_is_json(self):
        values = [{"v": 1, "n": 1}, {"v": "one", "n": 0.5}, {"v": [1, "x"], "n": None}]
        column = to_column(values, "c")
        assert column.type == pa.struct([("v", pa.json_(pa.string())), ("n", pa.float64())])
        assert shown(column) == values

    def test_what_json_has_no_values_for_stays_a_struct(self):
        day = datetime.date(2020, 1, 1)
        assert to_column([{"a": day}, {"b": 1}], "c").to_pylist() == [
            {"a": day, "b": None},
            {"a": None, "b": 1},
        ]

    def test_a_json_column_stays_json_whatever_is_returned_for_it(self):
        column = to_column([{"x": 1}, "text", [1]], "c", original=pa.json_(pa.string()))
        assert shown(column) == [{"x": 1}, "text", [1]]
        assert to_column([{"x": 1}], "c", original=pa.json_(pa.string())).type == pa.json_(pa.string())

    @settings(max_examples=100, deadline=None)
    @given(
        st.lists(
            st.recursive(
                st.none(),
                lambda inner: (
                    st.none()
                    | st.dictionaries(st.sampled_from("ab"), st.fixed_dictionaries({"v": inner}), max_size=2)
                ),
            )
        )
    )
    def test_nested_dicts_come_back_as_they_were(self, values):
        assert shown(to_column(values, "c")) == values


class TestDatasets:
    def test_rows_and_columns_are_shown_as_written(self):
        for ds in (Dataset.from_dict({"m": CHAT}), Dataset.from_list([{"m": m} for m in CHAT])):
            assert ds.features == {"m": List(Json())}
            assert ds["m"][:] == CHAT
            assert ds[1] == {"m": CHAT[1]}

    def test_a_key_that_a_row_lacks_is_null_for_it_names_a_column(self):
        ds = Dataset.from_list([{"a": 1}, {"b": {"x": 1}}])
        assert ds.to_list() == [{"a": 1, "b": None}, {"a": None, "b": {"x": 1}}]
        assert ds.features["b"] == {"x": Value("int64")}

    def test_features_that_ask_for_a_struct_get_one(self):
        ds = Dataset.from_dict({"s": [{"a": 1}, {}]}, features=Features({"s": {"a": Value("int8")}}))
        assert ds["s"][:] == [{"a": 1}, {"a": None}]
        for lists in (List, LargeList, lambda of: List(of, length=2)):
            nested = Features({"s": lists({"a": Json()})})
            rows = [[{"a": [1, {}]}, {"a": None}], None]
            assert Dataset.from_dict({"s": rows}, features=nested)["s"][:] == rows

    def test_a_cast_of_one_field_leaves_the_json_beside_it(self):
        values = [{"n": 1, "free": {"a": 1}}, {"n": 2, "free": {"b": None}}]
        ds = Dataset.from_dict({"s": values}).cast_column("s", {"n": Value("int8"), "free": Json()})
        assert ds["s"][:] == values
        assert ds.features["s"]["n"] == Value("int8")

    def test_datasets_with_other_keys_are_joined_without_inventing_nulls(self):
        ds = concatenate_datasets([Dataset.from_dict({"m": CHAT[:1]}), Dataset.from_dict({"m": CHAT[1:]})])
        assert ds["m"][:] == CHAT

    @pytest.mark.parametrize("num_proc", [None, 2])
    def test_a_map_returns_dicts_with_the_keys_they_had(self, num_proc):
        """Batches that each hold one shape, and one that holds two."""
        rows = Dataset.from_dict({"i": list(range(40))})
        made = rows.map(_shapes, batched=True, batch_size=10, num_proc=num_proc)
        assert made["s"][:] == [_shape(i) for i in range(40)]
        assert made.features["s"] == {"k": Json()}

    def test_a_function_is_shown_no_key_that_was_not_written(self):
        seen: list[Any] = []
        Dataset.from_dict({"m": CHAT}).map(lambda row: seen.append(row["m"]))
        assert seen == CHAT

    def test_every_format_of_files_keeps_them(self, tmp_path: Path):
        ds = Dataset.from_dict({"m": CHAT})
        ds.to_parquet(tmp_path / "a.parquet")
        ds.to_json(tmp_path / "a.jsonl")
        ds.save_to_disk(tmp_path / "saved")
        for back in (
            load_local(tmp_path / "a.parquet", cache_dir=tmp_path / "cache"),
            load_local(tmp_path / "a.jsonl", cache_dir=tmp_path / "cache"),
            load_from_disk(tmp_path / "saved"),
            ds.select([3, 2, 1, 0]).select([3, 2, 1, 0]),
        ):
            assert back.features == ds.features
            assert back["m"][:] == CHAT

    def test_no_rows_of_them_are_still_of_their_type(self):
        ds = Dataset.from_dict({"m": CHAT}).filter(lambda row: False)
        assert ds.to_list() == []
        assert ds.map(lambda row: {"n": 1}).features["m"] == List(Json())

    def test_a_key_that_is_text_in_one_batch_and_a_list_in_another_keeps_both(self):
        ds = Dataset.from_dict({"i": [0, 1]}).map(
            lambda batch: {"s": [{"v": "[1]" if i == 0 else [1]} for i in batch["i"]]},
            batched=True,
            batch_size=1,
        )
        assert ds["s"][:] == [{"v": "[1]"}, {"v": [1]}]

    def test_a_chat_template_is_given_the_tool_calls_that_were_written(self):
        calls = ['{"at": "Rome", "day": null}', '{"unit": "C"}']
        chats = [[{"role": "assistant", "tool_calls": [{"arguments": json.loads(call)}]}] for call in calls]
        ds = Dataset.from_dict({"messages": [*chats, [{"role": "user", "content": "hi"}]]})
        template = ChatTemplate(
            "{% for m in messages %}{% for call in m.tool_calls %}{{ call.arguments | tojson }}"
            "{% else %}{{ m.keys() | list }}{% endfor %}{% endfor %}"
        )
        rendered = ds.map(
            lambda row: {"text": template.render(row["messages"]).text}, remove_columns="messages"
        )
        assert rendered["text"][:] == [*calls, "['role', 'content']"]


def _shape(i: int) -> dict[str, Any]:
    return {"k": {"a": i}} if i < 15 else {"k": {"b": None}} if i < 30 else {"k": None}


def _shapes(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {"s": [_shape(i) for i in batch["i"]]}


def test_a_whole_column_shows_values_as_its_parts_do() -> None:
    rows = [{"x": {"a": 1}}, {"x": {"b": [2]}}]
    column = Dataset.from_list(rows)["x"]
    assert column.to_list() == column[:] == list(column) == [{"a": 1}, {"b": [2]}]
