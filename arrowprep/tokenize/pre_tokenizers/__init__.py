"""Pre-tokenizers: how a text is cut into the pieces that the model sees."""

from __future__ import annotations

from arrowprep.tokenize.component import reader
from arrowprep.tokenize.pre_tokenizers.base import PreTokenizer, Sequence
from arrowprep.tokenize.pre_tokenizers.byte_level import ByteLevel
from arrowprep.tokenize.pre_tokenizers.split import Split

__all__ = ["ByteLevel", "PreTokenizer", "Sequence", "Split", "read_pre_tokenizer"]

read_pre_tokenizer = reader("pre-tokenizer", PreTokenizer, [ByteLevel, Sequence, Split])
Sequence.read_part = staticmethod(read_pre_tokenizer)
