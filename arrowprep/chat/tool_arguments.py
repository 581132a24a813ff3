"""The arguments of tool calls as a template takes them: as a dict, or as JSON text.

Providers write JSON text, most templates want the dict; the wrong one is quoted twice, shown as Python shows
a dict, or a TypeError in the template. Which one a template takes is found by trying both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal

__all__ = ["ArgumentForm", "as_taken", "form_taken"]

Chat = list[dict[str, Any]]
ArgumentForm = Literal["dict", "text"]

_WORD = "Oslo"
_ARGUMENTS = {"city": _WORD}


def form_taken(render: Callable[[Chat], str | None]) -> ArgumentForm | None:
    """The form that a template takes; None where it takes both alike, or neither.

    render: chat -> text, None where the template refuses it
    """
    for chat in _probes():
        as_dict, as_text = (render(_with_arguments(chat, to)) for to in (_to_dict, _to_text))
        shows_dict, shows_text = (text is not None and _WORD in text for text in (as_dict, as_text))
        if shows_dict and shows_text:
            if f'\\"{_WORD}\\"' in str(as_text):
                return "dict"
            return "text" if f"'{_WORD}'" in str(as_dict) else None
        if shows_dict or shows_text:
            return "dict" if shows_dict else "text"
    return None


def as_taken(chat: Chat, form: ArgumentForm | None) -> Chat:
    """The chat with all arguments in this form; text that is no JSON object stays. None changes nothing."""
    if form is None or not any(message.get("tool_calls") for message in chat):
        return chat
    return _with_arguments(chat, _to_dict if form == "dict" else _to_text)


def _probes() -> Iterator[Chat]:
    """Chats with a call: some templates want an answer after it, or no content beside it."""
    function = {"name": "weather", "arguments": _ARGUMENTS}
    call = {"id": "call00001", "type": "function", "function": function}
    answer = {"role": "tool", "name": "weather", "tool_call_id": "call00001", "content": "wet"}
    for content in ({"content": ""}, {}):
        said: dict[str, Any] = {"role": "assistant", "tool_calls": [call], **content}
        chat: Chat = [{"role": "user", "content": "Hi"}, said]
        yield chat
        yield [*chat, answer, {"role": "assistant", "content": "It rains."}]


def _with_arguments(chat: Chat, to: Callable[[Any], Any]) -> Chat:
    return [
        {**message, "tool_calls": [_converted(call, to) for call in message["tool_calls"]]}
        if isinstance(message.get("tool_calls"), list)
        else message
        for message in chat
    ]


def _converted(call: Any, to: Callable[[Any], Any]) -> Any:
    if not isinstance(call, dict):
        return call
    if isinstance(call.get("function"), dict):
        return {**call, "function": _converted(call["function"], to)}
    return {**call, "arguments": to(call["arguments"])} if "arguments" in call else call


def _to_dict(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        read = json.loads(arguments)
    except ValueError:
        return arguments
    return read if isinstance(read, dict) else arguments


def _to_text(arguments: Any) -> Any:
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else arguments
