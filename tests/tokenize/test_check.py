"""Tokenizer.check: what is wrong with a tokenizer that works all the same."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.tokenize import Tokenizer, models, normalizers, pre_tokenizers, processors
from tests.tokenize.build import byte_bpe, byte_tokenizer


def unreachable(model: Any) -> list[str]:
    return [token for finding in Tokenizer(model).check() for token in finding.tokens]


def letters(*tokens: str, merges: list[tuple[str, str]], **options: Any) -> models.BPE:
    return models.BPE({token: id for id, token in enumerate(["a", "b", "c", *tokens])}, merges, **options)


class TestReach:
    def test_a_whole_tokenizer_has_no_findings(self) -> None:
        assert byte_tokenizer(template="<s> $A </s>").check() == []

    def test_a_token_that_no_merge_makes(self) -> None:
        model = letters("ab", "abc", merges=[("a", "b")])
        (finding,) = Tokenizer(model).check()
        assert finding.tokens == ("abc",)
        assert str(finding) == "no text gives these tokens: the model takes their own text apart: 'abc'"

    def test_a_merge_that_another_is_always_before(self) -> None:
        assert unreachable(letters("bc", "ab", "abc", merges=[("b", "c"), ("a", "b"), ("ab", "c")])) == [
            "abc"
        ]

    def test_whole_pieces_need_no_merges_where_they_are_ignored(self) -> None:
        assert unreachable(letters("abc", merges=[], ignore_merges=True)) == []

    def test_added_and_unknown_and_byte_tokens_need_none(self) -> None:
        tok = Tokenizer(letters("<x>", "<unk>", "<0x0A>", merges=[], unk_token="<unk>", byte_fallback=True))
        assert [finding.tokens for finding in tok.check()] == [("<x>",)]
        tok.add_tokens(["<x>"])
        assert tok.check() == []

    def test_prefix_and_suffix_are_part_of_the_characters(self) -> None:
        vocab = ["a", "##a", "##a</w>", "a</w>", "aa", "aa</w>", "##aa</w>"]
        model = models.BPE(
            {token: id for id, token in enumerate(vocab)},
            [("a", "##a"), ("a", "##a</w>")],
            continuing_subword_prefix="##",
            end_of_word_suffix="</w>",
        )
        assert unreachable(model) == ["##aa</w>"]

    def test_words_that_are_too_long(self) -> None:
        vocab = {"[UNK]": 0, "ab": 1, "##ab": 2, "abc": 3}
        assert unreachable(models.WordPiece(vocab, max_input_chars_per_word=2)) == ["abc"]

    def test_pieces_with_a_better_path(self) -> None:
        vocab = [("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -3.0), ("ba", -1.5), ("<0x0A>", 0.0)]
        assert unreachable(models.Unigram(vocab, 0)) == ["ab"]

    @given(
        st.permutations([("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc"), ("c", "a"), ("ca", "b")]),
        st.data(),
    )
    def test_it_is_what_all_texts_together_give(self, order: list[tuple[str, str]], data: Any) -> None:
        merges = order[: data.draw(st.integers(0, len(order)))]
        made = {left + right for left, right in merges}
        merges = [(left, right) for left, right in merges if {left, right} <= {*"abc", *made}]
        model = letters(*sorted({*made, "ab", "bc", "abc", "cab"}), merges=merges)
        given_by_texts = {
            token.value for n in range(1, 7) for text in product("abc", repeat=n)
            for token in model.tokenize("".join(text))
        }  # fmt: skip
        assert set(unreachable(model)) == set(model.get_vocab()) - given_by_texts


class TestOtherFindings:
    def test_an_unknown_token_that_is_missing(self) -> None:
        (finding,) = Tokenizer(models.WordLevel({"a": 0}, unk_token="[UNK]")).check()
        assert finding.tokens == ("[UNK]",)
        assert "unknown token is not in the vocabulary" in str(finding)

    @pytest.mark.parametrize(
        ("part", "value"),
        [
            ("pre_tokenizer", pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.ByteLevel()])),
            ("normalizer", normalizers.ByteLevel()),
        ],
    )
    def test_bytes_that_are_missing(self, part: str, value: Any) -> None:
        tok = Tokenizer(letters(merges=[]))
        setattr(tok, part, value)
        (finding,) = tok.check()
        assert len(finding.tokens) == 253
        assert str(finding).endswith("and 248 more")

    @pytest.mark.parametrize(
        "processor",
        [
            processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 7)]),
            processors.BertProcessing(("<s>", 7), ("</s>", 269)),
            processors.Sequence([processors.RobertaProcessing(("<s>", 7), ("</s>", 269))]),
        ],
    )
    def test_ids_of_others(self, processor: processors.PostProcessor) -> None:
        tok = Tokenizer(byte_bpe())
        tok.add_special_tokens(["<s>", "</s>"])
        tok.post_processor = processor
        (finding,) = tok.check()
        assert finding.tokens == ("<s>",)
        assert "ids that the vocabulary gives to others" in str(finding)
