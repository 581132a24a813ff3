"""NumPy arrays: views where the layouts agree, the stored dtype always."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.dataset.features import Features
from arrowprep.dataset.formats import make


def column(values: Any, kind: pa.DataType | None = None, **options: Any) -> Any:
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind)
    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    feature = Features.from_arrow_schema(pa.schema({"x": chunked.type}))["x"]
    return make("numpy", **options).column(chunked, feature)


def row(values: Any, kind: pa.DataType | None = None) -> Any:
    return make("numpy").row(pa.table({"x": pa.array(values, kind)}), {})["x"]


def address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.int8(), pa.float64(), pa.float32(), pa.uint16(), pa.float16()]
)
def test_numbers_are_read_only_views_of_the_buffer(kind: pa.DataType) -> None:
    array = pa.array(np.arange(8), pa.int64()).cast(kind)
    shown = column(array.slice(2, 4))
    width = kind.bit_width // 8
    assert address(shown) == array.buffers()[1].address + 2 * width
    assert not shown.flags.writeable
    assert shown.dtype == kind.to_pandas_dtype()
    assert shown.tolist() == [2, 3, 4, 5]


def test_times_are_views_too() -> None:
    array = pa.array([1, 2, 3], pa.timestamp("ms"))
    shown = column(array)
    assert address(shown) == array.buffers()[1].address
    assert shown.dtype == np.dtype("M8[ms]")
    assert not shown.flags.writeable
    assert column([1, None], pa.duration("s")).dtype == np.dtype("m8[s]")
    assert np.isnat(column([1, None], pa.timestamp("us", "UTC"))).tolist() == [False, True]


def test_fixed_size_lists_are_one_reshape_of_a_view() -> None:
    array = pa.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], pa.list_(pa.int32(), 3))
    shown = column(array.slice(1))
    assert shown.shape == (2, 3)
    assert shown.dtype == np.int32
    assert address(shown) == array.values.buffers()[1].address + 12
    assert shown.tolist() == [[4, 5, 6], [7, 8, 9]]


def test_lists_of_one_length_stack_to_views() -> None:
    array = pa.array([[1, 2], [3, 4], [5, 6]])
    shown = column(array.slice(1, 2))
    assert shown.shape == (2, 2)
    assert address(shown) == array.values.buffers()[1].address + 16
    deep = column([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]])
    assert deep.shape == (2, 1, 3)


def test_ragged_lists_are_objects_that_are_views() -> None:
    array = pa.array([[1, 2], [3], [], [4, 5, 6]])
    shown = column(array.slice(1))
    assert shown.dtype == object
    assert [rows.tolist() for rows in shown] == [[3], [], [4, 5, 6]]
    assert [rows.dtype for rows in shown] == [np.int64] * 3
    base = array.values.buffers()[1].address
    assert [address(shown[0]), address(shown[2])] == [base + 16, base + 24]


def test_a_null_row_of_a_list_is_none() -> None:
    assert [None if rows is None else rows.tolist() for rows in column([[1, 2], None, [3, 4]])] == [
        [1, 2],
        None,
        [3, 4],
    ]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int8(), pa.bool_(), pa.timestamp("ns")])
def test_no_rows_keep_the_schemas_dtype(kind: pa.DataType) -> None:
    expected = column(pa.array([1, 0], pa.int64()).cast(kind, safe=False)).dtype
    assert column(pa.chunked_array([], kind)).dtype == expected
    assert column([], pa.list_(kind)).dtype == expected
    assert column([], pa.list_(kind, 3)).shape == (0, 3)


def test_large_floats_survive() -> None:
    assert column([1e300, 0.1]).tolist() == [1e300, 0.1]


def test_integers_beside_null_stay_integers() -> None:
    shown = column([2**62 + 1, None, -1])
    assert shown.dtype == object
    assert shown.tolist() == [2**62 + 1, None, -1]
    assert [type(value) for value in shown] == [int, type(None), int]
    assert column([True, None]).tolist() == [True, None]


def test_null_among_floats_is_nan_of_the_stored_dtype() -> None:
    shown = column([0.5, None], pa.float32())
    assert shown.dtype == np.float32
    assert np.isnan(shown).tolist() == [False, True]


def test_chunks_of_different_kinds_join() -> None:
    chunks = pa.chunked_array([[1, 2], [None]], pa.int64())
    assert column(chunks).tolist() == [1, 2, None]
    ragged = pa.chunked_array([[[1, 2], [3, 4]], [[5]]], pa.list_(pa.int64()))
    assert [rows.tolist() for rows in column(ragged)] == [[1, 2], [3, 4], [5]]
    equal = pa.chunked_array([[[1, 2]], [[3, 4]]], pa.list_(pa.int64()))
    assert column(equal).tolist() == [[1, 2], [3, 4]]


def test_text_is_objects_so_one_long_text_costs_no_more_than_itself() -> None:
    shown = column(["a\0", "b" * 100_000, None])
    assert shown.dtype == object
    assert shown[0] == "a\0"
    assert shown[2] is None
    assert column([["a", "b"], ["c", "d"]]).shape == (2, 2)


def test_a_row_has_scalars_and_arrays() -> None:
    assert type(row([3], pa.int16())) is np.int16
    assert type(row([0.5])) is np.float64
    assert type(row([True])) is np.bool_
    assert type(row(["a"])) is np.str_
    assert row([None], pa.int64()) is None
    assert row([[1, 2]]).tolist() == [1, 2]
    shown = row([{"a": 1, "b": [1, 2]}])
    assert type(shown["a"]) is np.int64
    assert shown["b"].dtype == np.int64


def test_a_dtype_casts_numbers_and_nothing_else() -> None:
    assert column([1, 2], dtype="float32").dtype == np.float32
    assert column([[1], [2, 3]], dtype=np.int8)[1].dtype == np.int8
    assert column(["a"], dtype="float32").tolist() == ["a"]
    assert column([1, 2], pa.int32(), dtype="int32").flags.writeable is False  # nothing to do: still a view
    with_null = column([1, None], dtype="float64")
    assert with_null[0] == 1.0
    assert np.isnan(with_null[1])
    assert column([1, None], dtype="int32").tolist() == [1, None]
