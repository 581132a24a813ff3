"""What a map computes: the function, what it is shown, the rules for what it returns; and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arrowprep.dataset.features import Features
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.storage.cache import Cache
from arrowprep.dataset.verbs.coroutines import is_async
from arrowprep.dataset.verbs.stateful import class_of

ROWS_AT_ONCE = 1000  # at most so many rows are decoded together for a function that takes one
PIECES = 64  # so many at least, where there are the rows: slow row functions are shared out too


@dataclass(frozen=True)
class MapSpec:
    """What a map computes; every field may change a row, and is part of its name.

    batch_size: rows a call, None for all at once; only where batched
    on_error: "raise", or go on: "null" leaves new columns null where the function failed, "skip"
        leaves those rows out
    on_mixed_types: "use_json" makes new columns JSON whose values are of no one type
    format: how the function sees its rows
    """

    function: Callable[..., Any]
    batched: bool = False
    batch_size: int | None = ROWS_AT_ONCE
    drop_last_batch: bool = False
    with_indices: bool = False
    with_rank: bool = False
    input_columns: tuple[str, ...] | None = None
    remove_columns: tuple[str, ...] = ()
    features: Features | None = None
    fn_kwargs: Mapping[str, Any] = field(default_factory=dict)
    on_error: str = "raise"
    try_original_type: bool = True
    on_mixed_types: str | None = None
    format: FormatSpec = field(default_factory=FormatSpec)

    def rows_a_call(self, num_rows: int) -> int:
        """How many rows are read and shown together."""
        if not self.batched:
            pieces = 1 if is_async(self.function) else PIECES  # rows that wait together cost one wait
            return max(1, min(ROWS_AT_ONCE, num_rows // pieces))
        return self.batch_size if self.batch_size and self.batch_size > 0 else max(num_rows, 1)


@dataclass(frozen=True)
class RunOptions:
    """How a map runs; nothing here changes a row, and nothing is part of a name.

    operation: whose result it is, "map" or "filter"
    compression: of the files it writes; those there are may have others
    verify: read what is found, and make anew what is not as it was written
    mp_context: how processes are started, "spawn", "forkserver" or "fork"; None for what is safe
    """

    cache: Cache
    operation: str = "map"
    num_proc: int | None = None
    reuse: bool = True
    keep_in_memory: bool = False
    desc: str = "Map"
    show_progress: bool | None = None
    compression: str | None = None
    verify: bool = False
    mp_context: str | None = None


def label_of(function: Callable[..., Any]) -> str:
    """What to call a function in messages."""
    inner = getattr(function, "function", function)  # a wrapper of ours names what it wraps
    inner = class_of(inner) or inner
    name = getattr(inner, "label", None) or getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return str(name).removeprefix("<locals>.").split("<locals>.")[-1]


def names_of(columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """One name or several, as a tuple."""
    if columns is None:
        return None
    return (columns,) if isinstance(columns, str) else tuple(columns)
