"""A folder that lasts as long as this process: for results that nobody asked to keep."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path


def scratch_folder() -> Path:
    """This process's scratch folder, under TMPDIR; removed when the process ends."""
    return _folder_of(os.getpid())  # a forked child must not remove its parent's


@lru_cache(maxsize=1)
def _folder_of(pid: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="arrowprep-"))
    atexit.register(_remove, folder, pid)
    return folder


def _remove(folder: Path, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
