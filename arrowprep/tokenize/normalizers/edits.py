"""Normalizers that replace, remove or add some characters."""

from __future__ import annotations

from typing import Any

from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.byte_characters import to_byte_characters
from arrowprep.tokenize.character_classes import WHITESPACE
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.normalizers.base import Normalizer
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.patterns import as_pattern, pattern_to_json, read_pattern


class Replace(Normalizer):
    """Every match of a pattern by a content.

    The content is literal: `$1` and `\\\\1` stand for themselves. An empty pattern
    matches between all characters.
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
        return super().normalize_str(sequence)


class Prepend(Normalizer):
    """A text in front of every stretch; nothing in front of an empty one."""

    kind = "Prepend"

    def __init__(self, prepend: str) -> None:
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


class Lowercase(Normalizer):
    """Full lowercase: İ becomes two characters."""

    kind = "Lowercase"

    @classmethod
    def from_json(cls, spec: Spec) -> Lowercase:
        return cls()

    def apply(self, text: Aligned) -> Aligned:
        lowered = self.normalize_str(text.text)
        if lowered == text.text:
            return text
        if len(lowered) == len(text.text):
            return Aligned(lowered, text.start, text.starts, text.ends)
        return text.mapped([self.normalize_str(c) for c in text.text])

    def normalize_str(self, sequence: str) -> str:
        return sequence.lower()


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
        return Aligned(spelled, text.start, text.starts, text.ends)
    sources = [i for i, c in enumerate(text.text) for _ in range(_utf8_length(c))]
    return text.rebuilt(spelled, sources)


def _utf8_length(character: str) -> int:
    return 1 if character < "\x80" else 2 if character < "\u0800" else 3 if character < "\U00010000" else 4
