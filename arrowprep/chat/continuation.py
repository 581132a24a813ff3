"""Ending a rendering inside its last message, so that a model goes on with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from arrowprep.chat.messages import REASONING_FIELDS
from arrowprep.errors import ChatError, TemplateError

__all__ = ["Continuation", "continued"]

Continuation = Literal["exact", "transformers"]

# ends in a space: whether that is left shows whether the template trims
_MARK = "THE_MESSAGE_GOES_ON_HERE "


def continued(
    chat: list[dict[str, Any]],
    field: str,
    source: str,
    render: Callable[[list[dict[str, Any]]], str],
    continuation: Continuation = "exact",
) -> str:
    """The text of chat up to the end of the last message's field.

    field: "content", or another key of the message; of content parts the last text counts
    source: the template's text; a field that does not occur in it cannot be continued
    continuation: "transformers" gives its text where the prefix is empty and the template trims: without
        the white space that ends the header

    A mark is put at the end of the field and the rendering cut there. Where the
    template trims, the prefix loses its trailing blanks, but the header before
    an empty prefix keeps its own.
    """
    if continuation not in ("exact", "transformers"):
        raise ChatError(f'continuation is "exact" or "transformers", not {continuation!r}')
    last = chat[-1]
    prefix = last.get(field)
    if prefix is None:
        raise TemplateError(f"the last message has no {field!r} to continue", kind="continue_no_content")
    fields = [field]
    if field in REASONING_FIELDS:
        # reasoning has copies under several names, and the template reads one of them
        fields = [name for name in REASONING_FIELDS if last.get(name) == prefix]
    if not any(name in source for name in fields):
        raise TemplateError(f"the template does not read {field!r}", kind="continue_field_unknown")
    prefix, marked = _with_mark(prefix, field)
    text = render([*chat[:-1], {**last, **dict.fromkeys(fields, marked)}])
    if prefix.strip() not in text or _MARK.rstrip() not in text:
        raise TemplateError(
            f"the last message's {field} is not in the rendered text: the template changes or drops it",
            kind="continue_not_found",
        )
    at = text.rindex(_MARK.rstrip())
    keeps_white_space = text.startswith(_MARK, at) or (not prefix.strip() and continuation == "exact")
    return text[:at] if keeps_white_space else text[:at].rstrip()


def _with_mark(content: Any, field: str) -> tuple[str, Any]:
    """The text to be continued, and the field's value with the mark after it."""
    if isinstance(content, str):
        return content, content + _MARK
    for place in reversed(range(len(content))) if isinstance(content, (list, tuple)) else ():
        part = content[place]
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            marked = {**part, "text": part["text"] + _MARK}
            return part["text"], [*content[:place], marked, *content[place + 1 :]]
    raise TemplateError(f"the last message's {field} has no text to continue", kind="continue_no_content")
