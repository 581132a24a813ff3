"""filter: a map to one boolean a row, kept as the numbers of the rows that stay."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from inspect import iscoroutine
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.dataset.fingerprint import combine
from arrowprep.dataset.indices import RowArray, Span, simplest
from arrowprep.dataset.plain import bool_flags, valid_flags
from arrowprep.dataset.verbs.map import map_view
from arrowprep.dataset.verbs.naming import about
from arrowprep.dataset.verbs.returned import HIDDEN, kind_of
from arrowprep.dataset.verbs.spec import MapSpec, RunOptions
from arrowprep.dataset.view import View
from arrowprep.errors import BadResult

KEEP = HIDDEN + "keep"


@dataclass(frozen=True)
class Keep:
    """A user's predicate as a function that map can run."""

    function: Callable[..., Any]
    batched: bool

    @property
    def input_format(self) -> str | None:
        return getattr(self.function, "input_format", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        kept = self.function(*args, **kwargs)
        return self._later(kept) if iscoroutine(kept) else self._returned(kept)

    async def _later(self, kept: Awaitable[Any]) -> dict[str, Any]:
        return self._returned(await kept)

    def _returned(self, kept: Any) -> dict[str, Any]:
        return {KEEP: _mask(kept) if self.batched else bool(kept)}

    def of_rows(self, kept: list[Any]) -> dict[str, Any]:
        """The column of what the predicate itself returned for each row of a batch."""
        return {KEEP: list(map(bool, kept))}


def filter_view(view: View, spec: MapSpec, name: str, options: RunOptions) -> View:
    """The rows for which the function is true; computed only where no entry of this name is."""
    cache = options.cache
    rows = cache.find_rows(name, verify=options.verify) if options.reuse else None
    if rows is None:
        with cache.only_one(name) as locked:
            rows = cache.find_rows(name) if options.reuse else None
            if rows is None:
                # without locks others compute the mask too, and remove theirs
                mask = combine(name, "mask") if locked else os.urandom(16).hex()
                numbers = _true_rows(view, spec, mask, options)
                note = {**about(view, spec, "filter"), "parent": view.fingerprint}
                rows = cache.publish_rows(name, numbers, note)
    if options.keep_in_memory:
        return view.select(simplest(rows.numbers.copy()), name)
    return view.select(simplest(rows.numbers) if len(rows) < 2 else rows, name)


def _true_rows(view: View, spec: MapSpec, mask_name: str, options: RunOptions) -> RowArray:
    """The numbers of the rows that stay; the mask itself is removed once they are known."""
    keep = replace(spec, function=Keep(spec.function, spec.batched))
    found = map_view(view, keep, mask_name, replace(options, keep_in_memory=False))
    if KEEP not in found.columns:
        return np.zeros(0, dtype=np.int64)
    mask = found.read(Span(0, found.num_rows), [KEEP]).column(KEEP)
    options.cache.remove(mask_name)
    mask = mask if pa.types.is_boolean(mask.type) else mask.cast(pa.bool_())
    kept = [bool_flags(chunk) & valid_flags(chunk) for chunk in mask.chunks]
    return np.flatnonzero(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.int64)


def _mask(kept: Any) -> Any:
    if isinstance(kept, pa.Array | pa.ChunkedArray | np.ndarray):
        return kept
    if isinstance(kept, str | bytes) or not hasattr(kept, "__iter__"):
        raise BadResult(
            f"a batched filter must return one boolean a row, not {kind_of(kept)}; "
            "leave out batched=True for a function that looks at one row"
        )
    return [bool(k) for k in kept]
