"""Converted files in the cache: found by the source's stat, named by its content.

    stats/<stat>        the content digest of a file with this device, inode, size, mtime and ctime
    converted/<key>/    Arrow parts of one source, and entry.json, which says what is whole

A touched file is hashed again and finds its entry by content; an edited one is
seen even where the mtime was set back, for the ctime cannot be.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import xxhash

from arrowprep.dataset.storage import ipc
from arrowprep.errors import FileError, MissingFile, UnreadableFile

_CHUNK = 4 << 20
_WORKPLACE = re.compile(r"-(?P<pid>\d+)-[0-9a-f]+\.tmp$")
_SETTLED_NS = 100_000_000  # a change within one tick of the file system's clock leaves the same ctime


@dataclass(frozen=True)
class Entry:
    """One source as Arrow files of one schema."""

    key: str
    parts: tuple[Path, ...]
    schema: pa.Schema
    num_rows: int


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


class FileCache:
    """Entries below one cache folder."""

    def __init__(self, folder: Path) -> None:
        self._converted = folder / "converted"
        self._stats = folder / "stats"
        self._swept = False

    def digest(self, path: Path) -> str:
        """The name of a file's content; read from the file only when its stat is new."""
        known = self._stats / stat_name(path)
        try:
            return known.read_text()
        except OSError:
            pass
        began = time.time_ns()
        digest = _digest(path)
        if began - path.stat().st_ctime_ns > _SETTLED_NS and self._stats / stat_name(path) == known:
            self._remember(known, digest)
        return digest

    def _remember(self, path: Path, digest: str) -> None:
        aside = ipc.aside_of(path)
        with contextlib.suppress(OSError):  # costs the next load some time, no more
            path.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(digest)
            os.replace(aside, path)

    def find(self, key: str) -> Entry | None:
        """The entry of this name; None where it is absent or no longer whole."""
        folder = self._converted / key
        try:
            facts = json.loads((folder / "entry.json").read_text())
            parts = tuple(folder / name for name in facts["parts"])
            if any(path.stat().st_size != size for path, size in zip(parts, facts["bytes"], strict=True)):
                return None
            return Entry(key, parts, ipc.schema_of(parts[0]), facts["rows"])
        except (OSError, ValueError, KeyError, FileError):
            return None

    @contextmanager
    def workplace(self) -> Iterator[Path]:
        """A new folder beside the entries, removed afterwards unless it was published."""
        if not self._swept:
            self._swept = True
            _sweep(self._converted)
        folder = self._converted / f".{_host()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
        with ipc.telling_folder(self._converted):
            folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(
        self, key: str, folder: Path, parts: tuple[Path, ...], rows: int, note: Mapping[str, Any]
    ) -> Entry:
        """Make a workplace the entry `key`; one that another process made first is as good."""
        facts = {
            "parts": [p.name for p in parts],
            "bytes": [p.stat().st_size for p in parts],
            "rows": rows,
            **note,
        }
        with ipc.telling_folder(self._converted):
            (folder / "entry.json").write_text(json.dumps(facts))
            if self.find(key) is None:
                shutil.rmtree(self._converted / key, ignore_errors=True)  # a broken one
                try:
                    folder.rename(self._converted / key)
                except OSError:
                    if self.find(key) is None:
                        raise
        entry = self.find(key)
        assert entry is not None, key
        return entry


def _sweep(folder: Path) -> None:
    """Remove the workplaces of processes of this machine that were killed.

    Of another machine, which may share the folder, nothing is known; so none of its is touched.
    """
    for left in folder.glob(f".{glob.escape(_host())}-*.tmp"):
        pid = _WORKPLACE.search(left.name)
        if pid is not None and not _is_running(int(pid["pid"])):
            shutil.rmtree(left, ignore_errors=True)


def _host() -> str:
    return platform.node().replace("/", "_")


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def _digest(path: Path) -> str:
    digest = xxhash.xxh3_128()
    try:
        with path.open("rb", buffering=0) as file:
            while data := file.read(_CHUNK):
                digest.update(data)
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}", path=path) from error
    return digest.hexdigest()
