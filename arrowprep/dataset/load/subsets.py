"""The subsets that a folder's README.md names in its YAML header, under `configs`: which files, read how."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arrowprep.errors import BadArgument, UnreadableFile

_HEADER_BYTES = 1 << 20
_OWN = {"config_name", "data_files", "data_dir", "default", "description", "version"}


class Subset(NamedTuple):
    """name: of the subset; paths: the files, by split or all of them; options: of the reader"""

    name: str

    paths: dict[str, list[str]] | str
    options: dict[str, Any]


def subset_of(folder: Path, name: str | None) -> Subset | None:
    """The one that is meant; None where the folder names none, and none was asked for.

    name: of a subset; else the only one, the one marked as default, or the one called "default"

    Raises BadArgument, with the names there are, for none of them; UnreadableFile for a header
    that does not say what it should.
    """
    readme = folder / "README.md"
    configs = _configs(readme)
    if not configs:
        if name not in (None, "default"):
            raise BadArgument(
                f"{folder} names no subsets in its README.md, so not {name!r} either", name=name
            )
        return None
    names = list(configs)
    if name is None:
        marked = [known for known in names if configs[known].get("default") is True]
        chosen = [*marked, *(known for known in names if known == "default" or len(names) == 1)]
        if not chosen:
            listed = " or ".join(map(repr, names))
            raise BadArgument(f"{folder} has several subsets; name one of them: name={listed}")
        name = chosen[0]
    if name not in configs:
        raise BadArgument(f"{folder} has no subset {name!r}; there are {', '.join(names)}", name=name)
    return _read(folder, readme, configs[name])


def subset_names(folder: Path) -> list[str]:
    """What the folder's README.md calls its subsets; "default" alone where it names none."""
    return list(_configs(folder / "README.md")) or ["default"]


def _configs(readme: Path) -> dict[str, dict[str, Any]]:
    header = _header(readme)
    if header is None or "configs" not in header:
        return {}
    configs = _parsed(readme, header).get("configs")
    if not isinstance(configs, list) or not all(isinstance(config, dict) for config in configs):
        raise UnreadableFile(f"{readme}: configs is a list of subsets, each with a config_name", path=readme)
    return {str(config.get("config_name", "default")): config for config in configs}


def _header(readme: Path) -> str | None:
    """What stands between two lines of --- at the start."""
    try:
        with readme.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_HEADER_BYTES)
    except OSError:
        return None
    first, _, rest = text.partition("\n")
    header, end, _ = rest.partition("\n---")
    return header if first.strip() == "---" and end else None


def _parsed(readme: Path, header: str) -> Mapping[str, Any]:
    try:
        import yaml
    except ImportError as missing:
        raise UnreadableFile(
            f"{readme} names subsets in YAML; to read it: pip install pyyaml, or give the files themselves",
            path=readme,
        ) from missing
    try:
        content = yaml.safe_load(header)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UnreadableFile(f"the header of {readme} is no YAML: {error}", path=readme) from error
    return content if isinstance(content, dict) else {}


def _read(folder: Path, readme: Path, config: Mapping[str, Any]) -> Subset:
    below = _inside(readme, folder, config.get("data_dir") or "")
    files = config.get("data_files")
    options = {key: value for key, value in config.items() if key not in _OWN}
    if files is None:
        return Subset(str(config["config_name"]), below, options)
    given = files if isinstance(files, dict) else {"train": files}
    if isinstance(files, list) and any(isinstance(entry, dict) for entry in files):
        if not all(isinstance(entry, dict) and {"split", "path"} <= entry.keys() for entry in files):
            raise UnreadableFile(f"{readme}: each of data_files has a split and a path", path=readme)
        given = {str(entry["split"]): entry["path"] for entry in files}
    paths = {}
    for split, patterns in given.items():
        listed = patterns if isinstance(patterns, list) else [patterns]
        paths[str(split)] = [_inside(readme, Path(below), pattern) for pattern in listed]
    return Subset(str(config["config_name"]), paths, options)


def _inside(readme: Path, folder: Path, pattern: object) -> str:
    """A pattern of the README as one below the folder, which it cannot leave."""
    if not isinstance(pattern, str) or os.path.isabs(pattern) or ".." in Path(pattern).parts:
        raise UnreadableFile(f"{readme}: {pattern!r} is no path in its folder", path=readme)
    return str(folder / pattern)
