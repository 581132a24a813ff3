"""Sets of characters that are understood without a pattern are those that the pattern has."""

from __future__ import annotations

import pytest

from arrowprep.tokenize.native_sets import BASIC, every_member
from arrowprep.tokenize.plain_sets import plain_set

USUAL = [source for source in BASIC if not source.startswith("[")]
OTHERS = [r"\S", r"\W", r"\D", r"\P{Lu}", r"\p{^Nd}", r"\P{^L}", *(rf"\p{{{major}}}" for major in "LMNPSZ")]
CLASSES = [
    ".",
    "(?m:.)",
    "[-\\w]",
    r"[\w-]",
    "[#+]",
    "[^a-z0-9_]",
    r"[^\s\p{L}\p{N}]",
    r"[^\r\n\p{L}\p{N}]",
    r"[\W\d]",
    r"[\D_]",
    r"[\S\n]",
    r"[\p{P}$+<=>^~|`]",
    r"[\P{L}x]",
    r"[^\p{^Nd}]",
    r"[!-/:-@\[-`{-~]",
    "[\\t \u3000]",
    "[^'\u2019\u4e2d]",
    "\u2581",
]
NOT_PLAIN = [
    "[a&&b]",
    "[[:alpha:]]",
    "[a-\u00ff]",
    r"[\w-.]",
    "(?i:k)",
    r"\p{Han}",
    r"\p{Latin}",
    r"\h",
    "[\u0295]",
    "[\u0130]",
    "\u0378",
    "ab",
    r"\pL",
    r"[\p{L]",
]


@pytest.mark.parametrize("source", [*USUAL, *OTHERS, *CLASSES])
def test_a_plain_set_has_what_its_pattern_matches(source):
    assert plain_set(source).tolist() == every_member(source, turkish=True).tolist()


@pytest.mark.parametrize("source", NOT_PLAIN)
def test_no_other_set_is_guessed(source):
    assert plain_set(source) is None
