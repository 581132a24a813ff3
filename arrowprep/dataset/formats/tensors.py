"""What the formats of tensor libraries share: which values become tensors, and what the others are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset.feature_kinds import Json, LargeList, List, needs_decoding
from arrowprep.dataset.formats.numpy import Array, NumpyFormat, inner_feature, plain_layout
from arrowprep.dataset.formats.python import to_list
from arrowprep.dataset.image import Image
from arrowprep.dataset.shaped import ShapedArray
from arrowprep.dataset.widen import is_list
from arrowprep.errors import TypeConflict

DEFAULT = "default"


class TensorFormat:
    """A batch is a dict of tensors, or of lists where values are no tensor; a row is a dict of them.

    numbers       tensors in memory of their own: writing to them changes no file, and no other reader.
                  The library's usual types by default, `dtype=` casts, `dtype=None` keeps the stored ones.
                  An integer that the type cannot hold is an error, never another number
    null          nan among floats, and among all numbers where dtype= is a float. Otherwise such rows are
                  Python's numbers and None, for no tensor of integers or booleans has a null
    lists         of numbers of one length: one tensor of one more dimension; else a list of tensors
    structs       dicts; their numbers are tensors
    pictures      their pixels (height, width) or (height, width, channels)
    text, bytes, times, decimals   Python objects
    """

    name: ClassVar[str]
    by_column: ClassVar[bool] = True

    def __init__(self) -> None:
        self._numpy = NumpyFormat()

    # -- what a library says of itself ------------------------------------------------------------

    def _tensor(self, numbers: Array) -> Any:
        """The numbers as a tensor with memory of its own."""
        raise NotImplementedError

    @property
    def _nulls_are_nan(self) -> bool:
        """Whether all numbers become floats, which have a place for null."""
        raise NotImplementedError

    # -- the format -------------------------------------------------------------------------------

    def row(self, table: pa.Table, features: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values[0] for name, values in self.batch(table, features).items()}

    def column(self, column: pa.ChunkedArray, feature: Any) -> Any:
        if _holds_numbers(column.type, feature):
            return self._numbers(self._numpy.column(column, feature), _depth(column.type))
        if not _holds_structs(column.type, feature):
            return to_list(column, feature)
        return [row for chunk in column.chunks for row in self._rows(chunk, feature)]

    def batch(self, table: pa.Table, features: Mapping[str, Any]) -> dict[str, Any]:
        names = table.column_names
        return {name: self.column(table.column(at), features.get(name)) for at, name in enumerate(names)}

    def gathered(self, numbers: Array) -> Any:
        """A column of numbers that NumPy has gathered already: what `column` would show of these rows."""
        return self._numbers(numbers, 1)

    def batches(self, table: pa.Table, features: Mapping[str, Any], size: int) -> Iterator[dict[str, Any]]:
        cuts = {
            name: self._cuts(table.column(at), features.get(name), size)
            for at, name in enumerate(table.column_names)
        }
        for start in range(0, table.num_rows, size):
            yield {name: cut(start) for name, cut in cuts.items()}

    def _cuts(self, column: pa.ChunkedArray, feature: Any, size: int) -> Callable[[int], Any]:
        """What makes the batch that begins at a row.

        Numbers are cut from the NumPy view of all rows: a tensor holds the memory of its batch alone.
        """
        if not _holds_numbers(column.type, feature):
            return lambda start: self.column(column.slice(start, size), feature)
        cut, depth = self._numpy.cuts(column, feature, size), _depth(column.type)
        return lambda start: self._numbers(cut(start), depth)

    def _numbers(self, values: Array, depth: int) -> Any:
        """What NumPy shows: numbers as tensors, objects as a list of what is in them.

        depth: of the lists in the column; objects of as many dimensions are numbers beside nulls
        """
        if values.dtype.kind != "O":
            return self._tensor(values)
        if self._nulls_are_nan and values.ndim == depth + 1:
            return self._tensor(values.astype(np.float64))
        return [
            self._numbers(value, depth - 1) if isinstance(value, np.ndarray) else value for value in values
        ]

    def _rows(self, array: pa.Array, feature: Any) -> list[Any]:
        """Structs as dicts, and lists of them as lists."""
        array = plain_layout(array) if isinstance(array, pa.ExtensionArray) else array
        if pat.is_struct(array.type):
            known = feature if isinstance(feature, dict) else {}
            names = [field.name for field in array.type]
            fields = [
                self.column(pa.chunked_array([array.field(at)]), known.get(name))
                for at, name in enumerate(names)
            ]
            rows = [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)]
            return [
                row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)
            ]
        inner = inner_feature(feature)
        return [self.column(pa.chunked_array([row.values]), inner) if row.is_valid else None for row in array]


def checked(numbers: Array, kind: np.dtype[Any], name: str) -> Array:
    """A copy as `kind`; TypeConflict where an integer would become another number."""
    if numbers.dtype is not kind and not always_fits(numbers.dtype, kind):
        limits = np.iinfo(kind)
        if numbers.size and (int(numbers.max()) > limits.max or int(numbers.min()) < limits.min):
            odd = numbers.max() if int(numbers.max()) > limits.max else numbers.min()
            raise TypeConflict(
                f"{odd} does not fit {kind}, which format {name!r} makes of {numbers.dtype}; "
                "dtype=None keeps the stored type",
                dtype=str(kind),
            )
    return np.array(numbers, kind)  # always a copy


@lru_cache
def always_fits(stored: np.dtype[Any], kind: np.dtype[Any]) -> bool:
    """Whether no integer of the stored type can be another number as this kind."""
    are_integers = kind.kind in "iu" and stored.kind in "iu"
    return not are_integers or np.can_cast(stored, kind)


@lru_cache
def default_kind(stored: np.dtype[Any], integers: np.dtype[Any]) -> np.dtype[Any]:
    """What the libraries make of a number when nothing is said: one width of integers, float32."""
    if stored.kind == "f":
        return np.dtype(np.float32)
    return integers if stored.kind in "iu" else stored


def _holds_numbers(kind: pa.DataType, feature: Any) -> bool:
    """Whether values are numbers, or lists of them at any depth."""
    if needs_decoding(feature) and not isinstance(feature, (List, LargeList)):
        return isinstance(feature, (Image, ShapedArray))
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_numbers(kind.storage_type, None)
    if pat.is_dictionary(kind) or is_list(kind) or str(kind).startswith(("list_view", "large_list_view")):
        return _holds_numbers(kind.value_type, inner_feature(feature))
    return bool(pat.is_integer(kind) or pat.is_floating(kind) or pat.is_boolean(kind))


def _depth(kind: pa.DataType) -> int:
    """How many lists are around the numbers."""
    if isinstance(kind, pa.BaseExtensionType):
        return _depth(kind.storage_type)
    if pat.is_dictionary(kind):
        return _depth(kind.value_type)
    return 1 + _depth(kind.value_type) if hasattr(kind, "value_type") else 0


def _holds_structs(kind: pa.DataType, feature: Any) -> bool:
    """Whether values are structs with fields, or lists of them, that show as they are stored."""
    if isinstance(feature, (Json, Image)) and feature.decode:
        return False
    if is_list(kind):
        return _holds_structs(kind.value_type, inner_feature(feature))
    return bool(pat.is_struct(kind) and kind.num_fields)
