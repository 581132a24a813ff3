"""How rows look to a caller: as Python objects, NumPy arrays, Arrow tables, data frames, tensors.

A format is a small class in a file of its own; a line in each of the two tables makes it known.
"""

from __future__ import annotations

from typing import Any

from arrowprep.dataset.formats.arrow import ArrowFormat
from arrowprep.dataset.formats.base import Format
from arrowprep.dataset.formats.jax import JaxFormat
from arrowprep.dataset.formats.numpy import NumpyFormat
from arrowprep.dataset.formats.pandas import PandasFormat
from arrowprep.dataset.formats.polars import PolarsFormat
from arrowprep.dataset.formats.python import PythonFormat
from arrowprep.dataset.formats.tensorflow import TensorflowFormat
from arrowprep.dataset.formats.torch import TorchFormat
from arrowprep.errors import BadArgument

__all__ = ["FORMATS", "Format", "canonical_name", "make"]

FORMATS: dict[str, type[Format]] = {
    "python": PythonFormat,
    "numpy": NumpyFormat,
    "arrow": ArrowFormat,
    "pandas": PandasFormat,
    "polars": PolarsFormat,
    "torch": TorchFormat,
    "jax": JaxFormat,
    "tensorflow": TensorflowFormat,
}
_ALIASES: dict[str | None, str] = {
    None: "python",
    "np": "numpy",
    "pa": "arrow",
    "pyarrow": "arrow",
    "pd": "pandas",
    "pl": "polars",
    "pt": "torch",
    "pytorch": "torch",
    "tf": "tensorflow",
}


def canonical_name(name: str | None) -> str:
    """The one name of a format: "np" is "numpy", None is "python". Raises BadArgument."""
    found = _ALIASES.get(name, name)
    if found not in FORMATS:
        known = ", ".join([*FORMATS, *(alias for alias in _ALIASES if alias)])
        raise BadArgument(f"format {name!r} is none of {known}", format=name)
    return found


def make(name: str | None, **options: Any) -> Format:
    """The format of this name with these options. Raises BadArgument for a name or option without meaning."""
    found = canonical_name(name)
    try:
        return FORMATS[found](**options)
    except TypeError as error:
        given = ", ".join(f"{key}={value!r}" for key, value in options.items())
        raise BadArgument(f"format {found!r} does not take {given}: {error}", **options) from error
