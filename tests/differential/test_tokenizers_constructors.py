"""Components, trainers and added tokens made with the same arguments here and there: what they then say."""

from __future__ import annotations

import copy
import importlib
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

peer: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")

MODULES = ("models", "normalizers", "pre_tokenizers", "processors", "decoders", "trainers")


def names_of(library: str) -> dict[str, Any]:
    """What an expression may use."""
    modules = {name: importlib.import_module(f"{library}.{name}") for name in MODULES}
    top = importlib.import_module(library)
    return {**modules, **{name: getattr(top, name) for name in ("AddedToken", "Regex", "Tokenizer")}}


HERE, THERE = names_of("arrowprep.tokenize"), names_of("tokenizers")

MADE = """
models.BPE()
models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])
models.BPE({"a": 0}, [], unk_token="a", fuse_unk=True, dropout=0.5, cache_capacity=5)
models.WordPiece()
models.WordPiece({"a": 0}, unk_token="[X]", max_input_chars_per_word=3, continuing_subword_prefix="@")
models.WordLevel()
models.WordLevel({"a": 0}, "b")
models.WordLevel({"a": 0}, unk_token=None)
models.Unigram([("a", 0.0)], 0, True)
models.Unigram([("a", 0.0)], 0, True, 0.1, 3)
models.Unigram([("a", 0)], 0, byte_fallback=None, alpha=0.5)
normalizers.BertNormalizer(True, True, None, False)
normalizers.Strip(left=False)
normalizers.Prepend()
normalizers.Prepend(prepend="x")
normalizers.Sequence([normalizers.NFC(), normalizers.Strip()])
normalizers.ByteLevel()
pre_tokenizers.ByteLevel(False, False, False)
pre_tokenizers.CharDelimiterSplit("a")
pre_tokenizers.Digits(True)
pre_tokenizers.FixedLength(length=3)
pre_tokenizers.FixedLength()
pre_tokenizers.Metaspace()
pre_tokenizers.Metaspace("_", "first", False)
pre_tokenizers.Punctuation("removed")
processors.BertProcessing(sep=("a", 1), cls_token=("b", 2))
processors.RobertaProcessing(("a", 1), ("b", 2), False, False)
processors.RobertaProcessing(sep=("a", 1), cls_token=("b", 2))
processors.ByteLevel()
processors.ByteLevel(None, None, None)
processors.ByteLevel(False, False, False)
decoders.BPEDecoder("x")
decoders.ByteLevel()
decoders.CTC("a", "b", False)
decoders.Metaspace("_", "never", False)
decoders.Strip("a", 1, 2)
decoders.Strip(content="a", left=1, right=2)
decoders.WordPiece(prefix="#", cleanup=False)
trainers.BpeTrainer()
trainers.BpeTrainer(vocab_size=5, initial_alphabet=["abc"], limit_alphabet=3, max_token_length=5)
trainers.BpeTrainer(special_tokens=["a", AddedToken("b"), AddedToken("c", normalized=True, lstrip=True)])
trainers.BpeTrainer(progress_format="unknown")
trainers.WordPieceTrainer(continuing_subword_prefix="@", end_of_word_suffix="s", limit_alphabet=4)
trainers.WordLevelTrainer(vocab_size=3, min_frequency=2)
trainers.UnigramTrainer(vocab_size=5, unk_token="u", shrinking_factor=0.5, initial_alphabet=["ab"])
AddedToken()
AddedToken(None)
AddedToken("a", special=True)
AddedToken(content='"', lstrip=True, normalized=False)
""".strip().splitlines()

REFUSED = """
models.BPE({"a": 0})
models.BPE({"a": 0}, [("a", "b")])
models.BPE({"a": 0}, ["a b"])
models.BPE({"a": -1}, [])
models.BPE({"a": "b"}, [])
models.BPE({1: 1}, [])
models.BPE(fuse_unk=None)
models.BPE(unk_token=1)
models.BPE(dropout=2.0)
models.BPE(dropout="x")
models.WordPiece({"a": 0}, max_input_chars_per_word="x")
models.WordLevel(5)
models.Unigram([("a", 0.0)], 5)
models.Unigram([("a", 0.0)], alpha="x")
normalizers.Strip(left="x")
normalizers.Replace("a")
normalizers.Sequence([1])
normalizers.Precompiled(b"abc")
pre_tokenizers.CharDelimiterSplit("ab")
pre_tokenizers.FixedLength(-1)
pre_tokenizers.Metaspace("ab")
pre_tokenizers.Metaspace(prepend_scheme="x")
pre_tokenizers.Punctuation("x")
pre_tokenizers.Split("a", "x")
pre_tokenizers.Split(Regex("("), "removed")
pre_tokenizers.Sequence([normalizers.NFC()])
processors.BertProcessing(1, 2)
processors.BertProcessing(("a", "b"), ("b", 2))
processors.TemplateProcessing("a $0")
processors.TemplateProcessing("$A:x")
processors.Sequence([pre_tokenizers.Digits()])
decoders.Strip("ab")
decoders.Sequence([normalizers.NFC()])
trainers.BpeTrainer(vocab_size="a")
trainers.BpeTrainer(vocab_size=-1)
trainers.BpeTrainer(special_tokens=[1])
trainers.WordLevelTrainer(show_progress=3)
AddedToken(1)
AddedToken("a", True)
Tokenizer(1)
""".strip().splitlines()


