"""Rows → texts, and the characters of them that the model is to write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from arrowprep.chat.sft.fields import without_fields
from arrowprep.chat.sft.spec import SFTSpec, Shape
from arrowprep.chat.template import ChatTemplate, Rendered
from arrowprep.errors import ChatError, MaskUnavailable

__all__ = ["Example", "Reader", "rows_of"]

Chat = list[dict[str, Any]]
Row = Mapping[str, Any]

_ROLES = {"human": "user", "gpt": "assistant"}  # of conversations in from/value form
_LOOKS_LIKE_A_STOP = re.compile(r"<\|[^<>|\s]{1,60}\|>\Z")  # where the tokenizer does not know it


@dataclass(frozen=True, slots=True)
class Example:
    """One text to train on.

    spans: (start, stop) in characters of text, of what is trained
    stops: whether that ends in a stop token; None where no stop token is known
    problem: why the row cannot be used; its text is then empty
    """

    text: str
    spans: Sequence[tuple[int, int]] = ()
    stops: bool | None = None
    problem: str | None = None


def rows_of(table: pa.Table, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows of these columns as Python data, without the nulls that only fill up Arrow's structs.

    JSON text in them is read, and keeps the nulls that were written.
    """
    present = [name for name in names if name in table.column_names]
    columns = [
        [_shown(value, table.schema.field(name).type) for value in table.column(name).to_pylist()]
        for name in present
    ]
    for values in zip(*columns, strict=True):
        yield dict(zip(present, values, strict=True))


