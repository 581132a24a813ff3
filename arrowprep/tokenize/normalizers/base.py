"""Normalizer, and several of them in a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.composite import Composite

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


class Sequence(Composite[Normalizer], Normalizer):
    """Normalizers one after the other. An empty one changes nothing."""

    family = Normalizer
    held = "normalizers"
    normalizers: tuple[Normalizer, ...]

    def __init__(self, normalizers: Iterable[Normalizer]) -> None:
        super().__init__(normalizers)

    def normalize(self, normalized: NormalizedString) -> None:
        for part in self.parts:
            part.normalize(normalized)

    def apply(self, text: Aligned) -> Aligned:
        for part in self.parts:
            text = part.apply(text)
        return text

    def normalize_str(self, sequence: str) -> str:
        for part in self.parts:
            sequence = part.normalize_str(sequence)
        return sequence
