"""Array2D to Array5D: numbers of one shape a row, stored as lists in lists, shown as NumPy arrays.

On disk a column carries the extension name that `datasets` registers for it, so each library reads
the other's. No type is registered here: that would keep `datasets` from being imported afterwards.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset import dtypes
from arrowprep.dataset.compute import pc
from arrowprep.errors import BadArgument, TypeConflict

Array = np.ndarray[Any, Any]

_EXTENSION = "datasets.features.features.{}ExtensionType"


@dataclass(frozen=True)
class ShapedArray:
    """An array of `shape` a row; the first dimension may be None, and then each row has its own.

    dtype: of the elements, as of a Value. Arrays of text, times and the like are shown as lists

    A row of another shape is a TypeConflict.
    """

    shape: tuple[int | None, ...]
    dtype: str
    id: str | None = field(default=None, repr=False)

    dimensions: ClassVar[int]

    def __post_init__(self) -> None:
        shape = tuple(self.shape)
        if len(shape) != self.dimensions or None in shape[1:]:
            raise BadArgument(
                f"{type(self).__name__} takes a shape of {self.dimensions} numbers, of which only the first "
                f"may be None, not {shape}",
                shape=shape,
            )
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtypes.canonical(self.dtype))
        dtypes.arrow_type(self.dtype)

    @property
    def pa_type(self) -> pa.DataType:
        kind = dtypes.arrow_type(self.dtype)
        for _ in self.shape:
            kind = pa.list_(kind)
        return kind

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def to_dict(self) -> dict[str, Any]:
        return {"shape": self.shape, "dtype": self.dtype, "_type": type(self).__name__}

    @property
    def decode(self) -> bool:
        """Whether rows are shown as arrays."""
        kind = dtypes.arrow_type(self.dtype)
        return bool(pat.is_integer(kind) or pat.is_floating(kind) or pat.is_boolean(kind))

    @property
    def field_metadata(self) -> dict[str, str]:
        """What makes a column of lists one of arrays, for who knows the extension."""
        return {
            "ARROW:extension:name": _EXTENSION.format(type(self).__name__),
            "ARROW:extension:metadata": json.dumps([self.shape, self.dtype]),
        }

    def encode_example(self, value: Any) -> Any:
        """Lists in lists. Raises TypeConflict for another shape."""
        if value is None:
            return None
        try:
            found = np.shape(value)
        except ValueError:
            found = None  # lists of unequal length
        self._check(found)
        return value.tolist() if isinstance(value, np.ndarray) else value

    def decode_example(self, value: Any) -> Any:
        """The array of lists in lists; a null within is nan among floats, None among other objects."""
        if value is None or not self.decode:
            return value
        kind = np.dtype(dtypes.arrow_type(self.dtype).to_pandas_dtype())
        try:
            return np.array(value, kind)
        except (TypeError, ValueError):
            return np.array(value, object)

    def column(self, values: Iterable[Any]) -> pa.Array | None:
        """Arrays of NumPy and None as they are stored, in one copy; None where there is anything else."""
        rows = list(values)
        arrays = [row for row in rows if row is not None]
        if not arrays or not all(isinstance(row, np.ndarray) and row.dtype.kind in "biuf" for row in arrays):
            return None
        for array in arrays:
            self._check(array.shape)
        if 0 in self.shape[1:] or sum(array.size for array in arrays) >= 1 << 31:
            return None  # rows that the elements do not count, or offsets that do not fit
        flat = np.concatenate([array.reshape(-1) for array in arrays])
        column = pa.array(flat).cast(dtypes.arrow_type(self.dtype))
        for size in reversed(self.shape[1:]):
            steps = np.arange(0, len(column) + 1, size or 1, dtype=np.int32)
            column = pa.ListArray.from_arrays(steps, column)
        stops = np.cumsum([0, *(0 if row is None else len(row) for row in rows)])
        nulls = pa.array([row is None for row in rows])
        return pa.ListArray.from_arrays(pa.array(stops, pa.int32()), column, mask=nulls)

    def fitted(self, column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """The same column of lists. Raises TypeConflict where a row has another shape."""
        inside = column
        for depth, size in enumerate(self.shape):
            lengths = pc.list_value_length(inside)
            if depth and lengths.null_count:
                raise TypeConflict(f"a row of {self!r} has a null for a list", shape=self.shape)
            if size is not None:
                for found in pc.unique(lengths).drop_null().to_pylist():
                    if found != size:
                        self._check((*self.shape[:depth], found, *self.shape[depth + 1 :]))
            inside = pc.list_flatten(inside)
        return column

    def rows(self, column: pa.Array | pa.ChunkedArray) -> list[Any]:
        """Rows as arrays in memory of their own, None for null."""
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        return [row for chunk in chunks for row in self._rows(chunk)]

    def _rows(self, array: pa.Array) -> list[Any]:
        flat = array.flatten()
        for _ in self.shape[1:]:
            flat = flat.flatten()
        step = math.prod(size or 0 for size in self.shape[1:])
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        stops = np.concatenate([[0], np.cumsum(lengths)])
        if (flat.null_count and not pat.is_floating(flat.type)) or len(flat) != stops[-1] * step:
            return [self.decode_example(row) for row in array.to_pylist()]  # nulls within, or another shape
        numbers = np.array(flat.to_numpy(zero_copy_only=False))
        rows: list[Any] = [
            numbers[start * step : stop * step].reshape(stop - start, *self.shape[1:])
            for start, stop in pairwise(stops.tolist())
        ]
        if array.null_count:
            there = array.is_valid().to_pylist()
            return [row if valid else None for row, valid in zip(rows, there, strict=True)]
        return rows

    def _check(self, found: Sequence[int | None] | None) -> None:
        if found is None or len(found) != self.dimensions:
            shown = "lists of unequal length" if found is None else f"{len(found)} dimensions"
            raise TypeConflict(f"a row of {self!r} has {shown}", shape=self.shape)
        if any(size not in (None, given) for size, given in zip(self.shape, found, strict=True)):
            raise TypeConflict(f"a row of {self!r} has the shape {tuple(found)}", shape=self.shape)


class Array2D(ShapedArray):
    dimensions = 2


class Array3D(ShapedArray):
    dimensions = 3


class Array4D(ShapedArray):
    dimensions = 4


class Array5D(ShapedArray):
    dimensions = 5


KINDS: dict[str, type[ShapedArray]] = {kind.__name__: kind for kind in (Array2D, Array3D, Array4D, Array5D)}
_BY_EXTENSION = {_EXTENSION.format(name): kind for name, kind in KINDS.items()}


def of_extension(name: str | None, metadata: str | bytes | None) -> ShapedArray | None:
    """The feature that an extension type says; None where it is not one of ours."""
    kind = _BY_EXTENSION.get(name or "")
    if kind is None or metadata is None:
        return None
    shape, dtype = json.loads(metadata)
    return kind(tuple(shape), dtype)
