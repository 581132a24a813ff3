"""Normalizers: the four forms by pinned tables, and alignments that point into the original."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.tokenize import Regex, normalizers
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.unicode_normal import normal_form
from tests.tokenize.build import byte_tokenizer

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


def test_what_is_inserted_first_stands_where_its_stretch_begins() -> None:
    tok = byte_tokenizer(normalizer=normalizers.Replace(Regex("x?"), "-"))
    tok.add_special_tokens(["<s>"])
    assert tok.encode("a<s>b").offsets[3:5] == [(1, 4), (4, 4)]


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


class TestBert:
    def test_it_cleans_spaces_and_lowers(self) -> None:
        assert normalizers.BertNormalizer().normalize_str("A\x00\tÉ猫") == "a e 猫 "

    def test_accents_follow_case_unless_said(self) -> None:
        assert normalizers.BertNormalizer(lowercase=False).normalize_str("É") == "É"
        assert normalizers.BertNormalizer(lowercase=False, strip_accents=True).normalize_str("É") == "E"
        assert normalizers.BertNormalizer(strip_accents=False).normalize_str("É") == "é"

    def test_spaces_stand_for_the_ideograph(self) -> None:
        assert spans(normalizers.BertNormalizer().apply(Aligned("a猫"))) == [(0, 1), (1, 2), (1, 2), (1, 2)]


def test_lowercase_knows_no_final_sigma_and_newer_letters() -> None:
    assert normalizers.Lowercase().normalize_str("ΟΔΟΣ İ") == "οδοσ i̇"
    assert normalizers.Lowercase().normalize_str("\u1c89\ua7dc") == "\u1c8a\u019b"  # Unicode 16


def test_accents_are_marks_of_every_kind() -> None:
    assert normalizers.StripAccents().normalize_str("e\u0301\u20dd\u0903é") == "eé"


def test_separators_become_spaces_in_machine_translation() -> None:
    assert normalizers.Nmt().normalize_str("a\u200b\x07b\x00\u3000") == "a b\x00\u3000"


def charsmap(entries: dict[bytes, str]) -> bytes:
    """A double array of byte strings and what they become: each node has 256 places for its children."""
    starts = dict.fromkeys(key[:length] for key in entries for length in range(len(key) + 1))
    bases = {start: 256 * number for number, start in enumerate(starts, 1)}
    units = [0] * (256 * (len(bases) + 1))
    texts = b""
    for start, base in bases.items():
        node = bases[start[:-1]] ^ start[-1] if start else 0
        units[node] = (node ^ base) << 10 | (start in entries) << 8 | (start[-1] if start else 0)
    for key, new in entries.items():
        units[bases[key]] = 1 << 31 | len(texts)
        texts += new.encode() + b"\0"
    table = b"".join(unit.to_bytes(4, "little") for unit in units)
    return len(table).to_bytes(4, "little") + table + texts


class TestPrecompiled:
    def test_a_short_grapheme_is_replaced_as_a_whole(self) -> None:
        upper = normalizers.Precompiled(charsmap({b"a": "A", b"b": "xyz", b"c": ""}))
        assert upper.normalize_str("aba-") == "AxyzA-"
        assert upper.normalize_str("a\u0301!") == "A!"
        assert spans(upper.apply(Aligned("ab-"))) == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]

    def test_graphemes_are_of_unicode_17_whatever_the_library_knows(self) -> None:
        upper = normalizers.Precompiled(charsmap({b"a": "A"}))
        assert upper.normalize_str("a\u1acf.a\u1aeb.a\U0001e6f5.") == "A.A.A."  # marks since 17
        assert upper.normalize_str("a\u05c8.a\u1aec.") == "A\u05c8.A\u1aec."  # later, or none at all

    def test_what_is_removed_belongs_to_what_is_before(self) -> None:
        assert spans(normalizers.Precompiled(charsmap({b"c": ""})).apply(Aligned("acb"))) == [(0, 1), (2, 3)]

    @pytest.mark.parametrize("data", [b"", b"\x08\0\0\0xx", b"\0\0\0\0"])
    def test_a_broken_map_is_refused(self, data: bytes) -> None:
        with pytest.raises(ValueError, match="cut short"):
            normalizers.Precompiled(data)
