"""Tokenizers of well-known models: empty ones to train, and vocabularies given by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arrowprep import load_tokenizer
from arrowprep.tokenize import (
    GemmaTokenizer,
    GPT2Tokenizer,
    LlamaTokenizer,
    PreTrainedTokenizer,
    Qwen2Tokenizer,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
)
from arrowprep.tokenize.shell.families import merges_of

FAMILIES = [GemmaTokenizer, GPT2Tokenizer, LlamaTokenizer, Qwen2Tokenizer]
CORPUS = ["the stock market rallied", "the rally", "na\u00efve 猫 12345"] * 10
VOCAB = {token: i for i, token in enumerate(["<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "abb", "▁ab"])}


def merges(tokenizer: PreTrainedTokenizer) -> list[list[str]]:
    found: list[list[str]] = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    return found


@pytest.mark.parametrize("family", FAMILIES)
class TestEmpty:
    def test_it_knows_its_special_tokens_alone(self, family: Any) -> None:
        tok = family()
        assert set(tok.get_vocab()) == set(tok.all_special_tokens)
        assert sorted(tok.get_vocab().values()) == list(range(len(tok)))

    def test_trained_it_is_of_its_class_and_gives_texts_back(self, family: Any, tmp_path: Path) -> None:
        tok = family().train_new_from_iterator(CORPUS, 400)
        assert type(tok) is family
        for text in CORPUS[:3]:
            assert tok.decode(tok.encode(text)) == text
        tok.save_pretrained(tmp_path)
        again = family.from_pretrained(tmp_path)
        assert type(again) is family
        assert (
            again(CORPUS[:3], padding=bool(tok.pad_token)).data
            == tok(CORPUS[:3], padding=bool(tok.pad_token)).data
        )
        assert load_tokenizer(tmp_path).padding_side == tok.padding_side

    def test_asked_for_bos_it_frames(self, family: Any) -> None:
        tok = family(bos_token="<b>", add_bos_token=True)
        assert tok.encode("")[0] == tok.bos_token_id


def test_a_vocabulary_and_merges_given_by_hand(tmp_path: Path) -> None:
    tok = LlamaTokenizer(vocab=VOCAB, merges=[("a", "b"), ("▁", "ab")])
    assert tok.tokenize("abb ab") == ["▁ab", "b", "▁ab"]
    (tmp_path / "vocab.json").write_text(json.dumps(VOCAB))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n▁ ab\n")
    read = LlamaTokenizer(vocab=tmp_path / "vocab.json", merges=tmp_path / "merges.txt")
    assert read.backend_tokenizer.to_str() == tok.backend_tokenizer.to_str()


def test_a_folder_with_a_vocabulary_alone_gets_the_family_s_pipeline(tmp_path: Path) -> None:
    vocab = {"<|endoftext|>": 0, "1": 1, "2": 2, "12": 3}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    config = {"pad_token": "<pad>", "tokenizer_class": "Qwen2Tokenizer", "model_max_length": 9}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tok = Qwen2Tokenizer.from_pretrained(tmp_path, padding_side="left")
    assert tok.tokenize("12") == ["1", "2"]  # a digit a piece, unlike GPT-2
    assert (tok.pad_token_id, tok.model_max_length, tok.padding_side) == (4, 9, "left")
    assert type(load_tokenizer(tmp_path)) is Qwen2Tokenizer
    assert GPT2Tokenizer.from_pretrained(tmp_path).tokenize("12") == ["12"]  # merges were made
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    assert GPT2Tokenizer.from_pretrained(tmp_path).tokenize("12") == ["1", "2"]


def test_merges_that_are_not_given_are_made_of_the_vocabulary() -> None:
    made = [["a", "b"], ["ab", "b"], ["▁", "ab"]]
    assert merges(LlamaTokenizer(vocab=VOCAB)) == made
    assert merges(LlamaTokenizer(vocab={**VOCAB, "<s>ab": 9, "ab</s>": 10})) == made
    assert merges(LlamaTokenizer(vocab=VOCAB, merges=[])) == []


def test_a_token_is_made_in_every_way_by_the_place_of_its_cut() -> None:
    ids = {"aaa": 0, "a": 1, "aa": 2}
    assert merges_of(ids, ()) == [("a", "aa"), ("aa", "a"), ("a", "a")]


def test_a_llama_has_its_space_where_it_is_asked_for() -> None:
    def tokens(**options: bool) -> list[str]:
        return LlamaTokenizer(vocab=VOCAB, merges=[], **options).tokenize("a<s>a")

    assert tokens() == ["▁", "a", "<s>", "a"]
    assert tokens(legacy=True) == ["▁", "a", "<s>", "▁", "a"]
    assert tokens(add_prefix_space=False) == ["a", "<s>", "a"]


class Own(PreTrainedTokenizer):
    """One whose initializer takes no further settings."""

    padding_side = "left"
    model = models.BPE

    def __init__(self, vocab: Any = None, unk_token: str = "<unk>", pad_token: str = "<pad>") -> None:
        self._tokenizer = Tokenizer(models.BPE(vocab or {"<unk>": 0, "<pad>": 1}, [], unk_token=unk_token))
        self._tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self._tokenizer.decoder = decoders.ByteLevel()
        super().__init__(unk_token=unk_token, pad_token=pad_token)


def test_a_class_without_further_settings_is_trained_saved_and_loaded(tmp_path: Path) -> None:
    tok = Own().train_new_from_iterator(CORPUS, 300)
    tok.model_max_length = 7
    tok.save_pretrained(tmp_path)
    again = Own.from_pretrained(tmp_path)
    for one in (tok, again):
        assert (type(one), one.padding_side, one.pad_token_id, one.model_max_length) == (Own, "left", 1, 7)
        assert one.decode(one.encode(CORPUS[0])) == CORPUS[0]
