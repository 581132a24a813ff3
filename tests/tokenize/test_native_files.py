"""What the kernel reads off tokenizer files, beside what Python reads."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.errors import TokenizerError
from arrowprep.tokenize import Tokenizer, native_files
from arrowprep.tokenize.bulk import utf8
from arrowprep.tokenize.models import bpe_tables
from arrowprep.tokenize.native_library import load
from tests.tokenize.test_normalizers import charsmap

pytestmark = pytest.mark.skipif(isinstance(load(), str), reason="the native kernel is not there")

BPE = {"type": "BPE", "unk_token": "a"}
VOCAB = {"b": 7, "a": 0, "ab": 3, '"': 4, 'ab"': 5, "é": 9, "\U0001f600": 8, "": 6}
UNIGRAM = {"type": "Unigram", "unk_id": 0}
PIECES = [["<unk>", 0], ["a", -1.5], ["é", -3.3334579467773438], ["ab", -2e-1], ["b", -0.0]]
MODELS: dict[str, dict[str, Any]] = {
    "bpe": {**BPE, "vocab": VOCAB, "merges": [["a", "b"], ["ab", '"']]},
    "old merges": {**BPE, "vocab": VOCAB, "merges": ["a b", 'ab "']},
    "no type": {"vocab": VOCAB, "merges": [["a", "b"]]},
    "empty prefix": {"continuing_subword_prefix": "", **BPE, "vocab": VOCAB, "merges": [["a", "b"]]},
    "prefix": {
        "continuing_subword_prefix": "#",
        **BPE,
        "vocab": {"a": 0, "#b": 1, "ab": 2},
        "merges": ["a #b"],
    },
    "merges first": {**BPE, "merges": [["a", "b"]], "vocab": VOCAB},
    "same ids": {**BPE, "vocab": {"a": 0, "b": 0, "ab": 1}, "merges": [["a", "b"]]},
    "nothing": {"type": "BPE", "vocab": {}, "merges": []},
    "wordpiece": {
        "type": "WordPiece",
        "unk_token": "a",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 9,
        "vocab": VOCAB,
    },
    "wordlevel": {"type": "WordLevel", "unk_token": "a", "vocab": VOCAB},
    "unigram": {**UNIGRAM, "vocab": PIECES},
    "unigram with a token twice": {**UNIGRAM, "vocab": [*PIECES, ["a", -9]]},
}
TOKENS = [*VOCAB, "}[", "<unk>", "none", "\ud800"]
ADDED = [{"id": 30, "content": "}[", "special": True}, {"id": 0, "content": "a", "normalized": True}]


def by_both(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> tuple[Any, Any]:
    """What comes of something with the kernel, and without."""
    ours = work()
    with monkeypatch.context() as without:
        without.setattr(native_files, "load", lambda: "not there")
        return ours, work()


def told(text: str | bytes) -> list[Any]:
    """All that can be asked of a tokenizer, or what is wrong with its file."""
    try:
        tok = Tokenizer.from_str(text) if isinstance(text, str) else Tokenizer.from_buffer(text)
        encoded = [tok.encode(text).ids for text in ("ab", "abab}[b", "é", 'ab"a')]
    except TokenizerError as error:
        return [type(error), str(error)]
    ids = [tok.token_to_id(token) for token in TOKENS]
    for likely in range(32):
        alone = list(map(tok.model.token_to_id, TOKENS))
        assert tok.model.ids_of(TOKENS, [likely] * len(TOKENS)) == alone, likely
    tokens = [tok.id_to_token(id) for id in range(32)]
    return [ids, tokens, encoded, tok.fingerprint, tok.get_vocab_size(), tok.get_vocab(), tok.to_str()]


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_both_read_the_same(name: str, ascii: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"version": "1.0", "added_tokens": ADDED, "model": MODELS[name]}
    for layout in ({"indent": 2}, {"separators": (",", ":")}):
        ours, plain = by_both(monkeypatch, lambda: told(json.dumps(content, ensure_ascii=ascii, **layout)))  # noqa: B023
        assert ours == plain
        assert len(ours) == 7


@pytest.mark.parametrize("name", ["bpe", "old merges", "empty prefix", "wordpiece", "wordlevel", "unigram"])
def test_the_kernel_reads_what_is_usual(name: str) -> None:
    found = native_files.read_parts(json.dumps({"model": MODELS[name]}).encode())
    assert found is not None
    rest, vocabulary, _ = found
    assert json.loads(rest)["model"]["vocab"] == {}
    assert vocabulary.texts.list() == (list(VOCAB) if name != "unigram" else [token for token, _ in PIECES])


@given(
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), st.integers(0, 2**32 - 1)),
    st.booleans(),
)
def test_any_vocabulary(vocab: dict[str, int], ascii: bool) -> None:
    text = json.dumps({"model": {"type": "WordLevel", "vocab": vocab, "unk_token": "?"}}, ensure_ascii=ascii)
    assert Tokenizer.from_str(text).get_vocab() == vocab


BROKEN = {
    "not json": '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}',
    "rubbish behind": '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}}',
    "rubbish before": '{"a": [}, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}',
    "a list for a dict": '{"model": {"type": "BPE", "vocab": [["a", 0]], "merges": []}}',
    "a dict for a list": '{"model": {"type": "Unigram", "vocab": {"a": 0}}}',
    "an id below zero": '{"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}',
    "an id that is too large": '{"model": {"type": "BPE", "vocab": {"a": 4294967296}, "merges": []}}',
    "an id that is no number": '{"model": {"type": "BPE", "vocab": {"a": true}, "merges": []}}',
    "a merge of what is not there": '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a"]]}}',
    "a merge of three": '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a", "a"]]}}',
    "a merge with two spaces": '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a  a"]}}',
    "no merges": '{"model": {"type": "BPE", "vocab": {"a": 0}}}',
    "a score that is none": '{"model": {"type": "Unigram", "vocab": [["a", "b"]]}}',
    "an option that is not known": '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "x": 1}}',
    "an unknown model": '{"model": {"type": "X", "vocab": {"a": 0}}}',
    "an unknown id that is none": '{"model": {"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1}}',
    "half a pair": '{"model": {"type": "WordLevel", "vocab": {"\\ud83d": 0}, "unk_token": "a"}}',
    "a token twice": '{"model": {"type": "WordLevel", "vocab": {"a": 0, "a": 1}, "unk_token": "a"}}',
    "two models": '{"model": 1, "model": {"type": "WordLevel", "vocab": {"a": 1}, "unk_token": "a"}}',
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_same_is_said_of_what_is_unusual(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, plain = by_both(monkeypatch, lambda: told(BROKEN[name]))
    assert ours == plain


def test_bytes_that_are_no_text_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = b'{"model": {"type": "WordLevel", "vocab": {"\xff": 0}, "unk_token": "a"}}'
    ours, plain = by_both(monkeypatch, lambda: told(broken))
    assert ours == plain
    assert "UTF-8" in ours[1]


@given(st.lists(st.text("aébc", min_size=1, max_size=6), unique=True, min_size=1))
def test_every_way_is_that_of_python(tokens: list[str]) -> None:
    found = native_files.every_way(utf8(tokens))
    assert found is not None
    assert found.tolist() == bpe_tables._every_way(tokens).tolist()


MAP = charsmap({b"b": "ab", "é".encode(): "a"})
PRECOMPILED = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(MAP).decode()}
NORMALIZERS: dict[str, Any] = {
    "alone": PRECOMPILED,
    "in a sequence": {"type": "Sequence", "normalizers": [{"type": "NFC"}, PRECOMPILED]},
    "twice": {"type": "Sequence", "normalizers": [PRECOMPILED, PRECOMPILED]},
    "none": None,
    "broken base64": {**PRECOMPILED, "precompiled_charsmap": "YWJ"},
    "a broken map": {**PRECOMPILED, "precompiled_charsmap": "YWJj"},
    "a number": {**PRECOMPILED, "precompiled_charsmap": 5},
    "null": {**PRECOMPILED, "precompiled_charsmap": None},
    "elsewhere": {"type": "NFC", "other": PRECOMPILED},
    "in a list": [PRECOMPILED],
    "in a text": {"type": "Prepend", "prepend": '"precompiled_charsmap":"YWJj"'},
}


@pytest.mark.parametrize("name", NORMALIZERS)
def test_both_read_the_same_map_of_characters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"model": {**UNIGRAM, "vocab": PIECES}, "normalizer": NORMALIZERS[name]}
    for order in (content, dict(reversed(content.items()))):
        ours, plain = by_both(monkeypatch, lambda: told(json.dumps(order, indent=1)))  # noqa: B023
        assert ours == plain
    found = native_files.read_parts(json.dumps(content).encode())
    assert found is not None
    assert (found.map == MAP) == (name in ("alone", "in a sequence", "elsewhere", "in a list"))
