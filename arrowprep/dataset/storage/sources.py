"""What files held when they were last loaded: content is read again only where the stat is new.

    sources/<path>      of a path of a machine: the stat that was seen, and the digest of the content

A touched file is hashed again and finds its copy by content; an edited one is
seen even where the mtime was set back, for the ctime cannot be. Copies of what
no file holds any more are superseded.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import xxhash

from arrowprep.dataset.storage.ipc import aside_of
from arrowprep.errors import MissingFile, UnreadableFile

_CHUNK = 1 << 20  # stays in the processor's cache, where it is read into the same place again
_SETTLED_NS = 100_000_000  # a change within one tick of the file system's clock leaves the same ctime
_UNSETTLED = ""  # in the place of a stat that may stand for two contents


def stat_name(path: Path) -> str:
    """A name that changes with every change of the file, and mostly only then."""
    try:
        found = path.stat()
    except OSError as error:
        raise MissingFile(f"{path} does not exist", path=path) from error
    facts = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return xxhash.xxh3_128_hexdigest(repr(facts).encode())


def name_of(**facts: Any) -> str:
    """A name for content: of values that JSON can write, or else by their repr."""
    return xxhash.xxh3_128_hexdigest(json.dumps(facts, sort_keys=True, default=repr).encode())


class Sources:
    """Files that were loaded by way of one cache folder.

    changed: whether one of those that were asked for held something else before
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "sources"
        self.changed = False

    def is_new(self, path: Path) -> bool:
        """Whether the file was not read before, or has changed since."""
        return _record(self._place(path)).get("stat") not in (_UNSETTLED, stat_name(path))

    def content(self, path: Path, *, by_stat: bool = False, refresh: bool = False) -> str:
        """The name of a file's content; read from the file only when its stat is new.

        by_stat: let the stat stand for the content
        refresh: read it whatever the stat is
        """
        before = stat_name(path)
        place = self._place(path)
        known = _record(place)
        if by_stat:
            content, stat = before, before
        elif known.get("stat") == before and not refresh:
            return str(known["content"])
        else:
            began = time.time_ns()
            content = _digest(path)
            settled = began - path.stat().st_ctime_ns > _SETTLED_NS and stat_name(path) == before
            stat = before if settled else _UNSETTLED
        found = {"path": str(path), "stat": stat, "content": content}
        if found != known:
            self.changed |= bool(known) and known["content"] != content
            _write(place, found)
        return content

    def _place(self, path: Path) -> Path:
        return self._folder / name_of(host=platform.node(), path=os.path.abspath(path))

    def contents(self) -> set[str]:
        """All that some file held when it was last loaded, on whatever machine."""
        return {record["content"] for place in self._folder.glob("*") if (record := _record(place))}


def _record(place: Path) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads(place.read_text())
    except (OSError, ValueError):
        return {}
    return found if "content" in found else {}


def _write(place: Path, record: dict[str, str]) -> None:
    aside = aside_of(place)
    with contextlib.suppress(OSError):  # costs the next load some time, no more
        place.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(json.dumps(record))
        os.replace(aside, place)


def _digest(path: Path) -> str:
    digest, space = xxhash.xxh3_128(), memoryview(bytearray(_CHUNK))
    try:
        with path.open("rb", buffering=0) as file:
            while size := file.readinto(space):
                digest.update(space[:size])
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}", path=path) from error
    return digest.hexdigest()
