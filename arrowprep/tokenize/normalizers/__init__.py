"""Normalizers: what is done to a text before it is cut into pieces."""

from __future__ import annotations

from arrowprep.tokenize.component import reader
from arrowprep.tokenize.normalizers.base import Normalizer, Sequence
from arrowprep.tokenize.normalizers.bert import BertNormalizer
from arrowprep.tokenize.normalizers.edits import (
    ByteLevel,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Strip,
    StripAccents,
)
from arrowprep.tokenize.normalizers.precompiled import Precompiled
from arrowprep.tokenize.normalizers.sentencepiece import SentencePieceNormalizer
from arrowprep.tokenize.normalizers.unicode_forms import NFC, NFD, NFKC, NFKD, unicode_normalizer_from_str

_ALL: list[type[Normalizer]] = [
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    ByteLevel,
    Lowercase,
    Nmt,
    Precompiled,
    Prepend,
    Replace,
    SentencePieceNormalizer,
    Sequence,
    Strip,
    StripAccents,
]
read_normalizer = reader("normalizer", Normalizer, _ALL)
Sequence.read_part = staticmethod(read_normalizer)

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "SentencePieceNormalizer",
    "Sequence",
    "Strip",
    "StripAccents",
    "read_normalizer",
    "unicode_normalizer_from_str",
]
