"""The mixed engine: what the reference engine gives, where it cuts and the kernel does the rest."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.errors import TokenizerError
from arrowprep.tokenize import PreTokenizedString, Tokenizer, models, normalizers, pre_tokenizers
from arrowprep.tokenize.engine import Engine, choose_engine
from arrowprep.tokenize.mixed import MixedEngine, compile_model
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence, Split
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.build import byte_bpe, byte_tokenizer
from tests.tokenize.engine_contract import EngineContract, rows
from tests.tokenize.test_native import TEXT

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

SPELL = ByteLevel(add_prefix_space=False, use_regex=False)
TWICE = Split(Regex(r"(\w)\1|\s|x+"), "merged_with_previous")


class TestMixed(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        mixed = compile_model(byte_tokenizer()._engine.pipeline)
        assert mixed is not None
        return mixed


class Thirds:
    """A pre-tokenizer of one's own, which changes what it cuts and drops some."""

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        pretok.split(lambda _, text: text.split(Regex(r"\s|e"), "removed"))
        pretok.normalize(lambda text: text.replace("l", "ll"))
        pretok.split(lambda _, text: [text[:3], text[3:]] if len(str(text)) > 3 else [text])


class Louder:
    def normalize(self, normalized: Any) -> None:
        normalized.replace("o", " OO")


def engines(model: models.Model, **parts: Any) -> tuple[MixedEngine, ReferenceEngine]:
    tok = Tokenizer(model)
    for name, part in parts.items():
        setattr(tok, name, part)
    tok.add_special_tokens(["<s>", "</s>"])
    mixed = tok.engine.engine
    assert isinstance(mixed, MixedEngine)
    return mixed, ReferenceEngine(tok._engine.pipeline)


def unigram() -> models.Unigram:
    return models.Unigram([("<unk>", -9.0), *((letter, -2.0) for letter in "helo wrd\n"), ("llo", -1.0)], 0)


def word_piece() -> models.WordPiece:
    words = ["[UNK]", "hel", "##lo", "wo", "##r", "##ld", "x", "##x"]
    return models.WordPiece({word: id for id, word in enumerate(words)}, unk_token="[UNK]")


PIPELINES: dict[str, dict[str, Any]] = {
    "a back reference": {"model": byte_bpe(), "pre_tokenizer": Sequence([TWICE, SPELL])},
    "cut twice": {"model": byte_bpe(), "pre_tokenizer": Sequence([TWICE, Digits(True), SPELL])},
    "one's own pre-tokenizer": {
        "model": byte_bpe(),
        "pre_tokenizer": Sequence([Digits(), PreTokenizer.custom(Thirds()), SPELL]),
    },
    "one's own normalizer": {
        "model": unigram(),
        "normalizer": normalizers.Sequence([normalizers.Normalizer.custom(Louder()), normalizers.NFD()]),
        "pre_tokenizer": pre_tokenizers.Metaspace("w", "first"),
    },
    "words": {"model": word_piece(), "pre_tokenizer": Sequence([TWICE, pre_tokenizers.Whitespace()])},
}
BY_NAME = {} if isinstance(library, str) else {name: engines(**parts) for name, parts in PIPELINES.items()}


@pytest.mark.parametrize("name", PIPELINES)
@given(texts=st.lists(TEXT, max_size=4))
@settings(max_examples=15, deadline=None)
def test_pieces_of_python_have_the_reference_engines_tokens(name: str, texts: list[str]) -> None:
    mixed, reference = BY_NAME[name]
    column = pa.array([*texts, None, " ".join(texts)], pa.string())
    expected = rows(reference.encode(column, offsets=True, words=True))
    assert rows(mixed.encode(column, offsets=True, words=True)) == expected
    assert mixed.encode(column).ids.to_pylist() == [ids for ids, *_ in expected]
    assert mixed.traces(texts) == reference.traces(texts)


def test_half_of_a_surrogate_pair_goes_to_the_model_in_python() -> None:
    class Halved:
        def normalize(self, normalized: Any) -> None:
            normalized.replace("a", "\ud800")

    mixed, reference = engines(
        models.WordLevel({"b": 0, "u": 1}, unk_token="u"), normalizer=normalizers.Normalizer.custom(Halved())
    )
    assert mixed.encode(pa.array(["ab"])).ids == reference.encode(pa.array(["ab"])).ids


def test_an_error_says_the_row_and_not_the_piece() -> None:
    mixed, _ = engines(
        models.WordLevel({"a": 0}, unk_token="none"),
        pre_tokenizer=Sequence([TWICE, pre_tokenizers.Whitespace()]),
    )
    with pytest.raises(TokenizerError, match="row 2"):
        mixed.encode(pa.array(["a a a", "a", "a b", "a"]))


def test_columns_of_ids_are_decoded_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    from arrowprep.tokenize import native_decoder

    tok = byte_tokenizer()
    tok.pre_tokenizer = Sequence([TWICE, SPELL])
    ids = tok.engine.engine.encode(pa.array(["hello <s> world", None])).ids
    monkeypatch.setattr(native_decoder, "FEW_IDS", -1)
    monkeypatch.setattr(MixedEngine, "decode_row", None)
    assert tok.engine.engine.decode(ids).to_pylist() == ["hello <s> world", None]


def test_it_says_who_does_what_and_why() -> None:
    tok = byte_tokenizer()
    tok.pre_tokenizer = Sequence([TWICE, SPELL])
    shown = repr(tok)
    assert "mixed engine: the reference engine cuts and the kernel does the rest" in shown
    assert r"\1" in shown
    pipeline = byte_tokenizer()._engine.pipeline
    assert compile_model(pipeline) is not None
    tok.model = byte_bpe(dropout=0.1)
    assert tok.engine.engine.name == "reference"
    tok.model = byte_bpe()
    with pytest.raises(TokenizerError, match=r"\\1"):
        choose_engine(tok._engine.pipeline, wanted="native")
