"""Classes given as functions: an instance is made once in each process that works, and called there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from arrowprep.errors import MapError


def class_of(function: Callable[..., Any]) -> type | None:
    """The class whose instances are the function: a class with `__call__`, or a partial of one; else None."""
    made = function.func if isinstance(function, partial) else function
    if inspect.isclass(made) and any("__call__" in vars(base) for base in made.__mro__):
        return made
    return None


def ready(function: Callable[..., Any]) -> Any:
    """What can be called with rows: the function, or an instance that is made now.

    A wrapper of ours keeps the user's function as `function`, and is replaced by one around the instance.
    """
    inner = getattr(function, "function", function)
    kind = class_of(inner)
    if kind is None:
        return function
    try:
        instance = inner()
    except Exception as error:
        raise MapError(
            f"{kind.__qualname__}, a class that map makes once in each process, could not be made: "
            f"{type(error).__name__}: {error}; give its arguments with functools.partial",
            function=kind.__qualname__,
        ) from error
    return instance if inner is function else replace(function, function=instance)  # type: ignore[type-var]
