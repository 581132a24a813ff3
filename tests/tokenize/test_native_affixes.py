"""BPE with a prefix or suffix, and any model behind ByteLevel: in the kernel as in the reference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.tokenize import Tokenizer, models, normalizers, pre_tokenizers
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers import ByteLevel
from tests.tokenize.test_native_characters import BYTES, SPACE, check, tokenizer

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

TEXT = st.text(f"aab  {SPACE}é中<#.\n", max_size=30)
PREFIXES, SUFFIXES = [None, "##", "é", "a", SPACE], [None, "</w>", "中", "a", SPACE, " "]
PRE_TOKENIZERS: list[Any] = [
    None,
    pre_tokenizers.Whitespace(),
    pre_tokenizers.WhitespaceSplit(),
    pre_tokenizers.BertPreTokenizer(),
    pre_tokenizers.Metaspace(SPACE, "always", True),
    pre_tokenizers.Metaspace(SPACE, "never", False),
]
SPELLED = [
    ByteLevel(add_prefix_space=False),
    ByteLevel(add_prefix_space=True, use_regex=False),
    pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex("a+|[^ab]"), "removed", True), ByteLevel(add_prefix_space=False)]
    ),
]
IN_BYTES = [*ByteLevel.alphabet()[0x61:0x63], "Ġ", "Ċ", *"Ã©ä¸ŃâĸģĶ<#."]  # the bytes of TEXT


@st.composite
def affixed(draw: st.DrawFn, letters: list[str]) -> models.BPE:
    """Characters in some of their forms, and merges of any tokens, as the prefix has it."""
    prefix, suffix = draw(st.sampled_from(PREFIXES)), draw(st.sampled_from(SUFFIXES))
    forms = [f"{before}{{}}{behind}" for before in {"", prefix or ""} for behind in {"", suffix or ""}]
    chosen = draw(st.lists(st.sampled_from(letters), max_size=8, unique=True))
    whole = draw(st.booleans())
    known = [
        form.format(letter) for letter in chosen for form in forms if whole or draw(st.integers(0, 3))
    ] or ["a"]
    base = [*known, *(BYTES if draw(st.booleans()) else BYTES[97:98]), "<unk>"]
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 10))):
        left, right = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        merges.append((left, right))
        known = [*known, left + right[len(prefix or "") :]]
    tokens = list(dict.fromkeys([*base, *known]))
    return models.BPE(
        {token: id for id, token in enumerate(tokens)},
        draw(st.permutations(merges)),
        continuing_subword_prefix=prefix,
        end_of_word_suffix=suffix,
        unk_token=draw(st.sampled_from([None, "<unk>", "<missing>"])),
        fuse_unk=draw(st.booleans()),
        byte_fallback=draw(st.booleans()),
        ignore_merges=draw(st.sampled_from([False, False, True])),
    )


def has_space_in(model: models.BPE) -> bool:
    affixes = (model.continuing_subword_prefix, model.end_of_word_suffix)
    return any(affix in (" ", SPACE) for affix in affixes)


@given(
    model=affixed([*"ab.<#é中 ", SPACE]),
    texts=st.lists(TEXT, max_size=5),
    pre_tokenizer=st.sampled_from(PRE_TOKENIZERS),
)
@settings(max_examples=60, deadline=None)
def test_affixes_around_characters(model: models.BPE, texts: list[str], pre_tokenizer: Any) -> None:
    tok = tokenizer(model, None, pre_tokenizer)
    if has_space_in(model) and isinstance(pre_tokenizer, pre_tokenizers.Metaspace):
        assert "what stands for a space" in tok.engine.why  # which pieces have as a space
        return
    check(tok, list(texts))


@given(
    model=affixed(IN_BYTES),
    texts=st.lists(TEXT, max_size=5),
    pre_tokenizer=st.sampled_from(SPELLED),
    normalizer=st.sampled_from([None, normalizers.NFC()]),
)
@settings(max_examples=40, deadline=None)
def test_affixes_around_bytes_of_which_some_may_be_missing(
    model: models.BPE, texts: list[str], pre_tokenizer: Any, normalizer: Any
) -> None:
    check(tokenizer(model, normalizer, pre_tokenizer), list(texts))


def numbered(tokens: list[str]) -> dict[str, int]:
    return {token: id for id, token in enumerate(dict.fromkeys([*tokens, "<unk>"]))}


@st.composite
def models_of_bytes(draw: st.DrawFn) -> models.Model:
    tokens = draw(st.lists(st.text(IN_BYTES, min_size=1, max_size=3), max_size=12, unique=True))
    tokens += draw(st.lists(st.sampled_from(IN_BYTES), max_size=12))
    inside = [f"##{token}" for token in tokens[::2]]
    scores = {token: -1.0 - id % 5 for token, id in numbered([*tokens, *BYTES]).items()}
    unigram = models.Unigram(list(scores.items()), len(scores) - 1, byte_fallback=draw(st.booleans()))
    return draw(
        st.sampled_from(
            [
                models.WordLevel(numbered(tokens), unk_token="<unk>"),
                models.WordPiece(numbered([*tokens, *inside]), unk_token="<unk>", max_input_chars_per_word=5),
                unigram,
            ]
        )
    )


@given(model=models_of_bytes(), texts=st.lists(TEXT, max_size=5), pre_tokenizer=st.sampled_from(SPELLED))
@settings(max_examples=40, deadline=None)
def test_any_model_behind_byte_level(model: models.Model, texts: list[str], pre_tokenizer: Any) -> None:
    check(tokenizer(model, None, pre_tokenizer), list(texts))


def gpt1_like() -> Tokenizer:
    tokens = [*"helo", *(f"{letter}</w>" for letter in "helo"), "he", "ll", "llo</w>", "hello</w>", "<unk>"]
    merges = [("h", "e"), ("l", "l"), ("ll", "o</w>"), ("he", "llo</w>")]
    model = models.BPE(numbered(tokens), merges, unk_token="<unk>", end_of_word_suffix="</w>")
    return tokenizer(model, None, pre_tokenizers.BertPreTokenizer())


def test_a_word_ends_with_the_suffix() -> None:
    tok = gpt1_like()
    assert tok.engine.engine.name == "native"
    assert tok.encode("hello hell hellox").tokens == [
        "hello</w>",
        "he",
        "l",
        "l</w>",
        "he",
        "ll",
        "o",
        "<unk>",
    ]
    check(tok, ["hello" * 300, "hello " * 300, "héllo", "", None], 200)
