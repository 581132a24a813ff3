"""Tensors: memory of their own, the library's usual types, no integer altered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.dataset.features import Features
from arrowprep.dataset.formats import Format, make
from arrowprep.errors import BadArgument, TypeConflict
from tests.dataset.formats.contract import FormatContract, plain


def without_tensors(value: Any) -> Any:
    if isinstance(value, list):
        return [without_tensors(item) for item in value]
    if isinstance(value, dict):
        return {key: without_tensors(item) for key, item in value.items()}
    if hasattr(value, "numpy") and not hasattr(value, "tolist"):
        return value.numpy().tolist()  # TensorFlow
    return value.tolist() if hasattr(value, "tolist") else value


class TensorContract(FormatContract):
    """What tensor formats promise, with the stored types: give `shown` and `name`."""

    name: str

    def as_rows(self, batch: Any) -> dict[str, list[Any]]:
        return {name: self.as_list(values) for name, values in batch.items()}

    def as_row(self, row: Any) -> dict[str, Any]:
        return {name: plain(without_tensors(value)) for name, value in row.items()}

    def as_list(self, column: Any) -> list[Any]:
        return [plain(value) for value in without_tensors(column)]

    def kinds(self, batch: Any) -> Any:
        return {
            name: (type(values), getattr(values, "dtype", None), getattr(values, "shape", None))
            for name, values in batch.items()
        }

    def shows(self, values: Any, kind: pa.DataType | None = None, **options: Any) -> Any:
        column = pa.chunked_array([pa.array(values, kind)])
        feature = Features.from_arrow_schema(pa.schema({"x": column.type}))["x"]
        return make(self.name, **options).column(column, feature)

    def test_json_is_what_was_written(self, shown: Format) -> None:
        assert self.json_rows(shown, True) == [{"a": [1, "x"]}, None, [1.5]]

    def test_numbers_beside_null_are_floats_only_on_request(self, shown: Format) -> None:
        assert without_tensors(self.shows([2**31 - 1, None])) == [2**31 - 1, None]
        assert plain(without_tensors(self.shows([7, None], dtype="float32"))) == [7.0, None]
        assert plain(without_tensors(self.shows([[7, None], [1, 2]], dtype="float32"))) == [[7, None], [1, 2]]
        assert self.shows([None, None], pa.list_(pa.int64()), dtype="float32") == [None, None]

    def test_lists_of_one_length_are_one_tensor(self, shown: Format) -> None:
        assert tuple(self.shows([[1, 2], [3, 4], [5, 6]]).shape) == (3, 2)
        ragged = self.shows([[1, 2], [3]])
        assert [tuple(row.shape) for row in ragged] == [(2,), (1,)]

    def test_numbers_in_structs_are_tensors(self, shown: Format) -> None:
        row = self.shows([{"a": 1, "b": ["x"], "c": [0.5, 1]}, None])[0]
        assert row["b"] == ["x"]
        assert tuple(row["c"].shape) == (2,)
        listed = self.shows([[{"n": 1}, {"n": 2}], None, []])
        assert without_tensors(listed) == [[{"n": 1}, {"n": 2}], None, []]

    def test_a_number_that_does_not_fit_is_an_error(self, shown: Format) -> None:
        with pytest.raises(TypeConflict, match="18446744073709551615 does not fit int"):
            self.shows([1, 2**64 - 1], pa.uint64())
        with pytest.raises(TypeConflict, match="-200 does not fit int8"):
            self.shows([1, -200], dtype="int8")

    def test_an_unknown_dtype_is_refused(self, shown: Format) -> None:
        with pytest.raises(BadArgument, match="'imt8'"):
            make(self.name, dtype="imt8")


class TestTorch(TensorContract):
    name = "torch"

    @pytest.fixture
    def shown(self) -> Format:
        pytest.importorskip("torch", reason="torch is not installed")
        return make("torch", dtype=None)

    def test_the_usual_types_are_int64_and_float32(self, shown: Format) -> None:
        import torch

        for kind in (pa.int8(), pa.uint16(), pa.int64(), pa.uint64()):
            assert self.shows([1, 2], kind).dtype == torch.int64
        for kind in (pa.float16(), pa.float32(), pa.float64()):
            assert self.shows(np.array([0.5, 1.0]), kind).dtype == torch.float32
        assert self.shows([True, False]).dtype == torch.bool
        assert self.shows([0.1], dtype=None).dtype == torch.float64
        assert self.shows([1, 2], dtype=torch.bfloat16).tolist() == [1.0, 2.0]
        assert self.shows([0.5], dtype="float16").dtype == torch.float16

    def test_writing_to_a_tensor_changes_nothing_else(self, shown: Format) -> None:
        table = pa.table({"x": [1, 2, 3, 4], "f": [[1.0], [2.0], [3.0], [4.0]]})
        features = Features.from_arrow_schema(table.schema)
        first, second = shown.batches(table, features, 2)
        first["x"] += 100
        first["f"].zero_()
        shown.row(table, features)["x"].add_(100)
        assert second["x"].tolist() == [3, 4]
        assert table.to_pydict() == {"x": [1, 2, 3, 4], "f": [[1.0], [2.0], [3.0], [4.0]]}

    def test_a_device_is_where_tensors_lie(self, shown: Format) -> None:
        assert self.shows([1], device="meta").device.type == "meta"


class TestJax(TensorContract):
    name = "jax"

    @pytest.fixture
    def shown(self) -> Any:
        jax = pytest.importorskip("jax", reason="jax is not installed")
        with jax.enable_x64(True):
            yield make("jax", dtype=None)

    def test_the_usual_types_follow_the_setting(self, shown: Format) -> None:
        import jax

        assert self.shows([1]).dtype == np.int64
        assert self.shows([0.5]).dtype == np.float32
        with jax.enable_x64(False):
            assert self.shows([1]).dtype == np.int32
            with pytest.raises(TypeConflict, match="does not fit int32"):
                self.shows([2**40])


class TestTensorflow(TensorContract):
    name = "tensorflow"

    @pytest.fixture
    def shown(self) -> Format:
        pytest.importorskip("tensorflow", reason="tensorflow is not installed")
        return make("tensorflow", dtype=None)

    def test_the_usual_types_are_int64_and_float32(self, shown: Format) -> None:
        assert self.shows([1], pa.int8()).dtype.name == "int64"
        assert self.shows([0.5]).dtype.name == "float32"
