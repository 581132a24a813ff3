"""One column of a batch as a tensor of NumPy, PyTorch, TensorFlow or JAX, by one copy at most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.errors import BadArgument
from arrowprep.tokenize import ragged


def _torch(array: npt.NDArray[Any]) -> Any:
    import torch

    return torch.from_numpy(array)


def _tensorflow(array: npt.NDArray[Any]) -> Any:
    import tensorflow

    return tensorflow.convert_to_tensor(array)


def _jax(array: npt.NDArray[Any]) -> Any:
    import jax.numpy

    return jax.numpy.asarray(array)


KINDS: dict[str, Callable[[npt.NDArray[Any]], Any]] = {
    "np": lambda array: array,
    "pt": _torch,
    "tf": _tensorflow,
    "jax": _jax,
}


def check_kind(kind: str) -> str:
    """The kind itself, if it is one."""
    if kind not in KINDS:
        raise BadArgument(
            f"return_tensors={kind!r} is none of {', '.join(map(repr, KINDS))}", return_tensors=kind
        )
    return str(kind)


def as_tensor(key: str, value: Any, kind: str) -> Any:
    """`value`, an Arrow column, lists, or an array, as a tensor; integers are int64.

    Rows of unequal length are an object array in NumPy, as transformers has it. The
    others have no such thing: BadArgument, which names the column and the fix.
    """
    if is_tensor(value):
        return value
    try:
        array = ragged.to_numpy(value) if isinstance(value, pa.Array) else _stack(value)
        if array.dtype == object and kind != "np":
            lengths = sorted({len(row) for row in array})
            raise BadArgument(f"its rows have {lengths[0]} to {lengths[-1]} elements")
        return KINDS[kind](array)
    except (ValueError, TypeError) as error:
        raise BadArgument(f"column {key!r} cannot be a tensor: {error}; {_fix(key)}", column=key) from error


def _fix(key: str) -> str:
    if key == "labels":
        return "pad it with tokenizer.pad(..., pad_also={'labels': -100})"
    return "padding=True and truncation=True make its rows equally long"


def is_tensor(value: Any) -> bool:
    """Whether it already is an array of some library: those are left alone."""
    return isinstance(value, np.ndarray) or (hasattr(value, "__array__") and not isinstance(value, pa.Array))


def _stack(value: Any) -> npt.NDArray[Any]:
    nested = isinstance(value, (list, tuple)) and all(isinstance(row, (list, tuple)) for row in value)
    if nested and len({len(row) for row in value}) > 1:
        rows = np.empty(len(value), dtype=object)
        rows[:] = [np.asarray(row) for row in value]
        return rows
    array = np.asarray(value)
    return array if array.size else array.astype(np.int64)
