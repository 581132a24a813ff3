"""Sets of characters that are understood here: the usual ones, single characters, and ranges of ASCII.

Most patterns have no others. `regex` takes longer to understand one than all else takes to the first ids.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.character_runs import COUNTS, KINDS, LETTERS

Codes = npt.NDArray[np.int64]

_CONTROLS = {r"\n": "\n", r"\r": "\r", r"\t": "\t"}
_OPERATORS = ("&&", "||", "--", "~~")  # in a class
_SEEN_OTHERWISE = frozenset("İıĬĭ\u0138\u0295")  # by patterns of a newer Unicode, or that ignore case
_PRIVATE = 0xF0000


def plain_set(source: str) -> Codes | None:
    """Where a set begins and ends: (2n,) code points, the ends exclusive. None where it is none of these.

    source: a set or a class, as patterns have it

    >>> plain_set("[0-9_]").tolist()
    [48, 58, 95, 96]
    """
    if source == "(?m:.)":
        return np.array([0, 0x110000])
    named = _named(source)
    if named is None:
        return None
    kinds, own = named
    others = source == "." or source.startswith("[^")
    if others:
        kinds = _without(kinds)
    codes = np.array(sorted(own), np.int64)
    return runs_of(kinds, codes, np.full(len(codes), not others))


def runs_of(kinds: str, own: Codes, has_own: npt.NDArray[np.bool_]) -> Codes:
    """The set of all characters of some kinds. own: rising, what is in it or not whatever its kind"""
    edges, letters = runs()
    has_kind = bytearray(256)
    for kind in kinds.encode():
        has_kind[kind] = True
    inside = np.frombuffer(b"\0%b\0" % letters.translate(has_kind), np.bool_)
    changes: Codes = edges[inside[1:] != inside[:-1]]
    wrong = own[inside[edges.searchsorted(own, "right")] != has_own] if len(own) else own
    return _changed(changes, wrong.tolist()) if len(wrong) else changes


def _changed(changes: Codes, wrong: list[int]) -> Codes:
    """A set with some of its characters out of it, and some others in it."""
    own = set[int]()
    for code in wrong:
        own ^= {code, code + 1}
    both = np.concatenate([changes, np.array([*own], np.int64)])
    both.sort()
    # what begins and ends at a place, or the other way round, does neither
    ends = np.ones(len(both) + 1, bool)
    np.not_equal(both[1:], both[:-1], out=ends[1:-1])
    found: Codes = both[ends[1:] & ends[:-1]]
    return found


@cache
def runs() -> tuple[Codes, bytes]:
    """All characters as runs of a kind: (n + 1,) code points between which they are, and n letters."""
    counts = np.frombuffer(a2b_base64(COUNTS), "<u2")
    edges = np.zeros(len(counts) + 1, np.int64)
    counts.cumsum(out=edges[1:])
    return edges, LETTERS


def is_plain(source: str) -> bool:
    """Whether it is one of these, and not the one that is written as a group."""
    return _named(source) is not None


def _named(source: str) -> tuple[str, set[int]] | None:
    """The kinds and the characters that a set names, or that it has not."""
    is_class = source.startswith("[")
    body = r"\n" if source == "." else source.removeprefix("[").removeprefix("^" * is_class)
    return _named_in(body.removesuffix("]") if is_class else body, is_class)


def _named_in(body: str, is_class: bool) -> tuple[str, set[int]] | None:
    items = list(_items(body))
    if not items or any(operator in body for operator in _OPERATORS) or (len(items) > 1 and not is_class):
        return None
    kinds, own = "", set[int]()
    at = 0
    while at < len(items):
        item = items[at]
        code = _character(item, at in (0, len(items) - 1))
        if code is None:
            more = _usual(item, is_class)
            if more is None:
                return None
            kinds += more
        elif items[at + 1 : at + 2] == ["-"] and at + 2 < len(items):
            last = _character(items[at + 2], False)
            if last is None or not code <= last <= 0x7F:
                return None
            own.update(range(code, last + 1))
            at += 2
        else:
            own.add(code)
        at += 1
    return kinds, own


def _items(body: str) -> Iterator[str]:
    """Each escape, and each other character."""
    at = 0
    while at < len(body):
        stop = at + 1
        if body[at] == "\\":
            is_long = body[at + 1 : at + 3] in ("p{", "P{")
            stop = body.find("}", at) + 1 if is_long else at + 2
        yield body[at:stop]
        at = stop or len(body)


def _character(item: str, may_be_hyphen: bool) -> int | None:
    """The code point that an item stands for; None where it is a set, or some patterns see another one."""
    item = _CONTROLS.get(item, item)
    if len(item) == 2 and item[0] == "\\" and item.isascii() and not item[1].isalnum():
        return ord(item[1])
    if len(item) != 1 or item in "[]\\" or item in _SEEN_OTHERWISE or (item == "-" and not may_be_hyphen):
        return None
    code = ord(item)
    if code > 0x7F and (code >= _PRIVATE or _kind_of(code) in KINDS[r"\p{Cn}"]):
        return None  # of which one stands for many
    return code


def _kind_of(code: int) -> str:
    edges, letters = runs()
    return chr(letters[int(edges.searchsorted(code, "right")) - 1])


def _usual(item: str, is_class: bool) -> str | None:
    """The kinds of a usual set, of which some are others in a class."""
    if item[:2] in (r"\p", r"\P"):
        name = item[3:-1].removeprefix("^")
        others = item.startswith(r"\P") != item.startswith("^", 3)
        members = [kinds for known, kinds in KINDS.items() if known.startswith(rf"\p{{{name}")]
        if len(name) not in (1, 2) or not members:
            return None
        kinds = "".join(members)
    else:
        others = item[1:].isupper()
        known = item.lower()
        found = KINDS.get(f"[{known}]" if is_class and f"[{known}]" in KINDS else known)
        if found is None:
            return None
        kinds = found
    return _without(kinds) if others else kinds


def _without(kinds: str) -> str:
    return "".join(letter for letter in set("".join(KINDS.values())) if letter not in kinds)
