"""The tokenizer that users call, in parts: a file an idea, all of them one class; and classes of it."""

from __future__ import annotations

from arrowprep.tokenize.shell.backends import MistralCommonBackend, SentencePieceBackend
from arrowprep.tokenize.shell.families import GemmaTokenizer, GPT2Tokenizer, LlamaTokenizer, Qwen2Tokenizer
from arrowprep.tokenize.shell.pretrained import PreTrainedTokenizer
from arrowprep.tokenize.shell.python_backend import PythonBackend

PreTrainedTokenizerBase = PreTrainedTokenizer
PreTrainedTokenizerFast = PreTrainedTokenizer
TokenizersBackend = PreTrainedTokenizer

__all__ = [
    "GPT2Tokenizer",
    "GemmaTokenizer",
    "LlamaTokenizer",
    "MistralCommonBackend",
    "PreTrainedTokenizer",
    "PreTrainedTokenizerBase",
    "PreTrainedTokenizerFast",
    "PythonBackend",
    "Qwen2Tokenizer",
    "SentencePieceBackend",
    "TokenizersBackend",
]
