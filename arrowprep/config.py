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
COMPRESSIONS = (None, "lz4", "zstd")
_OFF = {"", "0", "off", "false", "f", "no", "n"}


def _cache_dir() -> Path:
    # one Path: each takes as long as a short text
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    found = Path(os.environ.get("ARROWPREP_CACHE") or os.path.expanduser(f"{caches}/arrowprep"))
    return found.expanduser() if str(found).startswith("~") else found


def _word(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip().lower()


def _flag(name: str, default: str = "") -> bool:
    return _word(name, default) not in _OFF


def _count(name: str, what: str) -> int | None:
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    if not text.isdigit():
        raise BadArgument(f"{name}={text!r} is not {what}", variable=name, value=text)
    return int(text) or None


def check_compression(name: str | None) -> str | None:
    """The name of a compression of cache files, None for "none", or BadArgument."""
    name = None if name == "none" else name
    if name not in COMPRESSIONS:
        raise BadArgument(f"compression {name!r} is none of 'none', 'lz4', 'zstd'", compression=name)
    return name


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user's machine and taste decide; nothing here changes a row.

    cache_dir: where converted files and results of `map` live
    engine: "auto" takes the native kernel where it is built, else the reference engine
    threads: of the kernel; None means all cores
    progress_bars: whether long work shows a bar
    caching: whether results of `map` are kept for the next run
    cache_max_bytes: of the cache folder; above it the least recently used go. None: no limit
    cache_compression: of results of `map` written from now on: None, "lz4" or "zstd"
    check_room: whether work that seems not to fit on the disk is refused before it has filled it
    verify: whether what is found in the cache is read, and made anew where a byte is not as it was written
    """

    cache_dir: Path
    engine: str = "auto"
    threads: int | None = None
    progress_bars: bool = True
    caching: bool = True
    cache_max_bytes: int | None = None
    cache_compression: str | None = None
    check_room: bool = True
    verify: bool = False

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise BadArgument(f"engine {self.engine!r} is none of {', '.join(ENGINES)}", engine=self.engine)
        check_compression(self.cache_compression)

    @classmethod
    def from_environment(cls) -> Settings:
        """ARROWPREP_CACHE, _CACHE_MAX_BYTES, _CACHE_COMPRESSION, _CHECK_ROOM, _VERIFY, _ENGINE, _THREADS
        and _DISABLE_PROGRESS_BARS."""
        return cls(
            cache_dir=_cache_dir(),
            engine=_word("ARROWPREP_ENGINE") or "auto",
            threads=_count("ARROWPREP_THREADS", "a number of threads"),
            cache_max_bytes=_count("ARROWPREP_CACHE_MAX_BYTES", "a number of bytes"),
            cache_compression=check_compression(_word("ARROWPREP_CACHE_COMPRESSION") or None),
            check_room=_flag("ARROWPREP_CHECK_ROOM", default="1"),
            verify=_flag("ARROWPREP_VERIFY"),
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


def set_caching_enabled(boolean: bool) -> None:
    """Whether to keep results of `map` for the next run."""
    configure(caching=bool(boolean))


def is_caching_enabled() -> bool:
    """Whether results of `map` are kept for the next run."""
    return settings().caching
