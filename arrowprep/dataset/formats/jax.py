"""Rows as JAX arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arrowprep.dataset.formats.numpy import Array
from arrowprep.dataset.formats.tensors import DEFAULT, TensorFormat, checked, default_kind
from arrowprep.errors import BadArgument


class JaxFormat(TensorFormat):
    """Integers are int32, or int64 where JAX is set to 64 bits; floats are float32.

    With dtype=None the stored types, which JAX itself narrows unless it is set to 64 bits: an
    integer that would not survive is an error.

    dtype: of all numbers, as NumPy or JAX name it
    device: where the arrays lie
    """

    name: ClassVar[str] = "jax"

    def __init__(self, dtype: Any = DEFAULT, device: Any = None) -> None:
        super().__init__()
        try:
            import jax
        except ImportError as error:
            raise ImportError(
                "format 'jax' needs JAX; install it with: pip install jax", name="jax"
            ) from error
        self._jax = jax
        self._default = isinstance(dtype, str) and dtype == DEFAULT
        self._dtype = None if self._default or dtype is None else _dtype(jax, dtype)
        self._device = device

    @property
    def _nulls_are_nan(self) -> bool:
        return self._dtype is not None and bool(self._jax.numpy.issubdtype(self._dtype, np.floating))

    def _tensor(self, numbers: Array) -> Any:
        wanted = self._dtype
        if wanted is None:
            integers = np.dtype(np.int64 if self._jax.config.jax_enable_x64 else np.int32)
            wanted = default_kind(numbers.dtype, integers) if self._default else numbers.dtype
        kind = self._jax.dtypes.canonicalize_dtype(wanted)
        return self._jax.device_put(checked(numbers, kind, self.name), self._device)


def _dtype(jax: Any, dtype: Any) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = jax.numpy.dtype(dtype)
    except TypeError as error:
        raise BadArgument(f"dtype {dtype!r} is no dtype of JAX", dtype=str(dtype)) from error
    return found
