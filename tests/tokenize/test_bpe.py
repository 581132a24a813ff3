"""BPE: merging, unknown characters, and options."""

from __future__ import annotations

import random
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.errors import BadArgument, TokenizerError
from arrowprep.tokenize.models import BPE
from arrowprep.tokenize.models.merging import NEVER, _merge_long, merge, merge_with_dropout


def by_the_book(text: str, ranks: dict[tuple[str, str], int]) -> list[str]:
    """Look at all pairs, join the best, begin anew."""
    parts = list(text)
    while True:
        pairs = [(ranks.get((a, b), NEVER), i) for i, (a, b) in enumerate(pairwise(parts))]
        rank, i = min(pairs, default=(NEVER, 0))
        if rank == NEVER:
            return parts
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


PAIRS = st.lists(
    st.tuples(st.text("ab", min_size=1, max_size=3), st.text("ab", min_size=1, max_size=3)),
    max_size=8,
    unique=True,
)


@given(st.text("abc", max_size=40), PAIRS)
def test_merging_is_that_of_the_book(text: str, pairs: list[tuple[str, str]]) -> None:
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    expected = by_the_book(text, ranks)
    for way in (merge, _merge_long):
        parts, lengths = way(list(text), [1] * len(text), ranks, str.__add__)
        assert parts == expected
        assert lengths == list(map(len, expected))


@pytest.mark.parametrize("letters", ["a", "ab", "abcdefgh"])
def test_four_times_the_length_is_four_times_the_work(letters: str) -> None:
    class Counted(dict[tuple[str, str], int]):
        asked = 0

        def get(self, pair: tuple[str, str], default: int, /) -> int:  # type: ignore[override]
            Counted.asked += 1
            return super().get(pair, default)

    tokens = [
        *letters,
        *(a + b for a in letters for b in letters),
        *(2 * (a + b) for a in "a" for b in letters),
    ]
    known = set(tokens) | {"a" * 2**n for n in range(20)}
    ranks = Counted()
    for token in sorted(known, key=len):
        half = len(token) // 2
        ranks.setdefault((token[:half], token[half:]), len(ranks))
    work = []
    for size in (20_000, 80_000):
        text = "".join(random.Random(0).choices(letters, k=size))
        before = Counted.asked
        merge(list(text), [1] * size, ranks, str.__add__)
        work.append(Counted.asked - before)
    assert work[1] < 4.5 * work[0]


WORDS = st.lists(st.text("abcx", min_size=1, max_size=12), min_size=1, max_size=12)
OPTIONS: list[dict[str, object]] = [
    {},
    {"ignore_merges": True},
    {"unk_token": "<unk>", "fuse_unk": True},
    {"byte_fallback": True},
    {"continuing_subword_prefix": "a"},
    {"end_of_word_suffix": "b"},
]


@given(WORDS, PAIRS, st.sampled_from(OPTIONS), st.randoms())
def test_many_words_are_merged_as_each_alone(
    words: list[str], pairs: list[tuple[str, str]], options: dict[str, object], random: random.Random
) -> None:
    skip = len(str(options.get("continuing_subword_prefix", "")))
    made = [left + right[skip:] for left, right in pairs]
    tokens = list(dict.fromkeys(["<unk>", "c", *"ab", "aa", "ab", "ac", "bb", *chain(*pairs), *made]))
    random.shuffle(tokens)  # ids need not be in the order of tokens
    vocab = {token: id for id, token in enumerate(tokens)}
    random.shuffle(tokens)
    model = BPE({token: vocab[token] for token in tokens}, pairs, **options)  # type: ignore[arg-type]
    words.append("")
    one_by_one = [model.tokenize(word) for word in words]
    for located in (True, False):
        found = model.tokenize_all(words, located=located)
        assert found.counts.tolist() == list(map(len, one_by_one))
        tokens = [token for row in one_by_one for token in row]
        assert found.ids.tolist() == [token.id for token in tokens]
        if located:
            assert found.starts is not None
            assert found.ends is not None
            assert found.starts.tolist() == [token.offsets[0] for token in tokens]
            assert found.ends.tolist() == [token.offsets[1] for token in tokens]


