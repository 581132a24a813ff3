"""A checksum over every byte of an Arrow file, inside of it, where no reader looks.

An Arrow file ends with [end of stream][footer][length of the footer]["ARROW1"],
and is read from its end. The seal lies before the footer: a tag and the hash of
all other bytes, 16 bytes in all.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import xxhash

_TAG = b"\0sealed\0"
_SEAL_BYTES = len(_TAG) + 8
_TRAILER_BYTES = 4 + len(b"ARROW1")
_READ_BYTES = 4 << 20


class SealedFile(io.RawIOBase):
    """A new file that hashes what is written to it: 0.5 GB cost 0.06 s more than without."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  closed by `close`
        self._hash = xxhash.xxh3_64()
        self._held: list[bytes] | None = None

    def write(self, data: object) -> int:
        left = memoryview(data).cast("B")  # type: ignore[arg-type]
        size = len(left)
        self._hash.update(left)
        if self._held is not None:
            self._held.append(bytes(left))
            return size
        self._put(left)
        return size

    def _put(self, left: memoryview) -> None:
        while left:  # a disk that is nearly full takes a part
            left = left[self._file.write(left) :]

    def hold(self) -> None:
        """What comes next is the end of the file."""
        self._held = []

    def seal(self) -> None:
        """Write the end of the file, and the seal within it."""
        end = b"".join(self._held or ())
        self._held = None
        at = len(end) - _TRAILER_BYTES - _footer_bytes(end[-_TRAILER_BYTES:])
        self._put(memoryview(end[:at] + _TAG + self._hash.digest() + end[at:]))

    def tell(self) -> int:
        return self._file.tell() + sum(map(len, self._held or ()))

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()


def intact(path: Path) -> bool:
    """Whether every byte of a sealed file is the one that was written. Reads all of it.

    Raises OSError where it cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TRAILER_BYTES))
        at = size - _TRAILER_BYTES - _footer_bytes(file.read()) - _SEAL_BYTES
        if at < 0:
            return False
        file.seek(at)
        seal = file.read(_SEAL_BYTES)
        rest = file.read()
        found = xxhash.xxh3_64()
        file.seek(0)
        while at > 0:
            data = file.read(min(at, _READ_BYTES))
            if not data:
                return False
            found.update(data)
            at -= len(data)
        found.update(rest)
    return seal == _TAG + found.digest()


def _footer_bytes(trailer: bytes) -> int:
    return int.from_bytes(trailer[:4], "little")
