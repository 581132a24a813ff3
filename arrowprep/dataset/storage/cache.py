"""The cache of results: an entry is whole or absent, and is found by its fingerprint.

`cache-<fingerprint>.arrow` is the entry. It holds the rows, or, where several
workers wrote, names the part files that hold them (`cache-<fingerprint>-...`)
and the order of their record batches. It is renamed into place last.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from arrowprep.dataset.indices import Picks, RowArray
from arrowprep.dataset.plain import int64_array, uint64_numbers
from arrowprep.dataset.storage import ipc
from arrowprep.dataset.storage.backing import Files, Memory
from arrowprep.dataset.storage.locks import only_one
from arrowprep.dataset.storage.pins import Pin, used_now
from arrowprep.dataset.storage.seal import intact
from arrowprep.errors import BadArgument, FileError, UnreadableFile, tell, warn

if TYPE_CHECKING:
    from arrowprep.dataset.storage.parts import Part
    from arrowprep.dataset.storage.publishing import Completion

RESULTS = "results"
_INDICES = "indices"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class Entry(NamedTuple):
    """A published result. note: what its writer said of it."""

    backing: Files | Memory
    note: Mapping[str, Any]


class MappedPicks(Picks):
    """Row numbers in a file; pickles as its name.

    entry: the name of the entry of a cache that it is
    """

    path: Path
    entry: str

    def __init__(self, path: Path, entry: str) -> None:
        object.__setattr__(self, "_pin", Pin(path))
        column = ipc.open_mapped(path).column(_INDICES)
        stored = uint64_numbers(column.chunk(0)) if column.num_chunks else np.empty(0, np.uint64)
        super().__init__(stored.view(np.int64))
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "entry", entry)

    def __reduce__(self) -> tuple[Any, ...]:
        return MappedPicks, (self.path, self.entry)


class Cache:
    """Results of map, filter and others, below one cache folder."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / RESULTS

    def path(self, fingerprint: str) -> Path:
        """Where the entry of this name is or would be."""
        if not _NAME.fullmatch(fingerprint):
            raise BadArgument(
                f"fingerprint {fingerprint!r} is no name for a file: "
                "use up to 64 letters, digits, '-', '_', '.'",
                fingerprint=fingerprint,
            )
        return self.folder / f"cache-{fingerprint}.arrow"

    def stem(self, fingerprint: str) -> Path:
        """A beginning of part names that no other run uses."""
        return self.path(fingerprint).with_suffix("").with_name(f"cache-{fingerprint}-{os.urandom(4).hex()}")

    def find(self, fingerprint: str, *, verify: bool = False) -> Entry | None:
        """The entry, or None where it is absent, truncated, or lacks a part.

        verify: read it all; files in which a byte has changed are removed, and the entry is absent
        """
        path = self.path(fingerprint)
        if not path.exists():  # as most misses are; an error would keep its callers' frames, with datasets
            return None
        try:
            files = Files((path,), entries=(fingerprint,), pins=(path,))
            note = note_in(files.schema, path)
            if note is None:
                return None
            files = _with_parts(files, note)
            if verify and _without_damaged((path, *files.parts)):
                return None
            files.chunks  # noqa: B018  opening finds what is truncated or gone
        except FileError:
            return None
        used_now(path)
        tell("found %s", path)
        return Entry(files, note)

    def only_one(self, fingerprint: str) -> AbstractContextManager[bool]:
        """Hold while computing an entry: another process that wants it waits, and then finds it."""
        return only_one(self.folder / f".cache-{fingerprint}.lock")

    def leftovers(self, fingerprint: str, num_rows: int, version: int) -> list[Part]:
        """What stopped runs wrote of this entry; only while its lock is held."""
        from arrowprep.dataset.storage.leftovers import leftovers

        return leftovers(self.folder, f"cache-{fingerprint}", num_rows, version)

    def publish(
        self,
        fingerprint: str,
        parts: list[Part],
        note: Mapping[str, Any],
        complete: Completion,
        *,
        one_file: bool,
        compression: str | None = None,
    ) -> Entry:
        """Make the parts an entry, all of one schema; its own file appears last.

        one_file: put all rows into the entry's file, whatever the number of parts
        compression: of what must be written again
        """
        from arrowprep.dataset.storage.publishing import publish

        path = self.path(fingerprint)
        publish(path, parts, note, complete, one_file=one_file, compression=compression)
        entry = self.find(fingerprint)
        assert entry is not None, path
        return entry

    def remove(self, fingerprint: str) -> None:
        """Remove an entry and its parts; what is open stays readable."""
        entry = self.find(fingerprint)
        for path in (self.path(fingerprint), *(entry.backing.files if entry else ())):
            path.unlink(missing_ok=True)

    def publish_copy(self, path: Path, name: str, tables: Iterable[pa.Table], schema: pa.Schema) -> Files:
        """A whole result in a file of the user's choice, which says what it is."""
        note = {"version": 0, "name": name}
        with ipc.write_aside(
            path, schema.with_metadata({**(schema.metadata or {}), **as_metadata(note)})
        ) as writer:
            for batch in ipc.in_batches(tables):
                writer.write_batch(batch)
        return Files((path,))

    def find_rows(self, fingerprint: str, *, verify: bool = False) -> Picks | None:
        """Row numbers that were published under this name."""
        path = self.path(fingerprint)
        if not path.exists() or (verify and _without_damaged((path,))):
            return None
        try:
            rows = MappedPicks(path, fingerprint)
        except (FileError, KeyError):
            return None
        used_now(path)
        return rows

    def publish_rows(self, fingerprint: str, numbers: RowArray, note: Mapping[str, Any]) -> Picks:
        """Keep row numbers in a file: one uint64 column, as `datasets` writes them."""
        path = self.path(fingerprint)
        batch = pa.record_batch({_INDICES: int64_array(numbers).view(pa.uint64())})
        with ipc.write_aside(path, batch.schema.with_metadata(as_metadata(note))) as writer:
            if len(numbers):
                writer.write_batch(batch)
        return MappedPicks(path, fingerprint)


