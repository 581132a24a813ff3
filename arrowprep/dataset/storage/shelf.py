"""What lies in a cache folder: listing it, checking it, and making room without hurting anybody."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arrowprep.dataset.storage import ipc
from arrowprep.dataset.storage.cache import read_note
from arrowprep.dataset.storage.pins import unused
from arrowprep.errors import FileError

_ENTRY = re.compile(r"cache-(?P<fingerprint>[A-Za-z0-9_.]+)\.arrow")
_PART = re.compile(r"\.?cache-(?P<fingerprint>[A-Za-z0-9_.]+)-[0-9a-f]{8}[-.].*")
ORPHAN_S = 24 * 3600.0  # what a stopped run left is kept so long, for it may be run again


@dataclass(frozen=True)
class Shelved:
    """One entry: its files, and what it says of itself.

    size: bytes of all files; used, made: seconds since the epoch
    """

    fingerprint: str
    files: tuple[Path, ...]
    note: Mapping[str, Any]
    size: int
    used: float
    made: float

    @property
    def operation(self) -> str:
        return str(self.note.get("operation", "unknown"))

    @property
    def function(self) -> str | None:
        return self.note.get("function")

    @property
    def parent(self) -> str | None:
        """The entry or data that it was made from."""
        return self.note.get("parent")

    @property
    def needs_parent(self) -> bool:
        """Whether it holds only a part of the columns, or only row numbers."""
        return "kept" not in self.note or bool(self.note["kept"])

    def damaged(self) -> dict[Path, list[int]]:
        """Record batches, by file, that are not what was written; a file that is gone counts as batch -1."""
        found = {}
        for path in self.files:
            try:
                bad = ipc.damaged(path)
            except FileError:
                bad = [-1]
            if bad:
                found[path] = bad
        return found


def entries(folder: Path) -> list[Shelved]:
    """All entries of a folder, the last used first."""
    found = [_shelved(path) for path in folder.glob("cache-*.arrow") if _ENTRY.fullmatch(path.name)]
    return sorted((entry for entry in found if entry is not None), key=lambda entry: -entry.used)


def orphans(folder: Path, older_than_s: float = ORPHAN_S) -> list[Path]:
    """Files of runs that were stopped and not gone on with since."""
    held = {file for entry in entries(folder) for file in entry.files}
    before = time.time() - older_than_s
    found = []
    for path in [*folder.glob("cache-*"), *folder.glob(".cache-*")]:
        is_left = path not in held and (_PART.fullmatch(path.name) or path.suffix in (".tmp", ".lock"))
        if is_left and path.stat().st_mtime < before:
            found.append(path)
    return found


def remove(entry: Shelved) -> bool:
    """Remove an entry, its own file first; False where somebody uses it."""
    return _remove_unused(entry.files)


def sweep(folder: Path, older_than_s: float = ORPHAN_S) -> list[Path]:
    """Remove orphans that nobody holds; what was removed."""
    return [path for path in orphans(folder, older_than_s) if _remove_unused([path])]


def prune(folder: Path, max_bytes: int) -> list[Shelved]:
    """Remove entries, the least recently used first and children before parents, until they fit.

    An entry that is in use stays, and so do those it needs.
    """
    left = entries(folder)
    size = sum(entry.size for entry in left)
    removed = []
    for entry in _children_first(left):
        if size <= max_bytes:
            break
        needed = {e.parent for e in left if e.needs_parent}
        if entry.fingerprint not in needed and remove(entry):
            left.remove(entry)
            removed.append(entry)
            size -= entry.size
    return removed


def _children_first(shelf: list[Shelved]) -> list[Shelved]:
    """Least recently used first, where the use of a child is a use of what it needs."""
    by_name = {entry.fingerprint: entry for entry in shelf}
    used = {entry.fingerprint: (entry.used, 0) for entry in shelf}
    for entry in shelf:
        child, depth = entry, 0
        while child.needs_parent and child.parent in by_name and depth < len(shelf):
            child, depth = by_name[child.parent], depth + 1
            used[child.fingerprint] = max(used[child.fingerprint], (entry.used, depth))
    return sorted(shelf, key=lambda entry: used[entry.fingerprint])


def _shelved(path: Path) -> Shelved | None:
    match = _ENTRY.fullmatch(path.name)
    assert match is not None
    try:
        note = read_note(path) or {}
        files = (path, *(path.with_name(name) for name in note.get("parts", ())))
        stats = [file.stat() for file in files if file.exists()]
    except (FileError, OSError):
        return Shelved(match["fingerprint"], (path,), {"operation": "broken"}, 0, 0.0, 0.0)
    if not stats:
        return None
    return Shelved(
        fingerprint=match["fingerprint"],
        files=files,
        note=note,
        size=sum(stat.st_size for stat in stats),
        used=stats[0].st_mtime,
        made=note.get("made", stats[0].st_mtime),
    )


def _remove_unused(files: Iterable[Path]) -> bool:
    for number, path in enumerate(files):
        with unused(path) as free:
            if not free and path.exists():
                if number == 0:
                    return False
                continue
            path.unlink(missing_ok=True)
    return True


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                continue
    return total
