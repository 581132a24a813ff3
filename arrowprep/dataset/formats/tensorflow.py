"""Rows as TensorFlow tensors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arrowprep.dataset.formats.numpy import Array
from arrowprep.dataset.formats.tensors import DEFAULT, TensorFormat, checked, default_kind
from arrowprep.errors import BadArgument

_INT64 = np.dtype(np.int64)


class TensorflowFormat(TensorFormat):
    """Integers are int64 and floats float32; with dtype=None the stored types.

    dtype: of all numbers, a tf.DType or its name
    """

    name: ClassVar[str] = "tensorflow"

    def __init__(self, dtype: Any = DEFAULT) -> None:
        super().__init__()
        try:
            import tensorflow
        except ImportError as error:
            raise ImportError(
                "format 'tensorflow' needs TensorFlow; install it with: pip install tensorflow",
                name="tensorflow",
            ) from error
        self._tf = tensorflow
        self._default = isinstance(dtype, str) and dtype == DEFAULT
        self._dtype = None if self._default or dtype is None else _dtype(tensorflow, dtype)

    @property
    def _nulls_are_nan(self) -> bool:
        return self._dtype is not None and bool(self._dtype.is_floating)

    def _tensor(self, numbers: Array) -> Any:
        if self._dtype is not None:
            kind = np.dtype(self._dtype.as_numpy_dtype)
        else:
            kind = default_kind(numbers.dtype, _INT64) if self._default else numbers.dtype
        return self._tf.constant(checked(numbers, kind, self.name))


def _dtype(tensorflow: Any, dtype: Any) -> Any:
    try:
        return tensorflow.as_dtype(dtype)
    except TypeError as error:
        raise BadArgument(f"dtype {dtype!r} is no dtype of TensorFlow", dtype=str(dtype)) from error
