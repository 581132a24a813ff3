"""Reasoning and tool calls taken out of what is trained, where they stand proved by marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arrowprep.chat.messages import REASONING_FIELDS
from arrowprep.chat.sft.marks import Marks, field_name
from arrowprep.errors import MaskUnavailable

__all__ = ["without_fields"]

Chat = Sequence[Mapping[str, Any]]
Span = tuple[int, int]

# what closes a reasoning: </think>, [/THINK], <|end|>
_CLOSING = re.compile(r"\s*(?:</[^<>\s]+>|\[/[A-Z_]+\]|<\|[^<>|\s]+\|>)\s*")


@dataclass(frozen=True)
class _Field:
    """Where a field of an assistant's message begins and ends in the text."""

    message: int
    name: str
    start: int
    stop: int


def without_fields(
    chat: Chat,
    text: str,
    spans: Sequence[Span],
    names: Iterable[str],
    stops: tuple[str, ...],
    render: Callable[[Any], str],
) -> list[Span]:
    """The spans of text without the fields of these names, and without the tags around them.

    names: of "reasoning" and "tool_calls"
    stops: texts that end a turn, and stay

    A reasoning is taken out with all before it in its span, the tag that closes it, and white space; tool
    calls with all between what stands before them and the stop token. Raises MaskUnavailable where marks
    around the fields change the rendering, so that their places are not known.
    """
    wanted = set(names)
    if not any(name in wanted for message in chat for name in _fields_of(message)):
        return list(spans)
    fields = _places(chat, text, render)
    gone = [
        _reasoning(field, text, spans, fields)
        if field.name == "reasoning"
        else _tool_calls(field, text, spans, fields, stops)
        for field in fields
        if field.name in wanted
    ]
    return [part for span in spans for part in _less(span, gone)]


def _reasoning(field: _Field, text: str, spans: Sequence[Span], fields: Sequence[_Field]) -> Span:
    closing = _CLOSING.match(text, field.stop)
    return _begin(field, spans, fields), closing.end() if closing else field.stop


def _tool_calls(
    field: _Field, text: str, spans: Sequence[Span], fields: Sequence[_Field], stops: tuple[str, ...]
) -> Span:
    begin = _begin(field, spans, fields)
    for start, stop in spans:
        if start <= field.start < stop:
            turn = text[:stop].rstrip()
            ends = [len(turn) - len(token) for token in stops if turn.endswith(token)]
            return begin, max(min(ends, default=field.stop), field.stop)
    return begin, field.stop


def _begin(field: _Field, spans: Sequence[Span], fields: Sequence[_Field]) -> int:
    """Where the span begins that field is in, or after the last field of the message in it."""
    before = [start for start, stop in spans if start <= field.start < stop]
    before += [f.stop for f in fields if f.message == field.message and f.stop <= field.start]
    return max(before, default=field.start)


def _less(span: Span, gone: Iterable[Span]) -> Iterator[Span]:
    start, stop = span
    for begin, end in sorted(gone):
        if begin < stop and end > start:
            if begin > start:
                yield start, begin
            start = max(start, end)
    if start < stop:
        yield start, stop


def _places(chat: Chat, text: str, render: Callable[[Any], str]) -> list[_Field]:
    """The fields of assistant messages that the text holds, in the order of the text."""
    marks = Marks(text, around=True)
    marked = render([marks.message(m, number, _fields_of(m)) for number, m in enumerate(chat)])
    if marks.removed(marked) != text:
        raise MaskUnavailable(
            "where the reasoning and the tool calls stand is not known: the template treats their texts as "
            "more than text; train them too, or leave them out of the template's {% generation %}"
        )
    edges: dict[tuple[int, str], list[int]] = {}
    for mark, place in marks.places(marked):
        edges.setdefault((mark.message, mark.field), []).append(place)
    fields = [_Field(number, name, min(at), max(at)) for (number, name), at in edges.items()]
    return sorted(fields, key=lambda field: field.start)


def _fields_of(message: Mapping[str, Any]) -> list[str]:
    """The names of what an assistant's message says."""
    if message.get("role") != "assistant":
        return []
    known = ("content", "tool_calls", *REASONING_FIELDS)
    return [field_name(key) for key in known if message.get(key)]
