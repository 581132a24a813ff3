"""load_dataset: the entrance that `datasets` has, for files on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import Features
from arrowprep.dataset.load.read_instruction import ReadInstruction
from arrowprep.dataset.load.readers import READERS
from arrowprep.dataset.load.remote import is_remote
from arrowprep.dataset.load.subsets import subset_names, subset_of
from arrowprep.dataset.loading import Paths, load_local
from arrowprep.dataset.splits import DatasetDict
from arrowprep.errors import BadArgument, MissingFile

if TYPE_CHECKING:
    from arrowprep.dataset.stream.iterable import IterableDataset
    from arrowprep.dataset.stream.splits import IterableDatasetDict


def load_dataset(
    path: str | os.PathLike[str],
    name: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    data_files: Paths | Mapping[str, Paths] | None = None,
    split: str | ReadInstruction | Sequence[str | ReadInstruction] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    features: Features | Mapping[str, Any] | None = None,
    download_config: Any = None,
    download_mode: str | None = None,
    verification_mode: str | None = None,
    keep_in_memory: bool | None = None,
    save_infos: bool = False,
    revision: str | None = None,
    token: bool | str | None = None,
    streaming: bool = False,
    num_proc: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """`load_local` by the names of `datasets`: splits as a DatasetDict, or the one that `split` picks.

    path: the name of a format ("json", "csv", "parquet", "text", "arrow"), whose files data_files or
        data_dir name; or a file or folder
    name: a subset that the README.md of the folder names, unless data_files name the files
    split: as of `load_local`, or a ReadInstruction; of several a list, which gives a list
    download_mode: "force_redownload" reads the files again; verification_mode and save_infos change nothing
    download_config, revision, token: of a hub; refused
    streaming: splits as streams, in an IterableDatasetDict
    options: of the reader; the other arguments are those of `load_local`
    Raises MissingFile for what is not on this machine: nothing here opens a connection by a name.
    """
    of_a_hub = {"download_config": download_config, "revision": revision, "token": token}
    if given := [name for name, value in of_a_hub.items() if value not in (None, False)]:
        raise BadArgument(f"{', '.join(given)} has a meaning on a hub only; load_dataset reads local files")
    options |= {
        "cache_dir": cache_dir,
        "features": features,
        "keep_in_memory": bool(keep_in_memory),
        "refresh": str(getattr(download_mode, "value", download_mode)) == "force_redownload",
        "num_proc": num_proc,
        "storage_options": storage_options,
    }
    files = _files(path, data_dir, data_files)
    if str(path) in READERS and files != os.fspath(path):
        options["reader"] = str(path)  # and a name is the caller's own for what it reads
    elif data_files is None:
        options["name"] = name
    if isinstance(split, str | ReadInstruction) or split is None:
        return _loaded(files, split, streaming, options)
    return [_loaded(files, one, streaming, options) for one in split]


def _loaded(
    files: Paths | Mapping[str, Paths],
    split: str | ReadInstruction | None,
    streaming: bool,
    options: Mapping[str, Any],
) -> Dataset | DatasetDict | IterableDataset | IterableDatasetDict:
    picked = None if split is None else str(split)
    if streaming:
        stream: IterableDataset | IterableDatasetDict = load_local(
            files, split=picked, streaming=True, **options
        )
        if picked is not None or isinstance(stream, dict):
            return stream
        from arrowprep.dataset.stream.splits import IterableDatasetDict

        return IterableDatasetDict({stream.split or "train": stream})
    found: Dataset | DatasetDict = load_local(files, split=picked, streaming=False, **options)
    if picked is not None:
        return found
    return found if isinstance(found, DatasetDict) else DatasetDict({found.split or "train": found})


def get_dataset_config_names(path: str | os.PathLike[str]) -> list[str]:
    """The subsets that the README.md of a folder names; ["default"] where it names none."""
    return subset_names(Path(path).expanduser())


def get_dataset_default_config_name(path: str | os.PathLike[str]) -> str | None:
    """The subset that is loaded where none is named; None where one must be."""
    try:
        found = subset_of(Path(path).expanduser(), None)
    except BadArgument:
        return None
    return "default" if found is None else found.name


def get_dataset_split_names(
    path: str | os.PathLike[str],
    config_name: str | None = None,
    data_files: Paths | Mapping[str, Paths] | None = None,
) -> list[str]:
    """The splits that `load_dataset` would give, without loading them."""
    from arrowprep.dataset.load.discover import discover
    from arrowprep.dataset.load.hf_disk import saved_splits

    files = _files(path, None, data_files)
    if isinstance(files, str | os.PathLike) and os.path.isdir(files):
        if (saved := saved_splits(files)) is not None:
            return list(saved)
        subset = subset_of(Path(files), config_name)
        files = files if subset is None else subset.paths
    return list(discover(files, reader=str(path) if str(path) in READERS else None))


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