def read_note(path: Path) -> dict[str, Any] | None:
    """What the writer of a cache file said of it; None where there is no note.

    Raises UnreadableFile for what cannot be opened.
    """
    return note_in(ipc.schema_of(path), path)


def note_in(schema: pa.Schema, path: Path) -> dict[str, Any] | None:
    """The same of a schema that was read; `path` is told."""
    note = (schema.metadata or {}).get(ipc.NOTE)
    try:
        return None if note is None else dict(json.loads(note))
    except ValueError as error:
        raise UnreadableFile(f"{path} says of itself what cannot be read: {error}", path=path) from error


def copy_at(path: Path, name: str) -> Files | None:
    """The file that `publish_copy` wrote there, if it is the result of this name."""
    try:
        note = read_note(path)
    except FileError:
        return None
    return Files((path,)) if note is not None and note.get("name") == name else None


def as_metadata(note: Mapping[str, Any]) -> dict[bytes, bytes]:
    return {ipc.NOTE: json.dumps(note).encode()}


def _with_parts(files: Files, note: Mapping[str, Any]) -> Files:
    """The files that an entry's own one names, or that one."""
    if "parts" not in note:
        return files
    parts = tuple(files.parts[0].with_name(name) for name in note["parts"])
    return replace(files, parts=parts, order=tuple((part, batch) for part, batch in note["order"]))


def _without_damaged(files: Iterable[Path]) -> list[Path]:
    """Remove the files in which a byte has changed, and tell of them; the others serve the next run."""
    bad = [path for path in files if path.exists() and not intact(path)]
    for path in bad:
        warn(f"{path} is not as it was written; what it held is made again")
        path.unlink(missing_ok=True)
    return bad
