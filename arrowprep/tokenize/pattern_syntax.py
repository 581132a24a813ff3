"""Oniguruma patterns as trees, as far as tokenizers use them; what is left out is refused, never guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass


class Unknown(Exception):
    """What in a pattern is not known here."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One of a set of characters. source: a pattern that matches each of them, and nothing else"""

    source: str


@dataclass(frozen=True, slots=True)
class Row:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """The first that leads to a match."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """As many as there are. most: None where any number will do. keeps: gives nothing back"""

    part: Node
    least: int
    most: int | None
    keeps: bool = False


@dataclass(frozen=True, slots=True)
class Once:
    """The first way that it matches, whatever follows."""

    part: Node


@dataclass(frozen=True, slots=True)
class Look:
    """Whether it matches ahead, or right behind, without moving."""

    part: Node
    ahead: bool
    wanted: bool


@dataclass(frozen=True, slots=True)
class End:
    """The end of the text, or of a line."""

    of_line: bool


Node = Chars | Row | Either | Repeat | Once | Look | End

_SETS = "sSdDwWhH"
_CONTROLS = "rntfv"
_GROUPS = ("(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>")
_COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}")
_ESCAPE = re.compile(r"\\(?:[pP]\{\^?\w+\}|x[0-9a-fA-F]{2}|x\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
# what one character is another case of, to a pattern that ignores case
_FOLDED_TOGETHER = re.compile("ss|ff|fi|fl|st", re.IGNORECASE)


def parse(source: str) -> Node:
    """The tree of a pattern. Raises Unknown.

    >>> parse(" ?a")
    Row(parts=(Repeat(part=Chars(source='\\\\ '), least=0, most=1, keeps=False), Chars(source='a')))
    """
    parser = _Parser(source)
    tree = parser.either()
    if parser.rest():
        raise Unknown("a bracket that closes nothing")
    return tree


class _Parser:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._ignores_case = False

    def rest(self) -> str:
        return self._source[self._at :]

    def _take(self, text: str) -> bool:
        found = self._source.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def either(self) -> Node:
        options = [self._row()]
        while self._take("|"):
            options.append(self._row())
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _row(self) -> Node:
        parts: list[Node] = []
        while self.rest() and self.rest()[0] not in "|)":
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Row(tuple(parts))

    def _repeated(self, part: Node) -> Node:
        while self.rest():
            count = _COUNT.match(self._source, self._at)
            if count:
                least, comma, most = count.groups()
                if not least and not most:
                    raise Unknown("a brace that counts nothing")
                self._at = count.end()
                part = Repeat(part, int(least or 0), int(most) if most else None if comma else int(least))
                if self._take("?"):
                    raise Unknown("a repetition that takes as few as it can")
                continue
            sign = self.rest()[0]
            if sign not in "*+?":
                break
            self._at += 1
            part = Repeat(part, 1 if sign == "+" else 0, 1 if sign == "?" else None)
            if self._take("?"):
                raise Unknown("a repetition that takes as few as it can")
            if self._take("+"):
                part = Repeat(part.part, part.least, part.most, keeps=True)
        return part

    def _atom(self) -> Node:
        first = self.rest()[0]
        if first == "(":
            return self._group()
        if first == "[":
            return self._chars(self._bracketed())
        if first == "\\":
            return self._escape()
        if first in "*+?{^":
            raise Unknown(f"{first} in such a place")
        self._at += 1
        if first == "$":
            return End(of_line=True)
        return self._chars("." if first == "." else re.escape(first) if first.isascii() else first)

    def _group(self) -> Node:
        kind = next((kind for kind in _GROUPS if self._take(kind)), None)
        if kind is None and (self._source.startswith("(?", self._at) or not self._take("(")):
            raise Unknown(f"a group like {self.rest()[:4]!r}")
        before = self._ignores_case
        if kind == "(?i:":
            self._ignores_case = True
        start = self._at
        tree = self.either()
        if self._ignores_case and _FOLDED_TOGETHER.search(self._source[start : self._at]):
            raise Unknown("letters that a ligature is another case of")
        if not self._take(")"):
            raise Unknown("a group that does not end")
        self._ignores_case = before
        if kind == "(?>":
            return Once(tree)
        if kind in ("(?=", "(?!", "(?<=", "(?<!"):
            return Look(tree, ahead="<" not in kind, wanted="=" in kind)
        return tree

    def _bracketed(self) -> str:
        """A class of characters, with the classes inside of it."""
        start, depth = self._at, 0
        while self.rest():
            if self.rest().startswith(("[]", "[^]", "[[:")):
                raise Unknown("a class that begins with a bracket")
            escape = _ESCAPE.match(self._source, self._at)
            if escape:
                if escape[0][1].isalpha() and escape[0][1] not in _SETS + _CONTROLS + "pPxu":
                    raise Unknown(f"{escape[0]} in a class")
                self._at = escape.end()
                continue
            depth += {"[": 1, "]": -1}.get(self.rest()[0], 0)
            self._at += 1
            if not depth:
                return self._source[start : self._at]
        raise Unknown("a class that does not end")

    def _escape(self) -> Node:
        escape = _ESCAPE.match(self._source, self._at)
        if escape is None:
            raise Unknown("a backslash at the end")
        self._at = escape.end()
        letter = escape[0][1]
        if letter == "z":
            return End(of_line=False)
        if letter.isalnum() and letter not in _SETS + _CONTROLS + "pPxu":
            raise Unknown(f"{escape[0]}")
        if letter in "xu" and len(escape[0]) == 2:
            raise Unknown(f"{escape[0]}")
        return self._chars(escape[0])

    def _chars(self, source: str) -> Node:
        if not self._ignores_case:
            return Chars(source)
        if not source.isascii() or re.search(r"\\[pPsSdDwWhH]|[&^]", source) or source == ".":
            raise Unknown("a set of characters that ignores case")
        return Chars(f"(?i:{source})")
