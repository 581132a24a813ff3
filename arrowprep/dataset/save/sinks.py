"""Where written bytes go: a buffer, a file that appears when it is whole, a URL; compressed by its suffix."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

import pyarrow as pa

from arrowprep.dataset.load.remote import file_system, is_remote
from arrowprep.dataset.storage.ipc import aside_of
from arrowprep.errors import BadArgument

Target: TypeAlias = "str | os.PathLike[str] | IO[bytes]"

_COMPRESSORS: dict[str, Callable[[Any], Any]] = {
    "gzip": partial(gzip.open, mode="wb"),
    "bz2": partial(bz2.open, mode="wb"),
    "xz": partial(lzma.open, mode="wb"),
    "zstd": partial(pa.CompressedOutputStream, compression="zstd"),
}
_BY_SUFFIX = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd"}


@contextmanager
def opened(
    target: Target, compression: str | None = "infer", storage_options: Mapping[str, Any] | None = None
) -> Iterator[IO[bytes]]:
    """A stream into the target. A file appears under its name only when all was written.

    compression: gzip, bz2, xz, zstd, None, or "infer" from a path's suffix
    storage_options: of the fsspec file system of a URL
    """
    if is_remote(target):
        kind = _BY_SUFFIX.get(PurePosixPath(target).suffix.lower()) if compression == "infer" else compression
        system, there = file_system(target, storage_options or {})
        with system.open(there, "wb") as file, _compressed(file, kind) as stream:
            yield stream
        return
    if not isinstance(target, str | os.PathLike):
        with _compressed(target, None if compression == "infer" else compression) as stream:
            yield stream
        return
    path = Path(target).expanduser()
    kind = _BY_SUFFIX.get(path.suffix.lower()) if compression == "infer" else compression
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe, a device: not to be replaced
        with path.open("wb") as file, _compressed(file, kind) as stream:
            yield stream
        return
    path = Path(os.path.realpath(path))  # a link stays, and what it points at is replaced
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = aside_of(path)
    try:
        with aside.open("wb") as file, _compressed(file, kind) as stream:
            yield stream
        os.replace(aside, path)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()


def check_processes(num_proc: int | None) -> None:
    """Refuse a number of processes that is none; files are written by one, as fast as the disk takes them."""
    if num_proc is not None and num_proc < 1:
        raise BadArgument(f"num_proc must be at least 1, not {num_proc}", num_proc=num_proc)


@contextmanager
def _compressed(sink: IO[bytes], kind: str | None) -> Iterator[IO[bytes]]:
    if kind is None:
        yield sink
        return
    if kind not in _COMPRESSORS:
        raise BadArgument(f"compression={kind!r} is none of {', '.join(_COMPRESSORS)}", compression=kind)
    stream = _COMPRESSORS[kind](sink)
    with stream:
        yield stream
