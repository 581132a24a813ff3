"""What ends a turn: strings that the caller or the tokenizer names, and what looks like a control token."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Stops", "common_length"]

# control tokens by their look: <|im_end|>, <eos>, [/INST]; a closing tag such as </tool_call> ends no turn
_TOKEN = re.compile(r"<[^<>\s/][^<>\s]{0,60}>|\[/?[A-Z_]{2,20}\]")
_LONGEST = 64  # characters of these


class Stops:
    """What ends a turn."""

    def __init__(self, tokens: Iterable[str], stops: Iterable[str]) -> None:
        self.given = tuple(sorted(filter(None, stops), key=len, reverse=True))
        self.named = (*filter(None, tokens), *self.given)
        named = "|".join(map(re.escape, sorted(self.named, key=len, reverse=True)))
        self.longest = max(_LONGEST, *map(len, self.named)) if self.named else _LONGEST
        self.pattern = re.compile(f"{named}|{_TOKEN.pattern}" if named else _TOKEN.pattern)

    def directly(self, text: str) -> int | None:
        """Where the stop token ends that text begins with, but for white space."""
        found = self.pattern.match(text, len(text) - len(text.lstrip()))
        return found.end() if found else None

    def end_by_given(self, tail: str, other: str) -> int | None:
        """Where a turn ends in tail by the strings that the caller gave; other is its tail before other text.

        One that nothing follows may be left open, where the string follows it elsewhere.
        """
        common = common_length(tail, other)
        if any(tail.endswith(stop, 0, common) for stop in self.given):
            return common
        found = [self._given_at(text, common) for text in (tail, other)]
        open_ends = [text[common:].strip() for text, end in zip((tail, other), found, strict=True) if not end]
        if len(open_ends) == 2 or any(open_ends):
            return None
        return found[0] or len(tail[:common].rstrip())

    def _given_at(self, text: str, place: int) -> int | None:
        """Where the given string ends that stands here in text, or after white space."""
        for start in (place, len(text) - len(text[place:].lstrip())):
            for stop in self.given:
                if text.startswith(stop, start):
                    return start + len(stop)
        return None

    def ends(self, text: str) -> bool:
        """Whether text, but for white space, ends in a stop token."""
        bare = text.rstrip()
        return any(token.end() == len(bare) for token in self.pattern.finditer(bare))

    def run(self, text: str, floor: int, stop: int, most: int = 8) -> int:
        """Where the stop tokens begin that end at stop, with nothing but white space between them."""
        begins = stop
        for token in reversed(list(self.pattern.finditer(text, floor, stop))[-most:]):
            if text[token.end() : begins].strip():
                break
            begins = token.start()
        return begins

    def whole(self, text: str, length: int) -> int:
        """The largest length up to this one that does not cut a token of text."""
        for token in self.pattern.finditer(text, max(0, length - 4 * self.longest)):
            if token.start() >= length:
                break
            if length < token.end():
                return token.start()
        return length

    def only_named(self, text: str) -> bool:
        """Whether text is white space and named tokens alone."""
        for token in self.named:
            text = text.replace(token, "")
        return not text.strip()


def common_length(left: str, right: str) -> int:
    """By halving: comparing slices is faster than characters."""
    same, length = 0, min(len(left), len(right))
    while same < length:
        half = (same + length + 1) // 2
        if left[same:half] == right[same:half]:
            same = half
        else:
            length = half - 1
    return same
