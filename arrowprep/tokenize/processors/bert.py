"""BertProcessing: [CLS] and [SEP] around a text and its pair."""

from __future__ import annotations

from operator import index
from typing import Any

from arrowprep.errors import WrongType
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.encoding import Encoding
from arrowprep.tokenize.processors.base import PostProcessor

Special = tuple[str, int]


def framed(
    encoding: Encoding, sequence: int, before: Special | None, after: Special, type_id: int
) -> Encoding:
    """An encoding, and each of its windows, between special tokens.

    All that is in it counts as the text from now on, also what a post-processor before this one added,
    or what it was padded with.
    """

    def frame(part: Encoding) -> Encoding:
        part.overflowing = []
        part.special_tokens_mask = [0] * len(part)
        part.attention_mask = [1] * len(part)
        part.sequence_ranges = {sequence: (0, len(part))}
        head = [Encoding.of_special([before[1]], [before[0]], type_id)] if before else []
        tail = [Encoding.of_special([after[1]], [after[0]], type_id)]
        return Encoding.merge([*head, part, *tail], growing_offsets=False)

    windows = [frame(part) for part in encoding.overflowing]
    whole = frame(encoding)
    whole.overflowing = windows
    return whole


class BertProcessing(PostProcessor):
    """`[CLS] A [SEP]` of type 0, and a pair's `B [SEP]` of type 1.

    sep, cls_token: (token, id) each; the second is the attribute `cls`
    """

    kind = "BertProcessing"

    def __init__(self, sep: Special, cls_token: Special) -> None:
        self.sep = _special(sep)
        self.cls = _special(cls_token)

    @classmethod
    def from_json(cls, spec: Spec) -> BertProcessing:
        return cls(*cls.read_specials(spec))

    @staticmethod
    def read_specials(spec: Spec) -> tuple[Special, Special]:
        """The tokens at "sep" and "cls"."""
        found: list[Special] = []
        for name in ("sep", "cls"):
            pair = spec.get(name, list)
            if len(pair) != 2 or not isinstance(pair[0], str) or type(pair[1]) is not int:
                raise spec.bad(f"{name!r} is {pair!r}, not a token and its id")
            found.append((pair[0], pair[1]))
        return found[0], found[1]

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "sep": list(self.sep), "cls": list(self.cls)}

    def special_pairs(self) -> list[tuple[str, int]]:
        return [self.cls, self.sep]

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return 3 if is_pair else 2

    def process_encodings(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        if not add_special_tokens:
            return encodings
        # more than two come from a template before this
        return [
            framed(encoding, int(i > 0), None if i else self.cls, self.sep, int(i > 0))
            for i, encoding in enumerate(encodings)
        ]


def _special(pair: Special) -> Special:
    """Raises WrongType for what is no token and its id."""
    try:
        token, id = pair
        number = index(id)
    except (TypeError, ValueError) as error:
        raise WrongType(f"a special token is given as (token, id), not {pair!r}") from error
    if not isinstance(token, str):
        raise WrongType(f"a special token is given as (token, id), not {pair!r}")
    return token, number
