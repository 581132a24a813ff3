"""DatasetDict: named splits with the verbs of one dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import Features
from arrowprep.errors import BadArgument

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


@dataclass(frozen=True)
class WithSplit:
    """A function that gets the name of the split as its last argument."""

    function: Callable[..., Any]
    split: str

    @property
    def input_format(self) -> str | None:
        return getattr(self.function, "input_format", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, self.split, **kwargs)


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
        self,
        function: Callable[..., Any] | None = None,
        *,
        with_split: bool = False,
        desc: str | None = None,
        **options: Any,
    ) -> DatasetDict:
        """`Dataset.map` on every split. with_split: the function gets the split's name, last"""
        if not with_split or function is None:
            return self._named("Map", desc, lambda ds, label: ds.map(function, desc=label, **options))
        return DatasetDict(
            {
                name: dataset.map(WithSplit(function, name), desc=f"{desc or 'Map'} ({name})", **options)
                for name, dataset in self.items()
            }
        )

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

    def cast(self, features: Features | Mapping[str, Any]) -> DatasetDict:
        return self._each(lambda ds: ds.cast(features))

    def cast_column(self, column: str, feature: Any) -> DatasetDict:
        return self._each(lambda ds: ds.cast_column(column, feature))

    def class_encode_column(self, column: str, include_nulls: bool = False) -> DatasetDict:
        return self._each(lambda ds: ds.class_encode_column(column, include_nulls))

    def align_labels_with_mapping(self, label2id: Mapping[str, int], label_column: str) -> DatasetDict:
        return self._each(lambda ds: ds.align_labels_with_mapping(label2id, label_column))

    def flatten(self, max_depth: int = 16) -> DatasetDict:
        return self._each(lambda ds: ds.flatten(max_depth))

    def flatten_indices(self) -> DatasetDict:
        return self._each(lambda ds: ds.flatten_indices())

    def cleanup_cache_files(self) -> dict[str, int]:
        """How many files went, by split."""
        return {name: dataset.cleanup_cache_files() for name, dataset in self.items()}

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

    # -- make --------------------------------------------------------------------------------------

    @classmethod
    def from_csv(cls, path_or_paths: Mapping[str, Paths], **options: Any) -> DatasetDict:
        """A split for each name, of CSV files. options: as `Dataset.from_csv`"""
        return cls(
            {split: Dataset.from_csv(paths, split, **options) for split, paths in path_or_paths.items()}
        )

    @classmethod
    def from_json(cls, path_or_paths: Mapping[str, Paths], **options: Any) -> DatasetDict:
        """A split for each name, of JSON or JSON Lines files. options: as `Dataset.from_json`"""
        return cls(
            {split: Dataset.from_json(paths, split, **options) for split, paths in path_or_paths.items()}
        )

    @classmethod
    def from_parquet(cls, path_or_paths: Mapping[str, Paths], **options: Any) -> DatasetDict:
        """A split for each name, of Parquet files. options: as `Dataset.from_parquet`"""
        return cls(
            {split: Dataset.from_parquet(paths, split, **options) for split, paths in path_or_paths.items()}
        )

    @classmethod
    def from_text(cls, path_or_paths: Mapping[str, Paths], **options: Any) -> DatasetDict:
        """A split for each name, of text files. options: as `Dataset.from_text`"""
        return cls(
            {split: Dataset.from_text(paths, split, **options) for split, paths in path_or_paths.items()}
        )

    @staticmethod
    def load_from_disk(
        dataset_dict_path: str | os.PathLike[str],
        keep_in_memory: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> DatasetDict:
        """What `save_to_disk` wrote. Raises BadArgument for the folder of one dataset."""
        from arrowprep.dataset.loading import load_from_disk

        found = load_from_disk(dataset_dict_path, keep_in_memory, storage_options)
        if not isinstance(found, DatasetDict):
            raise BadArgument(f"{dataset_dict_path} holds one dataset; open it with load_from_disk")
        return found

    # -- files -------------------------------------------------------------------------------------

    def save_to_disk(
        self,
        dataset_dict_path: str | os.PathLike[str],
        max_shard_size: str | int | None = None,
        num_shards: Mapping[str, int] | None = None,
        num_proc: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a folder a split; `load_from_disk` here and in `datasets` reads it. Options as of one."""
        from arrowprep.dataset.save.hf_disk import save_splits
        from arrowprep.dataset.save.remote import local_folder

        with local_folder(dataset_dict_path, storage_options) as folder:
            for name, dataset in self.items():
                shards = None if num_shards is None else num_shards[name]
                dataset._save(folder / name, max_shard_size, shards)
            save_splits(folder, self)
