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

    Gives whether it is really held: False on a file system without locks.
    """
    file = _locked(path)
    try:
        yield file is not None
    finally:
        if file is not None:
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(file)


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


def _locked(path: Path) -> int | None:
    told = False
    while True:
        with telling_folder(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(file)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return None  # a file system without locks
            if not told:
                told = True
                tell("waiting for another process that computes %s", path.stem.lstrip("."))
            time.sleep(_POLL_S)
            continue
        if _is_at(path, file):
            return file
        os.close(file)  # its owner has removed it since: the name is another file now


def _is_at(path: Path, file: int) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    mine = os.fstat(file)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)
