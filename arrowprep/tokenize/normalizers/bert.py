"""BertNormalizer: cleaning, CJK spacing, accents and case, as BERT was trained."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from arrowprep.tokenize import unicode_tables as tables
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.character_classes import WHITESPACE
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.normalizers.base import Normalizer
from arrowprep.tokenize.normalizers.edits import Lowercase, removed
from arrowprep.tokenize.normalizers.unicode_forms import NFD
from arrowprep.tokenize.unicode_normal import charset, parse_ranges

# the blocks of CJK ideographs that BERT knows
IDEOGRAPHS = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)
BLANK = re.compile(f"[{re.escape(WHITESPACE)}]")


@cache
def _dropped() -> re.Pattern[str]:
    """NUL, U+FFFD and the control characters of Unicode 8.0, but tab, newline and return."""
    return re.compile(f"(?![\\t\\n\\r])[\ufffd{charset(parse_ranges(tables.CONTROL))}]")


@cache
def _nonspacing() -> re.Pattern[str]:
    return re.compile(f"[{charset(parse_ranges(tables.NONSPACING))}]")


class BertNormalizer(Normalizer):
    """Four steps, in this order.

    clean_text: drops NUL, U+FFFD and control characters, makes white space a space
    handle_chinese_chars: puts a space on both sides of a CJK ideograph
    strip_accents: decomposes and drops nonspacing marks; None does so when lowercase does
    lowercase: character by character, so that no Σ becomes ς
    """

    kind = "BertNormalizer"

    def __init__(
        self,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
    ) -> None:
        self.clean_text = clean_text
        self.handle_chinese_chars = handle_chinese_chars
        self.strip_accents = strip_accents
        self.lowercase = lowercase

    @classmethod
    def from_json(cls, spec: Spec) -> BertNormalizer:
        return cls(
            spec.flag("clean_text"),
            spec.flag("handle_chinese_chars"),
            spec.get("strip_accents", (bool, type(None)), None),
            spec.flag("lowercase"),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "clean_text": self.clean_text,
            "handle_chinese_chars": self.handle_chinese_chars,
            "strip_accents": self.strip_accents,
            "lowercase": self.lowercase,
        }

    @property
    def _strips(self) -> bool:
        return self.lowercase if self.strip_accents is None else self.strip_accents

    def apply(self, text: Aligned) -> Aligned:
        if self.clean_text:
            text = removed(_dropped(), text)
            text = text.respelled(BLANK.sub(" ", text.text))
        if self.handle_chinese_chars and IDEOGRAPHS.search(text.text):
            text = text.mapped([f" {c} " if IDEOGRAPHS.match(c) else c for c in text.text])
        if self._strips and not text.text.isascii():
            text = removed(_nonspacing(), NFD().apply(text))
        return Lowercase().apply(text) if self.lowercase else text

    def normalize_str(self, sequence: str) -> str:
        if self.clean_text:
            sequence = BLANK.sub(" ", _dropped().sub("", sequence))
        if self.handle_chinese_chars:
            sequence = IDEOGRAPHS.sub(r" \g<0> ", sequence)
        if self._strips and not sequence.isascii():
            sequence = _nonspacing().sub("", NFD().normalize_str(sequence))
        return Lowercase().normalize_str(sequence) if self.lowercase else sequence
