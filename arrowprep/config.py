"""Settings: read once from the environment, each of them also settable in code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from arrowprep.errors import BadArgument

ENGINES = ("auto", "reference", "native")
_OFF = {"", "0", "off", "false", "f", "no", "n"}


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arrowprep"


def _flag(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() not in _OFF


def _count(name: str, what: str) -> int | None:
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    if not text.isdigit():
        raise BadArgument(f"{name}={text!r} is not {what}", variable=name, value=text)
    return int(text) or None


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user's machine and taste decide; nothing here changes a row.

    cache_dir: where converted files and results of `map` live
    engine: "auto" takes the native kernel where it is built, else the reference engine
    threads: of the kernel; None means all cores
    progress_bars: whether long work shows a bar
    caching: whether results of `map` are kept for the next run
    cache_max_bytes: of results; above it the least recently used go. None: no limit
    """

    cache_dir: Path
    engine: str = "auto"
    threads: int | None = None
    progress_bars: bool = True
    caching: bool = True
    cache_max_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise BadArgument(f"engine {self.engine!r} is none of {', '.join(ENGINES)}", engine=self.engine)

    @classmethod
    def from_environment(cls) -> Settings:
        """ARROWPREP_CACHE, _CACHE_MAX_BYTES, _ENGINE, _THREADS and _DISABLE_PROGRESS_BARS."""
        return cls(
            cache_dir=Path(os.environ.get("ARROWPREP_CACHE") or _user_cache()).expanduser(),
            engine=os.environ.get("ARROWPREP_ENGINE", "").strip().lower() or "auto",
            threads=_count("ARROWPREP_THREADS", "a number of threads"),
            cache_max_bytes=_count("ARROWPREP_CACHE_MAX_BYTES", "a number of bytes"),
            progress_bars=not _flag("ARROWPREP_DISABLE_PROGRESS_BARS"),
        )


_current: Settings | None = None


def settings() -> Settings:
    """The settings in force, read from the environment at first use."""
    global _current
    if _current is None:
        _current = Settings.from_environment()
    return _current


def configure(**changes: Any) -> Settings:
    """Change settings for this process: `configure(cache_dir="/data/cache", threads=4)`."""
    global _current
    known = {f.name for f in fields(Settings)}
    if unknown := set(changes) - known:
        raise BadArgument(f"no setting {sorted(unknown)}; the settings are {', '.join(sorted(known))}")
    if "cache_dir" in changes:
        changes["cache_dir"] = Path(changes["cache_dir"]).expanduser()
    _current = replace(settings(), **changes)
    return _current


@contextmanager
def configured(**changes: Any) -> Iterator[Settings]:
    """`configure` for the length of a with block."""
    global _current
    before = settings()
    try:
        yield configure(**changes)
    finally:
        _current = before


def enable_caching() -> None:
    """Keep results of `map` for the next run (the default)."""
    configure(caching=True)


def disable_caching() -> None:
    """Keep nothing beyond this process."""
    configure(caching=False)


def is_caching_enabled() -> bool:
    """Whether results of `map` are kept for the next run."""
    return settings().caching
