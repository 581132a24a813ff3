"""Sets of characters that several components share."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from arrowprep.tokenize.oniguruma import as_unicode_16

# Unicode's White_Space; str.strip() would take U+001C to U+001F too
WHITESPACE: Final = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


@cache
def _word() -> Any:
    import regex

    return regex.compile(r"\w", regex.V1)


def is_word(character: str) -> bool:
    """Whether it is a word character: alphabetic, a mark, a decimal digit, a connector or a joiner."""
    return bool(_word().match(as_unicode_16(character)))
