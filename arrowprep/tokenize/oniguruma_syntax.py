"""The syntax of Oniguruma (Ruby's) in that of the `regex` package."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from arrowprep.errors import BadTokenizerFile

_IGNORES_CASE = re.compile(r"\(\?[a-z]*i")
_WORD_IN_CLASS = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
# outside of a class ² ³ ¹ ¼ ½ ¾ are word characters too, though other numbers that are no digits are not
_WORD = _WORD_IN_CLASS + r"\xb2\xb3\xb9\xbc-\xbe"
# escapes that mean something else to `regex`: outside of a class, and inside
_ESCAPES = {
    "h": ("[0-9a-fA-F]", "0-9a-fA-F"),
    "H": ("[^0-9a-fA-F]", "[^0-9a-fA-F]"),
    "w": (f"[{_WORD}]", _WORD_IN_CLASS),
    "W": (f"[^{_WORD}]", f"[^{_WORD_IN_CLASS}]"),
    "b": (f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))", r"\b"),
    "B": (f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))", r"\B"),
    "Z": (r"(?=\n?\Z)", "Z"),
    "z": (r"\Z", "z"),
    "e": (r"\x1b", r"\x1b"),
}
_ALONE = {
    "^": r"(?:\A|(?<=\n)(?!\Z))",  # every line, but not behind a last newline
    "$": r"(?=\n|\Z)",
    "{,}": r"\{,\}",  # which counts nothing
}
_QUANTIFIER = re.compile(r"[*+?]|\{(?=.*\d)\d*,?\d*\}")


@cache
def _token() -> Any:
    import regex

    return regex.compile(
        r"\{\d*,?\d*\}|\\[pP]\{\^?[^}]*\}|\\[xu]\{[^}]*\}|\\x[0-9a-fA-F]{1,2}|\\u[0-9a-fA-F]{4}|\\.|\(\?[imxs-]+[:)]|\[:\^?\w+:\]|--|\|\||~~|.",
        regex.DOTALL,
    )


def ignores_case(source: str) -> bool:
    """Whether some of a pattern does."""
    return _IGNORES_CASE.search(source) is not None


@lru_cache(maxsize=256)
def translate(source: str) -> str:
    """An Oniguruma pattern in the syntax of `regex` (V1).

    >>> translate(r"(?m:.)\\h")
    '(?s:.)[0-9a-fA-F]'
    """
    return _Translator(source).run()


class _Translator:
    """Goes through a pattern token by token."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._ignores_case = ignores_case(source)
        self._out: list[str] = []
        self._depth = 0  # of character classes
        self._groups: list[tuple[int, int]] = []  # where each begins in `out`, and what ends with it
        self._inside = 0  # groups that were begun for options, and end with the one they are in
        self._atom = 0  # where what a quantifier is of begins
        self._repeats = ""  # how what is there last repeats

    def run(self) -> str:
        for token in _token().findall(self._source):
            if not self._depth:
                self._quantify(token)
                self._group(token)
            self._out.append(self._translated(token))
        return "".join(self._out) + ")" * self._inside

    def _quantify(self, token: str) -> None:
        """Put what is there last into a group where a quantifier is of all of it."""
        if not _QUANTIFIER.fullmatch(token):
            self._repeats = ""
            return
        self._repeats, again = _repeats(self._repeats, token)
        if again:
            self._out.insert(self._atom, "(?:")
            self._out.append(")")

    def _group(self, token: str) -> None:
        """Note where groups and single parts begin and end."""
        if token[:2] == "(?" and token[-1] == ")":
            self._inside += 1  # options hold up to the end of the group, whatever stands between
        elif token[0] == "(":
            self._groups.append((len(self._out), self._inside))
            self._inside = 0
        elif token == ")" and self._groups:
            self._out.append(")" * self._inside)
            self._atom, self._inside = self._groups.pop()
        elif not self._repeats:
            self._atom = len(self._out)

    def _translated(self, token: str) -> str:
        in_class = self._depth > 0
        if token.startswith("(?") and not in_class:
            return _flags(token, self._source)
        if token[0] == "\\" and token[1:] in _ESCAPES:
            return _ESCAPES[token[1:]][in_class]
        if token.startswith(("\\x{", "\\u{")):
            return f"\\U{int(token[3:-1], 16):08X}"
        if self._ignores_case and not in_class and token.startswith(("\\p{", "\\P{")):
            return f"(?-i:{token})"  # a property outside of a class has its own case
        if token == "[:punct:]":
            return r"\p{P}\p{S}"
        if in_class and token in ("--", "||", "~~"):
            return "".join(f"\\{c}" for c in token)
        self._depth += {"[": 1, "]": -in_class}.get(token, 0)
        return token if self._depth else _ALONE.get(token, token)


def _repeats(before: str, token: str) -> tuple[str, bool]:
    """How something repeats that did so as `before` says, with one more quantifier; whether that is of all.

    `regex` would take {2}? for as few as it can, {1,2}+ for nothing given back, and refuses a+*.
    """
    if before in ("*", "+", "?") and token in ("?", "+"):
        return "settled", False
    if before == "range" and token == "?":
        return "settled", False
    kind = token if token in ("*", "+", "?") else "range" if "," in token else "count"
    return kind, bool(before)


def _flags(token: str, source: str) -> str:
    """Ruby's m lets the dot match a newline, which is s here; it has no s and no other m."""
    letters = token[2:-1]
    if "s" in letters:
        raise BadTokenizerFile(
            f"the pattern {source!r} has a group {token}, which Ruby does not know", pattern=source
        )
    return f"(?{letters.replace('m', 's')}:"
