"""Names for content: equal meaning has an equal name, in another process, on another day, in a notebook.

    fingerprint_of(tokenize)     32 hex digits over its code, defaults, captured values, and the module-level
                                 values and helper functions of the user's own modules that it reads
    describe(tokenize)           what that name is made of, to explain why it differs from another
    combine(parent, "map", ...)  the name of a result, from the names of what it was made from

An object with a `fingerprint` attribute (a str) is named by it and its class, and is not looked into. What
holds a lock, an open file or a running generator raises Unnameable, which says how it was reached.
A function does not differ by its file, lines, comments, docstring, annotations or the order of a set in
it; it does by the version of Python, whose instructions differ, and by those of the libraries it calls.
"""

from __future__ import annotations

from typing import Any

from arrowprep.dataset.fingerprint import arrays, classes, functions  # noqa: F401  (they register their rules)
from arrowprep.dataset.fingerprint.digest import digest
from arrowprep.dataset.fingerprint.namer import Namer
from arrowprep.errors import Unnameable

__all__ = ["Hasher", "Unnameable", "combine", "describe", "fingerprint_of"]

# raised when names are made in another way, so that no old name is taken for a new one
_SCHEME = "arrowprep 1"


def fingerprint_of(value: Any) -> str:
    """The name of this value, 32 hex digits. Raises Unnameable."""
    return digest(_SCHEME, [Namer().name(value, _called(value))]).hex()


def combine(*parts: Any) -> str:
    """The name of something made from these parts, in this order."""
    return fingerprint_of(parts)


def describe(value: Any) -> dict[str, str]:
    """What the name of this value is made of: {"default of `n` in `f`": "3", "code of `f`": "9c1e..."}.

    A short plain value is shown as it is, everything else by its hash. Raises Unnameable.
    """
    parts: dict[str, str] = {}
    namer = Namer(parts)
    if isinstance(value, dict) and all(type(key) is str for key in value):
        for key, item in value.items():
            namer.part(item, key)
    else:
        namer.part(value, _called(value))
    return parts


class Hasher:
    """What people call to find out why a cache was missed."""

    @staticmethod
    def hash(value: Any) -> str:
        """The same as `fingerprint_of(value)`."""
        return fingerprint_of(value)


def _called(value: Any) -> str:
    return f"`{functions.shown_name(value)}`" if callable(value) else f"the {type(value).__name__}"
