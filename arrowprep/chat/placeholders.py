"""Placeholders for pictures and sounds, replaced by what a processor makes of each, with all places moved.

A template writes one `<|image_pad|>` for a picture; the model takes as many as the picture has patches.
Spans found before would then point elsewhere.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from arrowprep.chat.control_tokens import OPEN
from arrowprep.errors import LengthMismatch

__all__ = ["replaced"]


def replaced(text: str, replacements: Mapping[str, Sequence[str]]) -> tuple[str, Callable[[int], int]]:
    """The text with the i-th occurrence of each placeholder replaced by the i-th of its texts.

    And a function from places in the old text to those in the new: one inside a placeholder moves to the
    end of what replaced it. What sanitizing has marked as plain text is no placeholder.

    >>> text, moved = replaced("<img>See <img>.", {"<img>": ["<img>" * 3, "<img>"]})
    >>> text, moved(5), moved(15)
    ('<img><img><img>See <img>.', 15, 25)

    Raises LengthMismatch where there are more or fewer occurrences than texts.
    """
    names = sorted(filter(None, replacements), key=len, reverse=True)
    pattern = re.compile(f"(?<!{OPEN})(?:{'|'.join(map(re.escape, names))})" if names else r"(?!)")
    found = list(pattern.finditer(text))
    for name in names:
        count, given = sum(match[0] == name for match in found), len(replacements[name])
        if count != given:
            raise LengthMismatch(
                f"the text has {name!r} {count} times and {given} replacements were given for it; "
                "a user's own text may hold it: sanitize_control_tokens=True keeps that as it is",
                placeholder=name,
                found=count,
                given=given,
            )
    left = {name: iter(replacements[name]) for name in names}
    texts = [next(left[match[0]]) for match in found]
    starts, stops = [match.start() for match in found], [match.end() for match in found]
    gained = [0, *accumulate(len(new) - len(old[0]) for new, old in zip(texts, found, strict=True))]

    def moved(place: int) -> int:
        before = bisect_left(starts, place)
        return (max(place, stops[before - 1]) if before else place) + gained[before]

    new = iter(texts)
    return pattern.sub(lambda _: next(new), text), moved
