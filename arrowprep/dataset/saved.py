"""load_from_disk: what `save_to_disk` wrote, ours or that of `datasets`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.info import DatasetInfo
from arrowprep.dataset.load.hf_disk import read_hf_disk, saved_splits
from arrowprep.dataset.load.remote import localized
from arrowprep.dataset.splits import DatasetDict
from arrowprep.dataset.storage.backing import Files
from arrowprep.dataset.storage.scratch import cache_root
from arrowprep.dataset.view import View


def load_from_disk(
    dataset_path: str | os.PathLike[str],
    keep_in_memory: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Dataset | DatasetDict:
    """What `save_to_disk` wrote, here or in `datasets`: mapped where it lies, fetched once from a URL.

    storage_options: of the fsspec file system of a URL
    """
    dataset_path = localized(dataset_path, cache_root(), **(storage_options or {}))
    found = saved(Path(dataset_path), bool(keep_in_memory))
    return found if saved_splits(dataset_path) is not None else found["train"]


def saved(folder: Path, keep_in_memory: bool) -> DatasetDict:
    """The splits of a saved folder; a single dataset is "train"."""
    splits = saved_splits(folder) or {"train": folder}
    return DatasetDict({name: _saved_one(path, keep_in_memory) for name, path in splits.items()})


def _saved_one(folder: Path, keep_in_memory: bool) -> Dataset:
    it = read_hf_disk(folder)
    view = View.over(Files(it.parts), it.fingerprint, it.features)
    dataset = Dataset._over(
        view.in_memory() if keep_in_memory else view,
        split=it.split,
        info=DatasetInfo.from_dict(it.info),
    )
    shown = it.format
    dataset.set_format(shown["type"], shown["columns"], shown["output_all_columns"], **shown["format_kwargs"])
    return dataset
