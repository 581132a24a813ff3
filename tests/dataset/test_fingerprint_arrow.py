"""Arrow and pandas data are named by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.dataset.fingerprint import fingerprint_of

ROWS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int": (pa.int32(), [1, None, 3, 0, -1]),
    "bool": (pa.bool_(), [True, None, False, True, True]),
    "float": (pa.float64(), [1.5, None, 0.0, -0.0, 2.0]),
    "string": (pa.string(), ["a", None, "", "bc", "猫"]),
    "large string": (pa.large_string(), ["a", None, "", "bc", "猫"]),
    "string view": (pa.string_view(), ["a", None, "", "longer than twelve bytes", "猫"]),
    "binary": (pa.binary(), [b"a", None, b"", b"bc", b"\0"]),
    "fixed binary": (pa.binary(2), [b"ab", None, b"cd", b"ef", b"\0\0"]),
    "list": (pa.list_(pa.int64()), [[1], None, [], [2, None], [3]]),
    "large list": (pa.large_list(pa.string()), [["a"], None, [], ["b", None], ["c"]]),
    "list view": (pa.list_view(pa.int64()), [[1], None, [], [2, None], [3]]),
    "fixed list": (pa.list_(pa.int8(), 2), [[1, 2], None, [3, 4], [5, None], [6, 7]]),
    "struct": (pa.struct({"a": pa.int8(), "b": pa.string()}),
               [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 2, "b": None}, {"a": 3, "b": ""}]),
    "map": (pa.map_(pa.string(), pa.int8()), [[("a", 1)], None, [], [("b", None)], [("c", 2), ("d", 3)]]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["a", None, "b", "a", "c"]),
    "null": (pa.null(), [None] * 5),
    "timestamp": (pa.timestamp("us", "UTC"), [1, None, 2, 3, 4]),
    "decimal": (pa.decimal128(9, 2), [1, None, 2, 3, 4]),
    "nested": (pa.list_(pa.struct({"r": pa.list_(pa.string())})),
               [[{"r": ["a"]}], None, [], [{"r": None}], [{"r": ["b", None]}]]),
}  # fmt: skip


def column(kind: str, rows: list[Any]) -> pa.Array:
    return pa.array(rows, ROWS[kind][0])


@pytest.mark.parametrize("kind", ROWS)
def test_chunks_slices_and_offsets_do_not_show(kind: str) -> None:
    rows = ROWS[kind][1]
    whole = column(kind, rows)
    expected = fingerprint_of(pa.chunked_array([whole]))
    padded = pa.concat_arrays([whole, whole]).slice(2, 5) if kind != "dictionary" else None
    for cut in range(6):
        assert (
            fingerprint_of(pa.chunked_array([column(kind, rows[:cut]), column(kind, rows[cut:])])) == expected
        )
        assert fingerprint_of(pa.chunked_array([whole.slice(0, cut), whole.slice(cut)])) == expected
    if padded is not None:
        assert fingerprint_of(padded) == fingerprint_of(column(kind, rows[2:] + rows[:2]))


@pytest.mark.parametrize("kind", ROWS)
def test_other_rows_have_another_name(kind: str) -> None:
    rows = ROWS[kind][1]
    names = {fingerprint_of(column(kind, rows[:cut])) for cut in range(6)}
    assert len(names) == 6
    if kind != "null":
        assert fingerprint_of(column(kind, rows)) != fingerprint_of(column(kind, rows[::-1]))


def test_what_lies_under_a_null_does_not_show() -> None:
    mask = pa.array([False, True, False])
    for values in ([1, 2, 3], ["a", "b", "c"], [[1], [2, 3], [4]]):
        hidden = pa.compute.if_else(pa.compute.invert(mask), pa.array(values), None)
        assert fingerprint_of(hidden) == fingerprint_of(pa.array([values[0], None, values[2]]))
    under = pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([1, 99, 3]))])
    assert fingerprint_of(under) == fingerprint_of(pa.array([1, None, 3]))


def test_boundaries_between_rows_show() -> None:
    assert fingerprint_of(pa.array(["ab", "c"])) != fingerprint_of(pa.array(["a", "bc"]))
    assert fingerprint_of(pa.array([[1, 2], [3]])) != fingerprint_of(pa.array([[1], [2, 3]]))
    assert fingerprint_of(pa.array([[], [1]])) != fingerprint_of(pa.array([None, [1]]))


def test_types_names_and_metadata_show() -> None:
    table = pa.table({"a": [1, 2]})
    others = [
        table.rename_columns(["b"]),
        table.cast(pa.schema({"a": pa.int32()})),
        table.replace_schema_metadata({"k": "v"}),
        table.slice(0, 1),
        table.append_column("b", [[1, 2]]),
    ]
    assert len({fingerprint_of(it) for it in [table, *others]}) == 6
    assert fingerprint_of(table.schema) == fingerprint_of(pa.schema({"a": pa.int64()}))
    assert fingerprint_of(table.to_batches()[0]) == fingerprint_of(table)
    assert fingerprint_of(pa.int64()) != fingerprint_of(pa.int32())
    assert fingerprint_of(pa.scalar(1)) != fingerprint_of(pa.scalar(2))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3), max_size=8),
    st.lists(st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3), max_size=8),
    st.integers(0, 8),
)
def test_names_are_equal_exactly_when_rows_are(one: list[Any], two: list[Any], cut: int) -> None:
    kind = pa.list_(pa.string())
    a = pa.chunked_array([pa.array(one[:cut], kind), pa.array(one[cut:], kind)])
    b = pa.chunked_array([pa.array(two, kind)])
    assert (fingerprint_of(a) == fingerprint_of(b)) is (one == two)


def test_data_frames_are_named_by_values() -> None:
    def frame(**change: Any) -> pd.DataFrame:
        columns = {
            "i": [1, 2],
            "s": ["x", None],
            "c": pd.Categorical(["a", "b"]),
            "t": pd.to_datetime(["2020", "2021"]),
        }
        return pd.DataFrame({**columns, **change})

    assert fingerprint_of(frame()) == fingerprint_of(
        pd.concat([frame()[:1], frame()[1:]]).astype({"c": "category"})
    )
    changes: list[dict[str, Any]] = [
        {"i": [1, 3]},
        {"i": [1.0, 2.0]},
        {"s": ["x", "y"]},
        {"c": pd.Categorical(["b", "a"])},
    ]
    names = {fingerprint_of(frame(**change)) for change in [{}, *changes]}
    names.add(fingerprint_of(frame().set_index("i")))
    names.add(fingerprint_of(frame()["i"]))
    assert len(names) == len(changes) + 3


def test_tensors_are_named_by_values() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    base = torch.arange(6.0).reshape(2, 3)
    assert fingerprint_of(base.T) == fingerprint_of(base.T.contiguous())
    names = {fingerprint_of(it) for it in (base, base.T, base.bfloat16(), base + 1, torch.nn.Parameter(base))}
    assert len(names) == 5
