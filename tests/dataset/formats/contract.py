"""What every format promises: it agrees with Python on values, for every type; inherit it and give `make`."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.dataset.features import Features, Json
from arrowprep.dataset.formats import Format

UTC = datetime.timezone.utc
MOMENTS = [datetime.datetime(2020, 1, 2, 3, 4, 5, 600), datetime.datetime(1969, 12, 31), None]

COLUMNS: dict[str, pa.Array] = {
    "int64": pa.array([1, -2, 2**62 + 1]),
    "int64 and null": pa.array([1, None, 2**62 + 1]),
    "int8": pa.array([1, -2, 3], pa.int8()),
    "uint64": pa.array([1, 2**64 - 1, 0], pa.uint64()),
    "bool": pa.array([True, False, True]),
    "bool and null": pa.array([True, None, False]),
    "float16": pa.array(np.array([0.5, 1, -2], "f2")),
    "float32": pa.array([0.5, None, -2.0], pa.float32()),
    "float64": pa.array([1e300, 0.1, -0.0]),
    "string": pa.array(["", None, "猫 cat"]),
    "large_string": pa.array(["a", None, "猫 cat"], pa.large_string()),
    "string_view": pa.array(["a", None, "longer than twelve bytes"], pa.string_view()),
    "binary": pa.array([b"a\0", None, b""]),
    "fixed binary": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "dictionary": pa.array(["a", None, "a"]).dictionary_encode(),
    "dictionary of lists": pa.DictionaryArray.from_arrays([0, None, 1], pa.array([[1], [2, 3]])),
    "null": pa.nulls(3),
    "timestamp": pa.array(MOMENTS, pa.timestamp("us")),
    "timestamp with zone": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
    "timestamp in seconds": pa.array([0, None, -1], pa.timestamp("s")),
    "date32": pa.array([datetime.date(2020, 1, 2), None, datetime.date(1969, 1, 1)]),
    "date64": pa.array([datetime.date(2020, 1, 2), None, datetime.date(1969, 1, 1)], pa.date64()),
    "time": pa.array([datetime.time(1, 2, 3), None, datetime.time(0)], pa.time64("us")),
    "duration": pa.array([datetime.timedelta(1), None, datetime.timedelta(-1, 5)], pa.duration("us")),
    "decimal": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal(-2)], pa.decimal128(9, 2)),
    "equal lists": pa.array([[1, 2], [3, 4], [5, 6]]),
    "ragged lists": pa.array([[1, 2], [], [3]]),
    "lists and null": pa.array([[1], None, [2]]),
    "lists of null": pa.array([[1, None], [None, 2], [3, 4]]),
    "empty lists": pa.array([[], [], []], pa.list_(pa.int32())),
    "large lists": pa.array([["a"], None, ["b", "c"]], pa.large_list(pa.string())),
    "fixed lists": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int16(), 2)),
    "fixed lists and null": pa.array([[1, 2], None, [5, 6]], pa.list_(pa.int16(), 2)),
    "fixed lists twice": pa.array([[[1, 2]], [[3, 4]], [[5, 6]]], pa.list_(pa.list_(pa.int8(), 2), 1)),
    "equal lists of lists": pa.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 0], [1, 2]]]),
    "ragged lists of lists": pa.array([[[1], [2, 3]], [], [[4], []]]),
    "lists of text": pa.array([["a", "b"], ["c", None], ["", "d"]]),
    "struct": pa.array([{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": "z"}]),
    "struct and null": pa.array([{"a": 1, "b": ["x"]}, None, {"a": 2, "b": []}]),
    "empty struct": pa.array([{}, None, {}], pa.struct([])),
    "lists of structs": pa.array([[{"r": "x", "n": [1]}], [], [{"r": "a", "n": []}, {"r": None, "n": None}]]),
    "list view": pa.array([[1], None, [2, 3]], pa.list_view(pa.int64())),
    "map": pa.array([[("a", 1)], None, [("b", 2), ("c", None)]], pa.map_(pa.string(), pa.int64())),
}  # fmt: skip


def plain(value: Any) -> Any:
    """A value of any library as Python's; nan and NaT are None, times naive and in UTC."""
    if type(value).__module__.startswith("pandas"):
        value = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    if isinstance(value, np.ndarray | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = value.astype(
            value.dtype.str.partition("[")[0] + ("[D]" if value.dtype.str.endswith("[D]") else "[us]")
        )
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, datetime.datetime) and value.tzinfo:
        value = value.astimezone(UTC).replace(tzinfo=None)
    is_missing = value != value or type(value).__name__ in ("NaTType", "NAType")
    return None if is_missing else value


