"""How commands print: columns of facts, and colour where a terminal shows it."""

from __future__ import annotations

import os
import sys

from arrowprep.dataset.storage.room import in_units as size

__all__ = ["BOLD", "GREEN", "coloured", "duration", "fact", "paint", "size"]

GREEN = "32"
BOLD = "1"


def coloured() -> bool:
    """Whether standard output shows ANSI colours: a terminal, and the user did not set NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(text: str, code: str, *, plain: tuple[str, str] = ("", "")) -> str:
    """The text in a colour, or between the two plain marks where there is none."""
    if not coloured():
        return plain[0] + text + plain[1]
    return "\n".join(f"\x1b[{code}m{line}\x1b[0m" if line else "" for line in text.split("\n"))


def fact(name: str, value: object) -> str:
    """One line of a two-column list."""
    return f"{name:<14} {value}"


def duration(seconds: float) -> str:
    """With the unit that leaves one to three digits before the point."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"
