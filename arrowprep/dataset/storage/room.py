"""Room on a disk: what would not fit is told before it is written, what did not with figures."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arrowprep import config
from arrowprep.errors import CacheError, DiskFull

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REMEDY = "make room, or set ARROWPREP_CACHE or cache_dir= to a folder with more"


def free_bytes(folder: Path) -> int | None:
    """Bytes that this user may still write in a folder, which need not exist yet; None where nobody knows."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize if found.f_blocks else None  # some network folders say 0 of 0


def require(folder: Path, needed: int, what: str) -> None:
    """Raise DiskFull where a folder has less than `needed` bytes left; what: "this batch needs"."""
    free = free_bytes(folder)
    if free is not None and needed > free:
        said = f"{what} {in_units(needed)}, and {in_units(free)} are free"
        raise DiskFull(f"no room in {folder}: {said}; {_REMEDY}", path=folder, needed=needed, free=free)


def expect(folder: Path, needed: int, what: str) -> None:
    """As `require`, of an estimate, which the user may switch off."""
    if config.settings().check_room:
        require(folder, needed, f"by an estimate, which ARROWPREP_CHECK_ROOM=0 leaves out, {what}")


class Outlook:
    """What a run will write in all, told by what it has written so far."""

    def __init__(self, stem: Path, num_rows: int) -> None:
        """stem: with what the names of all workers' files begin; num_rows: of all workers"""
        self._stem, self._num_rows = stem, num_rows

    def check(self, rows: int, written: int) -> None:
        """Raise DiskFull where the rest will not fit, if all rows take what these did.

        rows, written: of this worker, in rows and bytes
        """
        if rows and config.settings().check_room:
            rest = written * self._num_rows // rows - self._there()
            expect(self._stem.parent, rest, "the rest of the result needs")

    def _there(self) -> int:
        """Bytes that all workers have written."""
        name = self._stem.name
        with os.scandir(self._stem.parent) as files:
            return sum(_size(file) for file in files if file.name.lstrip(".").startswith(name))


def _size(file: os.DirEntry[str]) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # renamed just now
        return 0


@contextmanager
def telling_folder(folder: Path, needed: int | None = None) -> Iterator[None]:
    """Turn what the operating system says of a full or read-only folder into a CacheError.

    needed: bytes that are about to be written, where that is known
    """
    try:
        yield
    except CacheError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        what = "cannot write" if needed is None else f"cannot write {in_units(needed)}"
        if error.errno not in _FULL:
            raise CacheError(f"{what} in {folder}: {reason}; {_REMEDY}", path=folder) from error
        free = free_bytes(folder)
        left = "" if free is None else f", {in_units(free)} are free"
        raise DiskFull(
            f"{what} in {folder}: {reason}{left}; {_REMEDY}", path=folder, needed=needed, free=free
        ) from error


def in_units(size: int) -> str:
    """Bytes in decimal units, as file managers show them."""
    number = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"
