"""PostProcessor, and several of them in a row."""

from __future__ import annotations

from collections.abc import Iterable

from arrowprep.tokenize.component import Component
from arrowprep.tokenize.composite import Composite
from arrowprep.tokenize.encoding import Encoding


class PostProcessor(Component):
    """What is done to the encodings of one text or of a pair before they become one."""

    trims_offsets = False

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens it adds."""
        return 0

    def special_pairs(self) -> list[tuple[str, int]]:
        """The tokens that it adds, with the ids that it gives them."""
        return []

    def process_encodings(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """The encodings, changed in place or new ones, with those of special tokens among them."""
        raise NotImplementedError

    def process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """One encoding out of that of a text, or of both texts of a pair."""
        encodings = [encoding.copy()] if pair is None else [encoding.copy(), pair.copy()]
        for i, each in enumerate(encodings):
            for part in (each, *each.overflowing):
                part.set_sequence_id(i)
            each.type_ids = [i] * len(each)
        return Encoding.merge(self.process_encodings(encodings, add_special_tokens), growing_offsets=False)


class Sequence(Composite[PostProcessor], PostProcessor):
    """Post-processors one after the other; what they add adds up."""

    family = PostProcessor
    held = "processors"
    processors: tuple[PostProcessor, ...]

    def __init__(self, processors: Iterable[PostProcessor]) -> None:
        super().__init__(processors)

    @property
    def trims_offsets(self) -> bool:  # type: ignore[override]
        return any(part.trims_offsets for part in self.parts)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return sum(part.num_special_tokens_to_add(is_pair) for part in self.parts)

    def process_encodings(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        for part in self.parts:
            encodings = part.process_encodings(encodings, add_special_tokens)
        return encodings
