"""PreTokenizer, and several of them in a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.composite import Composite

if TYPE_CHECKING:
    from arrowprep.tokenize.pre_tokenized_string import PreTokenizedString

Span = tuple[int, int]
Places = npt.NDArray[np.int64]


class PreTokenizer(Component):
    """Cuts a piece into smaller ones, in three steps that a subclass may each define.

    prepare: changes the piece before it is cut
    spans: where it is cut; what no span covers is dropped, an empty span too
    finish: changes each new piece

    The same text gives the same pieces wherever it stands, unless `knows_start`.
    """

    in_steps: ClassVar[bool] = True  # False: it only defines `cut`, and may give other pieces each time

    @staticmethod
    def custom(pretok: Any) -> PreTokenizer:
        """Of an object with a method `pre_tokenize(pretok)` that cuts a PreTokenizedString."""
        from arrowprep.tokenize.custom import CustomPreTokenizer

        return CustomPreTokenizer(pretok)

    def prepare(self, piece: Aligned) -> Aligned:
        return piece

    def prepare_str(self, text: str) -> str:
        """`prepare` where nobody asks for the alignment."""
        return self.prepare(Aligned(text)).text

    def spans(self, text: str) -> list[Span]:
        return [(0, len(text))]

    def finish(self, piece: Aligned) -> Aligned:
        return piece

    def finish_str(self, text: str) -> str:
        """`finish` where nobody asks for the alignment."""
        unchanged = type(self).finish is PreTokenizer.finish
        return text if unchanged else self.finish(Aligned(text, 1)).text

    def finish_all(self, texts: list[str]) -> tuple[list[str], Places | None]:
        """`finish` of many texts; and which character of all of them each new one stands for.

        None where each new one stands for that at its own place.
        """
        return texts, None

    @property
    def cuts(self) -> bool:
        """Whether there is more to it than `finish`."""
        return True

    def pieces(self, text: str) -> list[str] | None:
        """text[start:stop] of all spans where these are the whole text; None where that is not known."""
        return None

    def texts(self, text: str) -> list[str]:
        """text[start:stop] of all spans that are not empty."""
        found = self.pieces(text)
        if found is None:
            found = [text[start:stop] for start, stop in self.spans(text) if start < stop]
        return found

    @property
    def knows_start(self) -> bool:
        """Whether the piece at the start of the original text is treated in another way."""
        return False

    @property
    def leaves(self) -> tuple[PreTokenizer, ...]:
        """The pre-tokenizers that this one runs, in order."""
        return (self,)

    def cut(self, piece: Aligned) -> list[Aligned]:
        """The pieces of a piece."""
        prepared = self.prepare(piece)
        spans = self.spans(prepared.text)
        pieces = [self.finish(prepared.slice(start, stop)) for start, stop in spans if start < stop]
        return [piece for piece in pieces if piece.text]

    def cut_str(self, text: str) -> list[str]:
        """`cut` where nobody asks for the alignment, of what does not begin a text."""
        return [piece.text for piece in self.cut(Aligned(text, 1))]

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, Span]]:
        """Each piece with its span of the text."""
        pieces = cut_all(self.leaves, [Aligned(sequence)])
        return [(piece.text, piece.span(0, len(piece.text))) for piece in pieces]

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        """Cut the splits of a PreTokenizedString, those that have no tokens yet."""
        pretok.split(lambda _, split: [split.part(piece) for piece in self.cut(split.aligned)])


def cut_all(leaves: Iterable[PreTokenizer], pieces: list[Aligned]) -> list[Aligned]:
    """The pieces cut by one pre-tokenizer after the other; where none cuts, an empty piece stays."""
    for leaf in leaves:
        pieces = [smaller for piece in pieces for smaller in leaf.cut(piece)]
    return pieces


class Sequence(Composite[PreTokenizer], PreTokenizer):
    """Pre-tokenizers one after the other, each cutting the pieces of the one before."""

    family = PreTokenizer
    held = "pretokenizers"
    pretokenizers: tuple[PreTokenizer, ...]

    def __init__(self, pretokenizers: Iterable[PreTokenizer]) -> None:
        super().__init__(pretokenizers)

    @property
    def leaves(self) -> tuple[PreTokenizer, ...]:
        return tuple(leaf for part in self.parts for leaf in part.leaves)

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        for part in self.parts:
            part.pre_tokenize(pretok)

    def cut(self, piece: Aligned) -> list[Aligned]:
        return cut_all(self.leaves, [piece])
