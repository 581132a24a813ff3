"""A file a family of operations, each from View to View.

Each is loaded when it is first named, as in `verbs.combine.stack`: a process that finds all its results
needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arrowprep.dataset.verbs import (
        combine,
        explain,
        expressions,
        filter,
        group,
        interleave,
        map,
        map_run,
        retype,
        rows,
        stratify,
    )

__all__ = [
    "combine",
    "explain",
    "expressions",
    "filter",
    "group",
    "interleave",
    "map",
    "map_run",
    "retype",
    "rows",
    "stratify",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
