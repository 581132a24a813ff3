"""What the name of a file says: its format, and whether it is compressed as a whole."""

from __future__ import annotations

import os
from pathlib import Path

COMPRESSED = frozenset({".gz", ".bz2", ".xz", ".zst", ".lz4"})
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def kind_of(path: Path) -> str:
    """The suffix that tells the format, compression left out: ".jsonl" of "a.jsonl.gz"."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_archive(path: object) -> bool:
    """Whether a path's suffix is that of an archive of files, and a file is there."""
    if not isinstance(path, str | os.PathLike):
        return False
    return os.fspath(path).lower().endswith(ARCHIVES) and os.path.isfile(path)


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() in COMPRESSED
