"""load_tokenizer, and AutoTokenizer for code that loads its tokenizers so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arrowprep.tokenize.shell import PreTrainedTokenizer


def load_tokenizer(path: str | Path, **overrides: Any) -> PreTrainedTokenizer:
    """The tokenizer in a folder with a tokenizer.json and its configs, or in that file (.gz, .zst) alone.

    Other formats are read where there is no tokenizer.json: tekken.json, SentencePiece's
    *.model, *.tiktoken, vocab.json with merges.txt, vocab.txt; each can be saved as one.

    tokenizer.json is followed as it is; a config adds special tokens, lengths, sides
    and chat templates, and keyword arguments win over it.

    Raises MissingFile, UnknownFileType, BadTokenizerFile, or UnsupportedComponent for
    a part of the pipeline that is not implemented.
    """
    return PreTrainedTokenizer.from_pretrained(path, **overrides)


class AutoTokenizer:
    """`AutoTokenizer.from_pretrained(folder)` is `load_tokenizer(folder)`."""

    @staticmethod
    def from_pretrained(path: str | Path, **overrides: Any) -> PreTrainedTokenizer:
        """As `load_tokenizer`."""
        return load_tokenizer(path, **overrides)
