"""Normalizers: what is done to a text before it is cut into pieces."""

from __future__ import annotations

from arrowprep.tokenize.component import reader
from arrowprep.tokenize.normalizers.base import Normalizer, Sequence
from arrowprep.tokenize.normalizers.edits import ByteLevel, Lowercase, Prepend, Replace, Strip
from arrowprep.tokenize.normalizers.unicode_forms import NFC, NFD, NFKC, NFKD

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "ByteLevel",
    "Lowercase",
    "Normalizer",
    "Prepend",
    "Replace",
    "Sequence",
    "Strip",
    "read_normalizer",
]

read_normalizer = reader(
    "normalizer", Normalizer, [NFC, NFD, NFKC, NFKD, ByteLevel, Lowercase, Prepend, Replace, Sequence, Strip]
)
Sequence.read_part = staticmethod(read_normalizer)
