"""NormalizedString and PreTokenizedString beside those of Hugging Face's tokenizers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep import tokenize as ours

peer: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")


def odd_or_even(character: str) -> str:
    return "é" if ord(character) % 2 else "x"


TEXT = st.text(st.sampled_from("aB é\u0301ñßﬁİΣ①猫한\u3000\t.-👍"), max_size=8)
NAMES = ["nfc", "nfd", "nfkc", "nfkd", "lowercase", "uppercase", "lstrip", "rstrip", "strip", "clear"]
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(NAMES)),
        st.tuples(st.just("replace"), st.sampled_from(["a", "é", ""]), st.just("bé")),
        st.tuples(st.just("regex"), st.sampled_from([r"\s+", "[a-z]", r"\W"]), st.sampled_from(["", "é-"])),
        st.sampled_from([("prepend", "▁x"), ("append", "é!"), ("filter", str.isalpha), ("map", odd_or_even)]),
    ),
    max_size=4,
)
PATTERNS = st.sampled_from([" ", "a", r"\s+", r"\w"])
BEHAVIORS = st.sampled_from(["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"])
PRE_TOKENIZERS = st.sampled_from(["Whitespace", "BertPreTokenizer", "Metaspace", "ByteLevel"])


def change(library: Any, string: Any, changes: list[Any]) -> Any:
    for name, *more in changes:
        if name == "regex":
            string.replace(library.Regex(more[0]), more[1])
        else:
            getattr(string, name)(*more)
    return string


def seen(part: Any) -> Any:
    return None if part is None else (part.normalized, part.original)


@settings(max_examples=300, deadline=None)
@given(TEXT, CHANGES)
def test_changes_and_what_each_character_stands_for(text: str, changes: list[Any]) -> None:
    mine = change(ours, ours.NormalizedString(text), changes)
    theirs = change(peer, peer.NormalizedString(text), changes)
    assert seen(mine) == seen(theirs)
    for start in range(len(mine.normalized)):
        for stop in range(start + 1, len(mine.normalized) + 1):
            assert seen(mine.slice((start, stop))) == seen(theirs.slice((start, stop)))


@settings(max_examples=200, deadline=None)
@given(TEXT, CHANGES, PATTERNS, BEHAVIORS)
def test_parts_between_matches(text: str, changes: list[Any], pattern: str, behavior: str) -> None:
    def parts(library: Any) -> list[Any]:
        string = change(library, library.NormalizedString(text), changes)
        wanted = library.Regex(pattern) if "\\" in pattern else pattern
        return [seen(part) for part in string.split(wanted, behavior) if part.normalized]

    assert parts(ours) == parts(peer)


@settings(max_examples=200, deadline=None)
@given(TEXT, CHANGES, PRE_TOKENIZERS)
def test_splits_and_their_encoding(text: str, changes: list[Any], kind: str) -> None:
    def splits(library: Any) -> Any:
        string = library.PreTokenizedString(text)
        string.split(lambda _, split: split.split("a", "isolated"))
        string.normalize(lambda split: change(library, split, changes))
        getattr(library.pre_tokenizers, kind)().pre_tokenize(string)
        in_original = string.get_splits(), string.get_splits("original", "byte")
        # the peer's tokens count in bytes, ours in characters: the same in ASCII
        string.tokenize(lambda piece: [library.Token(7, piece, (0, len(piece)))] * piece.isascii())
        encoding = string.to_encoding()
        return in_original, encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids

    assert splits(ours) == splits(peer)