def test_dropout_of_nothing_merges_all_and_of_all_nothing() -> None:
    ranks = {("a", "b"): 0, ("ab", "ab"): 1}
    parts = list("ababab")
    assert merge_with_dropout(parts[:], [1] * 6, ranks, str.__add__, lambda: False)[0] == ["abab", "ab"]
    assert merge_with_dropout(parts[:], [1] * 6, ranks, str.__add__, lambda: True)[0] == parts
    random.seed(0)
    some = {
        tuple(merge_with_dropout(parts[:], [1] * 6, ranks, str.__add__, lambda: random.random() < 0.5)[0])
        for _ in range(40)
    }
    assert len(some) > 2


def model(**options: object) -> BPE:
    vocab = ["<unk>", "a", "b", "ab", "c", "abc", "<0xC3>", "<0xA9>"]
    return BPE({token: id for id, token in enumerate(vocab)}, [("a", "b")], **options)  # type: ignore[arg-type]


def tokens(model: BPE, text: str) -> list[tuple[str, tuple[int, int]]]:
    return [(token.value, token.offsets) for token in model.tokenize(text)]


def test_a_whole_piece_may_be_taken_as_it_is() -> None:
    assert tokens(model(), "abc") == [("ab", (0, 2)), ("c", (2, 3))]
    assert tokens(model(ignore_merges=True), "abc") == [("abc", (0, 3))]


def test_unknown_characters_vanish_without_a_token_for_them() -> None:
    # and what follows moves to the left, as it does elsewhere
    assert tokens(model(), "xab") == [("ab", (0, 2))]


def test_unknown_neighbours_become_one_when_asked() -> None:
    assert tokens(model(unk_token="<unk>"), "xya") == [("<unk>", (0, 1)), ("<unk>", (1, 2)), ("a", (2, 3))]
    assert tokens(model(unk_token="<unk>", fuse_unk=True), "xya") == [("<unk>", (0, 2)), ("a", (2, 3))]


def test_unknown_characters_are_spelled_in_bytes_where_all_are_there() -> None:
    spelled = model(unk_token="<unk>", byte_fallback=True)
    assert tokens(spelled, "aé") == [("a", (0, 1)), ("<0xC3>", (1, 2)), ("<0xA9>", (1, 2))]
    assert tokens(spelled, "è") == [("<unk>", (0, 1))]


def test_an_unknown_token_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TokenizerError, match="'<x>' is not in the vocabulary"):
        model(unk_token="<x>").tokenize("z")


def test_prefix_and_suffix_mark_the_place_in_a_piece() -> None:
    vocab = {token: id for id, token in enumerate(["a", "##a", "##a</w>", "##aa</w>", "a</w>"])}
    marked = BPE(vocab, [("##a", "##a</w>")], continuing_subword_prefix="##", end_of_word_suffix="</w>")
    assert tokens(marked, "aaa") == [("a", (0, 1)), ("##aa</w>", (1, 3))]
    assert tokens(marked, "a") == [("a</w>", (0, 1))]


def test_bytes_of_a_prefix_or_suffix_stay_within_the_text() -> None:
    vocab = {"a": 0, **{f"<0x{byte:02X}>": byte + 1 for byte in range(256)}}
    spelled = BPE(vocab, [], continuing_subword_prefix="##", byte_fallback=True).tokenize("aé")
    assert [token.value for token in spelled] == ["a", "<0x23>", "<0x23>", "<0xC3>", "<0xA9>"]
    assert {token.offsets for token in spelled[1:]} == {(1, 2)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vocab": {"a": 0}}, "together"),
        ({"vocab": {"a": 0}, "merges": [("a", "b")]}, r"merges\[0\] joins 'a' and 'b', but 'b' is not"),
        ({"vocab": {"a": 0}, "merges": [("a", "a")]}, "'aa' is not in the vocabulary"),
        ({"dropout": 1.5}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        BPE(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{}, {"unk_token": "<unk>"}, {"ignore_merges": True}])
def test_long_words_are_merged_as_short_ones_beside_them(options: dict[str, object]) -> None:
    words = ["ab" * 600, "abc", "a" * 1500 + "b", "ab?" * 500, "", "abc" * 400]
    joining = model(**options)
    for some in (words, words[:1]):
        found = joining.tokenize_all(some, located=True)
        tokens = [token for word in some for token in joining.tokenize(word)]
        assert found.starts is not None
        assert found.ids.tolist() == joining.tokenize_all(some, located=False).ids.tolist()
        assert found.ids.tolist() == [token.id for token in tokens]
        assert found.starts.tolist() == [token.offsets[0] for token in tokens]
