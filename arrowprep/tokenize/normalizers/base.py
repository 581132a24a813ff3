"""Normalizer, and several of them in a row."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.component import Component, Spec

if TYPE_CHECKING:
    from arrowprep.tokenize.normalized_string import NormalizedString


class Normalizer(Component):
    """Changes a text and keeps track of where each character came from.

    It sees one stretch between added tokens at a time, so what it does at the
    start of a text is also done after every such token.
    """

    @staticmethod
    def custom(normalizer: Any) -> Normalizer:
        """Of an object with a method `normalize(normalized)` that changes a NormalizedString in place."""
        from arrowprep.tokenize.custom import CustomNormalizer

        return CustomNormalizer(normalizer)

    def apply(self, text: Aligned) -> Aligned:
        """The text changed, with its alignment."""
        raise NotImplementedError

    def normalize_str(self, sequence: str) -> str:
        """The text changed; faster where nobody asks for the alignment."""
        return self.apply(Aligned(sequence)).text

    def normalize(self, normalized: NormalizedString) -> None:
        """Change a NormalizedString in place."""
        normalized.aligned = self.apply(normalized.aligned)


class Sequence(Normalizer):
    """Normalizers one after the other. An empty one changes nothing."""

    kind = "Sequence"
    read_part: ClassVar[Callable[[Spec], Normalizer]]

    def __init__(self, normalizers: Iterable[Normalizer]) -> None:
        self.normalizers = tuple(normalizers)

    @property
    def parts(self) -> tuple[Normalizer, ...]:
        return self.normalizers

    def __len__(self) -> int:
        return len(self.normalizers)

    def __getitem__(self, index: int) -> Normalizer:
        return self.normalizers[index]

    def __iter__(self) -> Iterator[Normalizer]:
        return iter(self.normalizers)

    def snapshot(self) -> Sequence:
        twin = copy.copy(self)
        twin.normalizers = tuple(part.snapshot() for part in self.normalizers)
        return twin

    @classmethod
    def from_json(cls, spec: Spec) -> Sequence:
        return cls(cls.read_part(part) for part in spec.objects("normalizers"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "normalizers": [part.to_json() for part in self.normalizers]}

    def normalize(self, normalized: NormalizedString) -> None:
        for part in self.normalizers:
            part.normalize(normalized)

    def apply(self, text: Aligned) -> Aligned:
        for part in self.normalizers:
            text = part.apply(text)
        return text

    def normalize_str(self, sequence: str) -> str:
        for part in self.normalizers:
            sequence = part.normalize_str(sequence)
        return sequence
