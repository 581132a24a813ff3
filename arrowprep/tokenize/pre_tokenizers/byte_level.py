"""ByteLevel: GPT-2's pieces, spelled in byte characters."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.bulk import utf8
from arrowprep.tokenize.byte_characters import BYTE_CHARACTERS, to_byte_characters
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.normalizers.edits import bytes_of
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.pre_tokenizers.base import Places, PreTokenizer, Span
from arrowprep.tokenize.pre_tokenizers.split import split_spans

# Source: GPT-2's encoder
WORDS = Pattern(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", sure=True)


class ByteLevel(PreTokenizer):
    """Spells pieces in byte characters; all bytes of a character stand for all of it.

    add_prefix_space: puts a space in front unless one, U+0020 exactly, is there: a
        newline gets one too. Once per stretch between added tokens
    trim_offsets: read by the post-processor of the same name alone
    use_regex: cuts by GPT-2's pattern first
    """

    kind = "ByteLevel"

    def __init__(
        self, add_prefix_space: bool = True, trim_offsets: bool = True, use_regex: bool = True
    ) -> None:
        self.add_prefix_space = add_prefix_space
        self.trim_offsets = trim_offsets
        self.use_regex = use_regex

    @staticmethod
    def alphabet() -> list[str]:
        """The 256 characters that bytes are spelled with."""
        return list(BYTE_CHARACTERS)

    @classmethod
    def from_json(cls, spec: Spec) -> ByteLevel:
        return cls(spec.flag("add_prefix_space"), spec.flag("trim_offsets"), spec.flag("use_regex", True))

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "add_prefix_space": self.add_prefix_space,
            "trim_offsets": self.trim_offsets,
            "use_regex": self.use_regex,
        }

    def prepare(self, piece: Aligned) -> Aligned:
        return piece.prepended(" ") if self.add_prefix_space and piece.text[:1] != " " else piece

    def prepare_str(self, text: str) -> str:
        return " " + text if self.add_prefix_space and text and text[0] != " " else text

    def spans(self, text: str) -> list[Span]:
        if not self.use_regex:
            return [(0, len(text))]
        return split_spans(WORDS.find(text), len(text), "isolated")

    def pieces(self, text: str) -> list[str] | None:
        return WORDS.pieces(text) if self.use_regex else [text]

    def finish(self, piece: Aligned) -> Aligned:
        return bytes_of(piece)

    def finish_str(self, text: str) -> str:
        return to_byte_characters(text)

    def finish_all(self, texts: list[str]) -> tuple[list[str], Places | None]:
        data, stops = utf8(texts)
        spelled = to_byte_characters(data.decode())
        found = [spelled[start:stop] for start, stop in pairwise(stops.tolist())]
        if data.isascii():
            return found, None
        begins = np.frombuffer(data, np.int8) >= -64  # all bytes that do not continue a character
        return found, np.cumsum(begins) - 1

    @property
    def cuts(self) -> bool:
        return self.use_regex or self.add_prefix_space

    def cut_str(self, text: str) -> list[str]:
        pieces = self.pieces(self.prepare_str(text))
        return super().cut_str(text) if pieces is None else list(map(to_byte_characters, pieces))
