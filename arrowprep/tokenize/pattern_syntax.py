"""Oniguruma patterns as trees, as far as tokenizers use them; what is left out is refused, never guessed."""

from __future__ import annotations

import re
from functools import lru_cache


class Unknown(Exception):
    """What in a pattern is not known here."""


class Value:
    """What its initializer sets is all that it is.

    A frozen dataclass takes a millisecond to make, a named tuple a quarter, which first ids wait for.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


class Chars(Value):
    """One of a set of characters. source: a pattern that matches each of them, and nothing else"""

    def __init__(self, source: str) -> None:
        self.source = source


class Row(Value):
    """One after the other."""

    def __init__(self, parts: tuple[Node, ...]) -> None:
        self.parts = parts


class Either(Value):
    """The first that leads to a match."""

    def __init__(self, options: tuple[Node, ...]) -> None:
        self.options = options


class Repeat(Value):
    """As many as there are. most: None where any number will do.

    keeps: gives nothing back
    lazy: as few as there can be
    """

    def __init__(
        self, part: Node, least: int, most: int | None, keeps: bool = False, lazy: bool = False
    ) -> None:
        self.part = part
        self.least, self.most = least, most
        self.keeps, self.lazy = keeps, lazy


class Once(Value):
    """The first way that it matches, whatever follows."""

    def __init__(self, part: Node) -> None:
        self.part = part


class Look(Value):
    """Whether it matches ahead, or right behind, without moving."""

    def __init__(self, part: Node, ahead: bool, wanted: bool) -> None:
        self.part = part
        self.ahead, self.wanted = ahead, wanted


class End(Value):
    """The end of the text, or of a line."""

    def __init__(self, of_line: bool) -> None:
        self.of_line = of_line


Node = Chars | Row | Either | Repeat | Once | Look | End

_SETS = "sSdDwWhH"
_CONTROLS = "rntfv"
_LOOKS = {"(?=": (True, True), "(?!": (True, False), "(?<=": (False, True), "(?<!": (False, False)}
# compiled when one is looked for
_NAMED = r"\(\?<[^\W\d]\w*>"
_FLAGS = r"\(\?([im]*)(?:-([im]+))?(:|\))"
_COUNT = r"\{(\d*)(,?)(\d*)\}"
_LONG = r"\\(?:[pP]\{\^?\w+\}|x[0-9a-fA-F]{2}|x\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4})"
_POSIX = r"\[:\^?\w+:\]"
_ANY, _NEWLINE, _WORD = Chars("(?m:.)"), Chars(r"\n"), Chars(r"\w")


def _behind(chars: Chars, wanted: bool) -> Look:
    return Look(chars, ahead=False, wanted=wanted)


def _edge_of_word(is_one: bool) -> Node:
    """Between a character of a word and another, or the edge of the text; or anywhere else."""
    return Either(
        tuple(
            Row((_behind(_WORD, before), Look(_WORD, ahead=True, wanted=before != is_one)))
            for before in (True, False)
        )
    )


_START = _behind(_ANY, wanted=False)
_PLACES: dict[str, Node] = {
    "^": Either((_START, Row((_behind(_NEWLINE, wanted=True), Look(_ANY, ahead=True, wanted=True))))),
    "$": End(of_line=True),
    r"\A": _START,
    r"\z": End(of_line=False),
    r"\Z": Look(Row((Repeat(_NEWLINE, 0, 1), End(of_line=False))), ahead=True, wanted=True),
    r"\b": _edge_of_word(True),
    r"\B": _edge_of_word(False),
}


@lru_cache(maxsize=64)
def parse(source: str) -> Node:
    """The tree of a pattern. Raises Unknown.

    >>> parse("a|[^b]")
    Either(options=(Chars(source='a'), Chars(source='[^b]')))
    """
    parser = _Parser(source)
    tree = parser.either()
    if parser.rest():
        raise Unknown("a bracket that closes nothing")
    if parser.letters.strip():
        from arrowprep.tokenize.pattern_case import may_be_folded  # few patterns ignore case

        if may_be_folded(parser.letters):
            raise Unknown("letters that a ligature is another case of")
    return tree


class _Parser:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._ignores_case = False
        self._dot = "."
        self.letters = ""  # of those that ignore case, each that stands alone; a space between others

    def rest(self) -> str:
        return self._source[self._at :]

    def _take(self, text: str) -> bool:
        found = self._source.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _matched(self, pattern: str) -> re.Match[str] | None:
        """What matches here a pattern that begins with a character of its own, as all above do."""
        # the second one, for a backslash is first
        is_here = self._source.startswith(pattern[1], self._at)
        return re.compile(pattern).match(self._source, self._at) if is_here else None

    def either(self) -> Node:
        options = [self._row()]
        while self._take("|"):
            self.letters += " "
            options.append(self._row())
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _row(self) -> Node:
        parts: list[Node] = []
        while self.rest() and self.rest()[0] not in "|)":
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Row(tuple(parts))

    def _repeated(self, part: Node) -> Node:
        while self.rest():
            count = self._matched(_COUNT)
            if count:
                least, comma, most = count.groups()
                if not least and not most:
                    raise Unknown("a brace that counts nothing")
                self._at = count.end()
                part = Repeat(part, int(least or 0), int(most) if most else None if comma else int(least))
                lazy = bool(comma) and self._take("?")  # {2}? is two or none
            elif self.rest()[0] in "*+?":
                sign = self.rest()[0]
                self._at += 1
                part = Repeat(part, 1 if sign == "+" else 0, 1 if sign == "?" else None)
                lazy = self._take("?")
                if not lazy and self._take("+"):
                    part = Repeat(part.part, part.least, part.most, keeps=True)
            else:
                break
            if lazy:
                part = Repeat(part.part, part.least, part.most, lazy=True)
        return part

    def _atom(self) -> Node:
        first = self.rest()[0]
        if first == "(":
            return self._group()
        if first == "[":
            return self._chars(self._bracketed())
        if first == "\\":
            return self._escape()
        if first in "*+?{":
            raise Unknown(f"{first} in such a place")
        self._at += 1
        if first in _PLACES:
            return _PLACES[first]
        if first == ".":
            return Chars(self._dot)
        return self._chars(re.escape(first) if first.isascii() else first)

    def _group(self) -> Node:
        before = self._ignores_case, self._dot
        look = next((kind for kind in _LOOKS if self._take(kind)), None)
        once = look is None and self._take("(?>")
        named = self._matched(_NAMED)
        flags = None if look or once else self._matched(_FLAGS)
        if named:
            self._at = named.end()
        elif flags:
            self._at = flags.end()
            self._set_flags(flags[1], flags[2] or "")
        elif not look and not once and (self._source.startswith("(?", self._at) or not self._take("(")):
            raise Unknown(f"a group like {self.rest()[:4]!r}")
        tree = self.either()
        to_the_end = flags is not None and flags[3] == ")"  # of the group that it is in
        if not to_the_end and not self._take(")"):
            raise Unknown("a group that does not end")
        self._ignores_case, self._dot = before
        if look:
            ahead, wanted = _LOOKS[look]
            return Look(tree, ahead, wanted)
        return Once(tree) if once else tree

    def _set_flags(self, on: str, off: str) -> None:
        if "i" in on + off:
            self._ignores_case = "i" in on and "i" not in off
        if "m" in on + off:  # Ruby's: the dot is a newline too
            self._dot = "(?m:.)" if "m" in on and "m" not in off else "."

    def _bracketed(self) -> str:
        """A class of characters, with the classes inside of it."""
        start, depth = self._at, 0
        while self.rest():
            if self.rest().startswith(("[]", "[^]")):
                raise Unknown("a class that begins with a bracket")
            posix = depth and self._matched(_POSIX)
            if posix:
                self._at = posix.end()
                continue
            escape = self._escaped()
            if escape:
                if escape[1].isalpha() and escape[1] not in _SETS + _CONTROLS + "pPxu":
                    raise Unknown(f"{escape} in a class")
                continue
            depth += {"[": 1, "]": -1}.get(self.rest()[0], 0)
            self._at += 1
            if not depth:
                return self._source[start : self._at]
        raise Unknown("a class that does not end")

    def _escape(self) -> Node:
        escape = self._escaped()
        if not escape:
            raise Unknown("a backslash at the end")
        letter = escape[1]
        if escape in _PLACES:
            return _PLACES[escape]
        if letter.isalnum() and letter not in _SETS + _CONTROLS + "pPxu":
            raise Unknown(escape)
        if letter in "xu" and len(escape) == 2:
            raise Unknown(escape)
        return self._chars(escape)

    def _escaped(self) -> str:
        """A backslash and what belongs to it, where one is here with a character behind it; else nothing."""
        escape = self._source[self._at : self._at + 2]
        if len(escape) < 2 or escape[0] != "\\":
            return ""
        if escape[1] in "pPxu":
            long = self._matched(_LONG)
            escape = long[0] if long else escape
        self._at += len(escape)
        return escape

    def _chars(self, source: str) -> Node:
        if not self._ignores_case or source.startswith((r"\p", r"\P")):
            self.letters += " "
            return Chars(source)  # a property outside of a class has its own case
        from arrowprep.tokenize.pattern_case import ignoring_case

        letter = ignoring_case(source)
        if letter is None:
            raise Unknown("a set of characters that ignores case")
        self.letters += letter
        return Chars(f"(?i:{source})")
