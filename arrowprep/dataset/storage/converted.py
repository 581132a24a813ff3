"""Converted files and generated rows: a folder an entry, which appears when it is whole.

converted/<key>/    Arrow parts of one source, and entry.json, which says what is whole
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from arrowprep import config
from arrowprep.dataset.storage import ipc, owner
from arrowprep.dataset.storage.backing import Files
from arrowprep.dataset.storage.locks import only_one
from arrowprep.dataset.storage.pins import used_now
from arrowprep.dataset.storage.room import telling_folder
from arrowprep.dataset.storage.scratch import remove_folder
from arrowprep.dataset.storage.seal import intact
from arrowprep.errors import FileError, tell

if TYPE_CHECKING:
    from arrowprep.dataset.storage.shelved import Shelved

FILES = "files"  # below a cache's root: where all of this lies
_FACTS = "entry.json"
_SAID = ("operation", "source", "content", "function")
_PINNED_ONE_BY_ONE = 64  # each pin is an open file, of which a process has perhaps a thousand


class Entry(NamedTuple):
    """One source as Arrow files of one schema."""

    key: str
    parts: tuple[Path, ...]
    schema: pa.Schema
    num_rows: int


class Reuse(NamedTuple):
    """How far what is in the cache is believed.

    refresh: not at all, it is made anew
    verify: after reading it all, where no byte has changed
    """

    refresh: bool = False
    verify: bool = False

    @classmethod
    def of(cls, refresh: bool, verify: bool | None) -> Reuse:
        """verify: None for what the settings say"""
        return cls(refresh, config.settings().verify if verify is None else verify)


AS_FOUND = Reuse()


class Made(NamedTuple):
    """What the maker of an entry put into its folder, and says of it."""

    parts: tuple[Path, ...]
    num_rows: int
    note: Mapping[str, Any]


class Converted:
    """Entries below one folder.

    made: how many were made by way of this
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "converted"
        self.made = 0
        self._swept = False

    def find(self, key: str, *, verify: bool = False) -> Entry | None:
        """The entry of this name; None where it is absent or no longer whole.

        verify: read it all, and take one with a changed byte for absent
        """
        folder = self.folder / key
        try:
            facts = json.loads((folder / _FACTS).read_text())
            parts = tuple(folder / name for name in facts["parts"])
            if any(path.stat().st_size != size for path, size in zip(parts, facts["bytes"], strict=True)):
                return None
            if verify and not all(map(intact, parts)):
                return None
            entry = Entry(key, parts, ipc.schema_of(parts[0]), facts["rows"])
        except (OSError, ValueError, KeyError, FileError):
            return None
        used_now(folder / _FACTS)
        tell("found %s", folder)
        return entry

    def get(self, key: str, make: Callable[[Path], Made], reuse: Reuse) -> Entry:
        """The entry of this name, found or made now: by one process, for which others that want it wait."""
        found = None if reuse.refresh else self.find(key, verify=reuse.verify)
        if found is not None:
            return found
        with only_one(self.folder / f".{key}.lock"):
            found = None if reuse.refresh else self.find(key, verify=reuse.verify)
            if found is not None:
                return found
            self.made += 1
            with self.workplace() as folder:
                return self.publish(key, folder, make(folder))

    def opened(self, entries: Callable[[], Sequence[Entry]]) -> Files:
        """The rows of entries, which now are in use; asked for once more where one was removed meanwhile."""
        try:
            return self._opened(entries())
        except FileError:
            return self._opened(entries())

    def _opened(self, entries: Sequence[Entry]) -> Files:
        keys = [entry.key for entry in entries if entry.parts[0].parent.parent == self.folder]
        parts = tuple(part for entry in entries for part in entry.parts)
        files = Files(parts, entries=tuple(keys), pins=self._pins(keys))
        files.chunks  # noqa: B018  opens them
        return files

    @contextmanager
    def workplace(self) -> Iterator[Path]:
        """A new folder beside the entries, removed afterwards unless it was published."""
        if not self._swept:
            self._swept = True
            self.sweep()
        folder = self._aside()
        with telling_folder(self.folder):
            folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            remove_folder(folder)

    def publish(self, key: str, folder: Path, made: Made) -> Entry:
        """Make a workplace the entry `key`, in place of one that is there; who has that open goes on."""
        facts = {
            "parts": [path.name for path in made.parts],
            "bytes": [path.stat().st_size for path in made.parts],
            "rows": made.num_rows,
            "made": time.time(),
            **made.note,
        }
        place, old = self.folder / key, self._aside()
        with telling_folder(self.folder):
            (folder / _FACTS).write_text(json.dumps(facts))
            with contextlib.suppress(FileNotFoundError):
                place.rename(old)
            try:
                folder.rename(place)
            except OSError:  # where nothing can be locked, another process may have made it meanwhile
                if self.find(key) is None:
                    raise
        remove_folder(old)
        entry = self.find(key)
        assert entry is not None, key
        return entry

    def _pins(self, keys: Sequence[str]) -> tuple[Path, ...]:
        """The files to lock while these entries are in use."""
        keys = tuple(dict.fromkeys(keys))
        if len(keys) <= _PINNED_ONE_BY_ONE:
            return tuple(self.folder / key / _FACTS for key in keys)
        with contextlib.suppress(OSError):
            self._all.touch()
        return (self._all,)

    @property
    def _all(self) -> Path:
        """Locked by who uses very many entries; then none is removed."""
        return self.folder / ".all"

    def _aside(self) -> Path:
        return self.folder / f".{owner.mark()}.tmp"

    def sweep(self) -> list[Path]:
        """Remove the workplaces of processes of this machine that were killed.

        Of another machine, which may share the folder, nothing is known; so none of its is touched.
        """
        left = [path for path in self.folder.glob(".*.tmp") if owner.is_gone(path.name)]
        for path in left:
            remove_folder(path)
        return left

    def entries(self) -> list[Shelved]:
        """All entries, in no order."""
        found = self.folder.glob(f"*/{_FACTS}")
        return [self._shelved(path) for path in found if not path.parent.name.startswith(".")]

    def _shelved(self, path: Path) -> Shelved:
        from arrowprep.dataset.storage.shelved import Shelved

        try:
            facts, used = json.loads(path.read_text()), path.stat().st_mtime
        except (OSError, ValueError):
            facts, used = {"operation": "broken"}, 0.0
        parts = tuple(path.with_name(name) for name in facts.get("parts", ()))
        return Shelved(
            fingerprint=path.parent.name,
            files=(path, *parts),
            pins=(path, self._all),
            sealed=parts,
            note={"kept": [], **{name: facts[name] for name in _SAID if name in facts}},
            size=sum(facts.get("bytes", ())),
            used=used,
            made=facts.get("made", used),
            folder=path.parent,
        )


def supersede(converted: Converted, contents: set[str]) -> list[Shelved]:
    """Remove the copies of files that hold something else by now, unless somebody uses them."""
    return [
        entry
        for entry in converted.entries()
        if entry.note.get("content") not in {None, *contents} and entry.remove()
    ]
