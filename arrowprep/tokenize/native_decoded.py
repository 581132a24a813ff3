"""What a decoder makes of each token, for decoders that look at one token and at whether it is the first."""

from __future__ import annotations

from collections.abc import Sequence as ListLike
from dataclasses import dataclass, field

from arrowprep.tokenize.decoders import (
    ByteFallback,
    ByteLevel,
    Decoder,
    Fuse,
    Metaspace,
    Replace,
    Sequence,
    Strip,
    WordPiece,
)
from arrowprep.tokenize.decoders.bytes import byte_of

BYTES, TEXTS = 0, 1


@dataclass(frozen=True, slots=True)
class Meant:
    """Tokens as the kernel joins them.

    form: whether they are in byte characters, or texts
    texts: (n,) what each token becomes, in UTF-8; one that is a byte is that byte
    firsts: (n,) where it is the first of a row; empty where that is no different
    bytes: the places of tokens that are one byte
    strip, most: taken off the start of a row, so many times at most
    """

    form: int
    texts: list[bytes]
    firsts: list[bytes] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    strip: str = ""
    most: int = 0


@dataclass(frozen=True, slots=True)
class _Chain:
    """A sequence of these, in this order; each but the first may be missing."""

    replaces: list[Replace]
    fallback: bool
    strip: Strip | None


def is_known(decoder: Decoder | None) -> bool:
    """Whether the kernel joins tokens as this decoder does."""
    return type(decoder) in (ByteLevel, Metaspace, WordPiece) or _chain(decoder) is not None


def meant(decoder: Decoder | None, tokens: list[str]) -> Meant:
    """What becomes of tokens. Only for a decoder that `is_known`."""
    if isinstance(decoder, ByteLevel):
        return Meant(BYTES, _encoded(tokens))
    if isinstance(decoder, (Metaspace, WordPiece)):
        firsts = [decoder.decode_chain([token])[0] for token in tokens]
        return Meant(TEXTS, _encoded(decoder.decode_chain(["", *tokens])[1:]), _encoded(firsts))
    chain = _chain(decoder)
    assert chain is not None, "the decoder is known"
    texts = tokens
    for replace in chain.replaces:
        texts = replace.decode_chain(texts)
    parts, places = _encoded(texts), []
    for place, text in enumerate(texts if chain.fallback else ()):
        if (byte := byte_of(text)) is not None:
            parts[place] = bytes([byte])
            places.append(place)
    strip, most = (chain.strip.content, chain.strip.left) if chain.strip else ("", 0)
    return Meant(TEXTS, parts, bytes=places, strip=strip, most=most)


def _encoded(texts: list[str]) -> list[bytes]:
    return list(map(str.encode, texts))


def _chain(decoder: Decoder | None) -> _Chain | None:
    if not isinstance(decoder, Sequence) or type(decoder) is not Sequence:
        return None
    rest: ListLike[Decoder] = decoder.parts
    replaces: list[Replace] = []
    while rest and isinstance(rest[0], Replace) and type(rest[0]) is Replace:
        replaces.append(rest[0])
        rest = rest[1:]
    kinds = [type(part) for part in rest]
    fallback = kinds[:1] == [ByteFallback]
    last = rest[-1] if rest else None
    strip = last if isinstance(last, Strip) and type(last) is Strip and not last.right else None
    if kinds != [ByteFallback] * fallback + [Fuse] * (Fuse in kinds) + [Strip] * (strip is not None):
        return None
    return None if strip and Fuse not in kinds else _Chain(replaces, fallback, strip)
