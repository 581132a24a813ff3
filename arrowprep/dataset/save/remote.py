"""A folder behind a URL (`memory://`, `s3://`, ...), through fsspec: saved here first, then sent whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from arrowprep.dataset.load.remote import file_system, is_remote
from arrowprep.dataset.storage.scratch import scratch_folder
from arrowprep.errors import UnreadableFile

_LAST = ("dataset_info.json", "state.json", "dataset_dict.json")  # a reader of these finds the rest there


@contextmanager
def local_folder(
    target: str | os.PathLike[str], storage_options: Mapping[str, Any] | None = None
) -> Iterator[Path]:
    """The folder to save into; what is saved there is sent to `target` at the end, where that is a URL.

    The files that name others are sent after them, so that a reader sees the old save or the new one;
    shards that only the old one named are removed last.
    """
    if not is_remote(target):
        yield Path(target).expanduser()
        return
    system, root = file_system(target, storage_options or {})
    folder = scratch_folder() / f"save-{os.urandom(8).hex()}"
    folder.mkdir()
    try:
        old = _states_there(system, root, folder)
        yield folder
        _send(system, root, folder)
        for state, names in old.items():
            for name in names - _named(folder / state):
                system.rm_file(str(PurePosixPath(root, state).with_name(name)))
    except OSError as error:
        raise UnreadableFile(f"{target} cannot be written: {error}", path=target) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _states_there(system: Any, root: str, folder: Path) -> dict[str, set[str]]:
    """The shards that each state.json of an earlier save names; a copy of it keeps their names from reuse."""
    found = {}
    for path in system.find(root) if system.exists(root) else ():
        below = path.removeprefix(root).lstrip("/")
        if Path(below).name == "state.json":
            (folder / below).parent.mkdir(parents=True, exist_ok=True)
            (folder / below).write_bytes(system.cat_file(path))
            found[below] = _named(folder / below)
    return found


def _named(state: Path) -> set[str]:
    try:
        return {file["filename"] for file in json.loads(state.read_text())["_data_files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _send(system: Any, root: str, folder: Path) -> None:
    """Every file, those that name others last; a large file leaves this disk as soon as it is there."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in sorted(files, key=lambda path: (path.name in _LAST and _LAST.index(path.name) + 1, path)):
        there = f"{root}/{path.relative_to(folder).as_posix()}"
        system.makedirs(there.rpartition("/")[0], exist_ok=True)
        system.put_file(str(path), there)
        if path.name not in _LAST:
            path.unlink()
