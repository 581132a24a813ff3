"""Added tokens: where they match, and what they take with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize import AddedToken, normalizers
from arrowprep.tokenize.added_tokens import AddedVocabulary, Matcher
from tests.tokenize.build import byte_bpe, byte_tokenizer


def found(text: str, *tokens: AddedToken | str) -> list[str]:
    vocabulary = AddedVocabulary()
    vocabulary.add(
        [t if isinstance(t, AddedToken) else AddedToken(t, normalized=False) for t in tokens], byte_bpe()
    )
    for token in vocabulary.tokens.values():
        token.normalized = False
    matcher = Matcher.build(vocabulary, normalized=False)
    assert matcher is not None
    return [text[match.start : match.stop] for match in matcher.find(text)]


def test_the_leftmost_wins_then_the_longest() -> None:
    assert found("xabcd", "bc", "ab", "abc", "d") == ["abc", "d"]


def test_a_single_word_touches_no_word_character() -> None:
    word = AddedToken("the", single_word=True)
    assert found("the thebes the. (the) _the été-the", word) == ["the", "the", "the", "the"]


def test_a_refused_match_is_not_tried_from_a_shorter_token() -> None:
    assert found("human beingsx human", AddedToken("human beings", single_word=True), "human") == ["human"]


def test_white_space_beside_it_is_taken() -> None:
    mask = AddedToken("<m>", lstrip=True, rstrip=True)
    assert found("a  <m>\n\u3000b", mask) == ["  <m>\n\u3000"]
    assert found("<m>  <m>", mask) == ["<m>  ", "<m>"]


def test_the_text_of_a_stripping_token_has_its_spaces() -> None:
    tok = byte_tokenizer()
    tok.add_tokens([AddedToken("<m>", lstrip=True)])
    encoding = tok.encode("a  <m>")
    assert encoding.tokens[-1] == "  <m>"
    assert encoding.offsets[-1] == (1, 6)


def test_one_whose_spaces_another_took_is_not_there() -> None:
    tok = byte_tokenizer()
    tok.add_tokens([AddedToken("\n", lstrip=True, rstrip=True)])
    assert tok.encode("a\n\nb").tokens == ["a", "\n\n", "b"]
    assert tok.encode_columns(["a\n\nb"]).ids.to_pylist() == [tok.encode("a\n\nb").ids]


def test_normalized_ones_are_found_in_normalized_text() -> None:
    tok = byte_tokenizer(normalizer=normalizers.Lowercase())
    tok.add_tokens([AddedToken("New", normalized=True), AddedToken("Raw", normalized=False)])
    assert tok.encode("neW raw Raw").tokens[0] == "new"
    assert tok.encode("neW raw Raw").tokens[-1] == "Raw"
    assert tok.encode("neW raw Raw").tokens[2:-1] != ["Raw"]


def test_equality_is_of_all_flags_and_hash_of_the_content() -> None:
    assert AddedToken("a") != AddedToken("a", lstrip=True)
    assert hash(AddedToken("a")) == hash(AddedToken("a", lstrip=True))
    assert AddedToken("a", special=True).normalized is False
    assert str(AddedToken("a")) == "a"


def test_an_id_in_a_file_that_leaves_a_gap_is_kept() -> None:
    vocabulary = AddedVocabulary()
    vocabulary.load([(9000, AddedToken("<gap>"))], byte_bpe())
    assert vocabulary.ids == {"<gap>": 9000}


def test_an_id_in_a_file_that_another_token_has_is_refused() -> None:
    with pytest.raises(
        BadTokenizerFile, match=r"added_tokens\[0\] gives '<x>' the id 65, which is that of 'A'"
    ):
        AddedVocabulary().load([(65, AddedToken("<x>"))], byte_bpe())


@given(st.lists(st.text("ab<", min_size=1, max_size=3), min_size=1, max_size=5), st.text("ab<", max_size=20))
def test_matches_are_those_of_trying_every_place(contents: list[str], text: str) -> None:
    expected = []
    at = 0
    while at < len(text):
        here = [content for content in contents if text.startswith(content, at)]
        if here:
            expected.append(max(here, key=len))
        at += len(expected[-1]) if here else 1
    assert found(text, *contents) == expected
