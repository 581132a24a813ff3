"""Pre-tokenizers: where a text is cut, and by which Unicode."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize import Regex, Tokenizer, normalizers, pre_tokenizers
from arrowprep.tokenize.models import WordLevel
from arrowprep.tokenize.oniguruma import SURE, Pattern, as_unicode_16, settled
from arrowprep.tokenize.oniguruma_syntax import translate
from arrowprep.tokenize.pre_tokenizers.split import BEHAVIORS, split_spans


def pieces(pre_tokenizer: pre_tokenizers.PreTokenizer, text: str) -> list[str]:
    return [piece for piece, _ in pre_tokenizer.pre_tokenize_str(text)]


class TestSplit:
    @pytest.mark.parametrize(
        ("behavior", "expected"),
        [
            ("removed", ["the", "final", "countdown"]),
            ("isolated", ["the", "-", "final", "-", "-", "countdown"]),
            ("merged_with_previous", ["the-", "final-", "-", "countdown"]),
            ("merged_with_next", ["the", "-final", "-", "-countdown"]),
            ("contiguous", ["the", "-", "final", "--", "countdown"]),
        ],
    )
    def test_what_becomes_of_a_match(self, behavior: str, expected: list[str]) -> None:
        assert pieces(pre_tokenizers.Split("-", behavior), "the-final--countdown") == expected

    def test_what_does_not_match_may_be_the_match(self) -> None:
        assert pieces(pre_tokenizers.Split(Regex("[0-9]+"), "removed", invert=True), "a12b3") == ["12", "3"]

    def test_a_str_stands_for_itself(self) -> None:
        assert pieces(pre_tokenizers.Split(".", "removed"), "a.b") == ["a", "b"]

    def test_an_unknown_behavior_is_refused(self) -> None:
        with pytest.raises(ValueError, match="isolated"):
            pre_tokenizers.Split("-", "cut")

    @given(st.text("ab- ", max_size=12), st.sampled_from(list(BEHAVIORS)), st.booleans())
    def test_pieces_are_the_text_but_for_what_is_removed(
        self, text: str, behavior: str, invert: bool
    ) -> None:
        split = pre_tokenizers.Split(Regex("-+|b"), behavior, invert)
        joined = "".join(pieces(split, text))
        if behavior != "removed":
            assert joined == text
        else:
            assert joined == "".join(c for c in text if (c in "-b") == invert)

    @given(st.text("ab- ", max_size=12), st.sampled_from(list(BEHAVIORS)), st.booleans())
    def test_the_quick_way_is_the_long_one(self, text: str, behavior: str, invert: bool) -> None:
        split = pre_tokenizers.Split(Regex("-+|[a ]|b"), behavior, invert)
        quick = split.pieces(text)
        spans = split_spans(split.pattern.find(text), len(text), behavior, invert)
        assert quick is None or quick == [text[start:stop] for start, stop in spans]


class TestByteLevel:
    def test_a_space_is_put_before_all_but_a_space(self) -> None:
        spaced = pre_tokenizers.ByteLevel(add_prefix_space=True)
        assert pieces(spaced, "a") == pieces(spaced, " a") == ["Ġa"]
        assert pieces(spaced, "\na") == ["Ġ", "Ċ", "a"]
        assert pieces(spaced, "") == []

    def test_the_alphabet_spells_every_byte(self) -> None:
        assert len(set(pre_tokenizers.ByteLevel.alphabet())) == 256

    def test_offsets_are_characters_of_the_text(self) -> None:
        cut = pre_tokenizers.ByteLevel(add_prefix_space=True).pre_tokenize_str("猫 a")
        assert cut == [("ĠçĮ«", (0, 1)), ("Ġa", (1, 3))]


class TestOniguruma:
    """Ruby's syntax, by the characters of Unicode 16."""

    @pytest.mark.parametrize(
        ("pattern", "text", "expected"),
        [
            (r"\h+", "xFf0g", ["Ff0"]),
            (r"[\h_]+", "x_F-", ["_F"]),
            (r"(?m:.)", "a\n", ["a", "\n"]),
            (r".", "a\n", ["a"]),
            (r"^a", "a\na", ["a", "a"]),
            (r"a$", "a\na", ["a", "a"]),
            (r"\w+", "a²½_é-", ["a²½_é"]),
            (r"[-\w]+", "a²-_é", ["a", "-_é"]),
            (r"\b.", "a²-b", ["a", "-", "b"]),
            (r"[[:punct:]]", "a-+¢", ["-", "+", "¢"]),
            (r"(?i:'s)", "'S 'ſ", ["'S", "'ſ"]),
            (r"(?i:[a-z]+)", "aİKıſ", ["a", "K", "ſ"]),
            (r"(?i:\p{Lu}a)", "BA ba", ["BA"]),
            (r"[a-z&&[^b]]", "abc", ["a", "c"]),
            (r"\x{61}|\u0062", "abc", ["a", "b"]),
            (r"a\Z", "a\n", ["a"]),
            (r"[ab]{1,2}+", "abab", ["abab"]),  # a count gives back what it took: + says: once more
            (r"(?:a|b{2}){2}+c", "abbac", ["bbac"]),
            (r"(?:a|b{2}){2}+c", "abbabbc", ["abbabbc"]),
            (r"a{2}?", "aaab", ["aa", "", ""]),  # two or none
            (r"a{2,}?", "aaaaa", ["aa", "aa"]),
            (r"a{2}{2}|b+*", "aaaabb", ["aaaa", "bb"]),
            (r"a(?i)b|c", "aB AC aC", ["aB", "aC"]),  # options reach over what stands between
            (r"(a(?i)b|c)d", "aBd acd acD", ["aBd", "acd"]),
            (r"a{,}", "aa{,}", ["a{,}"]),
        ],
    )
    def test_syntax(self, pattern: str, text: str, expected: list[str]) -> None:
        assert [text[start:stop] for start, stop in Pattern(pattern).find(text)] == expected

    def test_a_broken_pattern_is_named(self) -> None:
        for pattern in ("(", "[a", "(?s:.)"):
            with pytest.raises(BadTokenizerFile, match="pattern"):
                Pattern(pattern)

    def test_characters_after_unicode_16_have_no_properties(self) -> None:
        new = "\U0003347f"  # beyond the CJK extension that Unicode 17 brought
        assert Pattern(r"\p{L}+").find(f"a{new}b") == [(0, 1), (2, 3)]
        assert Pattern(r"\P{L}").find(f"a{new}b") == [(1, 2)]
        assert Pattern(r"[^\s\p{L}]").find(f"a{new}b") == [(1, 2)]

    def test_a_character_that_changed_its_category_has_the_old_one(self) -> None:
        assert Pattern(r"\p{Ll}").find("ʕ") == [(0, 1)]  # Lo since Unicode 17

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_stand_ins_keep_the_length(self, text: str) -> None:
        shown = as_unicode_16(text)
        assert len(shown) == len(text)
        assert settled(text) == (shown == text)
        assert all(a == b or b in "\ufdd0ĸ" for a, b in zip(text, shown, strict=True))

    def test_an_empty_match_after_a_match_is_none(self) -> None:
        assert Pattern("a*").find("aab") == [(0, 2), (3, 3)]

    def test_patterns_are_translated_once(self) -> None:
        assert translate(r"[\d--]") == r"[\d\-\-]"


