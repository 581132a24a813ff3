"""The tokenizer that users call, in parts: a file an idea, all of them one class; and classes of it."""

from __future__ import annotations

from arrowprep.tokenize.shell.families import GemmaTokenizer, GPT2Tokenizer, LlamaTokenizer, Qwen2Tokenizer
from arrowprep.tokenize.shell.pretrained import PreTrainedTokenizer

PreTrainedTokenizerBase = PreTrainedTokenizer
PreTrainedTokenizerFast = PreTrainedTokenizer
TokenizersBackend = PreTrainedTokenizer

__all__ = [
    "GPT2Tokenizer",
    "GemmaTokenizer",
    "LlamaTokenizer",
    "PreTrainedTokenizer",
    "PreTrainedTokenizerBase",
    "PreTrainedTokenizerFast",
    "Qwen2Tokenizer",
    "TokenizersBackend",
]
