"""How much is told: warnings, and on request what the cache found and kept.

    arrowprep.logging.set_verbosity_info()      # also "found .../cache-5f1c.arrow"
    arrowprep.logging.set_verbosity_error()     # no ArrowprepWarning either

The names are those that libraries of this field share; messages go to the logger "arrowprep" of Python's own.
"""

from __future__ import annotations

import logging
import os
from logging import CRITICAL, DEBUG, ERROR, INFO, WARNING

from arrowprep.errors import BadArgument

__all__ = [
    "CRITICAL",
    "DEBUG",
    "ERROR",
    "INFO",
    "WARNING",
    "disable_propagation",
    "enable_propagation",
    "get_logger",
    "get_verbosity",
    "set_verbosity",
    "set_verbosity_debug",
    "set_verbosity_error",
    "set_verbosity_info",
    "set_verbosity_warning",
]

_ROOT = "arrowprep"
_LEVELS = {"debug": DEBUG, "info": INFO, "warning": WARNING, "error": ERROR, "critical": CRITICAL}


def get_logger(name: str | None = None) -> logging.Logger:
    """The logger of this library, or one below it."""
    return logging.getLogger(name or _ROOT)


def get_verbosity() -> int:
    """The level from which on things are told; WARNING unless ARROWPREP_VERBOSITY names another."""
    return get_logger().level


def set_verbosity(verbosity: int) -> None:
    """Tell what is of this level (`logging.INFO`, ...) or above."""
    get_logger().setLevel(verbosity)


def set_verbosity_debug() -> None:
    """Tell everything."""
    set_verbosity(DEBUG)


def set_verbosity_info() -> None:
    """Tell also which results were found in the cache, and which were put there."""
    set_verbosity(INFO)


def set_verbosity_warning() -> None:
    """Tell what works otherwise than one may think (the default)."""
    set_verbosity(WARNING)


def set_verbosity_error() -> None:
    """Show no warnings of this library."""
    set_verbosity(ERROR)


def enable_propagation() -> None:
    """Hand messages on to the program's own handlers, and show none here."""
    get_logger().propagate = True
    get_logger().removeHandler(_HANDLER)


def disable_propagation() -> None:
    """Show messages here, and hand none on (the default)."""
    get_logger().propagate = False
    get_logger().addHandler(_HANDLER)


class _Shown(logging.StreamHandler):  # type: ignore[type-arg]
    """To what sys.stderr is at that time, which tests and notebooks replace."""

    def emit(self, record: logging.LogRecord) -> None:
        import sys

        self.stream = sys.stderr
        super().emit(record)


_HANDLER = _Shown()


def _begin() -> None:
    chosen = os.environ.get("ARROWPREP_VERBOSITY", "warning").lower()
    if chosen not in _LEVELS:
        raise BadArgument(f"ARROWPREP_VERBOSITY={chosen!r} is none of {', '.join(_LEVELS)}", verbosity=chosen)
    if get_logger().level == logging.NOTSET:  # or else the program has set it by Python's own means
        set_verbosity(_LEVELS[chosen])
    disable_propagation()


_begin()
