"""Patterns for texts of ASCII alone, which `re` runs in a third of the time that `regex` takes.

In such a text a property or a class is a set of at most 128 characters. `regex` itself is asked
which, so that what it says is what counts; all else is read alike by both, or there is no twin.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

_ASCII = list(map(chr, range(128)))


@cache
def _token() -> Any:
    import regex

    return regex.compile(
        r"(?P<set>(?P<class>\[\^?(?:\\.|[^\[\]\\]|(?&class))*\])|\\[pP]\{\^?\w+\}|\\[sSdDwW])"
        r"|\((?:\?(?P<flags>[is]*(?:-[is]+)?):|\?<?[=!]|\?>|(?!\?))|\\(?:[rntfAZ]|x[0-9a-fA-F]{2}|[!-/:-@\[-`{-~])|\{\d+(?:,\d*)?\}|[^\\\[\](){}]|\)",
        regex.DOTALL,
    )


@lru_cache(maxsize=256)
def ascii_twin(pattern: str) -> re.Pattern[str] | None:
    """Finds in texts of ASCII what a pattern of `regex` (V1) finds; None where it has something unusual."""
    out: list[str] = []
    ignoring = [False]  # case, by open groups
    at = 0
    while at < len(pattern):
        token = _token().match(pattern, at)
        if token is None or (ignoring[-1] and not token.group().isascii()):
            return None
        at, text, flags = token.end(), token.group(), token["flags"] or ""
        if text[0] == "(":
            on, _, off = flags.partition("-")
            ignoring.append((ignoring[-1] or "i" in on) and "i" not in off)
        elif text == ")":
            ignoring.pop()
        if not ignoring:
            return None
        out.append(_members(text, ignoring[-1]) if token["set"] else text)
    try:
        return re.compile("".join(out))
    except re.error:
        return None  # this Python has no possessive counts, or looks back at one length alone


@lru_cache(maxsize=256)
def _members(of: str, ignoring: bool) -> str:
    """The characters of ASCII that are in a set, as a set."""
    import regex

    matches = regex.compile(of, regex.V1 | (regex.IGNORECASE if ignoring else 0)).match
    found = [re.escape(c) for c in _ASCII if matches(c)]
    return f"[{''.join(found)}]" if found else "(?!)"
