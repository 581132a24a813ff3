"""load_local: files to datasets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from arrowprep.dataset.dataset import Dataset, concatenate_datasets
from arrowprep.dataset.features import Features
from arrowprep.dataset.load import discover
from arrowprep.dataset.load.convert import convert
from arrowprep.dataset.load.remote import localized
from arrowprep.dataset.storage.converted import FILES, Reuse
from arrowprep.dataset.storage.scratch import cache_root
from arrowprep.dataset.view import View
from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    from arrowprep.dataset.splits import DatasetDict
    from arrowprep.dataset.stream.iterable import IterableDataset
    from arrowprep.dataset.stream.splits import IterableDatasetDict

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@overload
def load_local(
    path: Paths | Mapping[str, Paths],
    *,
    split: str,
    features: Features | Mapping[str, Any] | None = ...,
    columns: Sequence[str] | None = ...,
    num_proc: int | None = ...,
    cache_dir: str | os.PathLike[str] | None = ...,
    keep_in_memory: bool = ...,
    refresh: bool = ...,
    verify: bool | None = ...,
    streaming: Literal[False] = ...,
    **reader_options: Any,
) -> Dataset: ...
@overload
def load_local(
    path: Paths | Mapping[str, Paths],
    *,
    split: None = ...,
    features: Features | Mapping[str, Any] | None = ...,
    columns: Sequence[str] | None = ...,
    num_proc: int | None = ...,
    cache_dir: str | os.PathLike[str] | None = ...,
    keep_in_memory: bool = ...,
    refresh: bool = ...,
    verify: bool | None = ...,
    streaming: Literal[False] = ...,
    **reader_options: Any,
) -> Dataset | DatasetDict: ...
@overload
def load_local(
    path: Paths | Mapping[str, Paths],
    *,
    split: str,
    features: Features | Mapping[str, Any] | None = ...,
    columns: Sequence[str] | None = ...,
    num_proc: int | None = ...,
    cache_dir: str | os.PathLike[str] | None = ...,
    keep_in_memory: bool = ...,
    refresh: bool = ...,
    verify: bool | None = ...,
    streaming: Literal[True],
    **reader_options: Any,
) -> IterableDataset: ...
@overload
def load_local(
    path: Paths | Mapping[str, Paths],
    *,
    split: str | None = ...,
    features: Features | Mapping[str, Any] | None = ...,
    columns: Sequence[str] | None = ...,
    num_proc: int | None = ...,
    cache_dir: str | os.PathLike[str] | None = ...,
    keep_in_memory: bool = ...,
    refresh: bool = ...,
    verify: bool | None = ...,
    streaming: Literal[True],
    **reader_options: Any,
) -> IterableDataset | IterableDatasetDict: ...
def load_local(
    path: Paths | Mapping[str, Paths],
    *,
    split: str | None = None,
    features: Features | Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    num_proc: int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    keep_in_memory: bool = False,
    refresh: bool = False,
    verify: bool | None = None,
    streaming: bool = False,
    **reader_options: Any,
) -> Dataset | DatasetDict | IterableDataset | IterableDatasetDict:
    """Files as a memory-mapped dataset: one split as a Dataset, several as a DatasetDict.

    path: a file, a list, a glob, a folder (splits from file and folder names), or {split: files}.
        JSON Lines, JSON, CSV, TSV, Parquet, Arrow and text, also compressed (.gz .bz2 .xz .zst .lz4),
        and archives (.zip .tar) of them;
        a folder of `save_to_disk` too; URLs go through fsspec, with `storage_options=`
    split: one of the splits, or an expression: "train[:10%]", "train[100:200]", "train+test"
    features: the types of all columns; otherwise they are decided from the whole data
    columns: the only ones to load
    num_proc: processes that read one large JSON Lines or CSV file; other readers use all cores as it is
    cache_dir: where converted files and results of `map` live; ARROWPREP_CACHE by default
    keep_in_memory: hold the rows in memory instead of mapping them
    refresh: read the files again, whatever is in the cache
    verify: read what is found there, and convert again where a byte has changed
    streaming: read the files as the rows are asked for, and write nothing: an IterableDataset for a split.
        A file is a shard; without `features` each block of it has the types of what it holds
    reader_options: of the format's reader; `reader=` names the format where the suffix does not tell it,
        `name=` a subset that the README.md of a folder names

    Files are converted to Arrow once; they are found again by their stat and named by
    their content. Raises FileError, with file and line, for what cannot be read.
    """
    folder = cache_root(cache_dir)
    path = localized(path, folder, **(reader_options.pop("storage_options", None) or {}))
    if discover.kind(path) == "hf_disk":
        assert isinstance(path, str | os.PathLike)
        from arrowprep.dataset.saved import saved

        kept = saved(Path(path), keep_in_memory)
        return _streamed(kept, split) if streaming else _picked(kept, split)
    reader = reader_options.pop("reader", None)
    path, reader_options = _subset(path, reader_options.pop("name", None), reader_options)
    if streaming:
        from arrowprep.dataset.stream.splits import of_files, picked

        wanted = None if features is None else Features(features)
        found = discover.discover(path, reader=reader)
        return picked(of_files(found, reader, columns, wanted, reader_options), split)
    splits: dict[str, Dataset] = {}
    is_new = False
    for name, files in discover.discover(path, reader=reader).items():
        loaded = convert(
            files,
            cache_dir=folder / FILES,
            features=None if features is None else Features(features),
            columns=columns,
            num_proc=num_proc,
            reader=reader,
            options=reader_options,
            reuse=Reuse.of(refresh, verify),
        )
        is_new = is_new or loaded.is_new
        view = View.over(loaded.files, loaded.fingerprint, origin=loaded.contents)
        view = view.keep(columns or loaded.schema.names, loaded.fingerprint)
        view = view.retyped(Features.from_arrow_schema(loaded.schema))
        splits[name] = Dataset._over(
            view.in_memory() if keep_in_memory else view,
            split=name,
            cache_dir=None if cache_dir is None else Path(cache_dir).expanduser(),
        )
    if is_new:
        from arrowprep.dataset.storage.shelf import tidy

        tidy(folder)
    return _picked(splits, split)


def _subset(
    path: Paths | Mapping[str, Paths], name: str | None, options: dict[str, Any]
) -> tuple[Paths | Mapping[str, Paths], dict[str, Any]]:
    """The files of a folder's subset, and how they are read; what the caller says of it goes before."""
    if isinstance(path, str | os.PathLike) and os.path.isdir(path):
        from arrowprep.dataset.load.subsets import subset_of

        found = subset_of(Path(path), name)
        return (path, options) if found is None else (found.paths, {**found.options, **options})
    if name is not None:
        raise BadArgument(f"name={name!r} is a subset of a folder; {path!r} is none", name=name)
    return path, options


def _picked(splits: Mapping[str, Dataset], expression: str | None) -> Dataset | DatasetDict:
    """The one split there is, all of several, or what an expression picks."""
    if expression is None:
        if len(splits) == 1:
            return next(iter(splits.values()))
        from arrowprep.dataset.splits import DatasetDict

        return DatasetDict(splits)
    from arrowprep.dataset.load.split_expressions import rows_of_expression

    num_rows = {name: dataset.num_rows for name, dataset in splits.items()}
    parts = [
        splits[name].select(range(start, stop))
        for name, start, stop in rows_of_expression(expression, num_rows)
    ]
    return parts[0] if len(parts) == 1 else concatenate_datasets(parts, split=expression)


def _streamed(splits: DatasetDict, split: str | None) -> IterableDataset | IterableDatasetDict:
    from arrowprep.dataset.stream.splits import IterableDatasetDict, picked

    return picked(IterableDatasetDict({n: ds.to_iterable_dataset() for n, ds in splits.items()}), split)