def attributes(made: Any) -> dict[str, Any]:
    """The public attributes that say something, as texts: classes of two libraries are never equal."""
    names = (name for name in dir(made) if name[0] != "_")
    values = {name: getattr(made, name) for name in names}
    return {name: repr(value) for name, value in values.items() if not callable(value)}


@pytest.mark.parametrize("expression", MADE)
def test_it_says_the_same_of_itself(expression: str) -> None:
    ours, theirs = (eval(expression, dict(names)) for names in (HERE, THERE))
    said = attributes(ours)
    there = attributes(theirs)
    assert there or expression.startswith(
        ("normalizers.ByteLevel", "normalizers.Sequence", "decoders.ByteLevel")
    )
    assert {name: said.get(name) for name in there} == there
    if isinstance(ours, HERE["AddedToken"]):
        assert (repr(ours), str(ours), ours.__getstate__()) == (
            repr(theirs),
            str(theirs),
            theirs.__getstate__(),
        )


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_refused_there_is_refused_here(expression: str) -> None:
    with pytest.raises(BaseException) as theirs:  # noqa: PT011 - whatever the peer raises
        eval(expression, dict(THERE))
    wanted = TypeError if isinstance(theirs.value, TypeError) else ValueError
    if wanted is TypeError and "Overflow" in str(theirs.value):
        wanted = ValueError  # of the right type, and out of range
    with pytest.raises(wanted):
        eval(expression, dict(HERE))


@pytest.mark.parametrize("method", ["add_tokens", "add_special_tokens"])
def test_added_tokens_that_do_not_say_whether_they_are_normalized(method: str) -> None:
    """A token that becomes special matches on raw text then, unless it said otherwise."""

    def added(names: dict[str, Any]) -> str:
        token, tok = names["AddedToken"], names["Tokenizer"](names["models"].BPE())
        tok.normalizer = names["normalizers"].Lowercase()
        getattr(tok, method)(
            [token("<X>", lstrip=True), token("<Y>", normalized=True), token("<Z>", special=True), "<W>"]
        )
        return str(
            (tok.to_str(), [tok.encode(text).ids for text in ("<X>", "<x>", "<Y>", "<y>", "<z>", "<w>")])
        )

    assert added(HERE) == added(THERE)


def test_whether_it_is_normalized_follows_what_is_set() -> None:
    def told(names: dict[str, Any]) -> list[bool]:
        token = names["AddedToken"]("a")
        told = [token.normalized]
        token.special = True
        told += [token.normalized, copy.copy(token).normalized]
        token.special = False
        return [*told, token.normalized]

    assert told(HERE) == told(THERE) == [True, False, False, True]


def test_a_vocabulary_may_be_given_as_its_files(tmp_path: Path) -> None:
    vocab, merges, lines = (str(tmp_path / name) for name in ("vocab.json", "merges.txt", "vocab.txt"))
    Path(vocab).write_text(json.dumps({"a": 0, "b": 1, "ab": 2}))
    Path(merges).write_text("#version: 0.2\na b\n")
    Path(lines).write_text("a\n##b\n")

    def read(names: dict[str, Any]) -> list[str]:
        models = names["models"]
        made = models.BPE(vocab, merges), models.WordLevel(vocab), models.WordPiece(lines)
        return [names["Tokenizer"](model).to_str() for model in made]

    assert read(HERE) == read(THERE)


SCORES = [("<unk>", 0.0), ("a", -2.0), ("b", -2.5), ("ab", -3.0), ("aba", -4.0)]
DRAWS = 4000


def drawn(names: dict[str, Any], text: str, **options: Any) -> Counter[str]:
    """How often each way to spell a text comes."""
    model = names["models"].Unigram(SCORES, 0, **options)
    return Counter(" ".join(token.value for token in model.tokenize(text)) for _ in range(DRAWS))


@pytest.mark.parametrize("options", [{"alpha": 1.0}, {"alpha": 0.1, "nbest_size": 3}])
def test_unigram_draws_as_often(options: dict[str, Any]) -> None:
    ours, theirs = (drawn(names, "ababażż", **options) for names in (HERE, THERE))
    assert ours.keys() == theirs.keys()
    # within five standard deviations
    assert all(abs(ours[way] - theirs[way]) < 5 * (ours[way] + theirs[way]) ** 0.5 for way in ours)
    tok = HERE["Tokenizer"](HERE["models"].Unigram(SCORES, 0, **options))
    assert len({tuple(tok.encode("ababa").ids) for _ in range(100)}) > 1
    assert tok.fingerprint != HERE["Tokenizer"](HERE["models"].Unigram(SCORES, 0)).fingerprint


def test_unigram_draws_by_the_scores_to_the_power_of_alpha() -> None:
    """Where the peer's alpha counts several times."""
    found, scores = drawn(HERE, "ababa", alpha=0.1), dict(SCORES)
    shares = {way: math.exp(0.1 * sum(map(scores.__getitem__, way.split()))) for way in found}
    assert len(found) == 7
    for way, share in shares.items():
        expected = DRAWS * share / sum(shares.values())
        assert abs(found[way] - expected) < 5 * expected**0.5


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"nbest_size": 3}, {"alpha": 0.1, "nbest_size": 1}])
def test_unigram_takes_the_best_where_nothing_is_to_be_drawn(options: dict[str, Any]) -> None:
    for names in (HERE, THERE):
        assert drawn(names, "ababa", **options) == {"ab aba": DRAWS}