@pytest.mark.parametrize("source", sorted(SURE))
def test_patterns_that_are_compiled_late_are_good(source: str) -> None:
    assert Pattern(source).find("a  b") == [(1, 3)]


def test_a_sequence_cuts_what_the_one_before_cut() -> None:
    parts: list[Any] = [
        pre_tokenizers.Split(" ", "removed"),
        pre_tokenizers.Split(Regex("[0-9]"), "isolated"),
    ]
    sequence = pre_tokenizers.Sequence(parts)
    assert sequence.pre_tokenize_str("a1 2") == [("a", (0, 1)), ("1", (1, 2)), ("2", (3, 4))]
    assert len(sequence) == 2
    assert list(sequence) == parts


class TestCharacters:
    """Pre-tokenizers that look at one character at a time."""

    def test_words_and_what_is_between(self) -> None:
        assert pieces(pre_tokenizers.Whitespace(), "don't stop!! ½") == ["don", "'", "t", "stop", "!!", "½"]
        assert pieces(pre_tokenizers.WhitespaceSplit(), " don't\u3000stop ") == ["don't", "stop"]

    def test_bert_isolates_ascii_symbols_but_no_other_ones(self) -> None:
        assert pieces(pre_tokenizers.BertPreTokenizer(), "a$b ₹c «d»") == ["a", "$", "b", "₹c", "«", "d", "»"]
        assert pieces(pre_tokenizers.Punctuation("removed"), "a.b!") == ["a", "b"]

    def test_all_numbers_are_digits(self) -> None:
        assert pieces(pre_tokenizers.Digits(), "a12²Ⅷb") == ["a", "12²Ⅷ", "b"]
        assert pieces(pre_tokenizers.Digits(individual_digits=True), "a12") == ["a", "1", "2"]

    def test_lengths_count_characters(self) -> None:
        assert pieces(pre_tokenizers.FixedLength(2), "猫猫猫") == ["猫猫", "猫"]
        with pytest.raises(ValueError, match="at least 1"):
            pre_tokenizers.FixedLength(0)

    def test_one_delimiter(self) -> None:
        assert pieces(pre_tokenizers.CharDelimiterSplit("^"), "a^^b c") == ["a", "b c"]

    def test_japanese_is_one_script(self) -> None:
        assert pieces(pre_tokenizers.UnicodeScripts(), "東京タワー is 1") == ["東京タワー ", "is ", "1"]
        assert pieces(pre_tokenizers.UnicodeScripts(), " a") == ["a"]


