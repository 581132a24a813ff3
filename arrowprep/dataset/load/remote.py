"""Files behind a URL (`memory://`, `s3://`, `https://`, ...), fetched once into the cache through fsspec."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard

from arrowprep.dataset.load.suffixes import is_archive
from arrowprep.dataset.storage.ipc import aside_of
from arrowprep.dataset.storage.room import telling_folder
from arrowprep.dataset.storage.scratch import remove_folder
from arrowprep.dataset.storage.sources import name_of
from arrowprep.errors import BadArgument, MissingFile, UnreadableFile


def is_remote(path: object) -> TypeGuard[str]:
    """Whether a path is a URL of another file system than this machine's."""
    return isinstance(path, str) and "://" in path and not path.startswith("file://")


def localized(path: Any, cache_dir: Path, **storage_options: Any) -> Any:
    """The path, list or dict of paths with every URL replaced by what was fetched from it.

    A file becomes a file, a pattern a list of files, a folder a folder, and so does an archive, from
    wherever it is. What the other side says has not changed since is not fetched again.

    storage_options: of the fsspec file system
    """
    if isinstance(path, Mapping):
        return {split: localized(inner, cache_dir, **storage_options) for split, inner in path.items()}
    if isinstance(path, str | os.PathLike):
        local = _fetched(path, cache_dir, storage_options) if is_remote(path) else _without_scheme(path)
        if not is_archive(local):
            return local
        from arrowprep.dataset.load.archives import unpacked

        return unpacked(Path(local), cache_dir)  # type: ignore[arg-type]
    if isinstance(path, Iterable):
        found: list[Any] = []
        for inner in path:
            local = localized(inner, cache_dir, **storage_options)
            found += local if isinstance(local, list) else [local]
        return found
    return path


def _without_scheme(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    return path.removeprefix("file://") if isinstance(path, str) else path


def _is_pattern(url: str) -> bool:
    return any(sign in url for sign in "*[")  # "?" begins the query of a web address


def _fetched(url: str, cache_dir: Path, storage_options: dict[str, Any]) -> Path | list[Path]:
    files, root, is_folder, system = _listed(url, storage_options)
    below = {path: str(PurePosixPath(path).relative_to(root)) for path in files}
    name = name_of(url=url, files=[(below[path], system.ukey(path)) for path in files])
    folder = cache_dir / "remote" / name
    if not folder.is_dir():
        _fetch(system, below, folder)
    found = [folder / below[path] for path in files]
    if is_folder:
        return folder
    return found if _is_pattern(url) else found[0]


def _listed(url: str, storage_options: dict[str, Any]) -> tuple[list[str], str, bool, Any]:
    """The files a URL names, the folder they lie in, whether that is the URL itself, and the file system."""
    system, path = file_system(url, storage_options)
    if _is_pattern(url):
        files = sorted(found for found in system.glob(path) if system.isfile(found))
        root = os.path.commonpath([str(PurePosixPath(found).parent) for found in files]) if files else path
        is_folder = False
    elif system.isdir(path):
        files, root, is_folder = sorted(system.find(path)), path, True
    else:
        files, root, is_folder = (
            ([path] if system.exists(path) else []),
            str(PurePosixPath(path).parent),
            False,
        )
    if not files:
        raise MissingFile(f"there is nothing at {url}", path=url)
    return files, root, is_folder, system


def file_system(url: str, storage_options: Mapping[str, Any]) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path there. Raises BadArgument where it cannot be opened."""
    try:
        import fsspec
    except ImportError as error:
        raise BadArgument(
            f"{url} is remote, which needs fsspec: pip install arrowprep[remote]", path=url
        ) from error
    try:
        system, path = fsspec.core.url_to_fs(url, **storage_options)
    except (ValueError, ImportError) as error:
        raise BadArgument(f"{url} cannot be opened: {error}", path=url) from error
    return system, path.rstrip("/")


def _fetch(system: Any, below: Mapping[str, str], folder: Path) -> None:
    """Copy files into a folder, which appears when all are there."""
    aside = aside_of(folder)
    try:
        with telling_folder(folder.parent):
            for local in below.values():
                (aside / local).parent.mkdir(parents=True, exist_ok=True)
        for path, local in below.items():
            try:
                system.get_file(path, str(aside / local))
            except OSError as error:
                raise UnreadableFile(f"{path} cannot be fetched: {error}", path=path) from error
        with telling_folder(folder.parent):
            aside.rename(folder)
    except OSError:
        if not folder.is_dir():  # or else another process fetched it first
            raise
    finally:
        remove_folder(aside)
