"""Messages reach a template as plain data, whatever they were written in."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.chat.messages import (
    conversations_of,
    is_conversation_batch,
    normalized,
    plain,
    without_padding,
)
from arrowprep.errors import ChatError


@dataclass
class Message:
    role: str
    content: Any
    extra: list[Any] = field(default_factory=list)


class Role(str, enum.Enum):
    USER = "user"


def test_a_dataclass_is_read_as_its_fields_at_every_depth() -> None:
    inner = Message("tool", "21")
    assert normalized([Message("user", "Hi", [inner])]) == [
        {"role": "user", "content": "Hi", "extra": [{"role": "tool", "content": "21", "extra": []}]}
    ]


def test_an_object_with_model_dump_is_read_by_it() -> None:
    class Model:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "user", "content": None}

    assert normalized([Model()]) == [{"role": "user"}]


def test_only_the_messages_own_nulls_are_dropped() -> None:
    call = {"arguments": {"exact": None}}
    assert normalized([{"role": "assistant", "content": None, "tool_calls": [call]}]) == [
        {"role": "assistant", "tool_calls": [call]}
    ]


@pytest.mark.parametrize("name", ["reasoning_content", "thinking", "reasoning"])
def test_reasoning_is_found_under_the_names_templates_read(name: str) -> None:
    (message,) = normalized([{"role": "assistant", name: "Hm."}])
    assert message["reasoning_content"] == message["thinking"] == "Hm."


def test_the_first_name_of_reasoning_wins() -> None:
    (message,) = normalized(
        [{"role": "assistant", "thinking": "b", "reasoning_content": None, "reasoning": "c"}]
    )
    assert message["reasoning_content"] == "b"


def test_the_callers_messages_are_not_touched() -> None:
    messages = [{"role": "assistant", "content": ["x"], "thinking": "t", "none": None}]
    (copy,) = normalized(messages)
    copy["content"].append("y")
    assert messages == [{"role": "assistant", "content": ["x"], "thinking": "t", "none": None}]


def test_subclasses_of_plain_types_lose_their_methods() -> None:
    values = plain([Role.USER, np.float64(0.5), np.int64(3), np.bool_(False), True])
    assert values == ["user", 0.5, 3, False, True]
    assert [type(value) for value in values] == [str, float, int, bool, bool]


def test_what_is_no_json_becomes_the_name_of_its_type() -> None:
    assert plain({"image": np.zeros(3), "call": len, "set": {1}}) == {
        "image": "<ndarray>",
        "call": "<builtin_function_or_method>",
        "set": "<set>",
    }


def test_a_conversation_may_be_json_text_or_an_object_with_messages() -> None:
    chat = [{"role": "user", "content": "Hi"}]

    class Conversation:
        messages = chat

    assert normalized('[{"role": "user", "content": "Hi"}]') == normalized(Conversation()) == chat


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([], "empty"),
        (["Hi"], "message 0 is of type str"),
        ([{"role": "user"}, 3], "message 1 is of type int"),
        ({"role": "user"}, "a list of messages, not dict"),
        (7, "a list of messages, not int"),
        ("Hi", "must be JSON"),
    ],
)
def test_what_is_no_conversation_is_refused_in_words(bad: Any, said: str) -> None:
    with pytest.raises(ChatError, match=said):
        normalized(bad)


def test_a_batch_is_known_by_its_first_element() -> None:
    chat = [{"role": "user", "content": "Hi"}]
    assert is_conversation_batch([chat])
    assert is_conversation_batch((tuple(chat),))
    assert is_conversation_batch(pa.array([chat]))
    assert not is_conversation_batch(chat)
    assert not is_conversation_batch([])
    assert conversations_of([chat, chat]) == ([chat, chat], True)
    assert conversations_of(chat) == ([chat], False)


def test_nulls_that_arrow_filled_in_read_as_absent_keys() -> None:
    column = pa.array(
        [
            [{"role": "a", "args": {"x": 1, "y": None}, "tags": ["p", None]}],
            [{"role": "b", "args": {"x": None, "y": 2}, "tags": None}],
        ]
    )
    assert conversations_of(column)[0] == [
        [{"role": "a", "args": {"x": 1}, "tags": ["p", None]}],
        [{"role": "b", "args": {"y": 2}}],
    ]
    assert normalized(column[1]) == [{"role": "b", "args": {"y": 2}}]
    assert without_padding(None) is None
