"""Normalizers: the four forms by pinned tables, and alignments that point into the original."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.tokenize import Regex, normalizers
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.unicode_normal import normal_form

FORMS = ["NFC", "NFD", "NFKC", "NFKD"]
# assigned since Unicode 3.2, whose tables every Python has beside its own
OLD = unicodedata.ucd_3_2_0
KNOWN = st.characters(exclude_categories=["Cs", "Cn"]).filter(lambda c: OLD.category(c) != "Cn")
MARKS = st.sampled_from("\u0301\u0327\u0345\u05b4\u093c\u094d\u0f71\u0f73\u0f81\u1161\u11a8\u3099\u302a")


def spans(text: Aligned) -> list[tuple[int, int]]:
    return [text.span(i, i + 1) for i in range(len(text.text))]


@pytest.mark.parametrize("name", FORMS)
@given(st.text(st.one_of(KNOWN, MARKS, st.sampled_from("각가각eéﬁ가"))))
def test_a_form_is_that_of_the_standard(name: str, text: str) -> None:
    expected = unicodedata.normalize(name, text)  # type: ignore[arg-type]
    form = normal_form(name)
    assert form.normalize(text) == expected
    assert "".join(character for character, _ in form.text_changes(text)) == expected


@pytest.mark.parametrize("name", FORMS)
@given(st.text(st.one_of(KNOWN, MARKS)))
def test_a_form_of_itself_is_itself(name: str, text: str) -> None:
    once = normal_form(name).normalize(text)
    assert normal_form(name).normalize(once) == once


def test_newer_compatibility_characters_stay() -> None:
    assert normalizers.NFKC().normalize_str("㋿ ﬁ") == "㋿ fi"  # U+32FF came with Unicode 12.1


def test_a_composed_character_points_at_its_first_source() -> None:
    assert spans(normalizers.NFC().apply(Aligned("ae\u0301b"))) == [(0, 1), (1, 2), (3, 4)]


def test_an_expanded_character_gives_each_result_its_span() -> None:
    assert spans(normalizers.NFKD().apply(Aligned("aﬁb"))) == [(0, 1), (1, 2), (1, 2), (2, 3)]


def test_replaced_text_stands_for_the_last_that_was_replaced() -> None:
    replace = normalizers.Replace(Regex("b+"), "xy")
    assert replace.apply(Aligned("abbc")).text == "axyc"
    assert spans(replace.apply(Aligned("abbc"))) == [(0, 1), (2, 3), (2, 3), (3, 4)]


def test_the_content_of_a_replacement_is_literal() -> None:
    assert normalizers.Replace(Regex("(a)(b)"), r"$1\1").normalize_str("ab") == r"$1\1"


def test_an_empty_pattern_matches_between_all_characters() -> None:
    assert normalizers.Replace("", "-").normalize_str("ab") == "-a-b-"


def test_nothing_is_put_before_nothing() -> None:
    assert normalizers.Prepend("▁").normalize_str("") == ""
    assert normalizers.Prepend("▁").normalize_str("a") == "▁a"
    assert spans(normalizers.Prepend("▁▁").apply(Aligned("ab"))) == [(0, 1), (0, 1), (0, 1), (1, 2)]


def test_strip_knows_unicode_white_space_alone() -> None:
    assert normalizers.Strip().normalize_str("\u3000 a\x1c ") == "a\x1c"
    assert normalizers.Strip(right=False).normalize_str(" a ") == "a "
    assert spans(normalizers.Strip().apply(Aligned("  ab "))) == [(2, 3), (3, 4)]


def test_bytes_of_a_character_stand_for_all_of_it() -> None:
    assert spans(normalizers.ByteLevel().apply(Aligned("é猫"))) == [(0, 1)] * 2 + [(1, 2)] * 3


EVERY = [
    normalizers.NFKC(),
    normalizers.Lowercase(),
    normalizers.Strip(),
    normalizers.Replace(" ", "▁"),
    normalizers.Prepend("▁"),
    normalizers.ByteLevel(),
    normalizers.Sequence(
        [normalizers.NFD(), normalizers.Replace(Regex(r"\p{M}"), ""), normalizers.Lowercase()]
    ),
]


@pytest.mark.parametrize("normalizer", EVERY, ids=repr)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_spans_grow_and_stay_within_the_text(normalizer: normalizers.Normalizer, text: str) -> None:
    aligned = normalizer.apply(Aligned(text))
    assert aligned.text == normalizer.normalize_str(text)
    assert all(0 <= start <= end <= len(text) for start, end in spans(aligned))
