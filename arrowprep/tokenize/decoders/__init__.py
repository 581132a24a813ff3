"""Decoders: how tokens become text again."""

from __future__ import annotations

from arrowprep.tokenize.component import reader
from arrowprep.tokenize.decode_stream import DecodeStream
from arrowprep.tokenize.decoders.base import Decoder, Sequence
from arrowprep.tokenize.decoders.bytes import ByteFallback, ByteLevel
from arrowprep.tokenize.decoders.sentencepiece import SentencePieceDecoder
from arrowprep.tokenize.decoders.texts import CTC, BPEDecoder, Fuse, Metaspace, Replace, Strip, WordPiece

_ALL: list[type[Decoder]] = [
    BPEDecoder,
    ByteFallback,
    ByteLevel,
    CTC,
    Fuse,
    Metaspace,
    Replace,
    SentencePieceDecoder,
    Sequence,
    Strip,
    WordPiece,
]
read_decoder = reader("decoder", Decoder, _ALL)
Sequence.read_part = staticmethod(read_decoder)

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "DecodeStream",
    "Decoder",
    "Fuse",
    "Metaspace",
    "Replace",
    "SentencePieceDecoder",
    "Sequence",
    "Strip",
    "WordPiece",
    "read_decoder",
]
