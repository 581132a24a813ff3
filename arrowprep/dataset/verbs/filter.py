"""filter: a map to one boolean a row, kept as the numbers of the rows that stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.dataset.indices import Span, simplest
from arrowprep.dataset.storage.cache import Cache
from arrowprep.dataset.storage.scratch import scratch_folder
from arrowprep.dataset.verbs.batches import MapSpec
from arrowprep.dataset.verbs.map import RunOptions, about, map_view
from arrowprep.dataset.view import View
from arrowprep.errors import BadResult

KEEP = "\0keep"  # no user's column has this name


@dataclass(frozen=True)
class Keep:
    """A user's predicate as a function that map can run."""

    function: Callable[..., Any]
    batched: bool

    @property
    def input_format(self) -> str | None:
        return getattr(self.function, "input_format", None)

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        kept = self.function(*args, **kwargs)
        if self.batched:
            return {KEEP: _mask(kept)}
        return {KEEP: bool(kept)}


def filter_view(view: View, spec: MapSpec, name: str, options: RunOptions) -> View:
    """The rows for which the function is true; computed only where no entry of this name is."""
    rows = options.cache.find_rows(name) if options.reuse else None
    if rows is None:
        mask = _mask_of(view, spec, name, options)
        numbers = np.flatnonzero(mask).astype(np.int64, copy=False)
        rows = options.cache.publish_rows(
            name, numbers, {**about(view, spec, "filter"), "parent": view.fingerprint}
        )
    return view.select(simplest(rows.numbers) if len(rows) < 2 else rows, name)


def _mask_of(view: View, spec: MapSpec, name: str, options: RunOptions) -> np.ndarray[Any, Any]:
    keep = replace(spec, function=Keep(spec.function, spec.batched))
    # the mask is an intermediate result: the row numbers are what is kept
    found = map_view(view, keep, name, replace(options, cache=Cache(scratch_folder()), reuse=False))
    if KEEP not in found.columns:
        return np.zeros(0, dtype=bool)
    column = found.read(Span(0, found.num_rows), [KEEP]).column(KEEP)
    return np.asarray(column.to_numpy(), dtype=bool)


def _mask(kept: Any) -> Any:
    if isinstance(kept, pa.Array | pa.ChunkedArray | np.ndarray):
        return kept
    if isinstance(kept, str | bytes) or not hasattr(kept, "__iter__"):
        raise BadResult(
            f"a batched filter must return one boolean a row, not a {type(kept).__name__}; "
            "leave out batched=True for a function that looks at one row"
        )
    return [bool(k) for k in kept]
