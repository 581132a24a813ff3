"""A tokenizer that the kernel has read goes to another process flat: no object is made for a single token."""

from __future__ import annotations

import json
import pickle

import pytest

from arrowprep.tokenize import Tokenizer, native_library
from arrowprep.tokenize.bulk import Flat
from arrowprep.tokenize.models import BPE, Unigram, WordLevel, WordPiece

if isinstance(native_library.load(), str):
    pytest.skip("the native kernel is not built", allow_module_level=True)

WORDS = {"a": 0, "b": 1, "ab": 5, "<unk>": 3, "": 7, "é": 4, 'b\x00"': 9}
MODELS = {
    "BPE": {"type": "BPE", "vocab": WORDS, "merges": [["a", "b"]], "unk_token": "<unk>", "dropout": None},
    "WordLevel": {"type": "WordLevel", "vocab": WORDS, "unk_token": "<unk>"},
    "WordPiece": {
        "type": "WordPiece",
        "vocab": WORDS,
        "unk_token": "<unk>",
        "max_input_chars_per_word": 9,
        "continuing_subword_prefix": "##",
    },
    "Unigram": {"type": "Unigram", "vocab": [[t, -1e-7 * i] for t, i in WORDS.items()], "unk_id": 3},
}
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


def read(model):
    added = [{"id": model["vocab"]["<unk>"] if isinstance(model["vocab"], dict) else 3, "content": "<unk>"}]
    file = {"added_tokens": [{**token, **FLAGS, "special": True} for token in added], "model": model}
    return Tokenizer.from_str(json.dumps(file))


@pytest.mark.parametrize("kind", MODELS)
def test_what_arrives_is_the_same(kind):
    sent = read(MODELS[kind])
    arrived = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(sent))))
    assert arrived.to_str() == sent.to_str()
    assert arrived.fingerprint == sent.fingerprint
    assert arrived.encode("abé<unk>b").ids == sent.encode("abé<unk>b").ids
    for token in [*WORDS, "c", "aba", "unk", "\x00"]:
        assert arrived.token_to_id(token) == sent.token_to_id(token)


@pytest.mark.parametrize("kind", MODELS)
def test_no_object_is_made_for_a_token(kind, monkeypatch):
    def refused(*_):
        raise AssertionError("all tokens were asked for")

    sent = read(MODELS[kind])
    for model in (BPE, WordLevel, WordPiece, Unigram):
        monkeypatch.setattr(model, "to_json", refused)
    monkeypatch.setattr(Flat, "list", refused)
    arrived = pickle.loads(pickle.dumps(sent))
    assert arrived.engine.engine.ids("ab") == sent.engine.engine.ids("ab")


def test_a_vocabulary_is_looked_up_as_often_as_it_is_asked():
    """First in the texts as they are, later in a dict."""
    words = {f"w{i}" * (1 + i % 3): i for i in range(700)}
    sent = read({"type": "WordLevel", "vocab": {**words, "<unk>": 700}, "unk_token": "<unk>"})
    vocabulary = pickle.loads(pickle.dumps(sent)).model._tables._read
    assert [vocabulary.id_of(word) for word in words] == list(words.values())
    assert {vocabulary.id_of(word) for word in ("", "w", "1", "w70", "w7w")} == {None, words.get("w70")}