def _shown(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if isinstance(kind, pa.BaseExtensionType):
        return json.loads(value) if kind.extension_name == "arrow.json" else value
    if pa.types.is_struct(kind):
        fields = ((field.name, field.type) for field in kind)
        return {n: _shown(value[n], of) for n, of in fields if value.get(n) is not None}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [_shown(item, kind.value_type) for item in value]
    return value


COLUMNS: Mapping[Shape, tuple[str, ...]] = {
    "messages": ("messages", "conversations"),
    "completion": ("prompt", "completion"),
    "text": ("text",),
    "preference": ("prompt", "chosen", "rejected"),
}
VARIABLES = ("tools", "documents", "chat_template_kwargs")


@dataclass(frozen=True)
class Reader:
    """Makes examples of rows of one shape.

    template: for chats; None where there is none
    stops: texts that end a turn
    eos: what is put at the end of plain texts; "" where the tokenizer does that, or has none
    """

    spec: SFTSpec
    shape: Shape
    template: ChatTemplate | None
    stops: tuple[str, ...]
    eos: str

    def examples(self, table: pa.Table) -> Iterator[tuple[Example, ...]]:
        """For each row its example, or the two of a preference; one with a problem instead of an error."""
        read: Callable[[Row], tuple[Example, ...]] = getattr(self, f"_{self.shape}")
        for row in rows_of(table, (*COLUMNS[self.shape], *VARIABLES)):
            try:
                yield read(row)
            except ChatError as error:
                refused = Example("", problem=str(error))
                yield (refused,) * (2 if self.shape == "preference" else 1)

    def chats_of(self, row: Row) -> list[Chat]:
        """The conversations of a row: of a preference both."""
        if self.shape == "messages":
            return [self._chat_of(row)]
        if self.shape == "completion":
            return [[*_chat(row.get("prompt")), *_chat(row.get("completion"))]]
        prompt = [] if row.get("prompt") is None else _chat(row.get("prompt"))
        return [[*prompt, *_chat(row.get(side))] for side in ("chosen", "rejected")]

    def _chat_of(self, row: Row) -> Chat:
        given = row.get("messages")
        return _chat(row.get("conversations") if given is None else given)

    def render(self, chat: Chat, row: Row, *, prompt: bool = False) -> str:
        """The text of a chat with the tools and variables of its row."""
        return self._template().render(chat, add_generation_prompt=prompt, **self._variables(row)).text

    def _template(self) -> ChatTemplate:
        if self.template is None:
            raise ChatError('the tokenizer has no chat template; give template="..."')
        return self.template

    def _variables(self, row: Row) -> dict[str, Any]:
        """tools, documents and the row's own variables; an empty list of tools is no list of tools."""
        own = _data(row.get("chat_template_kwargs")) or {}
        if not isinstance(own, dict):
            raise ChatError(f"chat_template_kwargs is a dict of variables, not {type(own).__name__}")
        lists = {name: _data(row.get(name)) or None for name in ("tools", "documents")}
        return lists | own

    # --- shapes ---

    def _messages(self, row: Row) -> tuple[Example, ...]:
        chat = self._chat_of(row)
        if self.spec.train_on == "all":
            text = self.render(chat, row)
            return (self._example(text, [(0, len(text))]),)
        text, spans = self._trained(chat, row)
        return (self._example(text, spans),)

    def _completion(self, row: Row) -> tuple[Example, ...]:
        return (self._continued(row.get("prompt"), row.get("completion"), row),)

    def _text(self, row: Row) -> tuple[Example, ...]:
        text = self._with_eos(row.get("text") or "")
        return (self._example(text, [(0, len(text))]),)

    def _preference(self, row: Row) -> tuple[Example, ...]:
        prompt, sides = row.get("prompt"), (row.get("chosen"), row.get("rejected"))
        if prompt is None:
            prompt, sides = _common_prompt(*sides)
        chosen, rejected = (self._continued(prompt, side, row) for side in sides)
        return chosen, rejected

    def _continued(self, prompt: Any, completion: Any, row: Row) -> Example:
        """Prompt and completion as one text; what follows the prompt is trained."""
        if self.template is None:
            if not isinstance(prompt, str) or not isinstance(completion, str):
                given = type(completion if isinstance(prompt, str) else prompt).__name__
                raise ChatError(f"prompt and completion are both texts, or both messages; one is {given}")
            text = self._with_eos(prompt + completion)
            return self._example(text, [(0 if self.spec.train_on == "all" else len(prompt), len(text))])
        before, after = _chat(prompt), _chat(completion)
        text, start = self._continued_chat(before, after, row)
        if self.spec.train_on == "all":
            return self._example(text, [(0, len(text))])
        if self.spec.trains_turns_whole and all(_is_plain_turn(message) for message in after):
            return self._example(text, [(start, len(text))])
        _, spans = self._trained([*before, *after], row)
        return self._example(text, [(max(first, start), stop) for first, stop in spans if stop > start])

    def _continued_chat(self, prompt: Chat, completion: Chat, row: Row) -> tuple[str, int]:
        """The text of both, and where in it the prompt ends."""
        text = self.render([*prompt, *completion], row)
        start = self.render(prompt, row, prompt=True)
        if not text.startswith(start):
            raise ChatError(
                "the prompt is not a prefix of prompt and completion: the template renders it as "
                f"…{_differing(start, text)!r}… alone, but as …{_differing(text, start)!r}… in the whole"
            )
        return text, len(start)

    def _trained(self, chat: Chat, row: Row) -> tuple[str, Sequence[tuple[int, int]]]:
        """The text of a chat and its spans to train on."""
        spec = self.spec
        rendered = self._template().render_with_spans(
            chat,
            spans=spec.spans,
            stop_strings=spec.stop_strings,
            convention=spec.convention,
            **self._variables(row),
        )
        spans = _chosen(chat, rendered, spec.train_on)
        if not spec.left_out:
            return rendered.text, spans
        return rendered.text, without_fields(
            chat, rendered.text, spans, spec.left_out, self.stops, lambda marked: self.render(marked, row)
        )

    def _with_eos(self, text: str) -> str:
        return text if not text or text.endswith(self.eos) else text + self.eos

    def _example(self, text: str, spans: Sequence[tuple[int, int]]) -> Example:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ChatError(f"the text has half of a surrogate pair: {error}") from error
        end = max((stop for start, stop in spans if start < stop), default=None)
        if end is None:
            return Example(text, spans)
        trained = text[:end].rstrip()
        if trained.endswith(self.stops) or _LOOKS_LIKE_A_STOP.search(trained):
            return Example(text, spans, True)
        return Example(text, spans, False if any(stop in text for stop in self.stops) else None)


def _chat(given: Any) -> Chat:
    """Messages with role and content, of what may have from and value."""
    given = _data(given)
    if not isinstance(given, list):
        raise ChatError(f"a conversation is a list of messages, not {type(given).__name__}")
    if not given:
        raise ChatError("the conversation is empty; a template needs at least one message")
    return [_message(message, number) for number, message in enumerate(given)]


def _data(given: Any) -> Any:
    """What JSON text says; other data as it is."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except ValueError as error:
        raise ChatError(f"text in place of a list or dict must be JSON: {error}") from error


def _message(message: Any, number: int) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise ChatError(f"message {number} is a {type(message).__name__}, not a dict", message_number=number)
    if "from" not in message or "role" in message:
        return message
    rest = {key: value for key, value in message.items() if key not in ("from", "value")}
    role = message["from"]
    return {"role": _ROLES.get(role, role), "content": message.get("value"), **rest}


def _chosen(chat: Chat, rendered: Rendered, train_on: str) -> Sequence[tuple[int, int]]:
    """The spans of the turns to train on. Raises where spans cannot be told apart by turn."""
    turns = [number for number, message in enumerate(chat) if message.get("role") == "assistant"]
    wanted = {number for number in turns if _is_trained(chat[number])}
    if train_on == "last":
        wanted.intersection_update(turns[-1:])
    spans = sorted(rendered.spans)
    if len(wanted) == len(turns):
        return spans
    if rendered.turns:
        extents = [(turn.header, turn.newline) for turn in rendered.turns if turn.message in wanted]
        return [span for span in spans if any(a <= span[0] and span[1] <= b for a, b in extents)]
    if len(spans) != len(turns):
        raise MaskUnavailable(
            f"the template marks {len(spans)} spans for {len(turns)} assistant messages, so that one message "
            'cannot be chosen; spans="infer" may find one for each',
            spans=len(spans),
            turns=len(turns),
        )
    return [span for span, number in zip(spans, turns, strict=True) if number in wanted]


def _is_plain_turn(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant" and _is_trained(message)


def _is_trained(message: Mapping[str, Any]) -> bool:
    weight = message.get("weight", 1)
    if weight not in (0, 1):
        raise ChatError(f"a message's weight is 0 or 1, for labels know no other; not {weight!r}")
    return bool(message.get("train", weight))


def _common_prompt(chosen: Any, rejected: Any) -> tuple[Any, tuple[Any, Any]]:
    """The messages that both begin with, and what follows them."""
    if not isinstance(chosen, list) or not isinstance(rejected, list):
        raise ChatError("`chosen` and `rejected` without `prompt` must be conversations, which share one")
    shared = 0
    for ours, theirs in zip(chosen[:-1], rejected[:-1], strict=False):
        if ours != theirs:
            break
        shared += 1
    if not shared:
        raise ChatError("`chosen` and `rejected` begin with no common message; give the prompt in `prompt`")
    return chosen[:shared], (chosen[shared:], rejected[shared:])


def _differing(text: str, other: str) -> str:
    """From a little before the place where text is no longer other."""
    same = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), len(other))
    return text[max(same - 20, 0) : same + 20]
