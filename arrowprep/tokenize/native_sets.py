"""Which characters a set of a pattern has: asked of the pattern, once for all that it cannot tell apart."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

import numpy as np

from arrowprep.tokenize import unicode_tables
from arrowprep.tokenize.oniguruma import RECLASSIFIED, STAND_IN, Pattern, as_unicode_16, without_turkish
from arrowprep.tokenize.pattern_syntax import Unknown
from arrowprep.tokenize.plain_sets import Codes, plain_set, runs, runs_of
from arrowprep.tokenize.unicode_normal import parse_ranges

_CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn"
# what RUNS does not tell apart, none of these does, nor a class made of them
BASIC = (*(rf"\p{{{category}}}" for category in _CATEGORIES.split()), r"\s", r"\w", r"[\w]", r"\d", r"[\d]")
_OF_BASIC = (
    rf"(?:\\[sSwWdDnrt]|\\[pP]{{\^?(?:[LMNPSZ]|{'|'.join(_CATEGORIES.split())})}}"
    r"|\\[^\w\s]|(?!\(\?|\[:)[^\\])+"
)
_TURKISH = frozenset("İıĬĭ")
_NO_LETTERS = frozenset("\\^&.:")  # in what ignores case: what may be more than the letters that it names
_CASED = 0x3000  # before it is all that has a letter of ASCII for another case
_PRIVATE = 0xF0000  # two planes whose characters are alike


@lru_cache(maxsize=256)
def members(source: str, of_python: bool, turkish: bool) -> Codes:
    """Where a set begins and ends: (2n,) code points, the ends exclusive.

    source: one set, of Oniguruma's patterns or of Python's
    turkish: whether it sees İ and ı as they are
    """
    if len(source.lstrip("\\")) == 1 and source[-1].isascii() and not (source[-1].isalnum() or source == "."):
        code = ord(source[-1])
        return np.array([code, code + 1])
    if of_python:
        return _spans(re.compile(f"(?:{source})+"), _every_code())
    found = plain_set(source)
    if found is None and re.fullmatch(_OF_BASIC, source) and (source.isascii() or "-" not in source):
        found = _by_kinds(source)
    if found is not None:
        return found
    is_letters = source.startswith("(?i:") and source.isascii() and _NO_LETTERS.isdisjoint(source[4:])
    return every_member(source, turkish, _CASED if is_letters else 0x110000)


def every_member(source: str, turkish: bool, stop: int = 0x110000) -> Codes:
    """The same, asked of every character before `stop` that something may tell from the one before."""
    if max(source) >= chr(_PRIVATE):
        raise Unknown("a set of private characters")
    text, codes = _every_character(turkish)
    spans = _spans(Pattern(f"(?:{source})+").compiled, text[: int(np.searchsorted(codes, stop))])
    found: Codes = codes[spans]
    return found


def _spans(run: Any, text: str) -> Codes:
    return np.array([place for match in run.finditer(text) for place in match.span()], np.int64)


@cache
def _every_character(turkish: bool) -> tuple[str, Codes]:
    """All characters in order, as patterns get to see them, those of Unicode 16; their (n + 1,) code points.

    Of characters that are not there, and of private ones beyond U+FFFF, one stands for all side by side.
    """
    seen = np.arange(0x110000, dtype=np.uint32)
    for unassigned in parse_ranges(unicode_tables.UNASSIGNED):
        seen[unassigned.start : unassigned.stop] = ord(STAND_IN)
    for code, seen_as in RECLASSIFIED.items():
        seen[code] = seen_as
    seen[0xD800:0xE000] = ord(STAND_IN)  # surrogates are in no text
    differs = seen[1:] != seen[:-1]
    for plane in (_PRIVATE, _PRIVATE + 0x10000):
        differs[plane : plane + 0xFFFD] = False
    codes = np.append(0, np.flatnonzero(differs) + 1)
    text = seen[codes].tobytes().decode("utf-32-le")
    return text if turkish else without_turkish(text), np.append(codes, 0x110000)


@cache
def _every_code() -> str:
    """All code points in order, as Python's patterns see them."""
    return "".join(map(chr, range(0x110000)))


# ---------------------------------------------------------------------- kinds of characters


@cache
def _examples() -> dict[str, str]:
    """Of each kind one of the last, which patterns see as it is; none of ASCII where it has others."""
    edges, letters = runs()
    return dict(zip(letters.decode(), map(chr, edges[:-1].tolist()), strict=True))


def _by_kinds(source: str) -> Codes | None:
    """`members` of a set that tells apart what it names, ASCII, and kinds of characters.

    None where it names what it does not see as it is, or the example of a kind.
    """
    examples = _examples()
    if not (_TURKISH | set(examples.values())).isdisjoint(c for c in source if not c.isascii()):
        return None
    has = Pattern(source).compiled.match
    kinds = "".join(kind for kind, example in examples.items() if has(example))
    alone = np.array(sorted({*range(128), *map(ord, source)}))
    seen = as_unicode_16("".join(map(chr, alone)))
    return runs_of(kinds, alone, np.array([has(c) is not None for c in seen], bool))
