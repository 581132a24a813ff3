"""Decoders of tokens that spell bytes."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from arrowprep.tokenize.byte_characters import from_byte_characters
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.decoders.base import Decoder


class ByteLevel(Decoder):
    """Byte characters back to bytes, all of them decoded at once.

    A token with a character that spells no byte stands for its own UTF-8 bytes;
    bytes that are no UTF-8 become U+FFFD.
    """

    kind = "ByteLevel"

    def __init__(
        self, add_prefix_space: bool = True, trim_offsets: bool = True, use_regex: bool = True
    ) -> None:
        self.add_prefix_space = add_prefix_space
        self.trim_offsets = trim_offsets
        self.use_regex = use_regex

    @classmethod
    def from_json(cls, spec: Spec) -> ByteLevel:
        return cls(
            spec.flag("add_prefix_space", True), spec.flag("trim_offsets", True), spec.flag("use_regex", True)
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "add_prefix_space": self.add_prefix_space,
            "trim_offsets": self.trim_offsets,
            "use_regex": self.use_regex,
        }

    def decode_chain(self, tokens: list[str]) -> list[str]:
        # one translation for all tokens; only where that fails each is looked at
        data = from_byte_characters("".join(tokens))
        if data is None:
            data = b"".join(
                spelled if (spelled := from_byte_characters(token)) is not None else token.encode()
                for token in tokens
            )
        return [data.decode("utf-8", "replace")]


class ByteFallback(Decoder):
    """Tokens `<0x..>` to the bytes they name, each run of them decoded as a whole.

    One byte of a run that is no UTF-8 turns every byte of it, valid ones too, into U+FFFD.
    """

    kind = "ByteFallback"

    @classmethod
    def from_json(cls, spec: Spec) -> ByteFallback:
        return cls()

    def decode_chain(self, tokens: list[str]) -> list[str]:
        out: list[str] = []
        for are_bytes, run in groupby(tokens, lambda token: _BYTE.fullmatch(token) is not None):
            if not are_bytes:
                out += run
                continue
            data = bytes(int(token[3:5], 16) for token in run)
            try:
                out.append(data.decode())
            except UnicodeDecodeError:
                out += ["\ufffd"] * len(data)
        return out


_BYTE = re.compile(r"<0x(?:[0-9a-fA-F]{2}|\+[0-9a-fA-F])>")


def byte_of(token: str) -> int | None:
    """The byte that a token `<0x..>` names; None for another token."""
    return int(token[3:5], 16) if _BYTE.fullmatch(token) else None
