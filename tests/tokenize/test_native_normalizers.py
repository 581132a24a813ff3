"""Normalizers in the kernel beside the reference engine: any, in any order, before every kind of model."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.tokenize import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from arrowprep.tokenize.native import NativeEngine, compile_pipeline
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.build import byte_bpe
from tests.tokenize.growth import check_time_grows_with_the_text_alone
from tests.tokenize.test_native import some_characters
from tests.tokenize.test_native_characters import BYTES, SPACE, check
from tests.tokenize.test_normalizers import charsmap

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

LETTERS = (
    "aAbB  -\t\n\x01\x7f\xad\u3000\u200b\ufeff\ufffd"  # and what is cleaned away
    f"{SPACE}éÉİΣßŁ\u0301\u0323\u0308\u20dd\u0903"  # cases and marks
    "ﬁ２①㌔½Å\u0344\u0f73\u0f75\u0f74\u0958\U0001d15e"  # what is several characters
    "中\uf900가\u1112\u1161\u11ab😀<x>"
)
TEXT = st.text(st.sampled_from(LETTERS), max_size=24)

FLAG = st.booleans()
ONE: st.SearchStrategy[Normalizer] = st.one_of(
    st.sampled_from(
        [
            normalizers.NFC(),
            normalizers.NFD(),
            normalizers.NFKC(),
            normalizers.NFKD(),
            normalizers.Lowercase(),
            normalizers.StripAccents(),
            normalizers.Nmt(),
            normalizers.ByteLevel(),
            normalizers.Precompiled(charsmap({b"a": "xyz", b"b": "", b"-": " "})),
        ]
    ),
    st.builds(normalizers.BertNormalizer, FLAG, FLAG, st.sampled_from([None, True, False]), FLAG),
    st.builds(normalizers.Strip, FLAG, FLAG),
    st.builds(normalizers.Prepend, st.sampled_from([SPACE, " ", "<x", "É"])),
    st.builds(
        normalizers.Replace,
        st.sampled_from(
            [
                " ",
                "a",
                "é",
                "\u0301",
                Regex(" {2,}"),
                Regex(r"\s+"),
                Regex("[ab]+(?=-)|é"),
                Regex("."),
                "",
                Regex(r"a*|(?<=b)(?=é)"),
                Regex("^|B+?|$"),
            ]
        ),
        st.sampled_from([SPACE, "", " ", "ab", "É"]),
    ),
)
SEQUENCES = st.lists(ONE, min_size=1, max_size=4).map(normalizers.Sequence)


def model_of(kind: str) -> models.Model:
    """One whose ids say, as far as its kind can, what text it saw."""
    letters = sorted({*LETTERS, *"abéxi"})
    numbered = {
        token: i for i, token in enumerate(dict.fromkeys(["[UNK]", *BYTES, *letters, "ab", f"{SPACE}a"]))
    }
    if kind == "bytes":
        return byte_bpe()
    if kind == "characters":
        return models.BPE(numbered, [("a", "b"), (SPACE, "a")], byte_fallback=True)
    if kind == "Unigram":
        return models.Unigram([(token, -1.0 - len(token) % 3) for token in numbered], 0, True)
    if kind == "WordLevel":
        return models.WordLevel(numbered, "[UNK]")
    return models.WordPiece({**numbered, **{f"##{c}": len(numbered) + i for i, c in enumerate(letters)}})


CUTS: dict[str, list[Any]] = {
    "bytes": [
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False),
    ],
    "characters": [None, pre_tokenizers.Metaspace(), pre_tokenizers.Metaspace(prepend_scheme="first")],
    "Unigram": [
        pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
        pre_tokenizers.WhitespaceSplit(),
    ],
    "WordPiece": [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Whitespace()],
    "WordLevel": [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Punctuation()],
}
MODELS = {kind: model_of(kind) for kind in CUTS}


def tokenizer(kind: str, normalizer: Any, cut: int = 0) -> Tokenizer:
    tok = Tokenizer(MODELS[kind])
    tok.normalizer, tok.pre_tokenizer = normalizer, CUTS[kind][cut % len(CUTS[kind])]
    return tok


def engines(tok: Tokenizer, **wanted: bool) -> tuple[NativeEngine, ReferenceEngine]:
    pipeline = tok._engine_for(**wanted).pipeline
    native, why = compile_pipeline(pipeline)
    assert native is not None, why
    return native, ReferenceEngine(pipeline)


@pytest.mark.parametrize("kind", CUTS)
@given(normalizer=SEQUENCES, cut=st.integers(0, 2), texts=st.lists(st.one_of(st.none(), TEXT), max_size=5))
@settings(max_examples=60, deadline=None)
def test_any_normalizers_give_what_the_reference_gives(
    kind: str, normalizer: Any, cut: int, texts: list[str | None]
) -> None:
    tok = tokenizer(kind, normalizer, cut)
    check(tok, texts)
    native, reference = engines(tok)
    for text in filter(None, texts):
        assert native.trace(text) == reference.trace(text)


@given(first=ONE, texts=st.lists(TEXT, max_size=4), in_raw=FLAG)
@settings(max_examples=60, deadline=None)
def test_bytes_may_be_spelled_last(first: Normalizer, texts: list[str], in_raw: bool) -> None:
    tok = Tokenizer(MODELS["bytes"])
    tok.normalizer = normalizers.Sequence([first, normalizers.ByteLevel()])
    tok.add_tokens([AddedToken("aé", normalized=not in_raw, single_word=True)])
    check(tok, list(texts))


@st.composite
def added_tokens(draw: st.DrawFn) -> list[AddedToken]:
    contents = draw(
        st.lists(st.text("aAé\u0301 <x>", min_size=1, max_size=3), min_size=1, max_size=4, unique=True)
    )
    return [AddedToken(c, single_word=draw(FLAG), lstrip=draw(FLAG), normalized=draw(FLAG)) for c in contents]


@pytest.mark.parametrize("kind", CUTS)
@given(normalizer=SEQUENCES, cut=st.integers(0, 2), tokens=added_tokens(), texts=st.lists(TEXT, max_size=4))
@settings(max_examples=40, deadline=None)
def test_added_tokens_are_normalized_too(
    kind: str, normalizer: Any, cut: int, tokens: list[AddedToken], texts: list[str]
) -> None:
    tok = tokenizer(kind, normalizer, cut)
    tok.add_tokens(tokens)
    check(tok, list(texts))


@given(normalizer=SEQUENCES, texts=st.lists(TEXT, max_size=4))
@settings(max_examples=60, deadline=None)
def test_full_offsets_are_those_of_all_characters(normalizer: Any, texts: list[str]) -> None:
    for kind in ("bytes", "characters"):
        native, reference = engines(tokenizer(kind, normalizer), full_offsets=True)
        column = pa.array(texts, pa.string())
        assert native.encode(column, offsets=True) == reference.encode(column, offsets=True)
        for text in texts:
            assert native.trace(text) == reference.trace(text)


EVERY: list[Normalizer] = [
    normalizers.NFD(),
    normalizers.NFKC(),
    normalizers.NFKD(),
    normalizers.Lowercase(),
    normalizers.StripAccents(),
    normalizers.Nmt(),
    normalizers.BertNormalizer(),
    normalizers.BertNormalizer(strip_accents=False, lowercase=False),
    normalizers.ByteLevel(),
]


@pytest.mark.parametrize("normalizer", EVERY, ids=lambda normalizer: normalizer.kind)
def test_every_character_is_normalized_as_the_reference_does(normalizer: Normalizer) -> None:
    characters = some_characters(400)
    texts = pa.array(
        [
            "".join(f"A{c}\u0323\u0301{c}" for c in characters[i : i + 50])
            for i in range(0, len(characters), 50)
        ]
    )
    native, reference = engines(tokenizer("bytes", normalizer))
    expected = reference.encode(texts, offsets=True, words=True)
    assert native.encode(texts, offsets=True, words=True) == expected


def test_places_of_text_that_is_changed_stay_in_the_kernel() -> None:
    tok = tokenizer(
        "bytes", normalizers.Sequence([*EVERY[:6], normalizers.NFC(), normalizers.Replace(Regex("b+"), "c")])
    )
    native, _ = engines(tok)
    native._reference = None  # type: ignore[assignment]  # nobody is there to leave a text to
    found = native.encode(pa.array(["Ae\u0301\u0323ﬁbb가" * 30]), offsets=True, words=True)
    assert found.starts is not None
    assert found.starts[0].as_py()[:5] == [0, 1, 4, 4, 6]


@pytest.mark.parametrize(
    "normalizer", [normalizers.NFKD(), normalizers.Lowercase(), normalizers.Replace(Regex("a+|."), "b")]
)
@pytest.mark.parametrize("unit", ["aB", "é", "\u0301", "中", "İ", " "])
def test_time_grows_with_the_text_alone(normalizer: Normalizer, unit: str) -> None:
    native, _ = engines(tokenizer("bytes", normalizer))
    check_time_grows_with_the_text_alone(native, unit, offsets=True)
