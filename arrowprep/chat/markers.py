"""Where the texts of messages stand in a rendering, proved by characters put around them.

Private-use characters are put around each text of each message. Taken out of the rendering again they must
leave the unmarked rendering, which proves that they changed nothing, and so stand where the texts stand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, Generic, TypeVar

from arrowprep.chat.messages import REASONING_FIELDS
from arrowprep.errors import MaskUnavailable

__all__ = ["Chat", "Markers", "Render", "Traces", "traces_of", "traces_of_marked"]

Chat = list[dict[str, Any]]
# chat, with the generation prompt -> text; None where it is refused
Render = Callable[[Chat, bool], "str | None"]
Field = tuple[int, str]  # of a message, by its number
Owner = TypeVar("Owner")

_FIRST_MARKER = 0xF0000  # of the private-use characters beyond those that fonts use


class Markers(Generic[Owner]):
    """Characters that a text does not hold, put beside the texts that it is made of, and found again.

    both: before and after each; else after it alone, which fewer templates mind
    owners: whose text a marker stands beside
    ended: the texts that the markers after them stand beside
    """

    def __init__(self, text: str, *, both: bool = True) -> None:
        self._free = (char for char in map(chr, range(_FIRST_MARKER, 0x10FFFE)) if char not in text)
        self._both = both
        self.owners: dict[str, Owner] = {}
        self.ended: dict[str, str] = {}

    def beside(self, text: str, owner: Owner) -> str:
        """The text with markers, inside the white space at its edges, which templates trim."""
        core = text.strip()
        lead = text[: len(text) - len(text.lstrip())] if core else ""
        tail = text[len(lead) + len(core) :] if core else text
        start, stop = self._next() if self._both else "", self._next()
        self.owners.update({marker: owner for marker in (start, stop) if marker})
        self.ended[stop] = core
        return f"{lead}{start}{core}{stop}{tail}"

    def _next(self) -> str:
        for char in self._free:
            return char
        raise MaskUnavailable("the chat has too many texts, or private-use characters, to mark its texts")

    def read(self, marked: str) -> tuple[str, dict[str, int], list[tuple[str, int]]]:
        """The text without markers; the place in it of each marker, where it first occurs, and again."""
        if not self.owners:
            return marked, {}, []
        firsts: dict[str, int] = {}
        again: list[tuple[str, int]] = []
        pieces, end = [], 0
        # a range, and not each of them: re looks at one after the other
        for count, marker in enumerate(
            match
            for match in re.finditer(f"[{min(self.owners)}-{max(self.owners)}]", marked)
            if match[0] in self.owners
        ):
            pieces.append(marked[end : marker.start()])
            end = marker.end()
            place = marker.start() - count
            if marker[0] in firsts:
                again.append((marker[0], place))
            else:
                firsts[marker[0]] = place
        return "".join([*pieces, marked[end:]]), firsts, again


@dataclass(frozen=True)
class Traces:
    """Where marked texts stand in the rendering.

    first[i], last[i]: where those of message i begin and end, or None
    fields: the same of one field of a message, (i, "content") -> (first, last)
    repeated: of those messages whose texts stand again between first and last
    beheaded: the first text of a message where its beginning is not shown, and so stands before first
    unended: messages whose last text is shown without its end, and so goes on after last
    """

    first: list[int | None]
    last: list[int | None]
    fields: dict[Field, tuple[int, int]]
    repeated: frozenset[int] = frozenset()
    beheaded: Mapping[int, str] = field(default_factory=dict)
    unended: frozenset[int] = frozenset()

    def before(self, number: int) -> int:
        """Where the last text of the messages before this one ends."""
        return self._ends[number]

    def after(self, number: int, otherwise: int) -> int:
        """Where the first text of the messages after this one begins."""
        return min(self._begins[number + 1], otherwise)

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate((place or 0 for place in self.last), max, initial=0))

    @cached_property
    def _begins(self) -> list[int]:
        places = (sys.maxsize if place is None else place for place in reversed(self.first))
        return list(accumulate(places, min, initial=sys.maxsize))[::-1]


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
    chat: Chat, render: Render, text: str, messages: set[int], empty_too: bool, prompt: bool = False
) -> Traces | None:
    """Of text, which is render(chat, prompt); None where the marks change it."""
    markers: Markers[Field] = Markers(text)
    marked = render(
        [_marked(m, i, markers, empty_too) if i in messages else m for i, m in enumerate(chat)], prompt
    )
    if marked is None:
        return None
    clean, places, again = markers.read(marked)
    if clean != text:
        return None
    first: list[int | None] = [None] * len(chat)
    last: list[int | None] = [None] * len(chat)
    fields: dict[Field, tuple[int, int]] = {}
    beheaded: dict[int, str] = {}
    latest: dict[int, str] = {}
    for marker, place in places.items():
        owner = number, _ = markers.owners[marker]
        if first[number] is None:
            first[number] = place
            if marker in markers.ended:
                beheaded[number] = markers.ended[marker]
        last[number], latest[number] = place, marker
        fields[owner] = fields.get(owner, (place, place))[0], place
    numbers = ((markers.owners[marker][0], place) for marker, place in again)
    repeated = frozenset(i for i, place in numbers if (first[i] or 0) < place < (last[i] or 0))
    unended = frozenset(i for i, marker in latest.items() if marker not in markers.ended)
    return Traces(first, last, fields, repeated, beheaded, unended)


def _marked(message: dict[str, Any], number: int, markers: Markers[Field], empty_too: bool) -> dict[str, Any]:
    """The message with markers beside its reasoning, its content, and the name of each tool that it calls."""

    def beside(text: str, field: str) -> str:
        return markers.beside(text, (number, field)) if empty_too or text.strip() else text

    marked = dict(message)
    reasoning, content = message.get("reasoning_content"), message.get("content")
    if isinstance(reasoning, str):
        thought = beside(reasoning, "reasoning_content")
        marked.update((name, thought) for name in REASONING_FIELDS if message.get(name) == reasoning)
    if isinstance(content, str):
        marked["content"] = beside(content, "content")
    elif isinstance(content, list):
        marked["content"] = [_at(part, "text", lambda text: beside(text, "content")) for part in content]
    if isinstance(message.get("tool_calls"), list):
        marked["tool_calls"] = [
            {**call, "function": _at(call["function"], "name", lambda name: beside(name, "tool_calls"))}
            if isinstance(call, dict) and "function" in call
            else _at(call, "name", lambda name: beside(name, "tool_calls"))
            for call in message["tool_calls"]
        ]
    return marked


def _at(value: Any, key: str, change: Callable[[str], str]) -> Any:
    """The same with another text at this key, where it is a dict that has one."""
    if isinstance(value, dict) and isinstance(value.get(key), str):
        return {**value, key: change(value[key])}
    return value
