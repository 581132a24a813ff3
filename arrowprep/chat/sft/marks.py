"""Characters that no text holds, put beside the texts of messages: where they come out, the texts did."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arrowprep.chat.messages import REASONING_FIELDS

__all__ = ["NOT_SHOWN", "Mark", "Marks", "field_name"]

# keys that say what to do with a message, or what it belongs to
NOT_SHOWN = frozenset({"role", "type", "id", "tool_call_id", "train", "weight"})
_FIRST_MARK = 0xF0000  # of the private-use characters beyond those that fonts use


@dataclass(frozen=True, slots=True)
class Mark:
    """What a mark stands beside: a text of a field of a message, by its number."""

    message: int
    field: str
    text: str


class Marks:
    """Marks for messages that render as text.

    around: before and after each text; else after it alone, which fewer templates mind
    """

    def __init__(self, text: str, *, around: bool) -> None:
        self._free = (char for char in map(chr, range(_FIRST_MARK, 0x10FFFE)) if char not in text)
        self._around = around
        self.owners: dict[str, Mark] = {}

    def message(
        self, message: Mapping[str, Any], number: int, fields: Collection[str] | None = None
    ) -> dict[str, Any]:
        """The message with marks in all of its fields, or in these."""
        return {
            key: self._marked(value, number, field_name(key))
            if key not in NOT_SHOWN and (fields is None or field_name(key) in fields)
            else value
            for key, value in message.items()
        }

    def _marked(self, value: Any, number: int, field: str) -> Any:
        if isinstance(value, str):
            core = value.strip()  # inside the white space at the edges, which templates trim
            if not core:
                return value
            owner = Mark(number, field, core)
            start, stop = next(self._free) if self._around else "", next(self._free)
            self.owners.update({mark: owner for mark in (start, stop) if mark})
            at = value.index(core)
            return f"{value[:at]}{start}{core}{stop}{value[at + len(core) :]}"
        if isinstance(value, Mapping):
            return {k: v if k in NOT_SHOWN else self._marked(v, number, field) for k, v in value.items()}
        if isinstance(value, list):
            return [self._marked(item, number, field) for item in value]
        return value

    def removed(self, marked: str) -> str:
        """The text without marks."""
        return marked.translate({ord(mark): None for mark in self.owners})

    def places(self, marked: str) -> Iterator[tuple[Mark, int]]:
        """What each mark stands beside, and its place in the text without marks, where it first occurs."""
        if not self.owners:
            return
        seen: set[str] = set()
        for count, found in enumerate(re.finditer(f"[{''.join(self.owners)}]", marked)):
            if found[0] not in seen:
                seen.add(found[0])
                yield self.owners[found[0]], found.start() - count


def field_name(key: str) -> str:
    """A field by one name, whichever of several a message has it under."""
    return "reasoning" if key in REASONING_FIELDS else key
