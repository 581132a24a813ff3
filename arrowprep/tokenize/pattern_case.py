"""Patterns that ignore case: where one character is another case of several, which programs do not know.

`regex` takes "ss" for "ß", "\ufb00" for "ff", and a set that has one of them for either.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from arrowprep.tokenize.oniguruma_syntax import translate

_SETS = r"\\[sSdDwWhH]"
_LAST = 0xFB17  # of the characters that several are another case of
_OF_MANY = r"\\[pPsSdDwWhH]|[&^]|\[:"


@cache
def _folded() -> tuple[frozenset[str], re.Pattern[str]]:
    """The characters that several are another case of, and what finds those several."""
    ones = [c for c in map(chr, range(_LAST + 1)) if len(c.casefold()) > 1]
    return frozenset(ones), re.compile("|".join(re.escape(c.casefold()) for c in ones))


def may_be_folded(letters: str) -> bool:
    """Whether some of these, side by side, are another case of one character."""
    return len(letters.strip()) > 1 and _folded()[1].search(letters.casefold()) is not None


@lru_cache(maxsize=256)
def ignoring_case(source: str) -> str | None:
    """The letter that a set which ignores case is all about; a space where there are several.

    None where it is not known to be one of single characters.
    """
    if re.fullmatch(_SETS, source):
        return " "
    if re.search(_OF_MANY, source):
        return None
    import regex

    matches = regex.compile(translate(source), regex.V1).fullmatch
    members = {c.casefold() for c in {*map(chr, range(128)), *source} if matches(c)}
    if not members or any(map(matches, _folded()[0])):
        return None
    return members.pop() if len(members) == 1 else " "
