"""Whose code a module is: the user's own (followed by content) or a library's (name and version)."""

from __future__ import annotations

import os
import sys
import time
from functools import lru_cache
from pathlib import Path
from types import ModuleType

_INSTALLED = {"site-packages", "dist-packages"}
_STANDARD = Path(os.__file__).parent  # where the standard library lies


_FIRST_LOOK = time.time()


def was_edited(module: ModuleType) -> bool:
    """Whether the file may hold other code than the module that was imported from it."""
    try:
        return os.stat(module.__file__ or "").st_mtime > _FIRST_LOOK
    except (OSError, AttributeError):
        return False


def is_own(module_name: str, module: ModuleType | None = None) -> bool:
    """Whether the user may edit this module: `__main__`, a notebook, a file outside of installed packages.

    An editable install is the user's own. arrowprep is a library wherever it lies. `module` is what to look
    at where it is not the one in `sys.modules`.
    """
    if module_name == "__main__":
        return True
    root = module_name.partition(".")[0]
    if root in sys.stdlib_module_names or root == "arrowprep":
        return False
    return not _is_installed(module or sys.modules.get(module_name) or sys.modules.get(root))


def _is_installed(module: ModuleType | None) -> bool:
    place = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return place is not None and _is_installed_file(str(place))


@lru_cache(maxsize=4096)
def _is_installed_file(file: str) -> bool:
    path = Path(file)
    return not _INSTALLED.isdisjoint(path.parts) or path.is_relative_to(_STANDARD)


def root_of(kind: type) -> str:
    """The top-level module of a class; "" where its `__module__` is a slot of instances, as Cython makes."""
    module: object = kind.__module__
    return module.partition(".")[0] if isinstance(module, str) else ""


@lru_cache(maxsize=1024)
def library_version(root: str) -> str:
    """Version of what provides the top-level module `root`; "" where nobody knows.

    Read from the installed metadata, not from the module, for the answer may not depend on whether it
    was imported already.
    """
    if root == "builtins":
        return ""
    if root in sys.stdlib_module_names:
        return f"python {sys.version_info.major}.{sys.version_info.minor}"
    if found := _noted_version(root):
        return found
    from importlib import metadata  # 20 ms, for it imports what reads e-mail

    try:
        return metadata.version(root)
    except metadata.PackageNotFoundError:
        pass
    # the slow way (70 ms), for modules that are not named as their distribution: PIL, yaml, sklearn
    names = _distributions().get(root, [])
    return ", ".join(f"{name} {metadata.version(name)}" for name in sorted(set(names)))


def _noted_version(root: str) -> str | None:
    """What `importlib.metadata.version` reads of a distribution of this very name; None where there is none.

    As there, the first folder of `sys.path` that has one is asked.
    """
    for folder in sys.path:
        try:
            names = [name for name in os.listdir(folder or ".") if name.endswith(".dist-info")]
        except OSError:
            continue
        for name in names:
            if name.partition("-")[0].lower() == root.lower():
                return _field("Version: ", Path(folder, name, "METADATA"))
    return None


def _field(start: str, file: Path) -> str | None:
    """The rest of the first line that starts so."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError):
        return None
    return next((line.removeprefix(start).strip() for line in lines if line.startswith(start)), None)


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    from importlib import metadata

    return dict(metadata.packages_distributions())
