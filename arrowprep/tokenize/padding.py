"""Padding: how rows of tokens are made equally long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arrowprep.errors import BadArgument
from arrowprep.tokenize.options import checked
from arrowprep.tokenize.truncation import DIRECTIONS, check_choice

LONGEST = 1 << 24  # tokens of a row; a crafted file could ask for more than there is memory


@dataclass(frozen=True, slots=True)
class Padding:
    """What is put beside rows that are too short; longer ones stay as they are.

    direction: the side that it goes to
    pad_id, pad_type_id, pad_token: what it is
    length: of every row; None takes the longest row of the batch
    pad_to_multiple_of: the length is rounded up to a multiple of it
    """

    direction: str = "right"
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    length: int | None = None
    pad_to_multiple_of: int | None = None

    def __post_init__(self) -> None:
        check_choice("direction", self.direction, DIRECTIONS)
        for name in ("pad_id", "pad_type_id", "pad_token", "length", "pad_to_multiple_of"):
            checked(self, name, getattr(self, name))
        for name in ("length", "pad_to_multiple_of"):
            if (getattr(self, name) or 0) > LONGEST:
                raise BadArgument(
                    f"{name} is more than {LONGEST:,} tokens: no row can be so long", argument=name
                )

    def target(self, longest: int) -> int:
        """How long rows become, of which the longest is `longest` now."""
        length = longest if self.length is None else self.length
        multiple = self.pad_to_multiple_of
        return -(-length // multiple) * multiple if multiple else length

    def as_dict(self) -> dict[str, Any]:
        """As `Tokenizer.padding` shows it."""
        return {
            "length": self.length,
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_token": self.pad_token,
            "pad_type_id": self.pad_type_id,
            "direction": self.direction,
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "strategy": "BatchLongest" if self.length is None else {"Fixed": self.length},
            "direction": DIRECTIONS[self.direction],
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
            "pad_token": self.pad_token,
        }
