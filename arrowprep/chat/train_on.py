"""Which of the assistant's messages are trained, and whether their reasoning and tool calls are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from arrowprep.chat.convention import Turn
from arrowprep.chat.template import Rendered
from arrowprep.errors import BadArgument, ChatError, MaskUnavailable

__all__ = ["TrainOn", "is_trained", "trained_spans"]

Span = tuple[int, int]
Chat = Sequence[Mapping[str, Any]]
Turns = Literal["assistant", "last"]

_THOUGHT = "</think>"


@dataclass(frozen=True, slots=True)
class TrainOn:
    """What the assistant wrote that is trained; its messages with `train` false or `weight` 0 never are.

    turns: "assistant" for all of the assistant's messages, "last" for its last
    reasoning: whether the thoughts before an answer are, with their tags
    tool_calls: whether calls are, with the end of the turn that follows them
    """

    turns: Turns = "assistant"
    reasoning: bool = True
    tool_calls: bool = True

    def __post_init__(self) -> None:
        if self.turns not in get_args(Turns):
            raise BadArgument(f'turns is "assistant" or "last", not {self.turns!r}')


def trained_spans(messages: Chat, rendered: Rendered, train_on: TrainOn) -> tuple[Span, ...]:
    """(start, stop) in characters of rendered.text of what is trained, in order.

    messages: those that were rendered, with their `train` or `weight`
    rendered: with spans; its turns are looked at where spans and messages do not pair, or a part is left out

    Raises MaskUnavailable where a choice needs to know what is not known, with what to do, and ChatError
    for a weight other than 0 and 1.
    """
    numbers = [number for number, message in enumerate(messages) if message.get("role") == "assistant"]
    wanted = {number for number in numbers if is_trained(messages[number])}
    if train_on.turns == "last":
        wanted &= set(numbers[-1:])
    spans = tuple(sorted(rendered.spans))
    if len(wanted) < len(numbers):
        owners = _owners(messages, numbers, spans, rendered)
        spans = tuple(span for span, owner in zip(spans, owners, strict=True) if owner in wanted)
    for left_out in _left_out(messages, sorted(wanted), rendered, train_on):
        spans = tuple(piece for span in spans for piece in _without(span, left_out))
    return spans


def is_trained(message: Mapping[str, Any]) -> bool:
    """Whether a message's own `train` or `weight` lets it be trained. Raises ChatError for other weights."""
    weight = message.get("weight", 1)
    if weight not in (0, 1):
        raise ChatError(f"a message's weight is 0 or 1, for labels know no other; not {weight!r}")
    return bool(message.get("train", weight))


def _owners(messages: Chat, numbers: list[int], spans: Sequence[Span], rendered: Rendered) -> list[int]:
    """The number of the message that each span belongs to."""
    if not rendered.turns_are_known and len(spans) == len(numbers):
        texts = (rendered.text[start:stop] for start, stop in spans)
        if all(_is_in(messages[number], text) for number, text in zip(numbers, texts, strict=True)):
            return numbers
    turns = _turns(rendered)
    owners = [_turn_at(span, turns) for span in spans]
    if turns and None not in owners:
        return [owner for owner in owners if owner is not None]
    raise MaskUnavailable(
        f"the {len(spans)} spans that the template marks cannot be told apart by the {len(numbers)} "
        "assistant messages, so that one of these cannot be chosen",
        spans=len(spans),
        turns=len(numbers),
    )


def _turns(rendered: Rendered) -> tuple[Turn, ...]:
    """() where they cannot be inferred beside a template's own spans."""
    try:
        return rendered.turns
    except MaskUnavailable:
        return ()


def _turn_at(span: Span, turns: Sequence[Turn]) -> int | None:
    extents = ((turn.message, turn.header, turn.newline) for turn in turns)
    return next((number for number, start, stop in extents if start < span[1] and span[0] < stop), None)


def _is_in(message: Mapping[str, Any], text: str) -> bool:
    """Whether all that the message says is in text."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    # templates drop the thoughts of earlier turns
    return all(said.rpartition(_THOUGHT)[2].strip() in text for said in texts if isinstance(said, str))


def _left_out(
    messages: Chat, numbers: Sequence[int], rendered: Rendered, train_on: TrainOn
) -> Iterator[Span]:
    """The reasoning and the tool calls of these messages that are not to be trained."""
    turns: dict[int, Turn] | None = None
    for number in numbers:
        message = messages[number]
        fields = (
            ("reasoning", train_on.reasoning, _has_reasoning(message)),
            ("tool_calls", train_on.tool_calls, bool(message.get("tool_calls"))),
        )
        for field, is_wanted, is_there in fields:
            if is_wanted or not is_there:
                continue
            if turns is None:
                turns = {turn.message: turn for turn in _turns(rendered)}
            place = getattr(turns[number], field) if number in turns else None
            if place is None:
                raise _untold(number, field)
            yield place


def _has_reasoning(message: Mapping[str, Any]) -> bool:
    if isinstance(message.get("content"), str) and _THOUGHT in message["content"]:
        return True
    return any(message.get(name) for name in ("reasoning_content", "thinking", "reasoning"))


def _untold(number: int, field: str) -> MaskUnavailable:
    what = field.replace("_", " ")
    return MaskUnavailable(
        f"message {number}: where its {what} begin and end cannot be told from the rest; keep the {what} in, "
        "or leave them out of the template's {% generation %}",
        message_number=number,
    )


def _without(span: Span, left_out: Span) -> Iterator[Span]:
    """What is left of span, in order."""
    start, stop = span
    if left_out[0] >= left_out[1]:
        yield span
        return
    for piece in ((start, min(stop, left_out[0])), (max(start, left_out[1]), stop)):
        if piece[0] < piece[1]:
            yield piece
