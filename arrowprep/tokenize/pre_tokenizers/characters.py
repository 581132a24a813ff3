"""Pre-tokenizers that look at one character at a time: white space, punctuation, digits."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from arrowprep.errors import BadArgument
from arrowprep.tokenize import unicode_tables as tables
from arrowprep.tokenize.character_classes import WHITESPACE
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.pre_tokenizers.base import PreTokenizer, Span
from arrowprep.tokenize.pre_tokenizers.split import BEHAVIOR_OF, BEHAVIORS, split_spans
from arrowprep.tokenize.truncation import check_choice
from arrowprep.tokenize.unicode_normal import charset, parse_ranges

# Rust's \w, which has no ² and no ½ in it, in contrast to Oniguruma's
WORDS = Pattern(
    r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}]+|[^\s\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}]+",
    sure=True,
)
BLANK = re.compile(f"[{re.escape(WHITESPACE)}]")
NOT_BLANK = re.compile(f"[^{re.escape(WHITESPACE)}]+")


@cache
def punctuation() -> re.Pattern[str]:
    """ASCII punctuation, `$+<=>^`|~` too, and category P of Unicode 8.0: ₹ is none."""
    return re.compile(f"[!-/:-@[-`{{-~{charset(parse_ranges(tables.PUNCTUATION))}]")


@cache
def numeric() -> re.Pattern[str]:
    return re.compile(f"[{charset(parse_ranges(tables.NUMERIC))}]")


def _matches(pattern: re.Pattern[str], text: str) -> list[Span]:
    return [match.span() for match in pattern.finditer(text)]


class _Plain(PreTokenizer):
    """One without options."""

    @classmethod
    def from_json(cls, spec: Spec) -> _Plain:
        return cls()


class Whitespace(_Plain):
    r"""Runs of word characters and runs of others: `\w+|[^\w\s]+`."""

    kind = "Whitespace"

    def spans(self, text: str) -> list[Span]:
        return WORDS.find(text)


class WhitespaceSplit(_Plain):
    """What stands between white space."""

    kind = "WhitespaceSplit"

    def spans(self, text: str) -> list[Span]:
        return _matches(NOT_BLANK, text)


class BertPreTokenizer(_Plain):
    """What stands between white space, each punctuation character alone."""

    kind = "BertPreTokenizer"

    def spans(self, text: str) -> list[Span]:
        return [
            (start + a, start + b)
            for start, stop in _matches(NOT_BLANK, text)
            for a, b in split_spans(_matches(punctuation(), text[start:stop]), stop - start, "isolated")
        ]


class Punctuation(PreTokenizer):
    """Cuts at punctuation.

    behavior: what becomes of it: removed, isolated, merged_with_previous,
        merged_with_next, contiguous
    """

    kind = "Punctuation"

    def __init__(self, behavior: str = "isolated") -> None:
        self.behavior = behavior

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "behavior":
            value = BEHAVIOR_OF.get(value, value)
            check_choice(name, value, BEHAVIORS)
        super().__setattr__(name, value)

    @classmethod
    def from_json(cls, spec: Spec) -> Punctuation:
        return cls(spec.choice("behavior", BEHAVIOR_OF, "Isolated"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "behavior": BEHAVIORS[self.behavior]}

    def spans(self, text: str) -> list[Span]:
        return split_spans(_matches(punctuation(), text), len(text), self.behavior)


class Digits(PreTokenizer):
    """Cuts off numbers: category N of Unicode 17, so ², Ⅷ and ½ too.

    individual_digits: each by itself
    """

    kind = "Digits"

    def __init__(self, individual_digits: bool = False) -> None:
        self.individual_digits = individual_digits

    @classmethod
    def from_json(cls, spec: Spec) -> Digits:
        return cls(spec.flag("individual_digits"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "individual_digits": self.individual_digits}

    def spans(self, text: str) -> list[Span]:
        behavior = "isolated" if self.individual_digits else "contiguous"
        return split_spans(_matches(numeric(), text), len(text), behavior)


class CharDelimiterSplit(PreTokenizer):
    """What stands between one character."""

    kind = "CharDelimiterSplit"

    def __init__(self, delimiter: str) -> None:
        if len(delimiter) != 1:
            raise BadArgument(f"a delimiter is one character, not {delimiter!r}", delimiter=delimiter)
        self.delimiter = delimiter

    @classmethod
    def from_json(cls, spec: Spec) -> CharDelimiterSplit:
        try:
            return cls(spec.text("delimiter"))
        except BadArgument as error:
            raise spec.bad(str(error)) from error

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "delimiter": self.delimiter}

    def spans(self, text: str) -> list[Span]:
        return _matches(re.compile(f"[^{re.escape(self.delimiter)}]+"), text)


class FixedLength(PreTokenizer):
    """Pieces of `length` characters; the last may be shorter."""

    kind = "FixedLength"

    def __init__(self, length: int = 5) -> None:
        if length < 1:
            raise BadArgument(f"the length of a piece is at least 1, not {length}", length=length)
        self.length = length

    @classmethod
    def from_json(cls, spec: Spec) -> FixedLength:
        try:
            return cls(spec.count("length", 5))
        except BadArgument as error:
            raise spec.bad(str(error)) from error

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "length": self.length}

    def spans(self, text: str) -> list[Span]:
        n = len(text)
        return [(start, min(start + self.length, n)) for start in range(0, n, self.length)]
