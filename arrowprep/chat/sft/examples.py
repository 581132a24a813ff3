"""Rows → texts, and the characters of them that the model is to write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from arrowprep.chat.control_tokens import marked, unmarked, without_marks
from arrowprep.chat.messages import normalized, plain
from arrowprep.chat.sft.spec import SFTSpec, Shape
from arrowprep.chat.template import ChatTemplate
from arrowprep.chat.tool_arguments import as_taken
from arrowprep.chat.train_on import TrainOn, is_trained, trained_spans
from arrowprep.errors import ChatError

__all__ = ["Example", "Reader", "rows_of"]

Chat = list[dict[str, Any]]
Row = Mapping[str, Any]

_ROLES = {"human": "user", "gpt": "assistant"}  # of conversations in from/value form
_LOOKS_LIKE_A_STOP = re.compile(r"<\|[^<>|\s]{1,60}\|>\Z")  # where the tokenizer does not know it


@dataclass(frozen=True, slots=True)
class Example:
    """One text to train on.

    spans: (start, stop) in characters of text, of what is trained
    stop: the stop token that it ends in, "" for none; None where no stop token is known
    problem: why the row cannot be used; its text is then empty
    marked: the text with marks around stretches that are no control tokens, where there are any
    """

    text: str
    spans: Sequence[tuple[int, int]] = ()
    stop: str | None = None
    problem: str | None = None
    marked: str | None = None


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
    controls: matches control tokens, which are marked in chats; None marks none
    """

    spec: SFTSpec
    shape: Shape
    template: ChatTemplate | None
    stops: tuple[str, ...]
    eos: str
    controls: re.Pattern[str] | None = None

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
        chat, variables = self._given(chat, row)
        return self._template().render(chat, add_generation_prompt=prompt, **variables).text

    def _given(self, chat: Chat, row: Row) -> tuple[Chat, dict[str, Any]]:
        """A chat and the variables of its row as the template gets them.

        The arguments of calls are in the form that it takes, and control tokens have marks around them.
        """
        variables = self._variables(row)
        if any(message.get("tool_calls") for message in chat):
            chat = as_taken(normalized(chat), self._template().argument_form)
        if self.controls is None:
            return chat, variables
        return marked(normalized(chat), self.controls), marked(plain(variables), self.controls)

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
        whole = self.spec.convention is None and self.spec.of_turns == TrainOn()
        if whole and all(m.get("role") == "assistant" and is_trained(m) for m in after):
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
        given, variables = self._given(chat, row)
        rendered = self._template().render_with_spans(
            given, spans=spec.spans, stop_strings=spec.stop_strings, convention=spec.convention, **variables
        )
        return rendered.text, trained_spans(given, rendered, spec.of_turns)

    def _with_eos(self, text: str) -> str:
        return text if not text or text.endswith(self.eos) else text + self.eos

    def _example(self, text: str, spans: Sequence[tuple[int, int]]) -> Example:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ChatError(f"the text has half of a surrogate pair: {error}") from error
        stop = self._stop(text, spans)
        if self.controls is None:
            return Example(text, spans, stop)
        return Example(without_marks(text), unmarked(text, spans), stop, marked=text)

    def _stop(self, text: str, spans: Sequence[tuple[int, int]]) -> str | None:
        end = max((stop for start, stop in spans if start < stop), default=None)
        if end is None:
            return None
        trained = text[:end].rstrip()
        known = max((stop for stop in self.stops if trained.endswith(stop)), key=len, default="")
        looks = _LOOKS_LIKE_A_STOP.search(trained)
        if known or looks:
            return known or str(looks and looks[0])
        return "" if any(stop in text for stop in self.stops) else None


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
        raise ChatError(
            f"message {number} is of type {type(message).__name__}, not a dict", message_number=number
        )
    if "from" not in message or "role" in message:
        return message
    rest = {key: value for key, value in message.items() if key not in ("from", "value")}
    role = message["from"]
    return {"role": _ROLES.get(role, role), "content": message.get("value"), **rest}


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
