"""Split: cuts where a pattern matches."""

from __future__ import annotations

from typing import Any

from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.patterns import as_pattern, pattern_to_json, read_pattern
from arrowprep.tokenize.pre_tokenizers.base import PreTokenizer, Span
from arrowprep.tokenize.truncation import check_choice

# what becomes of a match: its name in the API, and in a tokenizer.json
BEHAVIORS = {
    "removed": "Removed",
    "isolated": "Isolated",
    "merged_with_previous": "MergedWithPrevious",
    "merged_with_next": "MergedWithNext",
    "contiguous": "Contiguous",
}
BEHAVIOR_OF = {in_json: name for name, in_json in BEHAVIORS.items()}

Part = tuple[Span, bool]  # a span, and whether it is a match


def split_spans(matches: list[Span], length: int, behavior: str, invert: bool = False) -> list[Span]:
    """Where a text of `length` is cut, given the matches in it.

    >>> split_spans([(1, 2)], 4, "merged_with_previous")
    [(0, 2), (2, 4)]
    """
    if behavior == "removed" and invert:
        return matches
    parts = _with_gaps(matches, length, invert)
    if behavior == "removed":
        return [span for span, is_match in parts if not is_match]
    if behavior == "contiguous":
        return _joined_runs(parts)
    if behavior == "merged_with_previous":
        return _merged_with_previous(parts)
    if behavior == "merged_with_next":
        mirrored = [((-stop, -start), is_match) for (start, stop), is_match in reversed(parts)]
        return [(-stop, -start) for start, stop in reversed(_merged_with_previous(mirrored))]
    return [span for span, _ in parts]


def _with_gaps(matches: list[Span], length: int, invert: bool) -> list[Part]:
    parts: list[Part] = []
    last = 0
    for start, stop in matches:
        if last != start:
            parts.append(((last, start), invert))
        parts.append(((start, stop), not invert))
        last = stop
    if last != length:
        parts.append(((last, length), invert))
    return parts


def _joined_runs(parts: list[Part]) -> list[Span]:
    spans: list[Span] = []
    previous: bool | None = None
    for (start, stop), is_match in parts:
        if is_match == previous:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
        previous = is_match
    return spans


def _merged_with_previous(parts: list[Part]) -> list[Span]:
    """Of matches in a row only the first joins what stands before it."""
    spans: list[Span] = []
    after_match = False
    for (start, stop), is_match in parts:
        if is_match and not after_match and spans:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
        after_match = is_match
    return spans


class Split(PreTokenizer):
    """Cuts where a pattern matches; `behavior` says what becomes of the match.

    pattern: a str stands for itself, a Regex is one; empty matches cut as well
    behavior: removed, isolated, merged_with_previous, merged_with_next, contiguous
    invert: what does not match is taken for the match
    """

    kind = "Split"

    def __init__(self, pattern: str | Pattern, behavior: str, invert: bool = False) -> None:
        self.pattern = as_pattern(pattern)
        self.behavior = behavior
        self.invert = invert

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "behavior":
            value = BEHAVIOR_OF.get(value, value)
            check_choice(name, value, BEHAVIORS)
        super().__setattr__(name, as_pattern(value) if name == "pattern" else value)

    @classmethod
    def from_json(cls, spec: Spec) -> Split:
        return cls(read_pattern(spec), spec.choice("behavior", BEHAVIOR_OF), spec.flag("invert", False))

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "pattern": pattern_to_json(self.pattern),
            "behavior": BEHAVIORS[self.behavior],
            "invert": self.invert,
        }

    def spans(self, text: str) -> list[Span]:
        return split_spans(self.pattern.find(text), len(text), self.behavior, self.invert)

    def pieces(self, text: str) -> list[str] | None:
        # where the matches are the whole text, removing what does not match leaves them too
        if self.behavior == "isolated" or (self.behavior == "removed" and self.invert):
            return self.pattern.pieces(text)
        return None

    def texts(self, text: str) -> list[str]:
        found = self.pattern.matches(text) if self.behavior == "removed" and self.invert else None
        return super().texts(text) if found is None else found
