"""The name of a value, and what it is made of."""

from __future__ import annotations

from typing import Any

from arrowprep.dataset.fingerprint import arrays, classes, functions  # noqa: F401  (they register their rules)
from arrowprep.dataset.fingerprint.digest import digest
from arrowprep.dataset.fingerprint.namer import Namer

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

    def __init__(self) -> None:
        self._names: list[str] = []

    @staticmethod
    def hash(value: Any) -> str:
        """The same as `fingerprint_of(value)`."""
        return fingerprint_of(value)

    def update(self, value: Any) -> None:
        """Add one more value."""
        self._names.append(fingerprint_of(value))

    def hexdigest(self) -> str:
        """The name of all values that were added, in their order."""
        return combine(*self._names)


def _called(value: Any) -> str:
    return f"`{functions.shown_name(value)}`" if callable(value) else f"the {type(value).__name__}"
