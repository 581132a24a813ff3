"""Names of temporary files that tell which process of which machine they belong to."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from functools import lru_cache

import xxhash

_MARK = r"(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{8}(?:\.tmp)?$"


def mark() -> str:
    """The end of a name that is this process's alone."""
    return f"{_host()}-{os.getpid()}-{os.urandom(4).hex()}"


def is_gone(name: str) -> bool | None:
    """Whether the process that made a name is no more; None for one of another machine, or without a mark."""
    found = re.search(_MARK, name)
    if found is None or found["host"] != _host():
        return None
    return not _is_running(int(found["pid"]))


def is_mine(name: str) -> bool:
    """Whether this process made the name."""
    found = re.search(_MARK, name)
    return found is not None and (found["host"], int(found["pid"])) == (_host(), os.getpid())


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # somebody else's
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as stat:
        # one that has ended, and that nobody has waited for: ") Z"
        return not stat.read().rpartition(b")")[2].lstrip().startswith((b"Z", b"X"))
    return True


@lru_cache(maxsize=1)
def _host() -> str:
    return xxhash.xxh32_hexdigest(platform.node().encode())
