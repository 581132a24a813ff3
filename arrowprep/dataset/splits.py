"""DatasetDict: named splits with the verbs of one dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import Features
from arrowprep.dataset.split_maps import MapsSplits
from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    import pyarrow as pa

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


class DatasetDict(MapsSplits):
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
        return self._each(lambda ds: ds.flatten(max_depth=max_depth))

    def cleanup_cache_files(self) -> dict[str, int]:
        """How many files went, by split."""
        return {name: dataset.cleanup_cache_files() for name, dataset in self.items()}

    def with_format(
        self,
        type: str | None = None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> DatasetDict:
        return self._each(lambda ds: ds.with_format(type, columns, output_all_columns, **format_kwargs))

    def with_transform(
        self,
        transform: Callable[..., Any] | None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> DatasetDict:
        return self._each(lambda ds: ds.with_transform(transform, columns, output_all_columns))

    def set_format(
        self,
        type: str | None = None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        for dataset in self.values():
            dataset.set_format(type, columns, output_all_columns, **format_kwargs)

    def set_transform(
        self,
        transform: Callable[..., Any] | None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> None:
        for dataset in self.values():
            dataset.set_transform(transform, columns, output_all_columns)

    def reset_format(self) -> None:
        self.set_format()

    @contextmanager
    def formatted_as(
        self,
        type: str | None = None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Iterator[None]:
        """`set_format` for the length of a with block."""
        with ExitStack() as stack:
            for dataset in self.values():
                shown = dataset.formatted_as(type, columns, output_all_columns, **format_kwargs)
                stack.enter_context(shown)
            yield

    def push_to_hub(self, *args: Any, **options: Any) -> None:
        """Nothing here opens a connection: this says what to do instead."""
        for dataset in self.values():
            dataset.push_to_hub()

    def __enter__(self) -> DatasetDict:
        """For scripts that use a DatasetDict in a with block."""
        return self

    def __exit__(self, *failure: object) -> None:
        pass

    # -- make --------------------------------------------------------------------------------------

    @classmethod
    def from_csv(
        cls,
        path_or_paths: Mapping[str, Paths],
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        **options: Any,
    ) -> DatasetDict:
        """A split for each name, of CSV files. Arguments: as of `Dataset.from_csv`"""
        return cls(
            {
                split: Dataset.from_csv(paths, split, features, cache_dir, keep_in_memory, **options)
                for split, paths in path_or_paths.items()
            }
        )

    @classmethod
    def from_json(
        cls,
        path_or_paths: Mapping[str, Paths],
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        **options: Any,
    ) -> DatasetDict:
        """A split for each name, of JSON or JSON Lines files. Arguments: as of `Dataset.from_json`"""
        return cls(
            {
                split: Dataset.from_json(paths, split, features, cache_dir, keep_in_memory, **options)
                for split, paths in path_or_paths.items()
            }
        )

    @classmethod
    def from_parquet(
        cls,
        path_or_paths: Mapping[str, Paths],
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        columns: Sequence[str] | None = None,
        **options: Any,
    ) -> DatasetDict:
        """A split for each name, of Parquet files. Arguments: as of `Dataset.from_parquet`"""
        return cls(
            {
                split: Dataset.from_parquet(
                    paths, split, features, cache_dir, keep_in_memory, columns, **options
                )
                for split, paths in path_or_paths.items()
            }
        )

    @classmethod
    def from_text(
        cls,
        path_or_paths: Mapping[str, Paths],
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        **options: Any,
    ) -> DatasetDict:
        """A split for each name, of text files. Arguments: as of `Dataset.from_text`"""
        return cls(
            {
                split: Dataset.from_text(paths, split, features, cache_dir, keep_in_memory, **options)
                for split, paths in path_or_paths.items()
            }
        )

    @staticmethod
    def load_from_disk(
        dataset_dict_path: str | os.PathLike[str],
        keep_in_memory: bool | None = None,
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
