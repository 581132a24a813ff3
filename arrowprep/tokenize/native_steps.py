"""Normalizers as the steps that the kernel takes, or why it does not."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from arrowprep.tokenize.native_library import StepParts, flat_list
from arrowprep.tokenize.native_models import Unsupported, encoded
from arrowprep.tokenize.normalizers import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    ByteLevel,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    Sequence,
    Strip,
    StripAccents,
)
from arrowprep.tokenize.oniguruma import Pattern

(
    PREPEND,
    REPLACE,
    SPACES,
    LEAD,
    FORM,
    STRIP,
    SQUEEZE,
    WORDS,
    CHARSMAP,
    EACH,
    BYTES,
    MATCHES,
) = range(12)
# their options
FULL, FIRST, LEFT, RIGHT, DECOMPOSED, COMPATIBLE = 1, 1, 1, 2, 2, 4
# what is done to each character
LOWER, NO_MARKS, AS_NMT, CLEAN, IDEOGRAPHS_APART, NO_NONSPACING = range(1, 7)

_FORMS: dict[type[Normalizer], int] = {
    NFC: 0,
    NFD: DECOMPOSED,
    NFKC: COMPATIBLE,
    NFKD: DECOMPOSED | COMPATIBLE,
}
_EACH: dict[type[Normalizer], int] = {Lowercase: LOWER, StripAccents: NO_MARKS, Nmt: AS_NMT}


@dataclass(frozen=True, slots=True)
class Step:
    """A change of the text, by the kernel's number of it."""

    number: int
    options: int = 0
    texts: tuple[str | bytes, str | bytes] = ("", "")


def leaves_of(normalizer: Normalizer | None) -> list[Normalizer]:
    """The normalizers that this one runs, in order."""
    if type(normalizer) is Sequence:
        return [leaf for part in normalizer.parts for leaf in leaves_of(part)]
    return [] if normalizer is None else [normalizer]


def steps_of(parts: Iterable[Normalizer], full: bool) -> list[Step]:
    """What normalizers do, step by step.

    full: whether a character that several were made into one of stands for all of them
    """
    return [step for part in parts for step in _steps(part, FULL * full)]


def _steps(part: Normalizer, full: int) -> Iterator[Step]:
    kind = type(part)
    if kind in _EACH:
        yield Step(EACH, _EACH[kind])
    elif kind in _FORMS:
        yield Step(FORM, _FORMS[kind] | full)
    elif kind is ByteLevel:
        yield Step(BYTES)
    elif isinstance(part, BertNormalizer) and kind is BertNormalizer:
        yield from _as_bert(part, full)
    elif isinstance(part, Prepend) and kind is Prepend:
        yield Step(PREPEND, texts=(part.prepend, ""))
    elif isinstance(part, Strip) and kind is Strip:
        yield Step(STRIP, LEFT * part.left + RIGHT * part.right)
    elif isinstance(part, Precompiled) and kind is Precompiled:
        yield Step(CHARSMAP, full, (part.precompiled_charsmap, ""))
    elif isinstance(part, Replace) and kind is Replace:
        yield _replaced(part.pattern, part.content, full)
    else:
        raise Unsupported(f"it has no {kind.__name__} normalizer")


def _as_bert(part: BertNormalizer, full: int) -> Iterator[Step]:
    if part.clean_text:
        yield Step(EACH, CLEAN)
    if part.handle_chinese_chars:
        yield Step(EACH, IDEOGRAPHS_APART)
    if part.lowercase if part.strip_accents is None else part.strip_accents:
        yield Step(FORM, DECOMPOSED | full)
        yield Step(EACH, NO_NONSPACING)
    if part.lowercase:
        yield Step(EACH, LOWER)


def _replaced(pattern: Pattern, content: str, full: int) -> Step:
    if pattern.literal and pattern.source:
        return Step(REPLACE, full, (pattern.source, content))
    if not pattern.literal and pattern.source == " {2,}":
        return Step(SQUEEZE, full, (" ", content))
    return Step(MATCHES, full, (_program(pattern), content))


def _program(pattern: Pattern) -> bytes:
    """A pattern as the kernel runs it: runs of characters that are alike, and steps."""
    from arrowprep.tokenize.native_layers import Layer, compiled
    from arrowprep.tokenize.pattern_syntax import Unknown

    try:
        programs = compiled((Layer(pattern, "isolated"),))
    except Unknown as problem:
        raise Unsupported(str(problem)) from problem
    firsts, classes = programs.runs.astype(np.uint64).T
    count = np.array([len(firsts)], np.uint64)
    words = np.concatenate([count, firsts | classes << np.uint64(32), programs.words])
    return words.astype("<u8").tobytes()


class FlatSteps:
    """Steps for the kernel, which keeps nothing of them."""

    def __init__(self, steps: list[Step]) -> None:
        texts = [text if isinstance(text, bytes) else encoded(text) for step in steps for text in step.texts]
        self._texts = flat_list(texts)
        self._numbers = array("I", [step.number for step in steps])
        self._options = array("I", [step.options for step in steps])
        places = (numbers.buffer_info()[0] for numbers in (self._numbers, self._options))
        self.parts = StepParts(*places, self._texts.strings)
