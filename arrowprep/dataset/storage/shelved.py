"""One entry of a cache folder, as somebody who lists the folder sees it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arrowprep.dataset.storage.pins import unused
from arrowprep.dataset.storage.seal import intact


class Shelved(NamedTuple):
    """An entry: its files, and what it says of itself.

    files: the one it is found by comes first
    pins: the files that are locked by who uses it
    sealed: the files that have a checksum
    size: bytes of all files; used, made: seconds since the epoch
    """

    fingerprint: str
    files: tuple[Path, ...]
    pins: tuple[Path, ...]
    sealed: tuple[Path, ...]
    note: Mapping[str, Any]
    size: int
    used: float
    made: float
    folder: Path | None = None

    @property
    def operation(self) -> str:
        """What made it: map, filter, shuffle, ..., load or generate."""
        return str(self.note.get("operation", "unknown"))

    @property
    def function(self) -> str | None:
        return self.note.get("function")

    @property
    def source(self) -> str | None:
        """The file that it is a copy of."""
        return self.note.get("source")

    @property
    def parent(self) -> str | None:
        """The name of the data that it was made from."""
        return self.note.get("parent")

    @property
    def parents(self) -> frozenset[str]:
        """The entries that hold this data."""
        return frozenset(filter(None, (self.parent, *self.note.get("parents", ()))))

    @property
    def needs_parent(self) -> bool:
        """Whether it holds only a part of the columns, or only row numbers."""
        return "kept" not in self.note or bool(self.note["kept"])

    def damaged(self) -> list[Path]:
        """Files in which a byte is not what was written, or that are gone."""
        return [path for path in self.sealed if not _is_intact(path)]

    def remove(self) -> bool:
        """Remove it, unless somebody uses it."""
        with unused(self.pins) as free:
            if free:
                for path in self.files:
                    path.unlink(missing_ok=True)
                if self.folder is not None:
                    with contextlib.suppress(OSError):
                        self.folder.rmdir()
            return free


def _is_intact(path: Path) -> bool:
    try:
        return intact(path)
    except OSError:
        return False
