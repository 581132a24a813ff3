"""The table of formats, and the promise of each of them."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.dataset.formats import FORMATS, Format, canonical_name, class_of, make
from arrowprep.errors import BadArgument
from tests.dataset.formats.contract import FormatContract, plain


class TestPython(FormatContract):
    @pytest.fixture
    def shown(self) -> Format:
        return make(None)

    def as_row(self, row: Any) -> dict[str, Any]:
        return {name: plain(value) for name, value in row.items()}

    def test_json_is_what_was_written(self, shown: Format) -> None:
        assert self.json_rows(shown, True) == [{"a": [1, "x"]}, None, [1.5]]

    def test_values_are_pythons_own_types(self, shown: Format) -> None:
        table = pa.table(
            {"i": pa.array([1], pa.int8()), "f": pa.array([0.5], pa.float32()), "b": [True], "s": ["x"]}
        )
        row = shown.row(table, {})
        assert [type(value) for value in row.values()] == [int, float, bool, str]


class TestNumpy(FormatContract):
    @pytest.fixture
    def shown(self) -> Format:
        return make("numpy")

    def as_row(self, row: Any) -> dict[str, Any]:
        return {name: plain(value) for name, value in row.items()}

    def test_json_is_what_was_written(self, shown: Format) -> None:
        assert self.json_rows(shown, True) == [{"a": [1, "x"]}, None, [1.5]]

    def kinds(self, batch: Any) -> Any:
        return {name: self.described(values) for name, values in batch.items()}

    def described(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.described(inner) for key, inner in value.items()}
        if not isinstance(value, np.ndarray):
            return type(value)
        return (
            value.dtype,
            value.shape,
            [self.described(it) for it in value] if value.dtype == object else None,
        )


class TestArrow(FormatContract):
    @pytest.fixture
    def shown(self) -> Format:
        return make("arrow")

    def as_rows(self, batch: Any) -> dict[str, list[Any]]:
        return {name: self.as_list(batch[name]) for name in batch.column_names}

    def as_list(self, column: Any) -> list[Any]:
        return [plain(value) for value in column.to_pylist()]

    def json_rows(self, shown: Format, decode: bool) -> list[Any]:
        return super().json_rows(shown, False)

    def test_nothing_is_copied(self, shown: Format) -> None:
        table = pa.table({"x": [1, 2]})
        assert shown.batch(table, {}) is table
        assert shown.row(table, {}) is table
        assert shown.column(table["x"], None) == table["x"]


class TestPandas(FormatContract):
    @pytest.fixture
    def shown(self) -> Format:
        pytest.importorskip("pandas", reason="pandas is not installed")
        return make("pandas")

    def as_rows(self, batch: Any) -> dict[str, list[Any]]:
        return {name: self.as_list(batch[name]) for name in batch.columns}

    def test_json_is_what_was_written(self, shown: Format) -> None:
        assert self.json_rows(shown, True) == [{"a": [1, "x"]}, None, [1.5]]

    def test_integers_beside_null_stay_integers(self, shown: Format) -> None:
        series = shown.column(pa.chunked_array([[2**62 + 1, None]]), None)
        assert list(series) == [2**62 + 1, None]

    def test_metadata_of_another_frame_is_not_followed(self, shown: Format) -> None:
        import pandas as pd

        table = pa.Table.from_pandas(pd.DataFrame({"x": [1, 2]}, index=pd.Index([5, 6], name="key")))
        assert list(shown.batch(table, {}).columns) == ["x", "key"]


class TestPolars(FormatContract):
    @pytest.fixture
    def shown(self) -> Format:
        pytest.importorskip("polars", reason="polars is not installed")
        return make("polars")

    def as_rows(self, batch: Any) -> dict[str, list[Any]]:
        return {name: self.as_list(batch[name]) for name in batch.columns}

    def as_list(self, column: Any) -> list[Any]:
        values = [plain(value) for value in column.to_list()]
        if str(column.dtype).startswith("Map"):  # since 2.1; before, a list of structs
            return [value if value is None else list(value.items()) for value in values]
        return values

    def json_rows(self, shown: Format, decode: bool) -> list[Any]:
        return super().json_rows(shown, False)

    def test_integers_beside_null_stay_integers(self, shown: Format) -> None:
        series = shown.column(pa.chunked_array([[2**62 + 1, None]]), None)
        assert series.to_list() == [2**62 + 1, None]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (None, "python"),
        ("np", "numpy"),
        ("pa", "arrow"),
        ("pyarrow", "arrow"),
        ("pd", "pandas"),
        ("numpy", "numpy"),
        ("pl", "polars"),
        ("pt", "torch"),
        ("pytorch", "torch"),
        ("tf", "tensorflow"),
    ],
)
def test_each_format_has_one_name(name: str | None, expected: str) -> None:
    assert canonical_name(name) == expected
    assert class_of(expected).name == expected


def test_the_table_names_each_format_as_it_names_itself() -> None:
    assert {name: class_of(name).name for name in FORMATS} == {name: name for name in FORMATS}


def test_an_unknown_format_lists_the_known() -> None:
    with pytest.raises(BadArgument, match="'nunpy' is none of python, numpy, arrow, pandas"):
        make("nunpy")


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(BadArgument, match="'arrow' does not take dtype='int8'"):
        make("arrow", dtype="int8")
    with pytest.raises(BadArgument, match="'numpy' does not take dtype='imt8'"):
        make("numpy", dtype="imt8")


def test_absent_pandas_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_pandas(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match=r"pip install arrowprep\[pandas\]"):
        make("pandas")
