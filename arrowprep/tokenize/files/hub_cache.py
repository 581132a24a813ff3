"""Where the Hugging Face hub's own tools keep what they downloaded; looked at, never filled."""

from __future__ import annotations

import os
import re
from pathlib import Path

# "gpt2" or "org/name", as the hub spells repositories
NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def cache_folder() -> Path:
    """HF_HUB_CACHE, HF_HOME/hub, or the hub's default."""
    if folder := os.environ.get("HF_HUB_CACHE"):
        return Path(folder).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or Path(cache, "huggingface")
    return Path(home).expanduser() / "hub"


def find(name: str, revision: str = "main") -> Path | None:
    """The folder of a repository's downloaded files; None when it was not downloaded at this revision."""
    if not NAME.fullmatch(name) or ".." in name or ".." in revision:
        return None
    repository = cache_folder() / f"models--{name.replace('/', '--')}"
    reference = repository / "refs" / revision
    commit = reference.read_text().strip() if reference.is_file() else revision
    snapshot = repository / "snapshots" / commit
    return snapshot if snapshot.is_dir() else None
