"""One computation of one name at a time, also among processes and machines that share a folder.

The lock is `flock` on a file beside the entry. The operating system releases it
when its owner dies, so none is ever left held. On NFS (v4, or v3 with lockd)
Linux makes it a lock of the whole network folder; where a file system has no
locks at all, the work is done twice and both results are right.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arrowprep.dataset.storage.room import telling_folder
from arrowprep.errors import tell

_POLL_S = 0.05


@contextmanager
def only_one(path: Path) -> Iterator[bool]:
    """Hold the lock named by this path, waiting for whoever has it; the file goes with the lock.

    Gives whether it is really held: False on a file system without locks. Ctrl-C leaves it held at no place.
    """
    lock = _Lock(path)
    try:
        yield lock.take()
    finally:
        lock.release()


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock named by this path."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


class _Lock:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: io.FileIO | None = None  # an object, which closes its descriptor wherever it is dropped
        self._is_held = False

    def take(self) -> bool:
        told = False
        while not self._is_held:
            with telling_folder(self._path.parent):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = io.FileIO(self._path, "a")
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    return False  # a file system without locks
                if not told:
                    told = True
                    tell("waiting for another process that computes %s", self._path.stem.lstrip("."))
                time.sleep(_POLL_S)
                continue
            # or else its owner has removed it since: the name is another file now
            self._is_held = _is_at(self._path, self._file.fileno())
        return True

    def release(self) -> None:
        try:
            if self._is_held:
                with contextlib.suppress(OSError):
                    self._path.unlink()
        finally:
            if self._file is not None:
                self._file.close()


def _is_at(path: Path, file: int) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    mine = os.fstat(file)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)
