"""PreTokenizedString: a text cut into splits, each a NormalizedString, until all of them are tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple

from arrowprep.errors import NotText, TokenizerError
from arrowprep.tokenize.encoding import Encoding, Span
from arrowprep.tokenize.models.base import Token
from arrowprep.tokenize.normalized_string import NormalizedString
from arrowprep.tokenize.truncation import check_choice

REFERENTIALS = {"original": "original", "normalized": "normalized"}
OFFSET_TYPES = {"char": "char", "byte": "byte"}


class Split(NamedTuple):
    """A part of the text, and its tokens once it has some; from then on it stays as it is."""

    normalized: NormalizedString
    tokens: list[Token] | None = None


class PreTokenizedString:
    """A text on its way to tokens; what `split`, `normalize` and `tokenize` are given works on each split."""

    __slots__ = ("_splits", "_text")

    def __init__(self, sequence: str) -> None:
        self._text = sequence
        self._splits = [Split(NormalizedString(sequence))]

    def __repr__(self) -> str:
        return f"PreTokenizedString({[str(split.normalized) for split in self._splits]})"

    @property
    def splits(self) -> tuple[Split, ...]:
        return tuple(self._splits)

    def split(self, func: Callable[[int, NormalizedString], Iterable[NormalizedString]]) -> None:
        """Put the parts that `func` makes of a split, given its number, in place of it; empty ones go."""
        new: list[Split] = []
        for number, split in enumerate(self._splits):
            if split.tokens is not None:
                new.append(split)
                continue
            parts = [_checked(part) for part in func(number, split.normalized)]
            new += [Split(part) for part in parts if part.normalized]
        self._splits = new

    def normalize(self, func: Callable[[NormalizedString], object]) -> None:
        """Let `func` change each split in place."""
        for split in self._splits:
            if split.tokens is None:
                func(split.normalized)

    def tokenize(self, func: Callable[[str], Iterable[Token]]) -> None:
        """Give each split the tokens that `func` makes of its text; their offsets are characters of it."""
        self._splits = [
            Split(split.normalized, list(func(split.normalized.normalized)))
            if split.tokens is None
            else split
            for split in self._splits
        ]

    def to_encoding(self, type_id: int = 0, word_idx: int | None = None) -> Encoding:
        """The tokens, with offsets in the text as it was.

        word_idx: the word that all of it is; else each split is one, counted from 0
        Raises TokenizerError while a split has no tokens.
        """
        encoding = Encoding()
        for number, split in enumerate(self._splits):
            if split.tokens is None:
                raise TokenizerError(
                    f"split {number}, {str(split.normalized)!r}, has no tokens: call tokenize first"
                )
            for token in split.tokens:
                encoding.ids.append(token.id)
                encoding.tokens.append(token.value)
                encoding.offsets.append(_original_span(split.normalized, token))
                encoding.words.append(number if word_idx is None else word_idx)
        n = len(encoding.ids)
        encoding.type_ids, encoding.attention_mask = [type_id] * n, [1] * n
        encoding.special_tokens_mask = [0] * n
        return encoding

    def get_splits(
        self, offset_referential: str = "original", offset_type: str = "char"
    ) -> list[tuple[str, Span, list[Token] | None]]:
        """Each split's text, place and tokens.

        offset_referential: places in the text as it was ("original"), or in the splits'
            texts one after the other ("normalized")
        offset_type: "char", or "byte" of UTF-8
        """
        check_choice("offset_referential", offset_referential, REFERENTIALS)
        check_choice("offset_type", offset_type, OFFSET_TYPES)
        texts = [split.normalized.normalized for split in self._splits]
        if offset_referential == "original":
            spans = [split.normalized.original_span for split in self._splits]
            text = self._text
        else:
            ends = list(accumulate(map(len, texts)))
            spans = [(end - len(text), end) for end, text in zip(ends, texts, strict=True)]
            text = "".join(texts)
        if offset_type == "byte":
            at = [0, *accumulate(len(character.encode()) for character in text)]
            spans = [(at[start], at[stop]) for start, stop in spans]
        tokens = (split.tokens for split in self._splits)
        return list(zip(texts, spans, tokens, strict=True))


def _original_span(text: NormalizedString, token: Token) -> Span:
    start, stop = token.offsets
    if not 0 <= start <= stop <= len(text.normalized):
        raise TokenizerError(f"{token} lies outside of its split, {text.normalized!r}", split=text.normalized)
    return text.aligned.span(start, stop)


def _checked(part: object) -> NormalizedString:
    if not isinstance(part, NormalizedString):
        raise NotText(f"a split becomes NormalizedStrings, not {type(part).__name__}")
    return part
