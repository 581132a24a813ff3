"""Decoder, and several of them in a row."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as ListLike
from typing import Any

from arrowprep.tokenize.component import Component
from arrowprep.tokenize.composite import Composite


class Decoder(Component):
    """Turns the texts of tokens into the texts that, one after the other, are the result."""

    @staticmethod
    def custom(decoder: Any) -> Decoder:
        """Of an object with a method `decode_chain(tokens)`, or `decode(tokens)`."""
        from arrowprep.tokenize.custom import CustomDecoder

        return CustomDecoder(decoder)

    def decode_chain(self, tokens: list[str]) -> list[str]:
        raise NotImplementedError

    def decode(self, tokens: ListLike[str]) -> str:
        return "".join(self.decode_chain(list(tokens)))


class Sequence(Composite[Decoder], Decoder):
    """Decoders one after the other."""

    family = Decoder
    held = "decoders"
    decoders: tuple[Decoder, ...]

    def __init__(self, decoders: Iterable[Decoder]) -> None:
        super().__init__(decoders)

    def decode_chain(self, tokens: list[str]) -> list[str]:
        for part in self.parts:
            tokens = part.decode_chain(tokens)
        return tokens
