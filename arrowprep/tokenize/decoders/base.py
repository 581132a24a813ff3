"""Decoder, and several of them in a row."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as ListLike
from typing import Any, ClassVar

from arrowprep.tokenize.component import Component, Spec


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


class Sequence(Decoder):
    """Decoders one after the other."""

    kind = "Sequence"
    read_part: ClassVar[Callable[[Spec], Decoder]]

    def __init__(self, decoders: Iterable[Decoder]) -> None:
        self.decoders = tuple(decoders)

    @property
    def parts(self) -> tuple[Decoder, ...]:
        return self.decoders

    def __len__(self) -> int:
        return len(self.decoders)

    def __getitem__(self, index: int) -> Decoder:
        return self.decoders[index]

    def __iter__(self) -> Iterator[Decoder]:
        return iter(self.decoders)

    def snapshot(self) -> Sequence:
        twin = copy.copy(self)
        twin.decoders = tuple(part.snapshot() for part in self.decoders)
        return twin

    @classmethod
    def from_json(cls, spec: Spec) -> Sequence:
        return cls(cls.read_part(part) for part in spec.objects("decoders"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "decoders": [part.to_json() for part in self.decoders]}

    def decode_chain(self, tokens: list[str]) -> list[str]:
        for part in self.decoders:
            tokens = part.decode_chain(tokens)
        return tokens
