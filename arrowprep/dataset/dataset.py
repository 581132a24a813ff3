"""Dataset: the skin that users hold. Each method makes a spec, calls a verb and wraps the view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from arrowprep.dataset.skin.columns import ChangesColumns
from arrowprep.dataset.skin.export import Exports
from arrowprep.dataset.skin.format import Formats
from arrowprep.dataset.skin.load import Loads
from arrowprep.dataset.skin.look import Looks
from arrowprep.dataset.skin.make import Makes
from arrowprep.dataset.skin.map import Maps
from arrowprep.dataset.skin.rows import ChoosesRows
from arrowprep.dataset.verbs.combine import side_by_side, stack
from arrowprep.dataset.verbs.explain import Explanation
from arrowprep.dataset.verbs.interleave import interleaved_rows
from arrowprep.errors import BadArgument


class Dataset(Makes, Loads, Looks, ChoosesRows, ChangesColumns, Formats, Maps, Exports):
    """Rows of named columns over mapped Arrow files; immutable but for its format.

    >>> ds = Dataset.from_dict({"text": ["a", "b"]})
    >>> ds.map(lambda row: {"n": len(row["text"])})[0]
    {'text': 'a', 'n': 1}
    """


def concatenate_datasets(dsets: Iterable[Dataset], split: str | None = None, axis: int = 0) -> Dataset:
    """Datasets end to end (axis 0, features aligned) or side by side (axis 1); nothing is copied."""
    dsets = list(dsets)
    if not dsets:
        raise BadArgument("there are no datasets to concatenate")
    if axis not in (0, 1):
        raise BadArgument(f"axis must be 0 (rows) or 1 (columns), not {axis!r}")
    if odd := [type(d).__name__ for d in dsets if not isinstance(d, Dataset)]:
        raise BadArgument(f"only datasets can be concatenated, not {odd[0]}")
    join = stack if axis == 0 else side_by_side
    view = dsets[0]._view if len(dsets) == 1 else join([d._view for d in dsets])
    formats = {repr(d._format.identity) for d in dsets}
    joined = Dataset._over(view, split=split or dsets[0].split, cache_dir=dsets[0]._cache_dir)
    if len(formats) == 1 and (axis == 0 or dsets[0]._format.columns is None):
        joined._format = dsets[0]._format
    return joined


def interleave_datasets(
    datasets: Sequence[Dataset],
    probabilities: Sequence[float] | None = None,
    seed: int | None = None,
    split: str | None = None,
    stopping_strategy: str = "first_exhausted",
) -> Dataset:
    """Rows of several datasets by turns: one after the other, or drawn with probabilities and a seed.

    stopping_strategy: "first_exhausted" ends with the first dataset; "all_exhausted" goes on,
        those that ended beginning anew, until all have ended; "all_exhausted_without_replacement"
        gives every row once
    """
    datasets = list(datasets)
    order = interleaved_rows([len(d) for d in datasets], probabilities, seed, stopping_strategy)
    return concatenate_datasets(datasets, split=split).select(order)


def explain_cache(
    dataset: Dataset, function: Callable[..., Any] | None = None, operation: str = "map", **arguments: Any
) -> Explanation:
    """`Dataset.explain_cache` as a function: why a map or filter is found in the cache, or is not."""
    return dataset.explain_cache(function, operation, **arguments)
