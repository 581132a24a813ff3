"""Decoders: how tokens become text again."""

from __future__ import annotations

from collections.abc import Sequence as ListLike
from typing import Any

from arrowprep.tokenize.byte_characters import from_byte_characters
from arrowprep.tokenize.component import Component, Spec, reader
from arrowprep.tokenize.decode_stream import DecodeStream

__all__ = ["ByteLevel", "DecodeStream", "Decoder", "read_decoder"]


class Decoder(Component):
    """Turns the texts of tokens into the texts that, one after the other, are the result."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        raise NotImplementedError

    def decode(self, tokens: ListLike[str]) -> str:
        return "".join(self.decode_chain(list(tokens)))


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


read_decoder = reader("decoder", Decoder, [ByteLevel])
