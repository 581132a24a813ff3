"""Conversations that try to work, or to take memory, without end; each of less than a megabyte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["BARE", "CHATS", "TAGGED"]

TAGGED = (
    "{% for m in messages %}<|start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content }}<|end|>{% endgeneration %}{% else %}{{ m.content }}<|end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
BARE = TAGGED.replace("{% generation %}", "").replace("{% endgeneration %}", "")


def _user(content: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content}]


def _turns(count: int, content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[i % 2], "content": content, **more} for i in range(count)]


def _nested(depth: int, around: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = around(value)
    return value


def _shared(depth: int) -> Any:
    """A list of shared lists: small, and without end when written out."""
    return _nested(depth, lambda value: [value, value])


CHATS: dict[str, Callable[[], Any]] = {
    "lists 100,000 deep": lambda: _user(_nested(100_000, lambda value: [value])),
    "dicts 100,000 deep": lambda: _user(_nested(100_000, lambda value: {"a": value})),
    "lists 900 deep": lambda: _user(_nested(900, lambda value: [value])),
    "lists 200 deep": lambda: _user(_nested(200, lambda value: [value])),
    "JSON text that never closes": lambda: "[" * 900_000,
    "JSON text that nests": lambda: "[" * 90_000 + "]" * 90_000,
    "JSON text of a number": lambda: '[{"role": "user", "content": ' + "9" * 900_000 + "}]",
    "a number of 400,000 digits": lambda: _user(10**400_000),
    "not a number": lambda: _user([float("nan"), float("inf")]),
    "a list that shares itself 60 deep": lambda: _user(_shared(60)),
    "a list that shares itself 25 deep": lambda: _user(_shared(25)),
    "numbers of one hash": lambda: _user([i * (2**61 - 1) for i in range(18_000)]),
    "22,000 messages": lambda: _turns(22_000, "a"),
    "3,000 messages with thoughts": lambda: _turns(3000, "a", reasoning_content="b"),
    "100 messages of control tokens": lambda: _turns(100, "<|end|>" * 1400),
    "two messages of open brackets": lambda: _turns(2, "<" * 450_000),
    "two messages of open tags": lambda: _turns(2, "<a" * 220_000),
    "two messages of thoughts": lambda: _turns(2, "<think></think>" * 30_000),
    "two messages of thoughts and blanks": lambda: _turns(2, (" " * 2000 + "<think>") * 200),
    "messages of line breaks": lambda: _turns(20, "\n" * 45_000 + "x"),
    "all private characters": lambda: _turns(2, "".join(map(chr, range(0xF0000, 0x10FFFE)))),
    "30,000 parts": lambda: _turns(2, [{"type": "text", "text": "a"}] * 15_000),
    "9,000 calls": lambda: [
        *_user("a"),
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}] * 9000},
    ],
    "60,000 keys": lambda: [{"role": "assistant", **{f"k{i}": i for i in range(60_000)}}],
    "half surrogates": lambda: _turns(2, "\ud800" * 1000),
    "odd roles": lambda: [{"role": ["user"]}, {"role": None}, {"role": 5, "content": {"a": b"b"}}],
    "objects": lambda: _user([object(), type, exit, b"x" * 1000]),
}
