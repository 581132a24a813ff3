"""Control tokens in what people wrote, told apart from those that the template writes.

A user's text that holds <|im_end|> would end the user's turn. Marked in the data before it is rendered, such
texts are known afterwards, and can be encoded as the plain text that they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from jinja2 import nodes

from arrowprep.chat.sandbox import SANDBOX

__all__ = ["CLOSE", "OPEN", "control_pattern", "marked", "unmarked", "without_marks"]

# Unicode keeps these two for use inside a program: no text that is exchanged holds them
OPEN, CLOSE = "\ufdd0", "\ufdd1"
_MARKS = {ord(OPEN): None, ord(CLOSE): None}

Spans = Sequence[tuple[int, int]]


def control_pattern(source: str, special: Iterable[str], added: Iterable[str]) -> re.Pattern[str]:
    """Matches control tokens: the special ones, and of the other added ones those that the template writes.

    source: the template's text, in whose literals the added tokens are looked for; not those of white
        space, which templates write as text
    """
    literals = _literals(source)
    written = {token for token in added if token.strip() and any(token in text for text in literals)}
    tokens = sorted({*special, *written} - {""}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, tokens)) or r"(?!)")


@lru_cache(maxsize=64)
def _literals(source: str) -> frozenset[str]:
    tree = SANDBOX.parse(source)
    constants = {const.value for const in tree.find_all(nodes.Const) if isinstance(const.value, str)}
    return frozenset(constants.union(data.data for data in tree.find_all(nodes.TemplateData)))


def marked(data: Any, pattern: re.Pattern[str]) -> Any:
    """Plain data with marks around each match in its texts; the keys of dicts stay."""
    if isinstance(data, str):
        return pattern.sub(f"{OPEN}\\g<0>{CLOSE}", data.translate(_MARKS))
    if isinstance(data, dict):
        return {key: marked(value, pattern) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [marked(value, pattern) for value in data]
    return data


def without_marks(text: str) -> str:
    """The text without its marks."""
    return text.translate(_MARKS)


def unmarked(text: str, spans: Spans) -> list[tuple[int, int]]:
    """Spans of a marked text as those of the text without its marks."""
    before = [0, *accumulate(char in (OPEN, CLOSE) for char in text)]
    return [(start - before[start], stop - before[stop]) for start, stop in spans]
