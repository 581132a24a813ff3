"""Families of tokenizers beside transformers' classes of the same names."""

from __future__ import annotations

from typing import Any

import pytest

from arrowprep import tokenize
from arrowprep.errors import ArrowprepWarning

transformers = pytest.importorskip("transformers", reason="transformers is what results are compared with")

pytestmark = pytest.mark.filterwarnings(f"ignore::{ArrowprepWarning.__module__}.{ArrowprepWarning.__name__}")

NAMES = ["GemmaTokenizer", "GPT2Tokenizer", "LlamaTokenizer", "Qwen2Tokenizer"]
TOKENS = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "a", "b", "ab", "abb", "▁", "▁a", "<bos>a"]
VOCAB = {token: i for i, token in enumerate(TOKENS)}
OPTIONS: dict[str, dict[str, Any]] = {
    "empty": {},
    "by hand": {"vocab": VOCAB, "merges": [("a", "b"), ("ab", "b")]},
    "prefix": {"add_prefix_space": True},
    "no prefix": {"add_prefix_space": False},
    "bos": {"add_bos_token": True, "bos_token": "<b>"},
    "eos": {"eos_token": "<E>", "extra_special_tokens": ["<x>"], "add_eos_token": True},
}
CORPUS = ["the stock market rallied today.", "hello world hello", "naïve 猫 12345", "the the stock's"] * 10
TEXTS = ["ab a abb", " a", "<bos>a b", "12 猫", "the stock's"]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_family_is_that_of_the_peer(name: str, options: str) -> None:
    made = [getattr(library, name)(**OPTIONS[options]) for library in (tokenize, transformers)]
    trained = [tok.train_new_from_iterator(CORPUS, 400, show_progress=False) for tok in made]
    for ours, theirs in (made, trained):
        assert ours.backend_tokenizer.to_str() == theirs.backend_tokenizer.to_str()
        for text in TEXTS:
            ids = ours(text, "a b").data
            assert ids == theirs(text, "a b").data
            assert ours.decode(ids["input_ids"]) == theirs.decode(ids["input_ids"])
        for attribute in ("padding_side", "special_tokens_map", "all_special_ids", "add_bos_token"):
            assert getattr(ours, attribute) == getattr(theirs, attribute)


@pytest.mark.parametrize("name", NAMES)
def test_merges_of_a_vocabulary_are_those_that_the_peer_makes(name: str) -> None:
    special = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}
    made = getattr(transformers, name).convert_to_native_format(vocab=dict(VOCAB), **special)["merges"]
    ours = getattr(tokenize, name)(vocab=VOCAB, **special)
    assert ours.backend_tokenizer.model.to_json()["merges"] == [tuple(pair) for pair in made]
