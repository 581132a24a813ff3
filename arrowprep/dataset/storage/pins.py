"""Entries that are in use: a shared lock on one file of each, for as long as somebody may read it by name."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class Pin:
    """Keeps a file's entry from being removed, here and in other processes, until it is collected."""

    _file: int | None = None

    def __init__(self, path: Path) -> None:
        with contextlib.suppress(OSError):  # gone since, or a file system without locks
            self._file = os.open(path, os.O_RDONLY)
            fcntl.flock(self._file, fcntl.LOCK_SH)  # whoever removes files locks them for a moment only

    def __del__(self, close: Callable[[int], None] = os.close) -> None:  # `os` is gone when Python ends
        if self._file is not None:
            close(self._file)


@contextmanager
def unused(paths: Sequence[Path]) -> Iterator[bool]:
    """Whether nobody has pinned one of these files; nobody can while the block runs."""
    files = []
    try:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                files.append(os.open(path, os.O_RDONLY))
        yield all(map(_locked, files))
    finally:
        for file in files:
            os.close(file)


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks, where nothing can be pinned
    return True


def used_now(path: Path) -> None:
    """Note the time of use, by which the least recently used are found.

    As the time of modification, for many file systems do not keep that of access.
    """
    with contextlib.suppress(OSError):
        os.utime(path)
