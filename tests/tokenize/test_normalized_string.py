"""NormalizedString: changes in place, parts, and what each character stands for."""

from __future__ import annotations

import copy
import pickle

import pytest

from arrowprep.errors import BadArgument, NotText
from arrowprep.tokenize import NormalizedString, Regex, normalizers


def originals(text: NormalizedString) -> list[str]:
    """What each character stands for."""
    return [part.original for part in text]


class TestChanges:
    def test_a_change_is_in_place_and_keeps_the_original(self) -> None:
        text = NormalizedString("Été ")
        assert text.lowercase() is None  # type: ignore[func-returns-value]
        text.rstrip()
        assert (text.normalized, str(text), text.original) == ("été", "été", "Été ")

    def test_an_expanded_character_stands_for_one_each_time(self) -> None:
        text = NormalizedString("ﬁß")
        text.nfkd()
        text.uppercase()
        assert text.normalized == "FISS"
        assert originals(text) == ["ﬁ", "ﬁ", "ß", "ß"]

    def test_what_is_added_stands_for_its_neighbour(self) -> None:
        text = NormalizedString("ab")
        text.prepend("<")
        text.append(">>")
        assert (text.normalized, originals(text)) == ("<ab>>", ["a", "a", "b", "b", "b"])

    def test_what_is_put_behind_nothing_stands_for_nothing(self) -> None:
        text = NormalizedString("ab")
        text.clear()
        text.prepend("x")
        assert text.normalized == ""
        text.append("x")
        assert (text.normalized, originals(text), text.original) == ("x", [""], "ab")

    def test_a_pattern_is_replaced_literally(self) -> None:
        text = NormalizedString("a.b.")
        text.replace(".", r"\1")
        assert text.normalized == r"a\1b\1"
        text.replace(Regex(r"[\\1]"), "")
        assert (text.normalized, originals(text)) == ("ab", ["a", "b"])

    def test_functions_see_characters(self) -> None:
        text, seen = NormalizedString("a1b"), []
        text.filter(str.isalpha)
        text.map(str.upper)
        text.for_each(seen.append)
        assert (text.normalized, seen, originals(text)) == ("AB", ["A", "B"], ["a", "b"])

    @pytest.mark.parametrize("gives", ["xx", "", 3])
    def test_a_function_that_gives_no_character_is_refused(self, gives: object) -> None:
        text = NormalizedString("ab")
        with pytest.raises(NotText, match="not one character"):
            text.map(lambda _: gives)  # type: ignore[arg-type, return-value]
        assert text.normalized == "ab"

    def test_normalized_cannot_be_set(self) -> None:
        text = NormalizedString("ab")
        with pytest.raises(AttributeError):
            text.normalized = "other"  # type: ignore[misc]
        assert text.normalized == "ab"

    def test_a_normalizer_changes_it(self) -> None:
        text = NormalizedString("É")
        normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]).normalize(text)
        assert (text.normalized, text.original) == ("E", "É")

    def test_what_is_no_text_is_refused(self) -> None:
        with pytest.raises(TypeError, match="a text is a str, not int"):
            NormalizedString(3)  # type: ignore[arg-type]


class TestParts:
    @pytest.mark.parametrize("place", [slice(1, 3), slice(-2, None), slice(None), slice(2, 2), slice(3, 1)])
    def test_a_part_is_what_python_slices(self, place: slice) -> None:
        part = NormalizedString("héllo")[place]
        assert part is not None
        assert part.normalized == "héllo"[place]

    def test_one_place_is_one_character(self) -> None:
        text = NormalizedString("héllo")
        assert str(text[1]) == "é"
        assert str(text[-1]) == "o"
        assert str(text[(1, 3)]) == "él"

    def test_a_place_that_is_not_there_is_none(self) -> None:
        assert NormalizedString("ab")[2] is None
        assert NormalizedString("ab")[-3] is None
        assert NormalizedString("ab").slice((3, 4)) is None

    def test_steps_are_refused(self) -> None:
        with pytest.raises(BadArgument, match="step 2"):
            NormalizedString("abc")[::2]

    def test_a_part_of_a_part_knows_the_first_original(self) -> None:
        text = NormalizedString("x Été")
        text.nfd()
        part = text[2:]
        assert part is not None
        inner = part[2:3]
        assert inner is not None
        assert (inner.normalized, inner.original, inner.original_span) == ("t", "t", (3, 4))

    def test_a_change_of_a_part_does_not_reach_the_whole(self) -> None:
        text = NormalizedString("ab")
        part = text[0]
        assert part is not None
        part.uppercase()
        assert (text.normalized, part.normalized) == ("ab", "A")

    def test_it_is_split_at_matches(self) -> None:
        parts = NormalizedString("a, b").split(Regex(r"\W+"), "merged_with_previous")
        assert [str(part) for part in parts] == ["a, ", "b"]

    def test_the_empty_literal_matches_nowhere(self) -> None:
        text = NormalizedString("ab")
        text.replace("", "-")
        assert [str(part) for part in text.split("", "isolated")] == ["ab"]

    def test_an_unknown_behavior_is_refused(self) -> None:
        with pytest.raises(BadArgument, match="behavior='away' is none of removed"):
            NormalizedString("ab").split("a", "away")


def test_it_is_shown_copied_and_pickled() -> None:
    text = NormalizedString("É")
    text.nfd()
    assert repr(text) == 'NormalizedString(original="É", normalized="E\u0301")'
    for twin in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert (repr(twin), originals(twin)) == (repr(text), ["É", "É"])
