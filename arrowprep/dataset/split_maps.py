"""The verbs of a DatasetDict that take files or seeds by split."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import Features
from arrowprep.errors import BadArgument, WrongType

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Self

Names: TypeAlias = "Mapping[str, str | os.PathLike[str] | None]"  # of files, by split


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


class MapsSplits(dict[str, Dataset]):
    """map, filter, shuffle and sort on every split. `cache_file_names`: by split, as `cache_file_name`"""

    def _by_split(self, verb: Callable[[str, Dataset], Dataset]) -> Self:
        if odd := [name for name, dataset in self.items() if not isinstance(dataset, Dataset)]:
            raise WrongType(f"split {odd[0]!r} is a {type(self[odd[0]]).__name__}, not a Dataset")
        return type(self)({name: verb(name, dataset) for name, dataset in self.items()})

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        with_split: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_names: Names | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | Mapping[str, Any] | None = None,
        disable_nullable: bool = False,
        fn_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        desc: str | None = None,
        try_original_type: bool = True,
        on_mixed_types: str | None = None,
        **options: Any,
    ) -> Self:
        """`Dataset.map` on every split.

        with_split: the function gets the split's name, last
        options: on_error, progress, compression, verify
        """
        files = cache_file_names or {}

        def mapped(name: str, dataset: Dataset) -> Dataset:
            called = WithSplit(function, name) if with_split and function is not None else function
            return dataset.map(
                called,
                with_indices,
                with_rank,
                input_columns,
                batched,
                batch_size,
                drop_last_batch,
                remove_columns,
                keep_in_memory,
                load_from_cache_file,
                files.get(name),
                features=features,
                fn_kwargs=fn_kwargs,
                num_proc=num_proc,
                desc=f"{desc or 'Map'} ({name})",  # the bar says which split it is at
                try_original_type=try_original_type,
                on_mixed_types=on_mixed_types,
                **options,
            )

        return self._by_split(mapped)

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_names: Names | None = None,
        writer_batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        desc: str | None = None,
        **options: Any,
    ) -> Self:
        """`Dataset.filter` on every split. options: progress, verify"""
        files = cache_file_names or {}
        return self._by_split(
            lambda name, dataset: dataset.filter(
                function,
                with_indices,
                with_rank,
                input_columns,
                batched,
                batch_size,
                keep_in_memory,
                load_from_cache_file,
                files.get(name),
                fn_kwargs=fn_kwargs,
                num_proc=num_proc,
                desc=f"{desc or 'Filter'} ({name})",
                **options,
            )
        )

    def shuffle(
        self,
        seeds: int | Mapping[str, int | None] | None = None,
        seed: int | None = None,
        generators: Mapping[str, np.random.Generator] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_names: Names | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Self:
        """Every split shuffled: with one seed, or with `seeds` or `generators` by split."""
        if seeds is not None and seed is not None:
            raise BadArgument("give seed for all splits or seeds by split, not both")
        by_split = (
            seeds if isinstance(seeds, Mapping) else dict.fromkeys(self, seeds if seed is None else seed)
        )
        drawn, files = generators or {}, indices_cache_file_names or {}
        return self._by_split(
            lambda name, dataset: dataset.shuffle(
                by_split[name],
                drawn.get(name),
                load_from_cache_file=load_from_cache_file,
                indices_cache_file_name=files.get(name),
            )
        )

    def sort(
        self,
        column_names: str | Sequence[str],
        reverse: bool | Sequence[bool] = False,
        null_placement: str = "at_end",
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_names: Names | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Self:
        files = indices_cache_file_names or {}
        return self._by_split(
            lambda name, dataset: dataset.sort(
                column_names, reverse, null_placement, indices_cache_file_name=files.get(name)
            )
        )

    def flatten_indices(
        self,
        keep_in_memory: bool = False,
        cache_file_names: Names | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | Mapping[str, Any] | None = None,
        disable_nullable: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Self:
        """`Dataset.flatten_indices` on every split."""
        files = cache_file_names or {}
        return self._by_split(
            lambda name, dataset: dataset.flatten_indices(
                keep_in_memory,
                files.get(name),
                features=features,
                num_proc=num_proc,
                new_fingerprint=new_fingerprint,
            )
        )
