"""Which files are meant, and which split each belongs to.

a file, a list, a glob       all "train", unless names say otherwise in a folder
a folder                     splits from data/<split>-00000-of-00001.*, folder names, file names
a dict                       split -> file, list or glob
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from arrowprep.dataset.load.readers import reader_for
from arrowprep.errors import BadArgument, MissingFile, UnknownFileType, UnreadableFile

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

# words in a name that tell the split; the order is that of the result
SPLIT_WORDS: dict[str, tuple[str, ...]] = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_ASIDE = {"config.json", "dataset_info.json", "dataset_infos.json", "state.json", "dataset_dict.json"}
_SHARD = r"(?P<split>\w+(?:\.\w+)*)-\d{5}-of-\d{5}(-\w+)?\..+"
_SAVED = ("dataset_dict.json", "state.json")


def discover(path: Paths | Mapping[str, Paths], *, reader: str | None = None) -> dict[str, list[Path]]:
    """The files of each split, in natural order.

    reader: the format was named, so that every suffix will do

    Raises MissingFile where nothing is there, and UnreadableFile for a folder
    with files of several formats or one that `save_to_disk` wrote.
    """
    if isinstance(path, Mapping):
        return {str(split): _files(paths, reader) for split, paths in path.items()}
    if isinstance(path, str | os.PathLike) and os.path.isdir(path):
        return _folder(Path(path), reader)
    return {"train": _files(path, reader)}


def kind(path: Paths | Mapping[str, Paths]) -> str:
    """ "hf_disk" for a folder that `save_to_disk` wrote, else "files"."""
    if isinstance(path, str | os.PathLike) and any((Path(path) / name).is_file() for name in _SAVED):
        return "hf_disk"
    return "files"


def _files(paths: Paths, reader: str | None) -> list[Path]:
    if isinstance(paths, str | os.PathLike):
        return _one(paths, reader)
    listed = list(paths)
    if not listed:
        raise BadArgument("the list of files is empty")
    return [file for path in listed for file in _one(path, reader)]


def _one(path: str | os.PathLike[str], reader: str | None) -> list[Path]:
    """The files of one path: itself, what a glob finds, or all in a folder."""
    found = Path(path).expanduser()
    if found.is_file():
        return [found]
    if found.is_dir():
        return [file for files in _folder(found, reader).values() for file in files]
    if any(sign in str(path) for sign in "*?["):
        import glob

        matches = [Path(match) for match in glob.glob(str(found), recursive=True)]
        files = [match for match in matches if match.is_file() and not match.name.startswith(".")]
        if not files:
            raise MissingFile(f"no file matches {str(path)!r}", path=found)
        return sorted(files, key=natural_key)
    raise _missing(found)


def _missing(path: Path) -> MissingFile:
    parent = path.parent
    if not parent.is_dir():
        return MissingFile(f"{path} does not exist, nor does the folder {parent}", path=path)
    near = sorted(other.name for other in parent.iterdir() if other.suffix == path.suffix)[:5]
    has = f"; its folder has {', '.join(near)}" if near else ""
    return MissingFile(f"{path} does not exist{has}", path=path)


def _folder(folder: Path, reader: str | None) -> dict[str, list[Path]]:
    if kind(folder) == "hf_disk":
        raise UnreadableFile(
            f"{folder} was written by save_to_disk; open it with load_from_disk", path=folder
        )
    files = [path for path in _walk(folder) if _is_data(path)]
    readable = files if reader is not None else _of_one_format(folder, files)
    if not readable:
        raise MissingFile(
            f"{folder} holds no data files; looked for files of known types, hidden ones aside", path=folder
        )
    readable.sort(key=natural_key)
    return _by_split(folder, readable)


def _walk(folder: Path) -> list[Path]:
    found = []
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        found += [Path(place, name) for name in names]
    return found


def _is_data(path: Path) -> bool:
    name = path.name
    return not (name.startswith(".") or name in _ASIDE or name.upper().startswith(("README", "LICENSE")))


def _of_one_format(folder: Path, files: list[Path]) -> list[Path]:
    """The files that have a reader, if it is one reader for all."""
    counts = Counter(known.name for path in files if (known := reader_for(path)) is not None)
    if len(counts) > 1:
        held = ", ".join(f"{count} {name}" for name, count in counts.most_common())
        raise UnreadableFile(
            f"{folder} holds files of several types ({held}); choose with a pattern: "
            f"{str(folder / '**' / ('*' + _suffix_of(files, counts.most_common()[0][0])))!r}",
            path=folder,
            types=dict(counts),
        )
    if files and not counts:
        suffixes = ", ".join(sorted({path.suffix or path.name for path in files}))
        raise UnknownFileType(f"{folder} holds files of unknown types only ({suffixes})", path=folder)
    return [path for path in files if reader_for(path) is not None]


def _suffix_of(files: list[Path], reader: str) -> str:
    return next(
        path.suffix for path in files if (known := reader_for(path)) is not None and known.name == reader
    )


def _by_split(folder: Path, files: list[Path]) -> dict[str, list[Path]]:
    """Splits by shard names, else by words in folder names, else in file names, else all is train."""
    relative = {path: path.relative_to(folder) for path in files}
    for told in (_told_by_shard_name, _told_by_folder_name, _told_by_file_name):
        splits: dict[str, list[Path]] = {}
        for path, below in relative.items():
            if (split := told(below)) is not None:
                splits.setdefault(split, []).append(path)
        if splits:
            return {name: splits[name] for name in sorted(splits, key=_split_order)}
    return {"train": files}


def _split_order(split: str) -> tuple[int, str]:
    known = list(SPLIT_WORDS)
    return (known.index(split) if split in known else len(known), split)


def _told_by_shard_name(path: Path) -> str | None:
    found = re.fullmatch(_SHARD, path.name)
    return found["split"] if found and path.parts[:-1] == ("data",) else None


def _told_by_file_name(path: Path) -> str | None:
    return _word_in(path.name)


def _told_by_folder_name(path: Path) -> str | None:
    return next((split for part in path.parts[:-1] if (split := _word_in(part)) is not None), None)


def _word_in(name: str) -> str | None:
    """The split that a name tells: a word of it, between anything but letters."""
    words = set(re.split(r"[\W\d_]+", name.lower()))
    return next((split for split, known in SPLIT_WORDS.items() if words & set(known)), None)


def natural_key(path: Path) -> list[tuple[int, int | str]]:
    """A sorting key in which part-2 comes before part-10."""
    pieces = re.split(r"(\d+)", str(path))
    return [(0, int(piece)) if piece.isdigit() and piece.isascii() else (1, piece) for piece in pieces]
