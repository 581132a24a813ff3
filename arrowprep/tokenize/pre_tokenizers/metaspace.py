"""Metaspace: spaces as a visible character, as SentencePiece writes them."""

from __future__ import annotations

from typing import Any, TypeVar

from arrowprep.errors import BadArgument
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.component import Component, Spec
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.pre_tokenizers.base import PreTokenizer, Span
from arrowprep.tokenize.pre_tokenizers.split import split_spans
from arrowprep.tokenize.truncation import check_choice

M = TypeVar("M", bound="MetaspaceOptions")
SCHEMES = {"always": "always", "first": "first", "never": "never"}


class MetaspaceOptions(Component):
    """What the pre-tokenizer and the decoder are made with, and how files say it."""

    kind = "Metaspace"
    legacy = ("str_rep",)

    def __init__(self, replacement: str = "▁", prepend_scheme: str = "always", split: bool = True) -> None:
        self.replacement = replacement
        self.prepend_scheme = prepend_scheme
        self.split = split

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "prepend_scheme":
            check_choice(name, value, SCHEMES)
        if name == "replacement" and len(value) != 1:
            raise BadArgument(f"the replacement is one character, not {value!r}", replacement=value)
        super().__setattr__(name, value)

    @classmethod
    def from_json(cls: type[M], spec: Spec) -> M:
        """Old files say add_prefix_space in place of the scheme."""
        replacement = spec.text("replacement")
        if len(replacement) != 1:
            raise spec.bad(f"the replacement is one character, not {replacement!r}")
        scheme = spec.choice("prepend_scheme", SCHEMES, "always")
        if not spec.flag("add_prefix_space", True) and scheme != "never":
            raise spec.bad(f"add_prefix_space is false, but the prepend_scheme is {scheme!r}")
        return cls(replacement, scheme, spec.flag("split", True))

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "replacement": self.replacement,
            "prepend_scheme": self.prepend_scheme,
            "split": self.split,
        }


class Metaspace(MetaspaceOptions, PreTokenizer):
    """Makes U+0020, no other white space, a `replacement`, and cuts before each.

    prepend_scheme: whether one is put in front: "always", "never", or "first": only at
        the start of the text, not after an added token. Not where one is there
        already, so " a" and "a" give the same tokens
    split: cuts; else it only replaces
    """

    @property
    def knows_start(self) -> bool:
        return self.prepend_scheme == "first"

    def prepare(self, piece: Aligned) -> Aligned:
        if " " in piece.text:
            piece = piece.respelled(piece.text.replace(" ", self.replacement))
        return piece.prepended(self.replacement) if self._prepends(piece) else piece

    def prepare_str(self, text: str) -> str:
        piece = Aligned(text.replace(" ", self.replacement))
        return self.replacement + piece.text if text and self._prepends(piece) else piece.text

    def _prepends(self, piece: Aligned) -> bool:
        if self.prepend_scheme == "never" or piece.text.startswith(self.replacement):
            return False
        return self.prepend_scheme == "always" or piece.start == 0

    def spans(self, text: str) -> list[Span]:
        if not self.split:
            return [(0, len(text))]
        return split_spans(Pattern(self.replacement, literal=True).find(text), len(text), "merged_with_next")
