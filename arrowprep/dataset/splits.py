"""DatasetDict: named splits with the verbs of one dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import Features
from arrowprep.dataset.stream.iterable import IterableDataset
from arrowprep.errors import BadArgument


class DatasetDict(dict[str, Dataset]):
    """Splits by name. A verb is applied to each split and gives a new DatasetDict."""

    def __getitem__(self, key: Any) -> Dataset:
        if key in self:
            return super().__getitem__(key)
        splits = ", ".join(map(repr, self)) or "none"
        first = next(iter(self), "train")
        raise KeyError(f"no split {key!r}; the splits are {splits} (a column is at ds[{first!r}][{key!r}])")

    def __repr__(self) -> str:
        inner = "\n".join(f"  {name}: {dataset!r}".replace("\n", "\n  ") for name, dataset in self.items())
        return f"DatasetDict(\n{inner}\n)" if self else "DatasetDict()"

    # -- look at it --------------------------------------------------------------------------------

    @property
    def num_rows(self) -> dict[str, int]:
        return {name: dataset.num_rows for name, dataset in self.items()}

    @property
    def num_columns(self) -> dict[str, int]:
        return {name: dataset.num_columns for name, dataset in self.items()}

    @property
    def shape(self) -> dict[str, tuple[int, int]]:
        return {name: dataset.shape for name, dataset in self.items()}

    @property
    def column_names(self) -> dict[str, list[str]]:
        return {name: dataset.column_names for name, dataset in self.items()}

    @property
    def cache_files(self) -> dict[str, list[dict[str, str]]]:
        return {name: dataset.cache_files for name, dataset in self.items()}

    @property
    def features(self) -> dict[str, Features]:
        return {name: dataset.features for name, dataset in self.items()}

    def unique(self, column: str) -> dict[str, list[Any]]:
        return {name: dataset.unique(column) for name, dataset in self.items()}

    # -- verbs -------------------------------------------------------------------------------------

    def _each(self, verb: Callable[[Dataset], Dataset]) -> DatasetDict:
        if odd := [name for name, dataset in self.items() if not isinstance(dataset, Dataset)]:
            raise BadArgument(f"split {odd[0]!r} is a {type(self[odd[0]]).__name__}, not a Dataset")
        return DatasetDict({name: verb(dataset) for name, dataset in self.items()})

    def map(
        self, function: Callable[..., Any] | None = None, *, desc: str | None = None, **options: Any
    ) -> DatasetDict:
        """`Dataset.map` on every split."""
        return self._named("Map", desc, lambda ds, label: ds.map(function, desc=label, **options))

    def filter(self, function: Callable[..., Any], *, desc: str | None = None, **options: Any) -> DatasetDict:
        """`Dataset.filter` on every split."""
        return self._named("Filter", desc, lambda ds, label: ds.filter(function, desc=label, **options))

    def _named(self, verb: str, desc: str | None, apply: Callable[[Dataset, str], Dataset]) -> DatasetDict:
        """Long work whose bar says which split it is at."""
        return DatasetDict({name: apply(ds, f"{desc or verb} ({name})") for name, ds in self.items()})

    def shuffle(
        self, seed: int | Mapping[str, int] | None = None, *, seeds: Mapping[str, int] | None = None
    ) -> DatasetDict:
        """Every split shuffled: with one seed, or with `seeds` by split."""
        by_split = seeds or (seed if isinstance(seed, Mapping) else dict.fromkeys(self, seed))
        return DatasetDict({name: dataset.shuffle(by_split[name]) for name, dataset in self.items()})

    def sort(self, column_names: str | Sequence[str], *args: Any, **options: Any) -> DatasetDict:
        return self._each(lambda ds: ds.sort(column_names, *args, **options))

    def select_columns(self, column_names: str | Sequence[str]) -> DatasetDict:
        return self._each(lambda ds: ds.select_columns(column_names))

    def remove_columns(self, column_names: str | Sequence[str]) -> DatasetDict:
        return self._each(lambda ds: ds.remove_columns(column_names))

    def rename_column(self, original_column_name: str, new_column_name: str) -> DatasetDict:
        return self._each(lambda ds: ds.rename_column(original_column_name, new_column_name))

    def rename_columns(self, column_mapping: Mapping[str, str]) -> DatasetDict:
        return self._each(lambda ds: ds.rename_columns(column_mapping))

    def flatten_indices(self) -> DatasetDict:
        return self._each(lambda ds: ds.flatten_indices())

    def with_format(self, type: str | None = None, *args: Any, **options: Any) -> DatasetDict:
        return self._each(lambda ds: ds.with_format(type, *args, **options))

    def with_transform(self, transform: Callable[..., Any] | None, *args: Any, **options: Any) -> DatasetDict:
        return self._each(lambda ds: ds.with_transform(transform, *args, **options))

    def set_format(self, type: str | None = None, *args: Any, **options: Any) -> None:
        for dataset in self.values():
            dataset.set_format(type, *args, **options)

    def set_transform(self, transform: Callable[..., Any] | None, *args: Any, **options: Any) -> None:
        for dataset in self.values():
            dataset.set_transform(transform, *args, **options)

    def reset_format(self) -> None:
        self.set_format()

    # -- files -------------------------------------------------------------------------------------

    def save_to_disk(
        self,
        dataset_dict_path: str | os.PathLike[str],
        max_shard_size: str | int | None = None,
        num_shards: Mapping[str, int] | None = None,
    ) -> None:
        """Write a folder a split; `load_from_disk` here and in `datasets` reads it."""
        from arrowprep.dataset.save.hf_disk import save_splits

        for name, dataset in self.items():
            shards = None if num_shards is None else num_shards[name]
            dataset.save_to_disk(Path(dataset_dict_path) / name, max_shard_size, shards)
        save_splits(dataset_dict_path, self)


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
