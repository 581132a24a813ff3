"""PreTokenizedString: splits that are cut further, changed, and become tokens."""

from __future__ import annotations

import pytest

from arrowprep.errors import BadArgument, NotText, TokenizerError
from arrowprep.tokenize import NormalizedString, PreTokenizedString, Token, pre_tokenizers


def at_spaces(_: int, text: NormalizedString) -> list[NormalizedString]:
    return text.split(" ", "removed")


def characters(text: str) -> list[Token]:
    return [Token(ord(c), c, (i, i + 1)) for i, c in enumerate(text)]


def test_it_begins_as_one_split() -> None:
    assert PreTokenizedString("hé ho").get_splits() == [("hé ho", (0, 5), None)]


def test_splits_keep_their_place_in_the_original() -> None:
    text = PreTokenizedString("hé ho")
    text.split(at_spaces)
    text.normalize(lambda split: split.nfd())
    assert text.get_splits() == [("he\u0301", (0, 2), None), ("ho", (3, 5), None)]
    assert text.get_splits(offset_type="byte") == [("he\u0301", (0, 3), None), ("ho", (4, 6), None)]
    assert text.get_splits("normalized") == [("he\u0301", (0, 3), None), ("ho", (3, 5), None)]
    assert text.get_splits("normalized", "byte") == [("he\u0301", (0, 4), None), ("ho", (4, 6), None)]


def test_split_numbers_count_from_zero_and_empty_parts_go() -> None:
    text, seen = PreTokenizedString("a b"), []
    text.split(at_spaces)
    text.split(lambda number, split: seen.append(number) or [split[0:0], split])  # type: ignore
    assert seen == [0, 1]
    assert [piece for piece, _, _ in text.get_splits()] == ["a", "b"]


def test_what_has_tokens_stays_as_it_is() -> None:
    text = PreTokenizedString("ab")
    text.tokenize(characters)
    before = text.get_splits()
    text.split(lambda *_: [])
    text.normalize(lambda split: split.uppercase())
    text.tokenize(lambda _: [])
    pre_tokenizers.WhitespaceSplit().pre_tokenize(text)
    assert text.get_splits() == before == [("ab", (0, 2), characters("ab"))]


def test_its_encoding_has_offsets_in_the_original() -> None:
    text = PreTokenizedString("é ab")
    text.split(at_spaces)
    text.normalize(lambda split: split.nfd())
    text.tokenize(characters)
    encoding = text.to_encoding(type_id=1)
    assert encoding.tokens == ["e", "\u0301", "a", "b"]
    assert encoding.offsets == [(0, 1), (0, 1), (2, 3), (3, 4)]
    assert (encoding.word_ids, encoding.type_ids) == ([0, 0, 1, 1], [1, 1, 1, 1])
    assert text.to_encoding(word_idx=7).word_ids == [7, 7, 7, 7]


def test_a_pre_tokenizer_cuts_its_splits() -> None:
    text = PreTokenizedString("x- ab, c")
    text.split(lambda _, split: split.split("- ", "merged_with_previous"))
    both = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    both.pre_tokenize(text)
    assert text.get_splits() == [
        (piece, span, None)
        for piece, span in [("x", (0, 1)), ("-", (1, 2)), ("ab", (3, 5)), (",", (5, 6)), ("c", (7, 8))]
    ]


class TestMistakes:
    def test_a_split_without_tokens_is_named(self) -> None:
        with pytest.raises(TokenizerError, match="split 0, 'ab', has no tokens: call tokenize first"):
            PreTokenizedString("ab").to_encoding()

    def test_a_token_outside_of_its_split_is_named(self) -> None:
        text = PreTokenizedString("ab")
        text.tokenize(lambda _: [Token(1, "x", (0, 9))])
        with pytest.raises(TokenizerError, match="lies outside of its split, 'ab'"):
            text.to_encoding()

    def test_parts_are_normalized_strings(self) -> None:
        with pytest.raises(NotText, match="a split becomes NormalizedStrings, not str"):
            PreTokenizedString("ab").split(lambda _, split: ["ab"])  # type: ignore[list-item]

    def test_unknown_offsets_are_refused(self) -> None:
        with pytest.raises(BadArgument, match="offset_referential='x'"):
            PreTokenizedString("ab").get_splits("x")
        with pytest.raises(BadArgument, match="offset_type='x'"):
            PreTokenizedString("ab").get_splits(offset_type="x")
