"""Pre-tokenizers: how a text is cut into the pieces that the model sees."""

from __future__ import annotations

from arrowprep.tokenize.component import reader
from arrowprep.tokenize.pre_tokenizers.base import PreTokenizer, Sequence
from arrowprep.tokenize.pre_tokenizers.byte_level import ByteLevel
from arrowprep.tokenize.pre_tokenizers.characters import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Punctuation,
    Whitespace,
    WhitespaceSplit,
)
from arrowprep.tokenize.pre_tokenizers.metaspace import Metaspace
from arrowprep.tokenize.pre_tokenizers.scripts import UnicodeScripts
from arrowprep.tokenize.pre_tokenizers.split import Split

_ALL: list[type[PreTokenizer]] = [
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Metaspace,
    Punctuation,
    Sequence,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
]
read_pre_tokenizer = reader("pre-tokenizer", PreTokenizer, _ALL)
Sequence.read_part = staticmethod(read_pre_tokenizer)

__all__ = [
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "PreTokenizer",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "read_pre_tokenizer",
]
