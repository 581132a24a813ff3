"""Dataset: the skin that users hold. Each method makes a spec, calls a verb and wraps the view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from arrowprep.dataset import verbs
from arrowprep.dataset.info import DatasetInfo
from arrowprep.dataset.skin.columns import ChangesColumns
from arrowprep.dataset.skin.export import Exports
from arrowprep.dataset.skin.format import Formats
from arrowprep.dataset.skin.load import Loads
from arrowprep.dataset.skin.look import Looks
from arrowprep.dataset.skin.make import Makes
from arrowprep.dataset.skin.map import Maps
from arrowprep.dataset.skin.rows import ChoosesRows
from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    from typing_extensions import Self

    from arrowprep.dataset.stream.iterable import IterableDataset
    from arrowprep.dataset.verbs.explain import Explanation


class Dataset(Makes, Loads, Looks, ChoosesRows, ChangesColumns, Formats, Maps, Exports):
    """Rows of named columns over mapped Arrow files; immutable but for its format.

    >>> ds = Dataset.from_dict({"text": ["a", "b"]})
    >>> ds.map(lambda row: {"n": len(row["text"])})[0]
    {'text': 'a', 'n': 1}
    """

    def __enter__(self) -> Self:
        """For scripts that use a dataset in a with block; files are let go with the last reference."""
        return self

    def __exit__(self, *failure: object) -> None:
        pass

    def to_iterable_dataset(self, num_shards: int | None = 1) -> IterableDataset:
        """The rows as a stream, in shards of neighbouring rows that can be read at the same time."""
        from arrowprep.dataset.stream.iterable import IterableDataset

        return IterableDataset.over(self, num_shards)


_Kind = TypeVar("_Kind", bound="Dataset | IterableDataset")  # streams are imported where there are some


def concatenate_datasets(
    dsets: Iterable[_Kind], info: DatasetInfo | None = None, split: str | None = None, axis: int = 0
) -> _Kind:
    """Datasets or streams end to end (axis 0, features aligned) or side by side (axis 1), without copies.

    info: what is told of the result; by default what is told of all
    """
    found: list[Any] = list(dsets)
    if axis not in (0, 1):
        raise BadArgument(f"axis must be 0 (rows) or 1 (columns), not {axis!r}")
    if not _are_streams(found, "concatenate"):
        return cast("_Kind", _concatenated(found, info, split, axis))
    from arrowprep.dataset.stream.iterable import concatenated

    return cast("_Kind", concatenated(found, info, split, axis))


def _concatenated(
    datasets: Sequence[Dataset], info: DatasetInfo | None, split: str | None, axis: int
) -> Dataset:
    first = datasets[0]
    join = verbs.combine.stack if axis == 0 else verbs.combine.side_by_side
    view = first._view if len(datasets) == 1 else join([d._view for d in datasets])
    formats = {repr(d._format.identity) for d in datasets}
    info = info or DatasetInfo.from_merge([d._info for d in datasets])
    joined = Dataset._over(view, split=split or first.split, cache_dir=first._cache_dir, info=info)
    if len(formats) == 1 and (axis == 0 or first._format.columns is None):
        joined._format = first._format
    return joined


def interleave_datasets(
    datasets: Sequence[_Kind],
    probabilities: Sequence[float] | None = None,
    seed: int | None = None,
    info: DatasetInfo | None = None,
    split: str | None = None,
    stopping_strategy: str = "first_exhausted",
) -> _Kind:
    """Rows of several datasets, or streams, by turns: one after the other, or drawn by chance with a seed.

    probabilities: of each at each turn
    info: as of `concatenate_datasets`
    stopping_strategy: "first_exhausted" ends with the first dataset; "all_exhausted" goes on,
        those that ended beginning anew, until all have ended; "all_exhausted_without_replacement"
        gives every row once
    """
    found: list[Any] = list(datasets)
    if not _are_streams(found, "interleave"):
        return cast("_Kind", _interleaved(found, probabilities, seed, info, split, stopping_strategy))
    from arrowprep.dataset.stream.iterable import interleaved

    return cast("_Kind", interleaved(found, probabilities, seed, info, split, stopping_strategy))


def _interleaved(
    datasets: Sequence[Dataset],
    probabilities: Sequence[float] | None,
    seed: int | None,
    info: DatasetInfo | None,
    split: str | None,
    strategy: str,
) -> Dataset:
    order = verbs.interleave.interleaved_rows([len(d) for d in datasets], probabilities, seed, strategy)
    return _concatenated(datasets, info, split, 0).select(order)


def split_dataset_by_node(dataset: _Kind, rank: int, world_size: int, strategy: str = "auto") -> _Kind:
    """The share of node `rank` of `world_size`: together they have each row once.

    strategy: of streams: "shards", or "examples" (every world_size-th row, reading all), or "auto": shards
        where there are as many for each node
    """
    if isinstance(dataset, Dataset):
        if strategy != "auto":
            raise BadArgument(f"strategy {strategy!r} is for streams; a Dataset is split by rows")
        return dataset.shard(world_size, rank, contiguous=True)
    from arrowprep.dataset.stream.iterable import split_by_node

    return cast("_Kind", split_by_node(dataset, rank, world_size, strategy))


def _are_streams(datasets: Sequence[Any], what: str) -> bool:
    """Whether all are streams, not datasets. Raises BadArgument for others and for a mixture."""
    if not datasets:
        raise BadArgument(f"there are no datasets to {what}")
    if all(isinstance(d, Dataset) for d in datasets):
        return False
    from arrowprep.dataset.stream.iterable import IterableDataset

    kind = IterableDataset if isinstance(datasets[0], IterableDataset) else Dataset
    if odd := [type(d).__name__ for d in datasets if not isinstance(d, kind)]:
        raise BadArgument(f"only datasets can be {what}d, all of one kind, not {odd[0]}")
    return True


def explain_cache(
    dataset: Dataset, function: Callable[..., Any] | None = None, operation: str = "map", **arguments: Any
) -> Explanation:
    """`Dataset.explain_cache` as a function: why a map or filter is found in the cache, or is not."""
    return dataset.explain_cache(function, operation, **arguments)
