"""load_dataset: the entrance that `datasets` has, for files on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.load.readers import READERS
from arrowprep.dataset.load.remote import is_remote
from arrowprep.dataset.load.subsets import subset_names
from arrowprep.dataset.loading import Paths, load_local
from arrowprep.dataset.splits import DatasetDict
from arrowprep.errors import BadArgument, MissingFile

if TYPE_CHECKING:
    from arrowprep.dataset.stream.iterable import IterableDataset
    from arrowprep.dataset.stream.splits import IterableDatasetDict

_OF_THE_HUB = ("revision", "token", "download_config", "trust_remote_code")
_CHECKS_ONLY = ("download_mode", "verification_mode", "save_infos")  # what they guard cannot happen here


def load_dataset(
    path: str | os.PathLike[str],
    name: str | None = None,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    data_files: Paths | Mapping[str, Paths] | None = None,
    split: str | None = None,
    streaming: bool = False,
    **options: Any,
) -> Dataset | DatasetDict | IterableDataset | IterableDatasetDict:
    """`load_local` by the names of `datasets`: splits as a DatasetDict, or the one that `split` picks.

    path: the name of a format ("json", "csv", "parquet", "text", "arrow"), whose files data_files or
        data_dir name; or a file or folder
    name: a subset that the README.md of the folder names, unless data_files name the files
    streaming: splits as streams, in an IterableDatasetDict
    options: of `load_local`
    Raises MissingFile for what is not on this machine: nothing here opens a connection by a name.
    """
    if given := [name for name in _OF_THE_HUB if options.pop(name, None) is not None]:
        raise BadArgument(f"{', '.join(given)} has a meaning on a hub only; load_dataset reads local files")
    for check in _CHECKS_ONLY:
        options.pop(check, None)
    files = _files(path, data_dir, data_files)
    if str(path) in READERS and files != os.fspath(path):
        options["reader"] = str(path)  # and a name is the caller's own for what it reads
    elif data_files is None:
        options["name"] = name
    if streaming:
        stream: IterableDataset | IterableDatasetDict = load_local(
            files, split=split, streaming=True, **options
        )
        if split is not None or isinstance(stream, dict):
            return stream
        from arrowprep.dataset.stream.splits import IterableDatasetDict

        return IterableDatasetDict({stream.split or "train": stream})
    found: Dataset | DatasetDict = load_local(files, split=split, streaming=False, **options)
    if split is not None:
        return found
    return found if isinstance(found, DatasetDict) else DatasetDict({found.split or "train": found})


def get_dataset_config_names(path: str | os.PathLike[str]) -> list[str]:
    """The subsets that the README.md of a folder names; ["default"] where it names none."""
    return subset_names(Path(path).expanduser())


def _files(
    path: str | os.PathLike[str],
    data_dir: str | os.PathLike[str] | None,
    data_files: Paths | Mapping[str, Paths] | None,
) -> Paths | Mapping[str, Paths]:
    """The files that are meant: of a format, or below a path on this machine."""
    if is_remote(path) or Path(path).expanduser().exists():
        folder = os.fspath(path) if data_dir is None else os.path.join(path, data_dir)
    elif str(path) not in READERS:
        raise MissingFile(
            f"{str(path)!r} is no file or folder on this machine and no format ({', '.join(READERS)}); "
            "nothing here fetches datasets by name",
            path=path,
        )
    elif data_files is None and data_dir is None:
        raise BadArgument(f"load_dataset({str(path)!r}) needs data_files= or data_dir=")
    else:
        folder = os.fspath(data_dir or "")
    if isinstance(data_files, Mapping):
        return {split: _in(folder, paths) for split, paths in data_files.items()}
    return folder if data_files is None else _in(folder, data_files)


def _in(folder: str, paths: Paths) -> str | list[str]:
    """Relative paths as paths in the folder."""
    if not isinstance(paths, str | os.PathLike):
        return [found for path in paths for found in (_in(folder, path),) if isinstance(found, str)]
    return os.fspath(paths) if is_remote(paths) else os.path.join(folder, paths)
