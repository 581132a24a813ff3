"""offsets="full": what was made of several characters stands for all of them."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.errors import BadArgument
from arrowprep.tokenize import (
    NormalizedString,
    PreTokenizedString,
    PreTrainedTokenizer,
    Regex,
    Tokenizer,
    normalizers,
    pre_tokenizers,
)
from arrowprep.tokenize.normalizers import Normalizer
from tests.tokenize.build import byte_tokenizer


def spans(tok: Tokenizer, text: str, offsets: str) -> list[Any]:
    return tok.encode(text, add_special_tokens=False, offsets=offsets).offsets


class Composes:
    def normalize(self, normalized: NormalizedString) -> None:
        normalized.nfc()

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        pretok.normalize(self.normalize)


@pytest.mark.parametrize(
    ("normalizer", "text", "first", "full"),
    [
        (normalizers.NFC(), "e\u0301a", [(0, 1), (2, 3)], [(0, 2), (2, 3)]),
        (Normalizer.custom(Composes()), "e\u0301a", [(0, 1), (2, 3)], [(0, 2), (2, 3)]),
        (normalizers.Replace(Regex("-+>"), "é"), "a-->b", [(0, 1), (3, 4), (4, 5)], [(0, 1), (1, 4), (4, 5)]),
        (normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]), "E\u0301", [(0, 1)], [(0, 2)]),
        (normalizers.NFD(), "é", [(0, 1)] * 3, [(0, 1)] * 3),
        (None, "é", [(0, 1)], [(0, 1)]),
    ],
)
def test_spans(normalizer: Any, text: str, first: list[Any], full: list[Any]) -> None:
    tok = byte_tokenizer(normalizer=normalizer)
    assert spans(tok, text, "first") == first
    assert spans(tok, text, "full") == full
    assert spans(tok, text, "first") == first == tok.encode(text, add_special_tokens=False).offsets


@given(st.text(st.sampled_from("aeoué\u0301\u0308\u0323가\u1100\u1161\u11a8ﬁ "), max_size=12))
def test_no_character_of_a_composed_text_is_lost(text: str) -> None:
    tok = byte_tokenizer(normalizer=normalizers.NFC())
    covered = {place for start, end in spans(tok, text, "full") for place in range(start, end)}
    assert covered == set(range(len(text)))
    assert tok.encode(text, offsets="full").ids == tok.encode(text).ids


def test_each_span_composes_to_its_token() -> None:
    text = "se\u0301jour a\u0323\u0302 fin"
    tok = byte_tokenizer(normalizer=normalizers.NFC())
    composed = {
        unicodedata.normalize("NFC", text[start:end]).strip() for start, end in spans(tok, text, "full")
    }
    assert {"é", "ậ"} <= composed


def test_what_a_custom_pre_tokenizer_composes() -> None:
    tok = byte_tokenizer()
    composes = pre_tokenizers.PreTokenizer.custom(Composes())
    tok.pre_tokenizer = pre_tokenizers.Sequence([composes, pre_tokenizers.ByteLevel(False)])
    assert spans(tok, "e\u0301", "first") == [(0, 1)]
    assert spans(tok, "e\u0301", "full") == [(0, 2)]


def test_a_batch_and_words_have_them_too() -> None:
    tok = byte_tokenizer(normalizer=normalizers.NFC())
    assert tok.encode_batch(["e\u0301"], offsets="full")[0].offsets == [(0, 2)]
    words = tok.encode(["a", "e\u0301"], is_pretokenized=True, offsets="full")
    assert words.offsets == [(0, 1), (0, 2)]


def test_other_offsets_are_refused() -> None:
    with pytest.raises(BadArgument, match="offsets='bytes' is none of first, full"):
        byte_tokenizer().encode("a", offsets="bytes")


def test_columns_and_calls_give_whole_spans_where_asked() -> None:
    tok = byte_tokenizer(normalizer=normalizers.NFC())
    texts = ["e\u0301a", "a"]
    for wanted, ends in (("full", [[2, 3], [1]]), ("first", [[1, 3], [1]]), (True, [[1, 3], [1]])):
        columns = tok.encode_columns(texts, offsets=wanted)
        assert columns.ends is not None
        assert columns.ends.to_pylist() == ends
    shell = PreTrainedTokenizer(tokenizer_object=tok)
    called = shell(texts, return_offsets_mapping="full")
    assert called["offset_mapping"] == [[(0, 2), (2, 3)], [(0, 1)]]
    assert called[0].offsets == called["offset_mapping"][0]
    assert shell(texts, return_offsets_mapping=True)["offset_mapping"][0] == [(0, 1), (2, 3)]
    with pytest.raises(BadArgument, match="offsets='bytes'"):
        tok.encode_columns(texts, offsets="bytes")
