"""The tokenizer that users call, in parts: a file an idea, all of them one class."""

from __future__ import annotations

from arrowprep.tokenize.shell.pretrained import PreTrainedTokenizer

PreTrainedTokenizerFast = PreTrainedTokenizer
TokenizersBackend = PreTrainedTokenizer

__all__ = ["PreTrainedTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend"]
