"""Truncation: what to do with more tokens than fit, and the windows that the rest falls into."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arrowprep.errors import BadArgument
from arrowprep.tokenize.options import checked

STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
DIRECTIONS = {"right": "Right", "left": "Left"}


@dataclass(frozen=True, slots=True)
class Truncation:
    """How many tokens are kept, special tokens included, and which.

    max_length: of one encoding
    stride: how many tokens two neighbouring windows share
    strategy: of a pair, which text gives way: "longest_first", "only_first", "only_second"
    direction: the side that is cut off; "left" keeps the end of the text
    """

    max_length: int
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    def __post_init__(self) -> None:
        for name in ("max_length", "stride"):
            checked(self, name, getattr(self, name))
        check_choice("strategy", self.strategy, STRATEGIES)
        check_choice("direction", self.direction, DIRECTIONS)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_json(self) -> dict[str, Any]:
        return {
            "direction": DIRECTIONS[self.direction],
            "max_length": self.max_length,
            "strategy": STRATEGIES[self.strategy],
            "stride": self.stride,
        }

    def room(self, added: int) -> int:
        """How many tokens of the text fit beside `added` special ones.

        Raises ValueError when not even those fit.
        """
        if self.max_length < added:
            # elsewhere nothing at all is truncated then, which nobody who asks for a limit can want
            raise ValueError(
                f"max_length={self.max_length} is below the {added} special tokens that are added;"
                " give a larger one, or add_special_tokens=False"
            )
        return self.max_length - added


def check_choice(name: str, value: object, known: dict[str, str]) -> None:
    """Raises BadArgument when `value` is no key of `known`."""
    if value not in known:
        raise BadArgument(f"{name}={value!r} is none of {', '.join(known)}", argument=name, value=value)


Ints = npt.NDArray[np.int64]


def count_windows(lengths: Ints, room: int, stride: int) -> Ints:
    """(n,) into how many windows of `room` tokens rows of these lengths fall.

    Raises BadArgument when windows share so many tokens that there is no way forward.
    """
    if room == 0:
        # an empty window, and everything in a second one
        return np.where(lengths > 0, 2, 1)
    over = np.maximum(lengths - room, 0)
    if stride >= room and over.any():
        raise BadArgument(
            f"stride={stride} must be below the {room} tokens of the text that a window holds",
            stride=stride,
            room=room,
        )
    if stride >= room:
        return np.ones(len(lengths), np.int64)
    return 1 + -(-over // (room - stride))


def windows(length: int, room: int, stride: int, direction: str) -> list[tuple[int, int]]:
    """Start and stop of each window, the one that is kept first.

    >>> windows(7, 3, 1, "right")
    [(0, 3), (2, 5), (4, 7)]
    >>> windows(6, 4, 0, "left")
    [(2, 6), (0, 2)]
    """
    if length <= room:
        return [(0, length)]
    if room == 0:
        return [(0, 0), (0, length)]
    step = room - stride
    count = int(count_windows(np.array([length]), room, stride)[0])
    if direction == "left":
        return [(max(length - k * step - room, 0), length - k * step) for k in range(count)]
    return [(k * step, min(k * step + room, length)) for k in range(count)]


def split_room(first: int, second: int, settings: Truncation, room: int) -> tuple[int, int]:
    """How many tokens each text of a pair keeps, so that together they fit into `room`.

    Raises BadArgument when the one that should give way is too short for that.
    """
    excess = first + second - room
    if excess <= 0:
        return first, second
    if settings.strategy == "longest_first":
        shorter, longer = sorted((first, second))
        if shorter <= room and shorter + max(shorter, room - shorter) <= room:
            longer = max(shorter, room - shorter)
        else:
            shorter, longer = room // 2, room - room // 2
        return (longer, shorter) if first > second else (shorter, longer)
    length = first if settings.strategy == "only_first" else second
    if length <= excess:
        raise BadArgument(
            f"{settings.strategy} cannot cut {excess} tokens off a text of {length}; use 'longest_first'",
            strategy=settings.strategy,
            excess=excess,
            length=length,
        )
    return (first - excess, second) if settings.strategy == "only_first" else (first, second - excess)


def check_second(length: int, room: int, settings: Truncation) -> None:
    """Raises BadArgument when a text without a second one is to be cut at its second."""
    if settings.strategy == "only_second" and 0 < room < length:
        raise BadArgument("only_second cannot cut a text that has no second one", strategy="only_second")
