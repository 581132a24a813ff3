"""How rows look to a caller: as Python objects, NumPy arrays, Arrow tables, data frames, tensors.

A format is a small class in a file of its own, loaded at first use; a line in each of the two tables makes
it known.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arrowprep.dataset.formats.base import Format
from arrowprep.errors import BadArgument

__all__ = ["FORMATS", "Format", "canonical_name", "class_of", "make"]

FORMATS = {  # the class of each, in the module of its name
    "python": "PythonFormat",
    "numpy": "NumpyFormat",
    "arrow": "ArrowFormat",
    "pandas": "PandasFormat",
    "polars": "PolarsFormat",
    "torch": "TorchFormat",
    "jax": "JaxFormat",
    "tensorflow": "TensorflowFormat",
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


def class_of(name: str) -> type[Format]:
    """The class of the format of this canonical name."""
    found: type[Format] = getattr(import_module(f"{__name__}.{name}"), FORMATS[name])
    return found


def make(name: str | None, **options: Any) -> Format:
    """The format of this name with these options. Raises BadArgument for a name or option without meaning."""
    found = canonical_name(name)
    try:
        return class_of(found)(**options)
    except TypeError as error:
        given = ", ".join(f"{key}={value!r}" for key, value in options.items())
        raise BadArgument(f"format {found!r} does not take {given}: {error}", **options) from error
