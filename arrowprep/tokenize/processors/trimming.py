"""Post-processors of byte-level tokenizers, which can take white space out of offsets."""

from __future__ import annotations

from typing import Any

from arrowprep.tokenize.byte_characters import BYTE_CHARACTERS
from arrowprep.tokenize.character_classes import WHITESPACE
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.encoding import Encoding
from arrowprep.tokenize.processors.base import PostProcessor
from arrowprep.tokenize.processors.bert import BertProcessing, framed

_BLANK = WHITESPACE + BYTE_CHARACTERS[ord(" ")]


def trim_offsets(encoding: Encoding, add_prefix_space: bool) -> None:
    """Take white space at the ends of tokens out of their offsets.

    With add_prefix_space the one space in front of the first token, or of one that
    starts at 0, is taken for the one that was added, which has no offset to take out.
    """
    for part in (encoding, *encoding.overflowing):
        for i, (token, (start, end)) in enumerate(zip(part.tokens, part.offsets, strict=True)):
            leading = len(token) - len(token.lstrip(_BLANK))
            trailing = len(token) - len(token.rstrip(_BLANK))
            if leading == 1 and add_prefix_space and (i == 0 or start == 0):
                leading = 0
            start = min(start + leading, end)
            if trailing and end >= trailing:
                end = max(end - trailing, start)
            part.offsets[i] = (start, end)


class ByteLevel(PostProcessor):
    """Trims offsets, and does nothing else. What is None is on."""

    kind = "ByteLevel"

    def __init__(
        self,
        add_prefix_space: bool | None = None,
        trim_offsets: bool | None = None,
        use_regex: bool | None = None,
    ) -> None:
        self.add_prefix_space = add_prefix_space is not False
        self.trim_offsets = trim_offsets is not False
        self.use_regex = use_regex is not False

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

    @property
    def trims_offsets(self) -> bool:  # type: ignore[override]
        return self.trim_offsets

    def process_encodings(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        for i, encoding in enumerate(encodings):
            if self.trim_offsets:
                trim_offsets(encoding, self.add_prefix_space)
            encoding.set_sequence_id(i)
        return encodings


class RobertaProcessing(BertProcessing):
    """`<s> A </s>`, a pair as `<s> A </s></s> B </s>`, all of type 0.

    trim_offsets: white space is taken out of offsets, as ByteLevel does it
    """

    kind = "RobertaProcessing"

    def __init__(
        self,
        sep: tuple[str, int],
        cls_token: tuple[str, int],
        trim_offsets: bool = True,
        add_prefix_space: bool = True,
    ) -> None:
        super().__init__(sep, cls_token)
        self.trim_offsets = trim_offsets
        self.add_prefix_space = add_prefix_space

    @classmethod
    def from_json(cls, spec: Spec) -> RobertaProcessing:
        return cls(
            *cls.read_specials(spec), spec.flag("trim_offsets", True), spec.flag("add_prefix_space", True)
        )

    def to_json(self) -> dict[str, Any]:
        return {
            **super().to_json(),
            "trim_offsets": self.trim_offsets,
            "add_prefix_space": self.add_prefix_space,
        }

    @property
    def trims_offsets(self) -> bool:  # type: ignore[override]
        return self.trim_offsets

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return 4 if is_pair else 2

    def process_encodings(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        for encoding in encodings:
            if self.trim_offsets:
                trim_offsets(encoding, self.add_prefix_space)
            encoding.type_ids = [0] * len(encoding)
        if not add_special_tokens:
            return encodings
        for encoding in encodings:
            for part in encoding.overflowing:
                part.type_ids = [0] * len(part)
        return [
            framed(encoding, int(i > 0), self.sep if i else self.cls, self.sep, 0)
            for i, encoding in enumerate(encodings)
        ]
