"""Types widen without losing a value."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.dataset.widen import cast, cast_table, wider, wider_schema
from arrowprep.errors import TypeConflict

LEAVES = [
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.uint8(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.string(),
    pa.large_string(),
]


def types():
    return st.recursive(
        st.sampled_from(LEAVES),
        lambda inner: st.one_of(
            inner.map(pa.list_),
            st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2).map(
                lambda d: pa.struct(list(d.items()))
            ),
        ),
        max_leaves=4,
    )


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        (pa.null(), pa.string(), pa.string()),
        (pa.int64(), pa.float32(), pa.float64()),
        (pa.uint8(), pa.int8(), pa.int16()),
        (pa.uint32(), pa.int64(), pa.int64()),
        (pa.string(), pa.large_string(), pa.large_string()),
        (pa.list_(pa.null()), pa.list_(pa.int32()), pa.list_(pa.int32())),
        (
            pa.struct([("a", pa.int8()), ("b", pa.null())]),
            pa.struct([("b", pa.string()), ("a", pa.int16())]),
            pa.struct([("a", pa.int16()), ("b", pa.string())]),
        ),
        (pa.struct([("a", pa.int8())]), pa.struct([("b", pa.string())]), pa.json_(pa.string())),
        (pa.json_(pa.string()), pa.struct([("b", pa.string())]), pa.json_(pa.string())),
        (
            pa.struct([("a", pa.binary())]),
            pa.struct([("b", pa.string())]),
            pa.struct([("a", pa.binary()), ("b", pa.string())]),
        ),
        (pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("us")),
        (pa.dictionary(pa.int8(), pa.string()), pa.string(), pa.string()),
        (pa.list_(pa.int8(), 2), pa.list_(pa.int8(), 3), pa.list_(pa.int8())),
    ],
)
def test_two_types_have_one_that_holds_both(a, b, both):
    assert wider(a, b) == both


@pytest.mark.parametrize(
    ("a", "b"), [(pa.string(), pa.int64()), (pa.bool_(), pa.int8()), (pa.list_(pa.int8()), pa.int8())]
)
def test_what_no_type_holds_is_a_conflict(a, b):
    with pytest.raises(TypeConflict, match="holds both"):
        wider(a, b)


def test_a_conflict_names_the_column():
    with pytest.raises(TypeConflict, match="column 'n'"):
        wider_schema(pa.schema([("n", pa.int8())]), pa.schema([("n", pa.string())]))


@given(types(), types())
def test_the_wider_type_is_idempotent_and_takes_its_parts(a, b):
    try:
        both = wider(a, b)
    except TypeConflict:
        return
    assert wider(both, a) == both
    assert wider(both, b) == both


def test_casting_keeps_values_nulls_and_slices():
    narrow = pa.array([{"a": 9}, None, {"a": 1}, {"a": None}], pa.struct([("a", pa.int8())])).slice(1)
    wide = pa.struct([("b", pa.string()), ("a", pa.float64())])
    assert cast(narrow, wide).to_pylist() == [None, {"b": None, "a": 1.0}, {"b": None, "a": None}]


def test_casting_lists_of_structs_keeps_null_rows_and_empty_rows():
    narrow = pa.array([[{"a": 1}], None, [], [{"a": 2}, None]], pa.list_(pa.struct([("a", pa.int8())])))
    wide = pa.list_(pa.struct([("a", pa.int64()), ("b", pa.int64())]))
    expected = [[{"a": 1, "b": None}], None, [], [{"a": 2, "b": None}, None]]
    assert cast(narrow, wide).to_pylist() == expected
    assert cast(narrow.slice(1, 3), wide).to_pylist() == expected[1:]


def test_a_table_gets_null_columns_for_what_it_lacks():
    table = cast_table(pa.table({"a": [1]}), pa.schema([("a", pa.float64()), ("b", pa.string())]))
    assert table.to_pylist() == [{"a": 1.0, "b": None}]
