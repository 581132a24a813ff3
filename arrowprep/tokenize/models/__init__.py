"""Models: how a piece becomes tokens."""

from __future__ import annotations

from arrowprep.tokenize.component import Spec, reader
from arrowprep.tokenize.models.base import Model, Token
from arrowprep.tokenize.models.bpe import BPE
from arrowprep.tokenize.models.sentencepiece import SentencePieceBPE, SentencePieceUnigram
from arrowprep.tokenize.models.unigram import Unigram
from arrowprep.tokenize.models.wordlevel import WordLevel
from arrowprep.tokenize.models.wordpiece import WordPiece

__all__ = [
    "BPE",
    "Model",
    "SentencePieceBPE",
    "SentencePieceUnigram",
    "Token",
    "Unigram",
    "WordLevel",
    "WordPiece",
    "read_model",
]

_read = reader("model", Model, [BPE, WordPiece, WordLevel, Unigram, SentencePieceBPE, SentencePieceUnigram])


def read_model(spec: Spec) -> Model:
    """The model of a tokenizer.json; old files do not say that they mean BPE."""
    if "type" not in spec.value and "merges" in spec.value:
        spec.value = {"type": "BPE", **spec.value}
    return _read(spec)
