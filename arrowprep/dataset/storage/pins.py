"""Files that are in use: a shared lock for as long as somebody may read them by name."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class Pin:
    """Keeps a file from being removed by `unused`, here and in other processes, until it is collected."""

    def __init__(self, path: Path) -> None:
        self._file: int | None = None
        with contextlib.suppress(OSError):  # gone since, or a file system without locks
            self._file = os.open(path, os.O_RDONLY)
            fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def __del__(self, close: Callable[[int], None] = os.close) -> None:  # `os` is gone when Python ends
        if self._file is not None:
            close(self._file)


@contextmanager
def unused(path: Path) -> Iterator[bool]:
    """Whether nobody has pinned the file; nobody can while the block runs."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(file)
