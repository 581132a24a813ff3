"""Normalizers that replace, remove or add some characters."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from arrowprep.tokenize import unicode_tables as tables
from arrowprep.tokenize.aligned import Aligned, replaced
from arrowprep.tokenize.byte_characters import to_byte_characters
from arrowprep.tokenize.character_classes import WHITESPACE
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.normalizers.base import Normalizer
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.patterns import as_pattern, pattern_to_json, read_pattern
from arrowprep.tokenize.unicode_normal import charset, parse_ranges


class Replace(Normalizer):
    """Every match of a pattern by a content.

    The content is literal: `$1` and `\\\\1` stand for themselves. An empty pattern
    matches between all characters, but not in an empty text.
    """

    kind = "Replace"

    def __init__(self, pattern: str | Pattern, content: str) -> None:
        self.pattern = as_pattern(pattern)
        self.content = content

    @classmethod
    def from_json(cls, spec: Spec) -> Replace:
        return cls(read_pattern(spec), spec.text("content"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "pattern": pattern_to_json(self.pattern), "content": self.content}

    def apply(self, text: Aligned) -> Aligned:
        return text.replaced(self.pattern.find(text.text), self.content)

    def normalize_str(self, sequence: str) -> str:
        if self.pattern.literal and self.pattern.source:
            return sequence.replace(self.pattern.source, self.content)
        spans = self.pattern.find(sequence)
        return replaced(sequence, spans, self.content) if spans else sequence


class Prepend(Normalizer):
    """A text in front of every stretch; nothing in front of an empty one."""

    kind = "Prepend"

    def __init__(self, prepend: str = "▁") -> None:
        self.prepend = prepend

    @classmethod
    def from_json(cls, spec: Spec) -> Prepend:
        return cls(spec.text("prepend"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "prepend": self.prepend}

    def apply(self, text: Aligned) -> Aligned:
        return text.prepended(self.prepend)

    def normalize_str(self, sequence: str) -> str:
        return self.prepend + sequence if sequence else sequence


class Strip(Normalizer):
    """Removes white space at the ends of every stretch."""

    kind = "Strip"

    def __init__(self, left: bool = True, right: bool = True) -> None:
        self.left = left
        self.right = right

    @classmethod
    def from_json(cls, spec: Spec) -> Strip:
        return cls(spec.flag("strip_left"), spec.flag("strip_right"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "strip_left": self.left, "strip_right": self.right}

    def apply(self, text: Aligned) -> Aligned:
        n = len(text.text)
        start = n - len(text.text.lstrip(WHITESPACE)) if self.left else 0
        stop = len(text.text.rstrip(WHITESPACE)) if self.right else n
        return text if (start, stop) == (0, n) else text.slice(start, max(start, stop))


@cache
def _new_lowercase() -> dict[int, int]:
    pairs = (entry.split("=") for entry in tables.NEW_LOWERCASE.split())
    # a Σ at the end of a word is no different here
    return {ord("Σ"): ord("σ"), **{int(upper, 16): int(lower, 16) for upper, lower in pairs}}


class Lowercase(Normalizer):
    """Full lowercase of Unicode 17, character by character: İ becomes two, no Σ becomes ς."""

    kind = "Lowercase"

    @classmethod
    def from_json(cls, spec: Spec) -> Lowercase:
        return cls()

    def apply(self, text: Aligned) -> Aligned:
        lowered = self.normalize_str(text.text)
        if lowered == text.text:
            return text
        if len(lowered) == len(text.text):
            return text.respelled(lowered)
        return text.mapped([self.normalize_str(c) for c in text.text])

    def normalize_str(self, sequence: str) -> str:
        return sequence.lower() if sequence.isascii() else sequence.translate(_new_lowercase()).lower()


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(f"[{charset(parse_ranges(tables.MARKS))}]")


class StripAccents(Normalizer):
    """Removes every mark of Unicode 9.0, enclosing and spacing ones too; does not decompose."""

    kind = "StripAccents"

    @classmethod
    def from_json(cls, spec: Spec) -> StripAccents:
        return cls()

    def apply(self, text: Aligned) -> Aligned:
        return removed(_marks(), text)

    def normalize_str(self, sequence: str) -> str:
        return sequence if sequence.isascii() else _marks().sub("", sequence)


class Nmt(Normalizer):
    """Removes control characters and makes some separators a space, as in machine translation."""

    kind = "Nmt"

    @classmethod
    def from_json(cls, spec: Spec) -> Nmt:
        return cls()

    def apply(self, text: Aligned) -> Aligned:
        text = removed(_NMT_REMOVED, text)
        return text.respelled(_NMT_SPACE.sub(" ", text.text))

    def normalize_str(self, sequence: str) -> str:
        return _NMT_SPACE.sub(" ", _NMT_REMOVED.sub("", sequence))


_NMT_REMOVED = re.compile("[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]")
_NMT_SPACE = re.compile("[\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]")


def removed(pattern: re.Pattern[str], text: Aligned) -> Aligned:
    """A text without the characters that match."""
    return text.replaced((match.span() for match in pattern.finditer(text.text)), "")


class ByteLevel(Normalizer):
    """The UTF-8 bytes, each as its printable character; all bytes of a character stand for all of it."""

    kind = "ByteLevel"

    @classmethod
    def from_json(cls, spec: Spec) -> ByteLevel:
        return cls()

    def apply(self, text: Aligned) -> Aligned:
        return bytes_of(text)

    def normalize_str(self, sequence: str) -> str:
        return to_byte_characters(sequence)


def bytes_of(text: Aligned) -> Aligned:
    """A text spelled in byte characters."""
    spelled = to_byte_characters(text.text)
    if len(spelled) == len(text.text):
        return text.respelled(spelled)
    sources = [i for i, c in enumerate(text.text) for _ in range(_utf8_length(c))]
    return text.rebuilt(spelled, sources)


def _utf8_length(character: str) -> int:
    return 1 if character < "\x80" else 2 if character < "\u0800" else 3 if character < "\U00010000" else 4
