"""Pre-tokenizers in any order, some of which change pieces: the reference engine's ids, places and words."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.tokenize import AddedToken, Tokenizer, models, normalizers
from arrowprep.tokenize.native import compile_pipeline
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Metaspace,
    PreTokenizer,
    Punctuation,
    Sequence,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from arrowprep.tokenize.pre_tokenizers.split import BEHAVIORS
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.build import byte_bpe
from tests.tokenize.test_native import TEXT, check, some_characters

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

SPELL = ByteLevel(add_prefix_space=False, use_regex=False)
SPACED = ByteLevel(add_prefix_space=True, use_regex=False)
GPT2 = ByteLevel(add_prefix_space=False)
THREES = Split(Regex("[0-9][0-9][0-9]"), "isolated")

# as published: Falcon; then others like them
NAMED: dict[str, list[PreTokenizer]] = {
    "digits of bytes": [Punctuation("contiguous"), GPT2, Digits(), THREES],
    "a space before every piece": [Split(Regex(r"\s?\w+"), "removed", invert=True), SPACED],
    "every word begins anew": [Whitespace(), Metaspace()],
    "marks behind Metaspace": [Metaspace(), Punctuation(), Digits(individual_digits=True)],
    "at the start alone": [Digits(), Metaspace(prepend_scheme="first"), Split("▁", "removed")],
    "another character for spaces": [
        Punctuation("merged_with_previous"),
        Metaspace("_", "never"),
        FixedLength(3),
    ],
    "spelled twice": [SPELL, UnicodeScripts(), SPACED],
    "scripts": [UnicodeScripts()],
    "lengths": [FixedLength(2), Sequence([Sequence([Digits()]), WhitespaceSplit()])],
}


def byte_vocabulary() -> models.BPE:
    return byte_bpe()


def characters() -> models.BPE:
    letters = "abcdehlorw1 .▁_Ġ中é"
    vocab = {token: id for id, token in enumerate([*letters, "<unk>", "he", "ll", "▁w", "▁he"])}
    return models.BPE(
        vocab, [("h", "e"), ("l", "l"), ("▁", "w"), ("▁", "he")], unk_token="<unk>", fuse_unk=True
    )


def unigram() -> models.Unigram:
    pieces = [
        ("<unk>", -10.0),
        *((c, -4.0) for c in "helowrd1▁_Ġ中"),
        ("▁he", -2.0),
        ("llo", -2.5),
        ("Ġw", -2.0),
    ]
    return models.Unigram(pieces, 0)


def words() -> models.WordPiece:
    tokens = ["[UNK]", "hello", "##h", "w", "##o", "##r", "##ld", "1", "##1", "▁", "##▁", ".", "中"]
    return models.WordPiece({token: id for id, token in enumerate(tokens)}, unk_token="[UNK]")


MODELS = [byte_vocabulary, characters, unigram, words]


def engines(model: models.Model, parts: list[PreTokenizer], **others: Any) -> tuple[Any, ReferenceEngine]:
    tok = Tokenizer(model)
    tok.pre_tokenizer = Sequence(parts)
    for name, part in others.items():
        setattr(tok, name, part)
    tok.add_special_tokens(["<s>"])
    tok.add_tokens([AddedToken("hello", single_word=True)])
    native, why = compile_pipeline(tok._engine.pipeline)
    assert native is not None, why
    return native, ReferenceEngine(tok._engine.pipeline)


MADE: dict[tuple[str, Any], Any] = {}


def made(name: str, model: Any) -> Any:
    if (name, model) not in MADE:
        MADE[name, model] = engines(model(), NAMED[name])
    return MADE[name, model]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", NAMED)
@given(texts=st.lists(TEXT, min_size=1, max_size=6))
@settings(max_examples=6, deadline=None)
def test_stages_give_what_the_reference_gives(name: str, model: Any, texts: list[str]) -> None:
    check(*made(name, model), pa.array([*texts, " ".join(texts)], pa.string()))


@pytest.mark.parametrize("name", NAMED)
def test_every_character_takes_the_same_way(name: str) -> None:
    native, reference = made(name, byte_vocabulary)
    texts = pa.array([f"a{c} {c}{c}1{c} {c}.{c}" for c in some_characters(120)])
    check(native, reference, texts)


PARTS: list[PreTokenizer] = [
    *(Metaspace(c, scheme, split) for c, scheme, split in [("▁", "always", True), ("_", "first", True)]),
    *(Metaspace(" ", "always", False), Metaspace("▁", "never", True), Metaspace("▁", "first", False)),
    *(SPELL, SPACED, GPT2, ByteLevel()),
    *(UnicodeScripts(), FixedLength(1), FixedLength(3), BertPreTokenizer(), CharDelimiterSplit("l")),
    *(Digits(), Digits(individual_digits=True), Whitespace(), WhitespaceSplit()),
    *(
        Split(pattern, behavior)
        for pattern in (" ", "▁", Regex(r"\b"), Regex("l+?|o*"))
        for behavior in BEHAVIORS
    ),
    *map(Punctuation, BEHAVIORS),
]
CHANGES = [
    None,
    normalizers.Strip(),
    normalizers.NFKD(),
    normalizers.Replace(" ", "▁"),
    normalizers.Prepend("x"),
]


@given(
    parts=st.lists(st.sampled_from(PARTS), min_size=2, max_size=5),
    model=st.sampled_from(MODELS),
    normalizer=st.sampled_from(CHANGES),
    texts=st.lists(TEXT | st.text("hello wor1.▁é中 ", max_size=20), min_size=3, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_any_pre_tokenizers_in_any_order(
    parts: list[PreTokenizer], model: Any, normalizer: Any, texts: list[str]
) -> None:
    check(*engines(model(), parts, normalizer=normalizer), pa.array(texts, pa.string()))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", NAMED)
def test_no_text_is_left(name: str, model: Any) -> None:
    native, reference = made(name, model)
    texts = pa.array(["hello  wor1. 123456 中中é", "<s> a hello", " "])
    alone = type(native)(native.pipeline, native._library, native._handle, None)
    assert alone.encode(texts).ids == reference.encode(texts).ids
