"""What of a conversation never reached its text, what looks like a control token, what the template adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from arrowprep.chat.markers import Markers
from arrowprep.chat.messages import REASONING_FIELDS
from arrowprep.chat.sft.examples import COLUMNS, VARIABLES, Chat, Reader, Row, rows_of
from arrowprep.errors import ChatError

__all__ = ["FindTraces", "excerpts", "opening", "untraced"]

# keys that say what to do with a message, or what it belongs to
_NOT_SHOWN = frozenset({"role", "from", "type", "id", "tool_call_id", "train", "weight"})
_EXCERPT = 60  # characters
_WORDS = 4  # before the first text; a header has fewer
_MARKUP = re.compile(r"<[^<>\s]*>|\[/?[A-Z_]+\]")


@dataclass(frozen=True, slots=True)
class _Said:
    """A text of a field of a message, by its number."""

    message: int
    field: str
    text: str


@dataclass(frozen=True)
class FindTraces:
    """What `map` is given: a table of chats → `row`, `problems` and `added`, lists of texts for each row.

    controls: matches the tokens that must not stand in what people wrote; None where they may
    """

    reader: Reader
    controls: re.Pattern[str] | None

    input_format = "arrow"

    def __call__(self, table: pa.Table, numbers: Sequence[int]) -> dict[str, Any]:
        rows = list(rows_of(table, (*COLUMNS[self.reader.shape], *VARIABLES)))
        problems, added = (
            [list(dict.fromkeys(of(row))) for row in rows] for of in (self._problems, self._added)
        )
        return {
            "row": pa.array(numbers, pa.int64()),
            "problems": pa.array(problems, pa.list_(pa.string())),
            "added": pa.array(added, pa.list_(pa.string())),
        }

    def _problems(self, row: Row) -> Iterator[str]:
        try:
            for chat in self.reader.chats_of(row):
                yield from untraced(chat, lambda chat: self.reader.render(chat, row))
                if self.controls is not None:
                    yield from _control_tokens(chat, self.controls)
        except ChatError:
            return  # its own row says so

    def _added(self, row: Row) -> Iterator[str]:
        if any(row.get(name) for name in VARIABLES):
            return  # which templates write before the first message
        try:
            for chat in self.reader.chats_of(row):
                begin = opening(chat, lambda chat: self.reader.render(chat, row))
                if begin:
                    yield f"the template begins with {begin!r}"
        except ChatError:
            return


def _control_tokens(chat: Chat, pattern: re.Pattern[str]) -> Iterator[str]:
    for message in chat:
        for text in _texts(message):
            for token in dict.fromkeys(pattern.findall(text)):
                yield f"control token {token!r} in a message of role {message.get('role')!r}"


def untraced(chat: Chat, render: Callable[[Chat], str]) -> Iterator[str]:
    """Messages and fields of a chat that left nothing in its rendering, in words.

    A character that no text holds is put after each text of the data; what is not in the rendering then never
    was. Where that changes the rest of the text, the texts themselves are looked for.
    """
    text = render(chat)
    markers: Markers[_Said] = Markers(text, both=False)
    marked = [_marked(message, number, markers) for number, message in enumerate(chat)]
    try:
        found = render(marked)
    except ChatError:
        found = ""
    proves = markers.read(found)[0] == text
    seen: dict[int, dict[str, bool]] = {}
    for marker, said in markers.owners.items():
        fields = seen.setdefault(said.message, {})
        shown = marker in found if proves else said.text in text
        fields[said.field] = fields.get(said.field, False) or shown
    roles = [message.get("role") for message in chat]
    shown_roles = {roles[number] for number, fields in seen.items() if any(fields.values())}
    for number, fields in seen.items():
        role = roles[number]
        if role not in shown_roles:
            yield f"role {role!r}: no message of it left a trace"
        elif not any(fields.values()):
            yield f"a message of role {role!r} left no trace"
        else:
            yield from (
                f"field {name!r} of role {role!r} reached nothing" for name in fields if not fields[name]
            )


def opening(chat: Chat, render: Callable[[Chat], str]) -> str:
    """What the template writes before the first text of a chat, "" where that is a header and no more."""
    text = render(chat)
    markers: Markers[_Said] = Markers(text, both=False)
    marked = [_marked(message, number, markers) for number, message in enumerate(chat)]
    try:
        clean, places, _ = markers.read(render(marked))
    except ChatError:
        return ""
    if clean != text or not places:
        return ""
    marker, place = min(places.items(), key=lambda item: item[1])
    before = text[: max(0, place - len(markers.owners[marker].text))].strip()
    return before if len(_MARKUP.sub(" ", before).split()) >= _WORDS else ""


def _marked(message: dict[str, Any], number: int, markers: Markers[_Said]) -> dict[str, Any]:
    """The message with a marker after each text of all its fields."""

    def of(value: Any, field: str) -> Any:
        if isinstance(value, str):
            said = _Said(number, field, value.strip())
            return markers.beside(value, said) if said.text else value
        if isinstance(value, dict):
            return {k: v if k in _NOT_SHOWN else of(v, field) for k, v in value.items()}
        return [of(item, field) for item in value] if isinstance(value, list) else value

    return {
        key: value if key in _NOT_SHOWN else of(value, "reasoning" if key in REASONING_FIELDS else key)
        for key, value in message.items()
    }


def excerpts(table: pa.Table, names: Sequence[str]) -> Iterator[str]:
    """The first words that people wrote in each row of these columns, on one line and printable."""
    for row in rows_of(table, names):
        words = " / ".join(" ".join(text.split()) for text in _texts(row) if text.strip())
        begin = words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"
        yield "".join(char if char.isprintable() else repr(char)[1:-1] for char in begin)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, item in value.items() if key not in _NOT_SHOWN for text in _texts(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _texts(item))
