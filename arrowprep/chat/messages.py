"""Messages as a template sees them: plain JSON data, whatever the caller wrote them in."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

from arrowprep.errors import ChatError, TemplateForbidden

__all__ = ["conversations_of", "is_conversation_batch", "normalized", "plain", "without_padding"]

# the names under which models return their reasoning; templates read the first, gpt-oss the second
REASONING_FIELDS = ("reasoning_content", "thinking", "reasoning")

_LEAVES = frozenset({str, float, bool, type(None)})
_MOST_PARTS = 1_000_000  # of a chat, where a part counts as often as it occurs
_LARGEST_INT = 1 << 4096
_MOST_DIGITS = 2000  # which is too large already


def is_conversation_batch(value: Any) -> bool:
    """Whether value holds several conversations rather than the messages of one.

    The first element decides: a list, a tuple or an object with `.messages` is a conversation.
    An Arrow column of lists is a batch.
    """
    if _is_arrow(value):
        return _is_arrow_column_of_lists(value)
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return isinstance(value[0], (list, tuple)) or hasattr(value[0], "messages")


def conversations_of(value: Any) -> tuple[list[Any], bool]:
    """The conversations in value, and whether it was a batch.

    Arrow data loses the nulls that only fill up its structs; see `without_padding`.
    """
    batched = is_conversation_batch(value)
    if _is_arrow(value):
        value = without_padding(value.to_pylist() if hasattr(value, "to_pylist") else value.as_py())
    return (list(value), True) if batched else ([value], False)


def normalized(conversation: Any) -> list[dict[str, Any]]:
    """The messages of one conversation as new, plain dicts.

    Keys whose value is None are dropped (only the message's own: a null inside
    tool arguments is data), and reasoning is found under each name templates
    read. JSON text is read, an object with `.messages` opened. Raises ChatError.
    """
    messages = getattr(conversation, "messages", conversation)
    if isinstance(messages, str):
        messages = _from_json(messages, "messages")
    elif _is_arrow(messages):
        messages = conversations_of(messages)[0][0]
    if isinstance(messages, Mapping) or not isinstance(messages, Iterable):
        raise ChatError(f"a conversation is a list of messages, not {type(messages).__name__}")
    left = [_MOST_PARTS]
    chat = [_message(message, number, left) for number, message in enumerate(messages)]
    if not chat:
        raise ChatError("the conversation is empty; a template needs at least one message")
    return chat


def _message(message: Any, number: int, left: list[int]) -> dict[str, Any]:
    if type(message) is dict:  # in one pass, for every rendering pays for it
        left[0] -= len(message)
        data = {
            (k if type(k) is str else plain(k, left)): (v if type(v) is str else plain(v, left))
            for k, v in message.items()
            if v is not None
        }
        return _with_reasoning(data)
    data = plain(message, left)
    if type(data) is not dict:
        raise ChatError(
            f"message {number} is of type {type(message).__name__}; "
            "messages are dicts, dataclasses or pydantic models with a role and a content",
            message_number=number,
        )
    return _with_reasoning({key: value for key, value in data.items() if value is not None})


def _with_reasoning(data: dict[str, Any]) -> dict[str, Any]:
    """The message with its reasoning under each name that templates read."""
    for name in REASONING_FIELDS:
        if name in data:
            reasoning = data[name]
            return {"thinking": reasoning, **data, "reasoning_content": reasoning}
    return data


def plain(value: Any, left: list[int] | None = None) -> Any:
    """A copy of value in plain JSON types; what has no such form becomes "<its type's name>".

    So a template never holds an object with methods of its own, and never the
    caller's data itself.

    left: [how many more parts the copy may have]; lists of shared lists are small, and their copy is not

    Raises TemplateForbidden where they are too many, or a number has more than a thousand digits.
    """
    kind = type(value)
    if kind in _LEAVES:
        return value
    if kind is int:
        return _small(value)
    left = [_MOST_PARTS] if left is None else left
    if kind is dict:
        left[0] -= len(value)
        if left[0] < 0:
            raise _too_many()
        return {
            (k if type(k) is str else plain(k, left)): (v if type(v) is str else plain(v, left))
            for k, v in value.items()
        }
    if kind is list:
        left[0] -= len(value)
        if left[0] < 0:
            raise _too_many()
        return [item if type(item) is str else plain(item, left) for item in value]
    return _plain_of_other_types(value, left)


def _too_many() -> TemplateForbidden:
    return TemplateForbidden(
        f"the conversation, or its tools, have more than {_MOST_PARTS:,} parts", kind="limit"
    )


def _small(number: int) -> int:
    if -_LARGEST_INT < number < _LARGEST_INT:
        return number
    raise TemplateForbidden(
        "a number in the conversation has more than a thousand digits; write it as text", kind="limit"
    )


def _plain_of_other_types(value: Any, left: list[int]) -> Any:
    # a subclass of a JSON type (an Enum, a NumPy float) is brought down to the base, without its methods
    for base in (str, int, float):
        if isinstance(value, base):
            return plain(getattr(base, f"__{base.__name__}__")(value))
    if isinstance(value, (Mapping, list, tuple)):
        left[0] -= len(value)
        if left[0] < 0:
            raise _too_many()
    if isinstance(value, Mapping):
        return {plain(key, left): plain(item, left) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [plain(item, left) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if type(value).__module__ == "numpy" and not hasattr(value, "__len__") and hasattr(value, "item"):
        return plain(value.item(), left)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), left) for field in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)):
        return plain(value.model_dump(), left)
    return f"<{type(value).__name__}>"


def without_padding(value: Any) -> Any:
    """value without the keys that are None, at every depth.

    Arrow stores one set of keys for a whole column, and fills those a row does
    not have with null; shown to a template they would read as arguments and
    parameters that nobody wrote. In Arrow data a null that was written cannot
    be told from one that was filled in: where it matters, store JSON text.

    >>> without_padding([{"city": "Oslo", "unit": None, "tags": [None, "a"]}])
    [{'city': 'Oslo', 'tags': [None, 'a']}]
    """
    if isinstance(value, dict):
        return {key: without_padding(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_padding(item) for item in value]
    return value


def _from_json(text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_int=lambda digits: _small(int(digits[:_MOST_DIGITS])))
    except TemplateForbidden:
        raise
    except ValueError as error:
        raise ChatError(f"{what} given as text must be JSON: {error}") from error


def _is_arrow(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pyarrow"


def _is_arrow_column_of_lists(value: Any) -> bool:
    import pyarrow as pa

    if not isinstance(value, (pa.Array, pa.ChunkedArray)):
        return False
    kind = value.type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
