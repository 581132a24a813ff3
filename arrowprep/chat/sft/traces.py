"""What of a conversation never reached its text, and what in it looks like a control token."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from arrowprep.chat.control_tokens import control_pattern
from arrowprep.chat.sft.examples import COLUMNS, VARIABLES, Chat, Reader, Row, rows_of
from arrowprep.chat.sft.marks import NOT_SHOWN, Marks
from arrowprep.errors import ChatError

__all__ = ["FindTraces", "untraced"]


@dataclass(frozen=True)
class FindTraces:
    """What `map` is given: a table of chats → `row` and `problems`, a list of texts for each row.

    special, added: tokens that must not stand in what people wrote; of the added ones only those that the
        template writes
    """

    reader: Reader
    special: tuple[str, ...]
    added: tuple[str, ...]

    input_format = "arrow"

    def __call__(self, table: pa.Table, numbers: Sequence[int]) -> dict[str, Any]:
        template = self.reader.template
        pattern = control_pattern(template.source if template else "", self.special, self.added)
        problems = [
            list(dict.fromkeys(self._problems(row, pattern)))
            for row in rows_of(table, (*COLUMNS[self.reader.shape], *VARIABLES))
        ]
        return {"row": pa.array(numbers, pa.int64()), "problems": pa.array(problems, pa.list_(pa.string()))}

    def _problems(self, row: Row, pattern: re.Pattern[str]) -> Iterator[str]:
        try:
            for chat in self.reader.chats_of(row):
                yield from untraced(chat, lambda chat: self.reader.render(chat, row))
                yield from _control_tokens(chat, pattern)
        except ChatError:
            return  # its own row says so


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
    marks = Marks(text, around=False)
    marked = [marks.message(message, number) for number, message in enumerate(chat)]
    try:
        found = render(marked)
    except ChatError:
        found = ""
    proves = marks.removed(found) == text
    seen: dict[int, dict[str, bool]] = {}
    for mark, of in marks.owners.items():
        fields = seen.setdefault(of.message, {})
        fields[of.field] = fields.get(of.field, False) or (mark in found if proves else of.text in text)
    roles = [message.get("role") for message in chat]
    shown = {roles[number] for number, fields in seen.items() if any(fields.values())}
    for number, fields in seen.items():
        role = roles[number]
        if role not in shown:
            yield f"role {role!r}: no message of it left a trace"
        elif not any(fields.values()):
            yield f"a message of role {role!r} left no trace"
        else:
            yield from (
                f"field {name!r} of role {role!r} reached nothing" for name in fields if not fields[name]
            )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, item in value.items() if key not in NOT_SHOWN for text in _texts(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _texts(item))
