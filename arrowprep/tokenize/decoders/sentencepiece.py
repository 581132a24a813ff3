"""SentencePieceDecoder: pieces back to the text that a SentencePiece model makes of them."""

from __future__ import annotations

import codecs
import re
from itertools import groupby
from typing import Any

from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.decoders.base import Decoder

SPACE = "\u2581"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def _one_byte(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd", error.start + 1


codecs.register_error("arrowprep.one_byte", _one_byte)


class SentencePieceDecoder(Decoder):
    """U+2581 to spaces, without the first; byte pieces to the characters that they spell.

    A byte that is part of no character becomes one U+FFFD. The unknown piece becomes
    a mark of the model, as the text that it stood for is lost.

    unk_token: the unknown piece
    unk_surface: what it becomes
    bytes: whether there are byte pieces
    strip_first: one space is taken off the start; strip_all: all of them are
    """

    kind = "SentencePieceDecoder"
    legacy = ("decoders", "arrowprep")

    def __init__(
        self,
        unk_token: str = "<unk>",
        unk_surface: str = " \u2047 ",
        bytes: bool = False,
        strip_first: bool = True,
        strip_all: bool = True,
    ) -> None:
        self.unk_token = unk_token
        self.unk_surface = unk_surface
        self.bytes = bytes
        self.strip_first = strip_first
        self.strip_all = strip_all

    @classmethod
    def from_json(cls, spec: Spec) -> SentencePieceDecoder:
        flags = {name: spec.flag(name) for name in ("bytes", "strip_first", "strip_all")}
        return cls(spec.text("unk_token"), spec.text("unk_surface"), **flags)

    def to_json(self) -> dict[str, Any]:
        """Also a sequence that other libraries read, with the nearest meaning that they have."""
        parts: list[dict[str, Any]] = [
            {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
            *([{"type": "ByteFallback"}] if self.bytes else []),
            {"type": "Fuse"},
            *([{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if self.strip_first else []),
        ]
        return {"type": "Sequence", "decoders": parts, "arrowprep": self.kind, **self.__getstate__()}

    def decode_chain(self, tokens: list[str]) -> list[str]:
        out: list[str] = []
        at_start = self.strip_first
        for are_bytes, run in groupby(
            tokens, lambda token: self.bytes and _BYTE.fullmatch(token) is not None
        ):
            if are_bytes:
                data = bytes(int(token[3:5], 16) for token in run)
                out.append(data.decode("utf-8", "arrowprep.one_byte"))
                at_start = False
                continue
            for token in run:
                text = self.unk_surface if token == self.unk_token else token.replace(SPACE, " ")
                if at_start:
                    stripped = text[1:] if token.startswith(SPACE) else text
                    at_start = self.strip_all and not stripped
                    text = stripped
                out.append(text)
        return out
