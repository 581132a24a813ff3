"""The kernel's Unigram, and the steps that stand before it, beside the reference engine."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.tokenize import AddedToken, models, normalizers, pre_tokenizers
from arrowprep.tokenize.engine import choose_engine
from arrowprep.tokenize.native import NativeEngine, compile_pipeline
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.growth import check_time_grows_with_the_text_alone
from tests.tokenize.test_native_characters import BYTES, SPACE, check, tokenizer
from tests.tokenize.test_normalizers import charsmap

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

LETTERS = f"aabc  {SPACE}é中\t\r\n\u0301\u3000"
TEXT = st.text(LETTERS, max_size=30)
SCORES = st.sampled_from([-1.0, -2.0, -2.5, -0.1, 0.0, 1.0, -30.0])


@st.composite
def vocabularies(draw: st.DrawFn, unknown: bool = True) -> models.Unigram:
    """Scores that often tie, tokens twice, characters and bytes that are missing."""
    tokens = draw(st.lists(st.text(f"aabc{SPACE}é中 ", min_size=1, max_size=4), max_size=20))
    some = draw(st.sampled_from([[], BYTES, BYTES[0xC3:0xC4] + BYTES[0xA9:0xAA], BYTES[97:98]]))
    vocab = [("<unk>", 0.0), *((token, draw(SCORES)) for token in tokens), *((token, -5.0) for token in some)]
    return models.Unigram(vocab, 0 if unknown or draw(st.booleans()) else None, draw(st.booleans()))


NORMALIZERS: list[Any] = [
    None,
    normalizers.Precompiled(charsmap({b"a": "A", b"b": "xéz", b"c": "", b"\r": " ", b"\t": " "})),
    normalizers.Sequence(
        [
            normalizers.Precompiled(charsmap({b"\t": " ", b"\n": " "})),
            normalizers.Strip(left=False, right=True),
            normalizers.Replace(Regex(" {2,}"), SPACE),
        ]
    ),
    normalizers.Sequence([normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), ""), normalizers.NFC()]),
    normalizers.Sequence([normalizers.Replace("a", "c"), normalizers.Strip(left=True, right=False)]),
]
PRE_TOKENIZERS: list[Any] = [
    None,
    pre_tokenizers.Metaspace(),
    pre_tokenizers.Metaspace(prepend_scheme="never", split=False),
    pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
    pre_tokenizers.WhitespaceSplit(),
]


@given(
    model=vocabularies(),
    texts=st.lists(st.one_of(st.none(), TEXT), max_size=5),
    normalizer=st.sampled_from(NORMALIZERS),
    pre_tokenizer=st.sampled_from(PRE_TOKENIZERS),
)
@settings(max_examples=120, deadline=None)
def test_any_vocabulary_behind_any_steps(
    model: models.Unigram, texts: list[str | None], normalizer: Any, pre_tokenizer: Any
) -> None:
    check(tokenizer(model, normalizer, pre_tokenizer), texts)


@given(model=vocabularies(unknown=False), texts=st.lists(TEXT, max_size=3))
@settings(max_examples=50, deadline=None)
def test_a_character_without_a_token_for_it_fails_alike(model: models.Unigram, texts: list[str]) -> None:
    check(tokenizer(model, None, pre_tokenizers.Metaspace()), list(texts))


@given(
    st.lists(
        st.text("ab \t\u0301\u0915\u094d\u0937\u200d\u1100\u1161\u11a8🇩\u0600😀가\r\n", max_size=12),
        max_size=4,
    )
)
@settings(max_examples=40, deadline=None)
def test_graphemes_are_replaced_whole(texts: list[str]) -> None:
    every = {bytes([code]): new for code, new in zip(b"a\t\r\xe0\xe1", ["A", " ", " ", "", "q"], strict=True)}
    every["\u0600가".encode()] = "b"  # what stays by itself does not behind what joins it
    model = models.Unigram([("<unk>", 0.0), *((c, -1.0) for c in f"abA{SPACE}\u0915가")], 0)
    texts = [*texts, "가\u0600가 가", "\u0600\u0600가"]
    check(tokenizer(model, normalizers.Precompiled(charsmap(every)), pre_tokenizers.Metaspace()), list(texts))


FOLDED = normalizers.Precompiled(
    charsmap(
        {key.encode(): " " for key in "\t\n\r\xa0\u3000"}
        | {
            "é".encode(): "e",
            "中".encode(): " a ",
            b"e\xcc\x81": "é",
            b"b\xcc\x81\xcc\x81": "c",
            b"\0": "",
            b"\x01": " ",
        }
    )
)
FOLDS: list[Any] = [
    FOLDED,
    normalizers.Precompiled(charsmap({b"\r": "", b"\n": " ", b"\0": " "})),
    normalizers.Sequence(
        [normalizers.Precompiled(charsmap({b"\n": " "})), normalizers.Precompiled(charsmap({b" ": "a"}))]
    ),
    normalizers.Sequence(
        [FOLDED, normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), SPACE)]
    ),
    normalizers.Sequence([FOLDED, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]),
    normalizers.Sequence([normalizers.Replace("é", " a"), normalizers.Strip(), FOLDED]),
    normalizers.Sequence([normalizers.Strip(), FOLDED, normalizers.Replace(Regex(" {2,}"), SPACE)]),
    # line ends stay, within words, and are taken off at the ends of a text alone
    normalizers.Sequence(
        [
            normalizers.Precompiled(charsmap({b"\t": " ", "é".encode(): "e"})),
            normalizers.Strip(left=False, right=True),
            normalizers.Replace(Regex(" {2,}"), SPACE),
        ]
    ),
    normalizers.Sequence([normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]),
    normalizers.Replace(Regex(" {2,}"), " "),
]
PARTS = ["\r\n", "a", "bc", "a" * 20, "ab c " * 15, " ", "  ", "\n", "\t", "\r", "\x0b", "\0", "\x01"]
OTHERS = [
    "é",
    "中",
    "e\u0301",
    "\u0301",
    "\u0600",
    "\u200d",
    "\u3000",
    "\xa0",
    "\u2028",
    SPACE,
    "b\u0301\u0301",
    "\u0600 ",
]


@given(
    texts=st.lists(
        st.lists(st.sampled_from([*PARTS, *PARTS, *OTHERS]), max_size=30).map("".join), max_size=4
    ),
    normalizer=st.sampled_from([None, *FOLDS]),
    pre_tokenizer=st.sampled_from([PRE_TOKENIZERS[1], PRE_TOKENIZERS[3]]),
)
@settings(max_examples=120, deadline=None)
def test_plain_words_between_others_are_those_of_the_steps(
    texts: list[str], normalizer: Any, pre_tokenizer: Any
) -> None:
    tokens = [SPACE, *"abce", "é", "ab", f"{SPACE}a", "aa", "aaa", f"{SPACE}bc"]
    model = models.Unigram([("<unk>", 0.0), *((t, -1.0 - i / 3) for i, t in enumerate(tokens))], 0)
    check(tokenizer(model, normalizer, pre_tokenizer), list(texts))


@pytest.mark.parametrize("normalizer", [None, *FOLDS])
def test_plain_words_beside_others_in_small_worlds(normalizer: Any) -> None:
    parts = ["a", "bc", " ", "\r\n", "\0", "\r", "\n", "\t", "é", "\u0301", "\u0600", "\xa0"]
    worlds = pa.array(
        ["".join(world) for n in range(5) for world in itertools.product(parts[: 13 - 2 * n], repeat=n)]
    )
    # a space is a token of its own before b, and not before a
    tokens = [f"{SPACE}a", SPACE, *"abce"]
    model = models.Unigram([("<unk>", 0.0), *((t, -1.0 - i / 3) for i, t in enumerate(tokens))], 0)
    for number, full in ((1, False), (1, True), (3, False)):
        tok = tokenizer(model, normalizer, PRE_TOKENIZERS[number])
        pipeline = tok._engine_for(full_offsets=full).pipeline
        native, why = compile_pipeline(pipeline)
        assert native is not None, why
        assert native.encode(worlds).ids == native.encode(worlds, offsets=True, words=True).ids
        assert native.encode(worlds, offsets=True, words=True) == ReferenceEngine(pipeline).encode(
            worlds, offsets=True, words=True
        )


@pytest.mark.parametrize("normalizer", [None, *FOLDS])
def test_a_line_end_at_the_edge_of_a_long_word_stays(normalizer: Any) -> None:
    model = models.Unigram([("<unk>", 0.0), (SPACE, -1.0), ("a", -1.5), ("aa", -2.0), ("\n", -1.0)], 0)
    texts = [
        f"{before}{end}{'a' * count}{end}{after}"
        for count in (12, 13, 14, 15, 16, 40)
        for end in ("\n", "\r\n", "\x0b")
        for before in ("", "a ")
        for after in ("", " a")
    ]
    check(tokenizer(model, normalizer, PRE_TOKENIZERS[1]), list(texts))


@pytest.mark.parametrize("unknown", ["<unk>", "u", "中é"])
def test_parts_are_put_together_only_where_rounding_decides_nothing(unknown: str) -> None:
    """Sums that tie, and differ as floats by what came before; unknown stretches over every edge."""
    random = Random(7)
    ties = [-0.1, -0.2, -0.3, -0.4, -0.7, -1.1, -2.2, 0.3]
    for _ in range(25):
        letters = ["a", "é", "中", ".", ":", SPACE]
        longer = ["".join(random.choices("aaé中", k=random.randint(2, 3))) for _ in range(6)]
        known = random.sample(letters, random.randint(3, len(letters))) + longer + [f"{SPACE}a", "..", "a-"]
        vocab = [(unknown, random.choice(ties)), *((token, random.choice(ties)) for token in known)]
        model = models.Unigram(vocab, 0, byte_fallback=False)
        some = [*"aaaé中.:-", "x", unknown, "aa", "\U0001f600"]
        words = ["".join(random.choices(some, k=random.randint(1, 12))) for _ in range(60)]
        words += ["".join(random.choices("aaéa.:", k=random.randint(20, 90))) for _ in range(20)]
        words += ["a" * 300 + ".a", "a." * 2100]
        check(tokenizer(model, None, PRE_TOKENIZERS[1]), [" ".join(words[:40]), *words])


def test_marks_behind_letters_are_left_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pa.array(["e\u0301 b\u0301\u0301", "xe\u0301", "\u0301e", "a\u0301\u0301"])
    native, why = compile_pipeline(
        tokenizer(
            models.Unigram([("<unk>", 0.0), ("é", -1.0), ("c", -1.0)], 0), FOLDED, None
        )._engine.pipeline
    )
    assert native is not None, why
    expected = native._reference.encode(texts).ids
    monkeypatch.setattr(native, "_reference", None)
    assert native.encode(texts).ids == expected


def test_added_tokens_stand_where_white_space_was() -> None:
    model = models.Unigram([("<unk>", 0.0), (f"{SPACE}a", -1.0), ("a", -1.5), (SPACE, -3.0)], 0)
    tok = tokenizer(model, NORMALIZERS[2], PRE_TOKENIZERS[3])
    tok.add_tokens([AddedToken("<m>", lstrip=True, normalized=False), AddedToken("b", normalized=True)])
    texts = ["a <m> a", " a\ta  <m>", "aba b", "<m>", "", "  ", "é<unk>é", "<unk>a"]
    check(tok, list(texts))
    native, reference = (
        choose_engine(tok._engine.pipeline, wanted=name).engine for name in ("native", "reference")
    )
    assert isinstance(native, NativeEngine)
    assert isinstance(reference, ReferenceEngine)
    assert native.traces(texts) == [native.trace(text) for text in texts] == reference.traces(texts)


def test_caches_of_any_size_give_the_same() -> None:
    model = models.Unigram([("<unk>", 0.0), *((c, -1.0 - i) for i, c in enumerate(f"{SPACE}abc"))], 0, True)
    texts: list[str | None] = ["ab  ca" * 40, "é" * 9, "a" * 300, None, ""]
    for cache_bytes in (0, 500, 1 << 20):
        check(tokenizer(model, None, pre_tokenizers.Metaspace()), texts, cache_bytes)


@pytest.mark.parametrize("unit", ["a", "ab", " ", "中", " \t", "\u0301"])
def test_time_grows_with_the_text_alone(unit: str) -> None:
    model = models.Unigram([("<unk>", 0.0), *((("a" * n), -1.0 * n) for n in range(1, 17)), (SPACE, -1.0)], 0)
    tok = tokenizer(model, NORMALIZERS[2], pre_tokenizers.Metaspace(split=False))
    native = choose_engine(tok._engine.pipeline, wanted="native").engine
    check_time_grows_with_the_text_alone(native, unit)


@settings(max_examples=200)
@given(st.lists(st.text(st.sampled_from("abcx \r\n\té\u0301"), max_size=12), max_size=4), st.booleans())
def test_what_a_map_of_characters_replaces_keeps_its_place(texts: list[str], full: bool) -> None:
    entries = {b"a": "A", b"b": "xy", b"c": "", b"\r": " ", b"\n": " ", b"\t": "  "}
    made = tokenizer(
        models.Unigram([("<unk>", 0.0), (" ", -2.0), *((c, -3.0) for c in "Axyé\n\r")], 0),
        normalizers.Precompiled(charsmap(entries)),
        None,
    )
    pipeline = made._engine_for(full_offsets=full).pipeline
    native, why = compile_pipeline(pipeline)
    assert native is not None, why
    column = pa.array([*texts, "a\r\nb", "\r\n\r\n", "ca", "acb"])
    ours = native.encode(column, offsets=True, words=True)
    assert ours == ReferenceEngine(pipeline).encode(column, offsets=True, words=True)
