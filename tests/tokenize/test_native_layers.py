"""Pre-tokenizers that the kernel runs as programs: the reference engine's pieces, whatever the pattern."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize import Tokenizer
from arrowprep.tokenize.native import compile_pipeline
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.native_sets import BASIC, every_member, members
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    PreTokenizer,
    Punctuation,
    Sequence,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from arrowprep.tokenize.pre_tokenizers.split import BEHAVIORS
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.build import byte_bpe
from tests.tokenize.test_native import TEXT, check, some_characters

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))


def pipeline_of(*parts: PreTokenizer, use_regex: bool = False) -> Any:
    tok = Tokenizer(byte_bpe())
    tok.pre_tokenizer = Sequence([*parts, ByteLevel(add_prefix_space=False, use_regex=use_regex)])
    return tok._engine.pipeline


def engines(*parts: PreTokenizer, use_regex: bool = False) -> tuple[Any, ReferenceEngine]:
    pipeline = pipeline_of(*parts, use_regex=use_regex)
    native, why = compile_pipeline(pipeline)
    assert native is not None, why
    return native, ReferenceEngine(pipeline)


def isolated(pattern: str) -> Split:
    return Split(Regex(pattern), "isolated")


# as published: StarCoder and SmolLM, BLOOM, DeepSeek-Coder, tiktoken's later cl100k; then others like them
PUBLISHED: dict[str, tuple[list[PreTokenizer], bool]] = {
    "digits, then GPT-2": ([Digits(individual_digits=True)], True),
    "between marks": ([isolated(r" ?[^(\s|[.,!?…。，、।۔،])]+")], False),
    "five cuts": (
        [
            isolated("[\r\n]"),
            isolated(r"\s?\p{L}+"),
            isolated(r"\s?\p{P}+"),
            isolated("[一-龥ࠀ-一가-퟿]+"),
            Digits(individual_digits=True),
        ],
        False,
    ),
    "nothing given back": (
        [
            isolated(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
                r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
            )
        ],
        False,
    ),
    "punctuation and threes": ([Punctuation("contiguous"), Digits(), isolated("[0-9][0-9][0-9]")], True),
    "words": ([WhitespaceSplit(), Punctuation("removed")], False),
    "words of Bert": ([BertPreTokenizer()], False),
    "runs": ([Whitespace()], False),
    "between commas": ([CharDelimiterSplit(","), Split(" ", "merged_with_next")], False),
    "the space goes ahead": ([Split(" ", "merged_with_previous"), Split("ab", "isolated")], False),
}


@cache
def published(name: str) -> tuple[Any, ReferenceEngine]:
    parts, use_regex = PUBLISHED[name]
    return engines(*parts, use_regex=use_regex)


@pytest.mark.parametrize("name", PUBLISHED)
@given(texts=st.lists(TEXT, max_size=4))
@settings(max_examples=25, deadline=None)
def test_published_pre_tokenizers_cut_as_the_reference_does(name: str, texts: list[str]) -> None:
    check(*published(name), pa.array(texts, pa.string()))


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_character_is_in_the_sets_that_the_pattern_sees(name: str) -> None:
    native, reference = published(name)
    texts = pa.array([f"a{c} {c}{c}1{c}'s{c}.{c}\n{c} {c}" for c in some_characters(500)])
    found, expected = native.encode(texts, words=True), reference.encode(texts, words=True)
    assert found.ids == expected.ids
    assert found.words == expected.words


SETS = [
    "a",
    "b",
    r"\.",
    r"\s",
    r"\p{L}",
    r"\p{Lu}",
    "[ab]",
    "[^a]",
    r"[^\s\p{L}]",
    "[a-c&&[^b]]",
    "é",
    ".",
    r"\d",
    r"\w",
]
REPEATED = ["", "", "", *("?", "*", "+", "++", "?+", "*+", "{2}", "{1,2}", "{2,}", "{,2}", "{1,2}+")]
LAZY = ["??", "*?", "+?", "{2}?", "{1,2}?", "{2,}?", "+?+"]
PLACES = ["$", "^", r"\z", r"\Z", r"\A", r"\b", r"\B"]
BEHIND = ["ab", "[ab]c", "a|bé", "(?:a|b){2}", "é"]


def alternatives(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    part = st.tuples(
        st.one_of(
            st.sampled_from(SETS),
            st.tuples(st.sampled_from(["(?:", "(", "(?>", "(?=", "(?!", "(?<n>"]), inner, st.just(")")).map(
                "".join
            ),
            st.tuples(st.sampled_from(["(?<=", "(?<!"]), st.sampled_from([*SETS, *BEHIND]), st.just(")")).map(
                "".join
            ),
            st.sampled_from([*PLACES, "(?i:a|b)", "(?i:É|c)", "(?i)"]),
        ),
        st.sampled_from([*REPEATED, *LAZY]),
    ).map("".join)
    # mostly with something that is always there: a match of nothing leaves little for what follows
    first = st.sampled_from([*SETS, *SETS, "", "(?!b)"])
    rows = st.tuples(first, st.lists(part, max_size=3).map("".join)).map("".join)
    return st.lists(rows, min_size=1, max_size=3).map("|".join)


PATTERN = st.recursive(st.sampled_from(SETS), alternatives, max_leaves=6)
SMALL_TEXT = st.text("aabAcé1. \nß", max_size=12)


@given(
    pattern=PATTERN,
    behavior=st.sampled_from(list(BEHAVIORS)),
    invert=st.booleans(),
    texts=st.lists(SMALL_TEXT, min_size=3, max_size=9),
)
@settings(max_examples=200, deadline=None)
def test_any_pattern_matches_as_the_reference_does_or_is_refused(
    pattern: str, behavior: str, invert: bool, texts: list[str]
) -> None:
    try:
        split = Split(Regex(pattern), behavior, invert)
    except BadTokenizerFile:
        return  # to the reference it is no pattern either
    pipeline = pipeline_of(split, Split("a", "isolated"))
    native, why = compile_pipeline(pipeline)
    if native is None:
        assert why.startswith("the native kernel cannot run it: ")
        return
    check(native, ReferenceEngine(pipeline), pa.array(texts))


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(?:a*)+b", "may be empty"),
        (r"(?<=ab?)c", "of no certain length"),
        (r"(?<=" + "(?:a|b)" * 5 + ")c", "too many ways"),
        (r"(a)\1", r"\1"),
        (r"(?i:stra)", "ligature"),
        (r"(?i:\x{73}[s])", "ligature"),
        (r"(?i:[à-ÿß])", "ignores case"),
        (r"\X", r"\X"),
        (r"(?:ab){2000}", "too much"),
    ],
)
def test_patterns_that_are_refused_say_why(pattern: str, why: str) -> None:
    native, reason = compile_pipeline(pipeline_of(isolated(pattern)))
    assert native is None
    assert why in reason


def test_a_pattern_that_takes_exponential_time_on_a_text_is_left_to_the_reference() -> None:
    native, reference = engines(isolated(r"(?:a|aa)+b|(?:a|aa)+c|a"))
    source = random.Random(0)
    texts = [
        "aaaab",
        "a" * 24,
        "aac" + "a" * 20 + "b",
        *("".join(source.choices("aabc", k=20)) for _ in range(50)),
    ]
    check(native, reference, pa.array(texts))
    assert [native.ids(text) for text in texts] == [reference.ids(text) for text in texts]


ASKED = r"""
\s \S \w \W \d \D \p{L} \P{L} \p{^L} \p{C} \p{Z} \p{Han} \h . é [a-zé] [aé中😀] [0-9] [^é] [一-龥] [İa]
[^\s\p{L}\p{N}] [-\w] [^\w\s] [\p{Lu}\p{Lt}\p{Lm}] [\p{L}&&[^\p{Lu}]] [^(\s|[.,…。])] [\p{Zs}\t] [^\S\n]
[^\p{Cn}] [\r\n/] [[:alpha:]] (?i:s) (?i:k) (?i:[a-z]) (?i:') (?i:\s)
"""


@pytest.mark.parametrize("turkish", [True, False])
def test_a_set_is_asked_of_few_characters_and_has_the_same(turkish: bool) -> None:
    for source in (*ASKED.split(), *BASIC):
        assert members(source, False, turkish).tolist() == every_member(source, turkish).tolist(), source
