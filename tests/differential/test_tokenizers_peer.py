"""Random texts through random small pipelines, here and in Hugging Face's tokenizers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.tokenize import Tokenizer
from tests.tokenize.small import pipeline

peer = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")

# not among them: characters since Unicode 16, whose properties differ between the peer's own parts
TEXT = st.text(
    st.one_of(
        st.sampled_from("ab héllo wörld  \n\t.,'-12½²٣猫あアー한Σςİſßﬁ①👍🏽\u200d\u0301\u0327\u3000\xa0▁<s>"),
        st.characters(max_codepoint=0x2FFF, exclude_categories=["Cs", "Cn"]),
    ),
    max_size=30,
)


def split(regex: str, behavior: str, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert}


NORMALIZERS: list[Any] = [
    *({"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents")),
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Replace", "pattern": {"Regex": r"\s+|[^\w]b"}, "content": "xy"},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
PRE_TOKENIZERS: list[Any] = [
    *({"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")),
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    *(split(r"\p{L}+|\d", behavior, invert) for behavior in BEHAVIORS for invert in (False, True)),
    split(r"\w+|\b.", "Isolated"),
    split(r"(?i:'s|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", "Isolated"),
    {"type": "Digits", "individual_digits": True},
    {"type": "Digits", "individual_digits": False},
    {"type": "CharDelimiterSplit", "delimiter": " "},
    *(
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cut}
        for scheme in ("always", "first", "never")
        for cut in (True, False)
    ),
    {"type": "FixedLength", "length": 3},
]


def byte_level(prefix: bool, regex: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def added(content: str, **flags: bool) -> dict[str, Any]:
    usual = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"content": content, **usual, **flags}


ADDED = st.lists(
    st.builds(
        added,
        st.sampled_from(["<s>", "lo", "ab", " w", "éw", "▁", "HÉ"]),
        single_word=st.booleans(),
        lstrip=st.booleans(),
        rstrip=st.booleans(),
        normalized=st.booleans(),
        special=st.booleans(),
    ),
    max_size=3,
    unique_by=lambda token: token["content"],
)


def sequence(kind: str, parts: st.SearchStrategy[list[Any]]) -> st.SearchStrategy[Any]:
    key = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}[kind]
    return parts.map(lambda chosen: {"type": "Sequence", key: chosen} if chosen else None)


@st.composite
def tokenizer_files(draw: st.DrawFn) -> str:
    """A tokenizer.json: one of the parts of each kind or several, before byte-level BPE."""
    content = pipeline()
    content["normalizer"] = draw(sequence("normalizer", st.lists(st.sampled_from(NORMALIZERS), max_size=2)))
    last = byte_level(draw(st.booleans()), draw(st.booleans()))
    first = draw(st.lists(st.sampled_from(PRE_TOKENIZERS), max_size=2))
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*first, last]}
    new = draw(ADDED)
    highest = max(token["id"] for token in content["added_tokens"])
    content["added_tokens"] += [{"id": highest + 1 + i, **token} for i, token in enumerate(new)]
    return json.dumps(content)


def seen(encoding: Any) -> dict[str, Any]:
    names = ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask", "sequence_ids")
    return {name: list(getattr(encoding, name)) for name in names}


@settings(max_examples=150, deadline=None)
@given(file=tokenizer_files(), texts=st.lists(TEXT, min_size=1, max_size=6))
def test_both_see_the_same(file: str, texts: list[str]) -> None:
    ours, theirs = Tokenizer.from_str(file), peer.Tokenizer.from_str(file)
    assert ours.to_str() == theirs.to_str()
    for text in texts:
        assert seen(ours.encode(text)) == seen(theirs.encode(text))
        ids = ours.encode(text).ids
        assert ours._engine.ids(text) == ours.encode(text, add_special_tokens=False).ids
        assert ours.decode(ids) == theirs.decode(ids)
    columns = ours.encode_columns(texts, offsets=True)
    assert columns.ids.to_pylist() == [encoding.ids for encoding in theirs.encode_batch(texts)]


TRUNCATIONS = st.fixed_dictionaries(
    {
        "max_length": st.integers(5, 12),
        "stride": st.integers(0, 1),
        "strategy": st.sampled_from(["longest_first", "only_first", "only_second"]),
        "direction": st.sampled_from(["left", "right"]),
    }
)


def outcome(encode: Any) -> Any:
    """What comes out, with all that overflows; or that it was refused."""
    try:
        encoding = encode()
    except BaseException as error:  # a panic of the peer is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return "refused"
    return [seen(encoding), *(seen(part) for part in encoding.overflowing)]


@settings(max_examples=100, deadline=None)
@given(
    first=TEXT,
    second=st.one_of(st.none(), TEXT),
    truncation=TRUNCATIONS,
    length=st.one_of(st.none(), st.integers(1, 20)),
    side=st.sampled_from(["left", "right"]),
)
def test_both_cut_and_pad_alike(
    first: str, second: str | None, truncation: dict[str, Any], length: int | None, side: str
) -> None:
    file = json.dumps(pipeline())
    outcomes = []
    for library in (Tokenizer, peer.Tokenizer):
        tok = library.from_str(file)
        tok.enable_truncation(**truncation)
        tok.enable_padding(direction=side, length=length)
        outcomes.append(outcome(lambda tok=tok: tok.encode(first, second)))
    assert outcomes[0] == outcomes[1]


@settings(max_examples=60, deadline=None)
@given(words=st.lists(TEXT, max_size=5))
def test_both_take_words_alike(words: list[str]) -> None:
    file = json.dumps(pipeline())
    ours, theirs = Tokenizer.from_str(file), peer.Tokenizer.from_str(file)
    assert seen(ours.encode(words, is_pretokenized=True)) == seen(theirs.encode(words, is_pretokenized=True))