class TestMetaspace:
    def test_a_mark_is_put_in_front_of_all_but_a_mark(self) -> None:
        metaspace = pre_tokenizers.Metaspace()
        assert metaspace.pre_tokenize_str("a b") == [("▁a", (0, 1)), ("▁b", (1, 3))]
        assert metaspace.pre_tokenize_str(" a") == [("▁a", (0, 2))]
        assert pieces(pre_tokenizers.Metaspace(prepend_scheme="never"), "a b") == ["a", "▁b"]
        assert pieces(pre_tokenizers.Metaspace(split=False), "a b") == ["▁a▁b"]

    def test_first_is_the_start_of_the_text_alone(self) -> None:
        tok = Tokenizer(WordLevel({"▁a": 0, "a": 1, "<unk>": 2}))
        tok.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
        tok.add_special_tokens(["<s>"])
        assert tok.encode("a<s>a").tokens == ["▁a", "<s>", "a"]
        assert tok._engine.ids("a<s>a") == tok.encode("a<s>a").ids
        tok.pre_tokenizer.prepend_scheme = "always"
        assert tok.encode("a<s>a").tokens == ["▁a", "<s>", "▁a"]

    def test_a_first_piece_behind_what_was_removed_is_not_at_the_start(self) -> None:
        tok = Tokenizer(WordLevel({"▁a": 0, "a": 1, "<unk>": 2}))
        tok.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")]
        )
        for text, tokens in (("a a", ["▁a", "a"]), (" a a", ["a", "a"])):
            assert tok.encode(text).tokens == tokens
            assert tok.encode_columns([text]).ids.to_pylist() == [tok.encode(text).ids]

    def test_every_piece_of_what_was_inserted_in_front_is_at_the_start(self) -> None:
        tok = Tokenizer(WordLevel({"▁": 0, "▁1": 1, "a": 2, "<unk>": 3}))
        tok.normalizer = normalizers.Prepend(" ")
        tok.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Metaspace(prepend_scheme="first")]
        )
        assert tok.encode("1a").tokens == ["▁", "▁1", "a"]

    def test_only_u0020_is_a_space(self) -> None:
        assert pieces(pre_tokenizers.Metaspace(), "a\tb\xa0c") == ["▁a\tb\xa0c"]
