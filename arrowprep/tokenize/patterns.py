"""Patterns as components take them and as tokenizer files spell them."""

from __future__ import annotations

from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.oniguruma import Pattern


class Regex(Pattern):
    """A regular expression, where a plain str would be a literal."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)


def as_pattern(pattern: str | Pattern) -> Pattern:
    """A str stands for itself."""
    return Pattern(pattern, literal=True) if isinstance(pattern, str) else pattern


def read_pattern(spec: Spec) -> Pattern:
    """`{"String": ...}` or `{"Regex": ...}` at "pattern"."""
    pattern = spec.child("pattern")
    if "Regex" in pattern.value:
        return Pattern(pattern.text("Regex"))
    return Pattern(pattern.text("String"), literal=True)


def pattern_to_json(pattern: Pattern) -> dict[str, str]:
    return {"String" if pattern.literal else "Regex": pattern.source}
