"""Twins of patterns for ASCII: they find what the pattern itself finds, or there is none."""

from __future__ import annotations

import itertools
from itertools import chain

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.tokenize.ascii_patterns import ascii_twin
from arrowprep.tokenize.files.tiktoken_sets import SETS
from arrowprep.tokenize.native_pipeline import GRAMMARS
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.oniguruma_syntax import translate

KNOWN = sorted({*chain.from_iterable(GRAMMARS), *(chosen.pattern for chosen in SETS.values())})
OTHERS = [
    r"\w+|[^\w\s]+",
    r"\h+|\W\b",
    r"(?i:ab|[c-e]+|\p{Lu})x?|.",
    r"(?m:.)\n?",
    r"[\p{L}&&[^aeiou]]+|[[:punct:]]+|\S",
    r"(?<=a)b|(?<!a)b+?|^x|y$",
    r"[^\P{L}]{2,3}| ?[\]\[\\^-]+",
    r"a*",
    r"\p{Han}|\x41|\.",
    r"(a|b)(?=c)",
]
SMALL = [
    *map(chr, range(128)),
    *map("".join, itertools.product("aAbcsSxy1 .,'\"\n\r\t\x1c\x0b-_[]^", repeat=3)),
]
TEXTS = st.text(st.sampled_from("abcAsStTx1 29.,'!\n\r\t\x1c\x85"[:-1] + "-_/"), max_size=40)


def same(pattern: str, text: str) -> bool:
    ours, plain = ascii_twin(translate(pattern)), regex.compile(translate(pattern), regex.V1)
    assert ours is not None
    return [m.span() for m in ours.finditer(text)] == [m.span() for m in plain.finditer(text)]


@pytest.mark.parametrize("pattern", [*KNOWN, *OTHERS])
def test_small_texts(pattern: str) -> None:
    assert all(same(pattern, text) for text in SMALL)


@given(st.sampled_from([*KNOWN, *OTHERS]), TEXTS)
def test_any_text(pattern: str, text: str) -> None:
    assert same(pattern, text)


@pytest.mark.parametrize(
    "unusual", [r"(?i)a", r"(?i:ſ)", r"\Ka", r"\X", r"(?<name>a)", r"\1", "a{1", "a{e}", "[a"]
)
def test_what_is_unusual_has_none(unusual: str) -> None:
    assert ascii_twin(unusual) is None


def test_a_pattern_finds_the_same_before_and_after_it_has_seen_much() -> None:
    pattern = Pattern(r"\w+|\s+|[^\w\s]")
    text = "some text, 12 words;\tor more " * 50
    first = pattern.pieces(text), pattern.find(text)
    while pattern._for_ascii(text) is pattern.compiled:
        assert pattern.find(text) == first[1]
    assert (pattern.pieces(text), pattern.find(text)) == first
