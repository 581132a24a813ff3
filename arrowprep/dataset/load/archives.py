"""Archives of data files (.zip, .tar, also compressed), taken apart into the cache once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from arrowprep.dataset.storage.ipc import aside_of
from arrowprep.dataset.storage.room import telling_folder
from arrowprep.dataset.storage.sources import name_of, stat_name
from arrowprep.errors import UnreadableFile


def unpacked(path: Path, cache_dir: Path) -> Path:
    """A folder of the archive's files, made anew where the archive has changed.

    Raises UnreadableFile for what is no archive, or would write outside of the folder.
    """
    folder = cache_dir / "archives" / name_of(archive=stat_name(path))
    if folder.is_dir():
        return folder
    aside = aside_of(folder)
    try:
        with telling_folder(folder.parent):
            aside.mkdir(parents=True, exist_ok=True)
            for name, stream in _members(path):
                target = aside / _inside(name, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as file:
                    shutil.copyfileobj(stream, file)
            aside.rename(folder)
    except OSError:
        if not folder.is_dir():  # or else another process was faster
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The names and contents of the files in it."""
    import tarfile
    import zipfile

    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    if not entry.is_dir():
                        with archive.open(entry) as stream:
                            yield entry.filename, stream
            return
        with tarfile.open(path) as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                if content is not None:
                    yield member.name, content
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, RuntimeError) as error:
        raise UnreadableFile(f"{path} is truncated or is no archive: {error}", path=path) from error


def _inside(name: str, archive: Path) -> str:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts:
        raise UnreadableFile(f"{archive} has a file outside of itself: {name!r}", path=archive)
    return str(parts)
