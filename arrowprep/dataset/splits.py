"""DatasetDict: named splits with the verbs of one dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import Features
from arrowprep.errors import BadArgument, WrongType

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Names: TypeAlias = "Mapping[str, str | os.PathLike[str] | None]"  # of files, by split
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
    def data(self) -> dict[str, pa.Table]:
        return {name: dataset.data for name, dataset in self.items()}

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
        return self._by_split(lambda name, dataset: verb(dataset))

    def _by_split(self, verb: Callable[[str, Dataset], Dataset]) -> DatasetDict:
        if odd := [name for name, dataset in self.items() if not isinstance(dataset, Dataset)]:
            raise WrongType(f"split {odd[0]!r} is a {type(self[odd[0]]).__name__}, not a Dataset")
        return DatasetDict({name: verb(name, dataset) for name, dataset in self.items()})

    def map(
        self,
        function: Callable[..., Any] | None = None,
        *,
        with_split: bool = False,
        desc: str | None = None,
        cache_file_names: Names | None = None,
        **options: Any,
    ) -> DatasetDict:
        """`Dataset.map` on every split.

        with_split: the function gets the split's name, last
        cache_file_names: by split, as `cache_file_name`
        """
        files = cache_file_names or {}

        def mapped(name: str, dataset: Dataset) -> Dataset:
            called = WithSplit(function, name) if with_split and function is not None else function
            label = f"{desc or 'Map'} ({name})"  # the bar says which split it is at
            return dataset.map(called, desc=label, cache_file_name=files.get(name), **options)

        return self._by_split(mapped)

    def filter(
        self,
        function: Callable[..., Any],
        *,
        desc: str | None = None,
        cache_file_names: Names | None = None,
        **options: Any,
    ) -> DatasetDict:
        """`Dataset.filter` on every split. cache_file_names: by split, as `cache_file_name`"""
        files = cache_file_names or {}

        def filtered(name: str, dataset: Dataset) -> Dataset:
            label = f"{desc or 'Filter'} ({name})"
            return dataset.filter(function, desc=label, cache_file_name=files.get(name), **options)

        return self._by_split(filtered)

    def shuffle(
        self,
        seeds: int | Mapping[str, int | None] | None = None,
        seed: int | None = None,
        generators: Mapping[str, np.random.Generator] | None = None,
        *,
        indices_cache_file_names: Names | None = None,
        **how: Any,
    ) -> DatasetDict:
        """Every split shuffled: with one seed, or with `seeds` or `generators` by split."""
        if seeds is not None and seed is not None:
            raise BadArgument("give seed for all splits or seeds by split, not both")
        by_split = (
            seeds if isinstance(seeds, Mapping) else dict.fromkeys(self, seeds if seed is None else seed)
        )
        drawn, files = generators or {}, indices_cache_file_names or {}
        return self._by_split(
            lambda name, ds: ds.shuffle(
                by_split[name], drawn.get(name), indices_cache_file_name=files.get(name), **how
            )
        )

    def sort(
        self,
        column_names: str | Sequence[str],
        *args: Any,
        indices_cache_file_names: Names | None = None,
        **options: Any,
    ) -> DatasetDict:
        files = indices_cache_file_names or {}
        return self._by_split(
            lambda name, ds: ds.sort(column_names, *args, indices_cache_file_name=files.get(name), **options)
        )

    def select_columns(self, column_names: str | Sequence[str]) -> DatasetDict:
        return self._each(lambda ds: ds.select_columns(column_names))

    def remove_columns(self, column_names: str | Sequence[str]) -> DatasetDict:
        return self._each(lambda ds: ds.remove_columns(column_names))

    def rename_column(self, original_column_name: str, new_column_name: str) -> DatasetDict:
        return self._each(lambda ds: ds.rename_column(original_column_name, new_column_name))

    def rename_columns(self, column_mapping: Mapping[str, str]) -> DatasetDict:
        return self._each(lambda ds: ds.rename_columns(column_mapping))

    def cast(self, features: Features | Mapping[str, Any], **how: Any) -> DatasetDict:
        return self._each(lambda ds: ds.cast(features, **how))

    def cast_column(self, column: str, feature: Any) -> DatasetDict:
        return self._each(lambda ds: ds.cast_column(column, feature))

    def class_encode_column(self, column: str, include_nulls: bool = False) -> DatasetDict:
        return self._each(lambda ds: ds.class_encode_column(column, include_nulls))

    def align_labels_with_mapping(self, label2id: Mapping[str, int], label_column: str) -> DatasetDict:
        return self._each(lambda ds: ds.align_labels_with_mapping(label2id, label_column))

    def flatten(self, max_depth: int = 16) -> DatasetDict:
        return self._each(lambda ds: ds.flatten(max_depth=max_depth))

    def flatten_indices(self, *, cache_file_names: Names | None = None, **options: Any) -> DatasetDict:
        files = cache_file_names or {}
        return self._by_split(lambda name, ds: ds.flatten_indices(cache_file_name=files.get(name), **options))

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

    @contextmanager
    def formatted_as(self, type: str | None = None, *args: Any, **options: Any) -> Iterator[None]:
        """`set_format` for the length of a with block."""
        with ExitStack() as stack:
            for dataset in self.values():
                stack.enter_context(dataset.formatted_as(type, *args, **options))
            yield

    def __enter__(self) -> DatasetDict:
        """For scripts that use a DatasetDict in a with block."""
        return self

    def __exit__(self, *failure: object) -> None:
        pass

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
        from arrowprep.dataset.saved import load_from_disk

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
                dataset._save(folder / name, max_shard_size, shards, num_proc)
            save_splits(folder, self)
