"""How commands print: columns of facts, and colour where a terminal shows it."""

from __future__ import annotations

import os
import sys

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


def size(n_bytes: int) -> str:
    """In decimal units, as file managers show it."""
    amount = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