def layouts(array: pa.Array) -> dict[str, pa.ChunkedArray]:
    """The same rows whole, sliced out of more, in chunks, and none of them."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        padded = pa.DictionaryArray.from_arrays(
            pa.concat_arrays([array.indices[1:], array.indices, array.indices[:1]]), array.dictionary
        )
    else:
        padded = pa.concat_arrays([array[1:], array, array[:1]])
    return {
        "whole": pa.chunked_array([array]),
        "sliced": pa.chunked_array([padded.slice(len(array) - 1, len(array))]),
        "chunked": pa.chunked_array([array[:1], array[1:1], array[1:]]),
        "one row": pa.chunked_array([array[2:]]),
        "all null": pa.chunked_array([pa.nulls(2, kind)]),
        "empty": pa.chunked_array([array[:0]]),
        "no chunks": pa.chunked_array([], kind),
    }


def rows_of(column: pa.ChunkedArray) -> list[Any]:
    """The oracle: pyarrow's own objects."""
    return [plain(value) for value in column.to_pylist()]


def rebuilt(kind: str, value: Any) -> Any:
    """What `plain` cannot know: date64 has the day alone."""
    return value.date() if kind == "date64" and isinstance(value, datetime.datetime) else value


class FormatContract:
    """Give a fixture `shown`, a Format."""

    def as_rows(self, batch: Any) -> dict[str, list[Any]]:
        """A batch of this format as lists of Python objects."""
        return {name: [plain(value) for value in batch[name]] for name in batch}

    def as_row(self, row: Any) -> dict[str, Any]:
        return {name: values[0] for name, values in self.as_rows(row).items()}

    def as_list(self, column: Any) -> list[Any]:
        return [plain(value) for value in column]

    @pytest.mark.parametrize("kind", COLUMNS)
    def test_values_are_those_of_python(self, shown: Format, kind: str) -> None:
        for layout, column in layouts(COLUMNS[kind]).items():
            table = pa.table({"x": column, "n": pa.array(range(len(column)))})
            features = Features.from_arrow_schema(table.schema)
            expected = rows_of(column)
            batch = self.as_rows(shown.batch(table, features))
            assert [rebuilt(kind, value) for value in batch["x"]] == expected, layout
            assert batch["n"] == list(range(len(column)))
            values = self.as_list(shown.column(column, features["x"]))
            assert [rebuilt(kind, value) for value in values] == expected, layout
            for at in range(len(column)):
                row = self.as_row(shown.row(table.slice(at, 1), features))
                assert rebuilt(kind, row["x"]) == expected[at], layout

    @pytest.mark.parametrize("kind", COLUMNS)
    def test_batches_are_what_each_would_be_alone(self, shown: Format, kind: str) -> None:
        for layout, column in layouts(COLUMNS[kind]).items():
            table = pa.table({"x": column, "n": pa.array(range(len(column)))})
            features = Features.from_arrow_schema(table.schema)
            for size in (1, 2, 5):
                batches = list(shown.batches(table, features, size))
                alone = [shown.batch(table.slice(at, size), features) for at in range(0, len(column), size)]
                assert [self.as_rows(it) for it in batches] == [self.as_rows(it) for it in alone], layout
                assert [self.kinds(it) for it in batches] == [self.kinds(it) for it in alone], layout

    def kinds(self, batch: Any) -> Any:
        """What else should agree between batches: dtypes, shapes."""
        return type(batch)

    def test_a_table_without_columns_is_shown(self, shown: Format) -> None:
        assert len(shown.batch(pa.table({}), {})) == 0

    def json_rows(self, shown: Format, decode: bool) -> list[Any]:
        values = [{"a": [1, "x"]}, None, [1.5]]
        kind = Json(decode).pa_type
        texts = pa.array([None if v is None else json.dumps(v) for v in values])
        column = (
            pa.ExtensionArray.from_storage(kind, texts) if isinstance(kind, pa.BaseExtensionType) else texts
        )
        features: Mapping[str, Any] = {"x": Json(decode)}
        return self.as_rows(shown.batch(pa.table({"x": column}), features))["x"]

    def test_json_that_is_not_decoded_is_text(self, shown: Format) -> None:
        assert self.json_rows(shown, False) == ['{"a": [1, "x"]}', None, "[1.5]"]
