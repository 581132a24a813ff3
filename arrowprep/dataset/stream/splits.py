"""IterableDatasetDict: named streams with the verbs of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arrowprep.dataset.features import Features
from arrowprep.dataset.split_maps import WithSplit
from arrowprep.dataset.stream.iterable import IterableDataset
from arrowprep.errors import BadArgument


class IterableDatasetDict(dict[str, IterableDataset]):
    """Streams by split. A verb is applied to each and gives a new IterableDatasetDict."""

    @property
    def column_names(self) -> dict[str, list[str] | None]:
        return {name: stream.column_names for name, stream in self.items()}

    @property
    def num_columns(self) -> dict[str, int | None]:
        return {name: stream.num_columns for name, stream in self.items()}

    @property
    def num_shards(self) -> dict[str, int]:
        return {name: stream.num_shards for name, stream in self.items()}

    def _each(self, verb: Callable[[IterableDataset], IterableDataset]) -> IterableDatasetDict:
        return IterableDatasetDict({name: verb(stream) for name, stream in self.items()})

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_split: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        features: Features | Mapping[str, Any] | None = None,
    ) -> IterableDatasetDict:
        """`IterableDataset.map` on every split. with_split: the function gets the split's name, last"""
        return IterableDatasetDict(
            {
                name: stream.map(
                    WithSplit(function, name) if with_split and function is not None else function,
                    with_indices,
                    input_columns,
                    batched,
                    batch_size,
                    drop_last_batch,
                    remove_columns,
                    features,
                    fn_kwargs,
                )
                for name, stream in self.items()
            }
        )

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
    ) -> IterableDatasetDict:
        return self._each(
            lambda stream: stream.filter(
                function, with_indices, input_columns, batched, batch_size, fn_kwargs
            )
        )

    def shuffle(
        self,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        buffer_size: int | None = 1000,
        max_buffer_input_shards: int = 10,
    ) -> IterableDatasetDict:
        return self._each(
            lambda stream: stream.shuffle(seed, generator, buffer_size, max_buffer_input_shards)
        )

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

    def push_to_hub(self, *args: Any, **options: Any) -> None:
        """Nothing here opens a connection: this says what to do instead."""
        for stream in self.values():
            stream.push_to_hub()


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
