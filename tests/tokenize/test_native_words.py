"""WordPiece and WordLevel in the kernel, behind BERT's normalizer and other cuts: what the reference does."""

from __future__ import annotations

import random
from contextlib import AbstractContextManager, nullcontext
from ctypes import byref
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.errors import TokenizerError
from arrowprep.tokenize import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from arrowprep.tokenize.native_library import Added, KernelFailure, call, flat_list, load
from arrowprep.tokenize.native_models import AS_BERT, CLEAN, OVER_BYTES, compiled_model, shape_of_words
from arrowprep.tokenize.native_pipeline import BEFORE_SPACES, BERT, GPT2, WHOLE, Route, RouteParts
from tests.tokenize.test_native import check, engines, some_characters

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

LETTERS = [*"aábcéüñσςß中文か가글가1", "ा", "क", "́"]
WORDS = [
    "ab",
    "##b",
    "##ab",
    "##c",
    "a",
    "b",
    "c",
    "##a",
    "a1",
    "e",
    "u",
    "##e",
    "中",
    "文",
    "!",
    "'",
    "ᄀ",
    "##ᅡ",
    "#",
    "[",
]
TEXT = st.text(
    st.one_of(
        st.sampled_from(
            [
                *"abcABC  \t\n\x0b\r!'#[1",
                *LETTERS,
                *"İÉ\0\x85\u200b\u3000\ufffd…\u037e\u0344\u1fef\u2000\uf900\u02ff",
            ]
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)


def word_piece(words: list[str] = WORDS, **options: Any) -> models.WordPiece:
    return models.WordPiece({token: i for i, token in enumerate(dict.fromkeys([*words, "[UNK]"]))}, **options)


def bert(model: models.Model, **options: Any) -> Tokenizer:
    tok = Tokenizer(model)
    tok.normalizer = normalizers.BertNormalizer(**options)
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tok


STEPS = [
    {},
    {"strip_accents": False},
    {"lowercase": False},
    {"clean_text": False},
    {"handle_chinese_chars": False},
    {"clean_text": False, "strip_accents": True, "lowercase": False},
    {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False},
]
BY_STEPS = (
    []
    if isinstance(library, str)
    else [engines(bert(word_piece([*WORDS, *LETTERS]), **steps)) for steps in STEPS]
)


@pytest.mark.parametrize("number", range(len(STEPS)))
@given(texts=st.lists(TEXT, max_size=5))
@settings(max_examples=80, deadline=None)
def test_words_are_normalized_and_cut_as_the_reference_does(number: int, texts: list[str]) -> None:
    check(*BY_STEPS[number], pa.array(texts, pa.string()))


@pytest.mark.parametrize("number", range(len(STEPS)))
def test_every_character_is_what_it_is_to_bert(number: int) -> None:
    # each on both sides of letters, marks and white space; the vocabulary shows what became of the rest
    native, reference = BY_STEPS[number]
    texts = pa.array([f"a{c}b {c} {c}{c}a\u0323{c}\u0301 中{c}!{c}" for c in some_characters(500)])
    assert native.encode(texts).ids == reference.encode(texts).ids


def test_every_character_comes_out_as_the_reference_spells_it() -> None:
    characters = some_characters(700)
    tok = Tokenizer(models.WordPiece({"[UNK]": 0}))
    normalizer = tok.normalizer = normalizers.BertNormalizer()
    normalized = {part for c in characters for part in normalizer.normalize_str(c) if part != " "}
    tok = bert(word_piece([*normalized, *(f"##{part}" for part in normalized)]))
    native, reference = engines(tok)
    texts = pa.array([f"a{c}b{c}c {c}" for c in characters])
    check(native, reference, texts)


@given(
    words=st.lists(st.text("ab#é", min_size=1, max_size=5), max_size=25),
    prefix=st.sampled_from(["##", "", "#", "é"]),
    longest=st.integers(1, 9),
    texts=st.lists(st.text("ab#é  ", max_size=30), max_size=6),
)
@settings(max_examples=150, deadline=None)
def test_any_vocabulary_is_spelled_longest_first(
    words: list[str], prefix: str, longest: int, texts: list[str]
) -> None:
    tok = Tokenizer(word_piece(words, continuing_subword_prefix=prefix, max_input_chars_per_word=longest))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    check(*engines(tok), pa.array(texts, pa.string()))


@given(texts=st.lists(TEXT, max_size=6))
@settings(max_examples=80, deadline=None)
def test_whole_words_are_looked_up(texts: list[str]) -> None:
    check(*LEVELS, pa.array(texts, pa.string()))


def levels() -> Tokenizer:
    tok = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["a", "ab", "!", "é", "<unk>"])}))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.add_tokens([AddedToken("b!", normalized=True), AddedToken("C", normalized=False, lstrip=True)])
    return tok


