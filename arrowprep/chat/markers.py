"""Where the texts of messages stand in a rendering, proved by characters put around them.

Private-use characters are put around each text of each message. Taken out of the rendering again they must
leave the unmarked rendering, which proves that they changed nothing, and so stand where the texts stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from arrowprep.chat.messages import REASONING_FIELDS

__all__ = ["Chat", "Render", "Traces", "traces_of", "traces_of_marked"]

Chat = list[dict[str, Any]]
# chat, with the generation prompt -> text; None where it is refused
Render = Callable[[Chat, bool], "str | None"]

_FIRST_MARKER = 0xF0000


@dataclass(frozen=True)
class Traces:
    """Where marked texts stand in the rendering.

    first[i], last[i]: where those of message i begin and end, or None
    fields: the same of one field of a message, (i, "content") -> (first, last)
    """

    first: list[int | None]
    last: list[int | None]
    fields: dict[tuple[int, str], tuple[int, int]]

    def before(self, number: int) -> int:
        return max((place for place in self.last[:number] if place is not None), default=0)

    def after(self, number: int, otherwise: int) -> int:
        return min((place for place in self.first[number + 1 :] if place is not None), default=otherwise)


def traces_of(chat: Chat, render: Render, text: str, turns: Sequence[int]) -> Traces:
    """The places of all messages, or of the assistant's only where marks on the others change the text.

    Of those markings that change nothing, the first that shows every turn, else the one that shows most.
    """
    found = [Traces([None] * len(chat), [None] * len(chat), {})]
    markings = [
        (messages, empty_too) for messages in (range(len(chat)), turns) for empty_too in (False, True)
    ]
    for messages, empty_too in markings:
        traces = traces_of_marked(chat, render, text, set(messages), empty_too)
        if traces is not None:
            found.append(traces)
            if None not in (traces.first[number] for number in turns):
                break
    return max(found, key=lambda traces: sum(place is not None for place in traces.first))


def traces_of_marked(
    chat: Chat, render: Render, text: str, messages: set[int], empty_too: bool
) -> Traces | None:
    """None where the marks change the rendering."""
    marker = _Marker(text, empty_too)
    marked_chat = [marker.message(m, i) if i in messages else m for i, m in enumerate(chat)]
    marked = render(marked_chat, False)
    if marked is None:
        return None
    clean, places = marker.read(marked)
    if clean != text:
        return None
    first: list[int | None] = [None] * len(chat)
    last: list[int | None] = [None] * len(chat)
    fields: dict[tuple[int, str], tuple[int, int]] = {}
    for owner, place in places:
        number, _ = owner
        if first[number] is None:
            first[number] = place
        last[number] = place
        fields[owner] = fields.get(owner, (place, place))[0], place
    return Traces(first, last, fields)


class _Marker:
    """Puts characters that the text does not hold around the texts of messages, and finds them again."""

    def __init__(self, text: str, empty_too: bool) -> None:
        self.empty_too = empty_too
        self._free = (char for char in map(chr, range(_FIRST_MARKER, 0x10FFFE)) if char not in text)
        self.owner: dict[str, tuple[int, str]] = {}  # marker -> number of the message, field

    def _wrapped(self, text: str, number: int, field: str) -> str:
        core = text.strip()
        if not core and not self.empty_too:
            return text
        start, stop = next(self._free), next(self._free)
        self.owner[start] = self.owner[stop] = number, field
        # inside the white space at the edges, which templates trim
        lead = text[: len(text) - len(text.lstrip())] if core else ""
        return f"{lead}{start}{core}{stop}{text[len(lead) + len(core) :] if core else text}"

    def message(self, message: dict[str, Any], number: int) -> dict[str, Any]:
        marked = dict(message)
        reasoning = message.get("reasoning_content")
        if isinstance(reasoning, str):
            wrapped = self._wrapped(reasoning, number, "reasoning_content")
            marked.update((name, wrapped) for name in REASONING_FIELDS if message.get(name) == reasoning)
        content = message.get("content")
        if isinstance(content, str):
            marked["content"] = self._wrapped(content, number, "content")
        elif isinstance(content, list):
            marked["content"] = [self._part(part, number) for part in content]
        if isinstance(message.get("tool_calls"), list):
            marked["tool_calls"] = [self._call(call, number) for call in message["tool_calls"]]
        return marked

    def _part(self, part: Any, number: int) -> Any:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            return {**part, "text": self._wrapped(part["text"], number, "content")}
        return part

    def _call(self, call: Any, number: int) -> Any:
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return call
        named = {**function, "name": self._wrapped(function["name"], number, "tool_calls")}
        return {**call, "function": named} if "function" in call else named

    def read(self, marked: str) -> tuple[str, list[tuple[tuple[int, str], int]]]:
        """The text without markers, and ((message, field), place in it) of each where it first occurs."""
        if not self.owner:
            return marked, []
        parts = re.split(f"([{''.join(self.owner)}])", marked)
        places: dict[str, int] = {}
        place = 0
        for piece, marker in zip(parts[::2], parts[1::2], strict=False):
            place += len(piece)
            places.setdefault(marker, place)
        return "".join(parts[::2]), [(self.owner[marker], place) for marker, place in places.items()]
