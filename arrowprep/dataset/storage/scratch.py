"""Where results go: the cache folder, or one that ends with this process, for what nobody asked to keep."""

from __future__ import annotations

import atexit
import os
from functools import lru_cache
from pathlib import Path

from arrowprep import config
from arrowprep.dataset.storage import owner

_PREFIX = "arrowprep-"


def cache_root(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder of results and converted files; without caching, one that does not last."""
    settings = config.settings()
    return Path(cache_dir or settings.cache_dir).expanduser() if settings.caching else scratch_folder()


def scratch_folder() -> Path:
    """This process's scratch folder, under TMPDIR; removed when the process ends."""
    return _folder_of(os.getpid())  # a forked child must not remove its parent's


@lru_cache(maxsize=1)
def _folder_of(pid: int) -> Path:
    import tempfile

    above = Path(tempfile.gettempdir())
    for left in above.glob(f"{_PREFIX}*"):
        if owner.is_gone(left.name):  # it was killed
            remove_folder(left)
    folder = above / f"{_PREFIX}{owner.mark()}"
    folder.mkdir(mode=0o700)
    atexit.register(_remove, folder, pid)
    return folder


def _remove(folder: Path, pid: int) -> None:
    if os.getpid() == pid:
        remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """All of it, as far as it can be."""
    import shutil  # 2 ms, for five compressors come with it, and most processes remove none

    shutil.rmtree(folder, ignore_errors=True)
