"""Tokenizers: a pipeline that reads and writes tokenizer.json, a reference engine, and a shell to call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrowprep.tokenize import decoders, models, normalizers, pre_tokenizers, processors
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.auto import AutoTokenizer, load_tokenizer
from arrowprep.tokenize.batch_encoding import BatchEncoding, CharSpan, TokenSpan
from arrowprep.tokenize.columns import Columns
from arrowprep.tokenize.encoding import Encoding
from arrowprep.tokenize.models.base import Token
from arrowprep.tokenize.normalized_string import NormalizedString
from arrowprep.tokenize.padding import Padding
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenized_string import PreTokenizedString
from arrowprep.tokenize.shell import (
    GemmaTokenizer,
    GPT2Tokenizer,
    LlamaTokenizer,
    MistralCommonBackend,
    PreTrainedTokenizer,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    PythonBackend,
    Qwen2Tokenizer,
    SentencePieceBackend,
    TokenizersBackend,
)
from arrowprep.tokenize.tokenizer import Tokenizer
from arrowprep.tokenize.truncation import Truncation

if TYPE_CHECKING:
    from arrowprep.tokenize import implementations, trainers
    from arrowprep.tokenize.implementations import (
        BertWordPieceTokenizer,
        ByteLevelBPETokenizer,
        CharBPETokenizer,
        SentencePieceBPETokenizer,
        SentencePieceUnigramTokenizer,
    )

__all__ = [
    "AddedToken",
    "AutoTokenizer",
    "BatchEncoding",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "CharSpan",
    "Columns",
    "Encoding",
    "GPT2Tokenizer",
    "GemmaTokenizer",
    "LlamaTokenizer",
    "MistralCommonBackend",
    "NormalizedString",
    "Padding",
    "PreTokenizedString",
    "PreTrainedTokenizer",
    "PreTrainedTokenizerBase",
    "PreTrainedTokenizerFast",
    "PythonBackend",
    "Qwen2Tokenizer",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceBackend",
    "SentencePieceUnigramTokenizer",
    "Token",
    "TokenSpan",
    "Tokenizer",
    "TokenizersBackend",
    "Truncation",
    "decoders",
    "implementations",
    "load_tokenizer",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
]

# loaded when they are first asked for: few tokenizers are trained
_MODULES = ("implementations", "trainers")
_HOME = {
    "BertWordPieceTokenizer": "implementations",
    "ByteLevelBPETokenizer": "implementations",
    "CharBPETokenizer": "implementations",
    "SentencePieceBPETokenizer": "implementations",
    "SentencePieceUnigramTokenizer": "implementations",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"arrowprep.tokenize.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'arrowprep.tokenize' has no attribute {name!r}")
    value = getattr(import_module(f"arrowprep.tokenize.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
