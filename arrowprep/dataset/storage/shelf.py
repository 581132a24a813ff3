"""What lies in a cache folder: listing it, checking it, and making room without hurting anybody."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arrowprep import config
from arrowprep.dataset.storage import owner
from arrowprep.dataset.storage.cache import RESULTS, read_note
from arrowprep.dataset.storage.converted import FILES, Converted, supersede
from arrowprep.dataset.storage.locks import is_held
from arrowprep.dataset.storage.pins import unused
from arrowprep.dataset.storage.shelved import Shelved
from arrowprep.dataset.storage.sources import Sources
from arrowprep.errors import FileError

ORPHAN_S = 24 * 3600.0  # what a stopped run left is kept so long, for it may be run again
_ENTRY = re.compile(r"cache-(?P<fingerprint>[A-Za-z0-9_.]+)\.arrow")
_LEFT = re.compile(r"\.?cache-(?P<fingerprint>[A-Za-z0-9_.]+?)(?:-[0-9a-f]{8}[-.].*|\.arrow\..*\.tmp|\.lock)")

_swept: set[Path] = set()


def entries(root: Path) -> list[Shelved]:
    """All entries of a cache folder, results and converted files, the last used first."""
    found = [*results(root / RESULTS), *Converted(root / FILES).entries()]
    return sorted(found, key=lambda entry: -entry.used)


def results(folder: Path) -> list[Shelved]:
    """The entries of a folder of results, in no order."""
    paths = [path for path in folder.glob("cache-*.arrow") if _ENTRY.fullmatch(path.name)]
    return [entry for path in paths if (entry := _result(path)) is not None]


def orphans(root: Path, older_than_s: float = ORPHAN_S) -> list[Path]:
    """Files of runs that were stopped and not gone on with since; never those of a run that goes on."""
    folder, before = root / RESULTS, time.time() - older_than_s
    named = [(path, _LEFT.fullmatch(path.name)) for path in folder.glob("*")]
    old = [(path, name["fingerprint"]) for path, name in named if name and _made(path) < before]
    held = {path for name in {name for _, name in old} for path in _parts_of(folder / f"cache-{name}.arrow")}
    return [
        path
        for path, name in old
        if path not in held
        and owner.is_gone(path.name) is not False
        and not is_held(folder / f".cache-{name}.lock")
    ]


def sweep(root: Path, older_than_s: float = ORPHAN_S) -> list[Path]:
    """Remove orphans; what was removed."""
    removed = Converted(root / FILES).sweep()
    for path in orphans(root, older_than_s):
        with unused([path]) as free:
            if free:
                path.unlink(missing_ok=True)
                removed.append(path)
    return removed


def prune(root: Path, max_bytes: int) -> list[Shelved]:
    """Remove copies of what files no longer hold, and then entries, the least recently used first and
    children before parents, until they fit.

    An entry that is in use stays, and so do those it needs.
    """
    removed = supersede(Converted(root / FILES), Sources(root / FILES).contents())
    left = entries(root)
    size = sum(entry.size for entry in left)
    for entry in _children_first(left):
        if size <= max_bytes:
            break
        needed = {parent for e in left if e.needs_parent for parent in e.parents}
        if entry.fingerprint not in needed and entry.remove():
            left.remove(entry)
            removed.append(entry)
            size -= entry.size
    return removed


def tidy(root: Path) -> None:
    """Sweep, once in a process, and prune to what the settings allow; never what is in use, as the new is."""
    if root not in _swept:
        _swept.add(root)
        sweep(root)
    limit = config.settings().cache_max_bytes
    if limit is not None:
        prune(root, limit)


def _children_first(shelf: list[Shelved]) -> list[Shelved]:
    """Least recently used first, where the use of a child is a use of what it needs."""
    by_name = {entry.fingerprint: entry for entry in shelf}
    used = {entry.fingerprint: (entry.used, 0) for entry in shelf}
    for entry in shelf:
        above = [(entry, 0)]
        while above:
            child, depth = above.pop()
            used[child.fingerprint] = max(used[child.fingerprint], (entry.used, depth))
            if child.needs_parent and depth < len(shelf):
                above += [(by_name[name], depth + 1) for name in child.parents if name in by_name]
    return sorted(shelf, key=lambda entry: used[entry.fingerprint])


def _result(path: Path) -> Shelved | None:
    found = _ENTRY.fullmatch(path.name)
    assert found is not None
    try:
        note: Mapping[str, Any] = read_note(path) or {}
    except FileError:
        note = {"operation": "broken", "kept": []}
    files = (path, *_parts(path, note))
    try:
        stats = [file.stat() for file in files if file.exists()]
    except OSError:
        return None
    if not stats:
        return None
    return Shelved(
        fingerprint=found["fingerprint"],
        files=files,
        pins=(path,),
        sealed=files,
        note=note,
        size=sum(stat.st_size for stat in stats),
        used=stats[0].st_mtime,
        made=note.get("made", stats[0].st_mtime),
    )


def _parts(path: Path, note: Mapping[str, Any]) -> list[Path]:
    return [path.with_name(name) for name in note.get("parts", ())]


def _parts_of(path: Path) -> list[Path]:
    try:
        return _parts(path, read_note(path) or {})
    except FileError:
        return []


def _made(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()