LEVELS = (None, None) if isinstance(library, str) else engines(levels())


@pytest.mark.parametrize("unit", ["a", "ab", "á", "e\u0301", "中", "!", " ", "\n ", "\0", "x", "\u0301"])
def test_long_pieces_are_spelled_as_the_reference_does(unit: str) -> None:
    native, reference = BY_STEPS[0]
    texts = pa.array([unit * count for count in (5, 14, 15, 16, 17, 33, 63, 64, 65, 99, 100, 101, 3000)])
    check(native, reference, texts)


def test_texts_of_which_something_is_taken_out_have_their_places_from_the_kernel() -> None:
    native, reference = engines(bert(word_piece([*WORDS, *LETTERS])))
    texts = pa.array(["a\u0301b\xad \x00 e\u0323\u0301", "é\u200dab中\u0301", "\u0301", " \x01 "])
    expected = reference.encode(texts, offsets=True, words=True)
    native._reference = None  # type: ignore[assignment]  # nobody is there to leave a text to
    assert native.encode(texts, offsets=True, words=True) == expected


@pytest.mark.parametrize("places_first", [True, False])
def test_words_of_which_something_is_taken_out_are_the_same_when_they_come_again(places_first: bool) -> None:
    native, reference = engines(bert(word_piece([*WORDS, *LETTERS])))
    source = random.Random(1)
    parts = ["a", "b", "é", "e\u0323", "\u0301", "\u200d", "\xad", "\0", "中", "!", " ", "\u1fef\u0301", "x"]
    texts = pa.array(["".join(source.choices(parts, k=source.randrange(40))) for _ in range(300)])
    expected = reference.encode(texts, offsets=True, words=True)
    for places in (places_first, not places_first, True, False):
        found = native.encode(texts, offsets=places, words=places)
        assert found.ids == expected.ids
        assert not places or found == expected


def test_special_tokens_stand_between_words() -> None:
    tok = bert(word_piece())
    tok.add_special_tokens(["[SEP]", AddedToken("[MASK]", lstrip=True, normalized=False)])
    source = random.Random(0)
    parts = ["ab", " ", "  ", "[SEP]", "[MASK]", "é", "\n", "中", "x", "\x00"]
    texts = ["".join(source.choices(parts, k=source.randrange(12))) for _ in range(500)]
    check(*engines(tok), pa.array(texts))


def test_a_word_that_no_token_stands_for_is_the_error_of_the_reference() -> None:
    tok = Tokenizer(models.WordPiece({"a": 0}))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    native, _ = engines(tok)
    assert native.encode(pa.array(["a a"])).ids.to_pylist() == [[0, 0]]
    with pytest.raises(TokenizerError, match=r"row 1: the unknown token '\[UNK\]' is not in the vocabulary"):
        native.encode(pa.array(["a", "a b"]))


@pytest.mark.parametrize("cut", [WHOLE, GPT2, BEFORE_SPACES, BERT])
@pytest.mark.parametrize("options", [0, OVER_BYTES, AS_BERT, AS_BERT | CLEAN])
@pytest.mark.parametrize("model", [word_piece(), models.WordLevel({"a": 0, "<unk>": 1})])
def test_berts_words_are_cut_for_models_that_normalize_them_and_for_no_others(
    model: models.WordPiece | models.WordLevel, options: int, cut: int
) -> None:
    # what becomes of a piece that holds two of BERT's words would hang on the size of the cache
    compiled = compiled_model(library, model, shape_of_words(model, options), 1 << 20)
    nothing = flat_list([])
    parts = RouteParts(Route(cut=cut), Added(nothing.strings), Added(nothing.strings)).parts
    fits = (cut == BERT) == bool(options & AS_BERT)
    refused = pytest.raises(KernelFailure, match="BERT's words are cut for models that normalize them")
    expected: AbstractContextManager[Any] = nullcontext() if fits else refused
    with expected:
        call(library, "arrowprep_tokenizer_new", "arrowprep_tokenizer_free", compiled.pointer, byref(parts))
