"""What a template puts around plain turns, learned once for a sequence of roles and checked in each row.

Proving a turn takes four renderings. Its frame depends on the roles, not on the texts: so it is proved on a
probe that has the same roles, and a row is taken at its word where the same frame stands around its own text.
What is learned comes from the probe alone, so that no row's spans depend on the rows before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arrowprep.chat.convention import Turn
from arrowprep.chat.markers import Chat

__all__ = ["Frame", "frames_around", "probe_like"]

_PLAIN = {"role", "content", "train", "weight"}


@dataclass(frozen=True, slots=True)
class Frame:
    """The template's text around a turn's own.

    header: how much of before is the header
    """

    before: str
    header: int
    after: str

    def fits(self, text: str, floor: int, first: int, last: int) -> bool:
        """Whether it stands around text[first:last], and not before floor."""
        return text.endswith(self.before, floor, first) and text.startswith(self.after, last)


def probe_like(chat: Chat) -> Chat | None:
    """A chat with the same roles and other texts; None where more than roles and texts decides the frame."""
    for message in chat:
        content = message.get("content")
        if not (message.keys() <= _PLAIN and isinstance(content, str) and content.strip()):
            return None
    return [
        {"role": message.get("role"), "content": f"These are words of message {number}."}
        for number, message in enumerate(chat)
    ]


def frames_around(probe: Chat, text: str, turns: Sequence[Turn]) -> dict[int, Frame]:
    """The frames of a probe's turns, by the number of the message, where the text is shown as it is."""
    frames = {}
    for turn in turns:
        content = probe[turn.message]["content"]
        place = text.find(content, turn.start, turn.stop)
        if place >= 0 and text.count(content) == 1:
            before, after = text[turn.header : place], text[place + len(content) : turn.stop]
            frames[turn.message] = Frame(before, turn.start - turn.header, after)
    return frames
