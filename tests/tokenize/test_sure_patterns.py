"""A pattern that is sure not to be broken is none that `regex` refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.sure_patterns import is_sure

PARTS = [
    *"ab-^$.|*+?[]&~#é中\\ \n",
    r"\d",
    r"\W",
    r"\s",
    r"\.",
    r"\-",
    r"\]",
    r"\n",
    r"\h",
    r"\p",
    r"\x",
    "[^",
    "a-",
]


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
@settings(max_examples=400, deadline=None)
def test_what_is_sure_can_be_compiled(source: str) -> None:
    if is_sure(source):
        assert Pattern(source).compiled


@pytest.mark.parametrize("source", [r" ?\d+\.|\. ?| ?[-\w]+|[#+]\s+", "a|b*", "[^a-z]+", ".", r"\S+", ""])
def test_simple_patterns_are_sure(source: str) -> None:
    assert is_sure(source)
    assert "compiled" not in vars(Pattern(source))


@pytest.mark.parametrize("source", ["[b-a]", "*a", "a|+", "[", "a\\", "[a"])
def test_broken_patterns_are_not(source: str) -> None:
    assert not is_sure(source)
    with pytest.raises(BadTokenizerFile, match="cannot be used"):
        Pattern(source)
