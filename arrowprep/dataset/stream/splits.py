"""IterableDatasetDict: named streams with the verbs of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arrowprep.dataset.features import Features
from arrowprep.dataset.stream.iterable import IterableDataset
from arrowprep.errors import BadArgument


class IterableDatasetDict(dict[str, IterableDataset]):
    """Streams by split. A verb is applied to each and gives a new IterableDatasetDict."""

    @property
    def column_names(self) -> dict[str, list[str] | None]:
        return {name: stream.column_names for name, stream in self.items()}

    @property
    def num_shards(self) -> dict[str, int]:
        return {name: stream.num_shards for name, stream in self.items()}

    def _each(self, verb: Callable[[IterableDataset], IterableDataset]) -> IterableDatasetDict:
        return IterableDatasetDict({name: verb(stream) for name, stream in self.items()})

    def map(
        self, function: Callable[..., Any] | None = None, *args: Any, **options: Any
    ) -> IterableDatasetDict:
        return self._each(lambda stream: stream.map(function, *args, **options))

    def filter(self, function: Callable[..., Any], **options: Any) -> IterableDatasetDict:
        return self._each(lambda stream: stream.filter(function, **options))

    def shuffle(self, seed: int | None = None, **options: Any) -> IterableDatasetDict:
        return self._each(lambda stream: stream.shuffle(seed, **options))

    def select_columns(self, column_names: str | Sequence[str]) -> IterableDatasetDict:
        return self._each(lambda stream: stream.select_columns(column_names))

    def remove_columns(self, column_names: str | Sequence[str]) -> IterableDatasetDict:
        return self._each(lambda stream: stream.remove_columns(column_names))

    def rename_column(self, original_column_name: str, new_column_name: str) -> IterableDatasetDict:
        return self._each(lambda stream: stream.rename_column(original_column_name, new_column_name))

    def rename_columns(self, column_mapping: Mapping[str, str]) -> IterableDatasetDict:
        return self._each(lambda stream: stream.rename_columns(column_mapping))

    def cast(self, features: Features) -> IterableDatasetDict:
        return self._each(lambda stream: stream.cast(features))

    def cast_column(self, column: str, feature: Any) -> IterableDatasetDict:
        return self._each(lambda stream: stream.cast_column(column, feature))

    def with_format(self, type: str | None = None, **options: Any) -> IterableDatasetDict:
        return self._each(lambda stream: stream.with_format(type, **options))


def of_files(
    files: Mapping[str, Sequence[Path]],
    reader: str | None,
    columns: Sequence[str] | None,
    features: Features | None,
    options: Mapping[str, Any],
) -> IterableDatasetDict:
    """The rows of each split's files, a file a shard."""
    return IterableDatasetDict(
        {
            split: IterableDataset.over_files(paths, reader, columns, features, options, split=split)
            for split, paths in files.items()
        }
    )


def picked(splits: IterableDatasetDict, split: str | None) -> IterableDataset | IterableDatasetDict:
    """The one split there is, all of several, or the named one."""
    if split is None:
        return next(iter(splits.values())) if len(splits) == 1 else splits
    if split not in splits:
        raise BadArgument(
            f"a stream has the splits {', '.join(splits)}, not {split!r}; parts of one are `take` and `skip`",
            split=split,
        )
    return splits[split]
