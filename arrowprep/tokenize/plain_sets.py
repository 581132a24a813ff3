"""Sets of characters that are understood here: the usual ones, single characters, and ranges of ASCII.

Most patterns have no others. `regex` takes longer to understand one than all else takes to the first ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from string import ascii_letters, digits

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.character_runs import KINDS, RUNS

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
    is_class = source.startswith("[")
    body = r"\n" if source == "." else source.removeprefix("[").removeprefix("^" * is_class)
    named = _named(body.removesuffix("]") if is_class else body, is_class)
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
    starts, letters = runs()
    has_kind = np.zeros(128, bool)
    has_kind[list(kinds.encode())] = True
    inside = has_kind[letters]
    begins = inside.copy()
    np.not_equal(inside[1:], inside[:-1], out=begins[1:])
    edges = starts[begins]
    wrong = own[has_kind[letters[_run_of(own)]] != has_own]
    if len(wrong):
        edges = np.sort(np.concatenate([edges, wrong, wrong + 1]))
        # what begins and ends at a place, or the other way round, does neither
        firsts = np.flatnonzero(np.append(True, edges[1:] != edges[:-1]))
        edges = edges[firsts[np.append(firsts[1:], len(edges)) - firsts & 1 == 1]]
    return np.concatenate([edges, [0x110000]]) if len(edges) % 2 else edges


@cache
def runs() -> tuple[Codes, npt.NDArray[np.uint8]]:
    """All characters as runs of a kind: (n,) their first code points, and the letters of these as bytes."""
    letters = RUNS.translate(dict.fromkeys(map(ord, digits)))
    counts = np.fromstring(RUNS.translate(dict.fromkeys(map(ord, ascii_letters), " ")), np.int64, sep=" ")
    return np.cumsum(counts) - counts, np.frombuffer(letters.encode(), np.uint8)


def _run_of(codes: Codes) -> Codes:
    return np.searchsorted(runs()[0], codes, "right") - 1


def _named(body: str, is_class: bool) -> tuple[str, set[int]] | None:
    """The kinds and the characters that a set is of."""
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
            if last is None or max(code, last) > 0x7F:
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
    return chr(runs()[1][_run_of(np.array(code))])


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
