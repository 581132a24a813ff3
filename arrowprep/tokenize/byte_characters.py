"""The 256 bytes as printable characters, the way that byte-level vocabularies spell them."""

from __future__ import annotations

from typing import Final


def _characters() -> list[str]:
    """Printable Latin-1 stands for itself, the rest is moved up to U+0100 and on. Source: GPT-2's encoder."""
    printable = {
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    }
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


BYTE_CHARACTERS: Final = _characters()
BYTE_OF: Final = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}
_FROM_LATIN: Final = dict(enumerate(BYTE_CHARACTERS))
_TO_LATIN: Final = {ord(character): byte for character, byte in BYTE_OF.items()}


def to_byte_characters(text: str) -> str:
    """The UTF-8 bytes of `text`, each as its character.

    >>> to_byte_characters(" é\\n")
    'ĠÃ©Ċ'
    """
    return latin_to_byte_characters(text.encode().decode("latin-1"))


def latin_to_byte_characters(latin: str) -> str:
    """Bytes that stand as the characters of Latin-1, each as its character: one for one, so places stay."""
    return latin.translate(_FROM_LATIN)


def from_byte_characters(token: str) -> bytes | None:
    """The bytes that `token` spells; None when it has a character that spells none."""
    try:
        return token.translate(_TO_LATIN).encode("latin-1") if BYTE_OF.keys() >= set(token) else None
    except UnicodeEncodeError:  # pragma: no cover - all of BYTE_OF fits
        return None
