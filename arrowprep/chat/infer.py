"""The assistant's turns in the text of a template without generation tags, proved or refused.

Two methods, on the characters of the whole rendering:

*Prefix.* If the chat before a turn with the generation prompt, the chat up to and with the turn, and the
whole chat begin with one another, the turn is what lies between the first two.

*Marker.* Private-use characters are put around each text of each message. Taken out of the rendering again
they must leave the unmarked rendering, which proves that they changed nothing, and so stand where the texts
stand. A turn then begins after its header in the window before its first marker, and ends with what follows
its last marker whatever comes next.

Markers are always placed; the prefix must agree with them. Where neither proves a turn, or a turn has no
stop token, the rendering is refused: a wrong mask trains the model on the user's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from arrowprep.chat.convention import Turn
from arrowprep.chat.messages import REASONING_FIELDS
from arrowprep.errors import MaskUnavailable

__all__ = ["inferred_turns"]

Chat = list[dict[str, Any]]
Render = Callable[
    [Chat, bool], "str | None"
]  # chat, with the generation prompt -> text; None where it is refused

# control tokens by their look: <|im_end|>, <eos>, [/INST]; a closing tag such as </tool_call> ends no turn
_TOKEN = re.compile(r"<[^<>\s/][^<>\s]{0,60}>|\[/?[A-Z_]{2,20}\]")
# <think></think>, or its closing tag alone, with the white space around it
_EMPTY_REASONING = re.compile(r"(\s*)((?:<(\w+)>\s*</\3>|</think>)\s*)")
_FIRST_MARKER = 0xF0000
_PROBE: Chat = [{"role": "user", "content": "And then?"}]


def inferred_turns(
    chat: Chat, render: Render, prompt: bool, tokens: Iterable[str] = (), stops: Iterable[str] = ()
) -> list[Turn]:
    """The turn in render(chat, prompt) of each assistant's message.

    tokens: the tokenizer's special tokens
    stops: strings that end a turn, beside those that look like control tokens

    Raises MaskUnavailable, with the number of the message and the reason.
    """
    numbers = [number for number, message in enumerate(chat) if message.get("role") == "assistant"]
    text = render(chat, False)
    if text is None or not numbers:
        return []
    ends = _Stops(tokens, stops)
    traces = _traces(chat, render, text, numbers)
    turns: list[Turn] = []
    for number in numbers:
        floor = max(traces.before(number), turns[-1].stop if turns else 0)
        turns.append(_Search(chat, number, render, text, traces, ends, floor).turn())
    if prompt:
        turns[-1] = _within(render(chat, True) or "", text, turns[-1], ends)
    return turns


def _within(prompted: str, text: str, last: Turn, ends: _Stops) -> Turn:
    """The last turn of text in the rendering that ends in the generation prompt.

    A known token at the end of the chat may give way to the prompt.
    """
    common = ends.whole(text, _common_length(text, prompted))
    if last.stop <= common:
        return replace(last, newline=min(last.newline, common))
    kept = text[last.start : common].rstrip()
    if not kept or not ends.only_named(text[common : last.stop]) or not ends.ends(kept):
        raise MaskUnavailable("with the generation prompt the template renders the chat differently")
    stop = last.start + len(kept)
    return replace(
        last,
        stop_token=min(last.stop_token, ends.run(text, last.stop_token, stop)),
        stop=stop,
        newline=stop + _newline(prompted, stop),
    )


@dataclass(frozen=True)
class _Traces:
    """first[i], last[i]: where the marked texts of message i begin and end in the rendering, or None."""

    first: list[int | None]
    last: list[int | None]

    def before(self, number: int) -> int:
        return max((place for place in self.last[:number] if place is not None), default=0)

    def after(self, number: int, otherwise: int) -> int:
        return min((place for place in self.first[number + 1 :] if place is not None), default=otherwise)


def _traces(chat: Chat, render: Render, text: str, turns: Sequence[int]) -> _Traces:
    """The places of all messages, or of the assistant's only where marks on the others change the text.

    Of those markings that change nothing, the first that shows every turn, else the one that shows most.
    """
    found = [_Traces([None] * len(chat), [None] * len(chat))]
    markings = [
        (messages, empty_too) for messages in (range(len(chat)), turns) for empty_too in (False, True)
    ]
    for messages, empty_too in markings:
        traces = _traced(chat, render, text, set(messages), empty_too)
        if traces is not None:
            found.append(traces)
            if None not in (traces.first[number] for number in turns):
                break
    return max(found, key=lambda traces: sum(place is not None for place in traces.first))


def _traced(chat: Chat, render: Render, text: str, messages: set[int], empty_too: bool) -> _Traces | None:
    """None where the marks change the rendering."""
    marker = _Marker(text, empty_too)
    marked_chat = [marker.message(m, i) if i in messages else m for i, m in enumerate(chat)]
    marked = render(marked_chat, False)
    if marked is None or marker.removed(marked) != text:
        return None
    first: list[int | None] = [None] * len(chat)
    last: list[int | None] = [None] * len(chat)
    for number, place in marker.places(marked):
        if first[number] is None:
            first[number] = place
        last[number] = place
    return _Traces(first, last)


class _Marker:
    """Puts characters that the text does not hold around the texts of messages, and finds them again."""

    def __init__(self, text: str, empty_too: bool) -> None:
        self.empty_too = empty_too
        self._free = (char for char in map(chr, range(_FIRST_MARKER, 0x10FFFE)) if char not in text)
        self.owner: dict[str, int] = {}  # marker -> number of the message

    def _wrapped(self, text: str, number: int) -> str:
        core = text.strip()
        if not core and not self.empty_too:
            return text
        start, stop = next(self._free), next(self._free)
        self.owner[start] = self.owner[stop] = number
        # inside the white space at the edges, which templates trim
        lead = text[: len(text) - len(text.lstrip())] if core else ""
        return f"{lead}{start}{core}{stop}{text[len(lead) + len(core) :] if core else text}"

    def message(self, message: dict[str, Any], number: int) -> dict[str, Any]:
        marked = dict(message)
        reasoning = message.get("reasoning_content")
        if isinstance(reasoning, str):
            wrapped = self._wrapped(reasoning, number)
            marked.update((name, wrapped) for name in REASONING_FIELDS if message.get(name) == reasoning)
        content = message.get("content")
        if isinstance(content, str):
            marked["content"] = self._wrapped(content, number)
        elif isinstance(content, list):
            marked["content"] = [self._part(part, number) for part in content]
        if isinstance(message.get("tool_calls"), list):
            marked["tool_calls"] = [self._call(call, number) for call in message["tool_calls"]]
        return marked

    def _part(self, part: Any, number: int) -> Any:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            return {**part, "text": self._wrapped(part["text"], number)}
        return part

    def _call(self, call: Any, number: int) -> Any:
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return call
        named = {**function, "name": self._wrapped(function["name"], number)}
        return {**call, "function": named} if "function" in call else named

    def removed(self, marked: str) -> str:
        return marked.translate({ord(marker): None for marker in self.owner})

    def places(self, marked: str) -> Iterator[tuple[int, int]]:
        """(message number, place in the text without markers) of each marker where it first occurs."""
        seen: set[str] = set()
        if not self.owner:
            return
        for found in re.finditer(f"[{''.join(self.owner)}]", marked):
            marker = found[0]
            removed = sum(marked.count(other, 0, found.start()) for other in self.owner)
            if marker not in seen:
                seen.add(marker)
                yield self.owner[marker], found.start() - removed


class _Stops:
    """What ends a turn."""

    def __init__(self, tokens: Iterable[str], stops: Iterable[str]) -> None:
        self.named = tuple(token for token in (*tokens, *stops) if token)
        named = "|".join(map(re.escape, sorted(self.named, key=len, reverse=True)))
        self.pattern = re.compile(f"{named}|{_TOKEN.pattern}" if named else _TOKEN.pattern)

    def directly(self, text: str) -> int | None:
        """Where the stop token ends that text begins with, but for white space."""
        found = self.pattern.match(text, len(text) - len(text.lstrip()))
        return found.end() if found else None

    def ends(self, text: str) -> bool:
        """Whether text, but for white space, ends in a stop token."""
        bare = text.rstrip()
        return any(token.end() == len(bare) for token in self.pattern.finditer(bare))

    def run(self, text: str, floor: int, stop: int, most: int = 8) -> int:
        """Where the stop tokens begin that end at stop, with nothing but white space between them."""
        begins = stop
        for token in reversed(list(self.pattern.finditer(text, floor, stop))[-most:]):
            if text[token.end() : begins].strip():
                break
            begins = token.start()
        return begins

    def whole(self, text: str, length: int) -> int:
        """The largest length up to this one that does not cut a token of text."""
        for token in self.pattern.finditer(text):
            if token.start() < length < token.end():
                return token.start()
        return length

    def only_named(self, text: str) -> bool:
        """Whether text is white space and named tokens alone."""
        for token in self.named:
            text = text.replace(token, "")
        return not text.strip()


class _Search:
    """For one assistant's turn of a rendering, which cannot begin before floor."""

    def __init__(
        self,
        chat: Chat,
        number: int,
        render: Render,
        text: str,
        traces: _Traces,
        stops: _Stops,
        floor: int,
    ) -> None:
        self.chat, self.number, self.render, self.text = chat, number, render, text
        self.traces, self.stops, self.floor = traces, stops, floor
        self.is_last = number == len(chat) - 1

    def turn(self) -> Turn:
        header, start = self._start()
        first, last = self.traces.first[self.number], self.traces.last[self.number]
        end = self._end(start if last is None else last, has_trace=last is not None)
        latest = self.traces.after(self.number, len(self.text))
        inner = [place for place in (first, last) if place is not None]
        places = [self.floor, start, *inner, end, latest]
        if places != sorted(places):
            raise self._refusal("the texts before, in and after it do not stand in order")
        stop_token = self._stop_token(start if last is None else last, end)
        header = max(header, self.floor)
        return Turn(
            self.number,
            header,
            start,
            self._empty_reasoning(header, start, stop_token if first is None else first),
            stop_token,
            end,
            end + _newline(self.text, end),
        )

    def _refusal(self, reason: str) -> MaskUnavailable:
        return MaskUnavailable(
            f"message {self.number}: the assistant's text cannot be told from the template's: {reason}; "
            "put {% generation %}…{% endgeneration %} into the template",
            message_number=self.number,
        )

    def _start(self) -> tuple[int, int]:
        """Where the header begins and ends."""
        prompted = self.render(self.chat[: self.number], True) if self.number else None
        header = self._header(prompted)
        if prompted is not None and self.text.startswith(prompted):
            return len(prompted) - len(header), len(prompted)
        first = self.traces.first[self.number]
        if first is None:
            raise self._refusal(
                "its own text leaves no trace, and the chat before it reads differently alone"
            )
        window = self.text[self.floor : first]
        for length in self._cuts(header):
            if window.count(header[:length]) == 1:
                place = self.floor + window.index(header[:length])
                return place, place + length
        raise self._refusal("its header is not the generation prompt")

    def _header(self, prompted: str | None) -> str:
        """What the generation prompt adds to the chat before this turn, or else to another."""
        before: Chat = self.chat[: self.number]
        if prompted is None:
            before, prompted = _PROBE, self.render(_PROBE, True)
        bare = self.render(before, False)
        if prompted is None or bare is None:
            return ""
        common = self.stops.whole(bare, _common_length(bare, prompted))
        return prompted[common:] if self.stops.only_named(bare[common:]) else ""

    def _cuts(self, header: str) -> list[int]:
        """Lengths at which a token or a line of header ends, the longest first."""
        ends = {token.end() for token in self.stops.pattern.finditer(header)}
        ends |= set(accumulate(map(len, header.splitlines(keepends=True)))) | {len(header)}
        return sorted((end for end in ends if header[:end].strip()), reverse=True)

    def _stop_token(self, last: int, end: int) -> int:
        """Where the stop token before end begins, or the first of several after last."""
        if not self.chat[self.number].get("tool_calls"):
            return self.stops.run(self.text, last, end)
        # the tokens before may close a call
        return self.stops.run(self.text, last, end, most=1)

    def _empty_reasoning(self, header: int, start: int, first: int) -> tuple[int, int]:
        """That of the template, at the header's end, before the message's own text."""
        content = self.chat[self.number].get("content")
        lead = content[: len(content) - len(content.lstrip())] if isinstance(content, str) else ""
        if lead and self.text[start:first].endswith(lead):
            first -= len(lead)
        for found in _EMPTY_REASONING.finditer(self.text, header, first):
            begins = max(found.start(), start) if found.start(2) >= start else found.start(2)
            closing = found[2].strip().rpartition("<")[2]
            if begins <= start <= found.end() and closing not in str(content):
                return begins, found.end()
        return start, start

    def _end(self, last: int, has_trace: bool) -> int:
        """The end of what follows last, or the turn's start, whatever comes after the turn."""
        tail, other = self.text[last:], self._other_tail(last, has_trace)
        if other is None:
            raise self._refusal("what follows it cannot be compared with another rendering")
        common = self.stops.whole(other, self.stops.whole(tail, _common_length(tail, other)))
        rest = tail[common:] if self.is_last else other[common:]
        if self.stops.only_named(rest):
            turn = tail if self.is_last else tail[:common]
            if self.stops.ends(turn):
                return last + len(turn.rstrip())
        # the end of the last turn differs from that of others, or the template goes on after it
        stop, stand_in = self.stops.directly(tail), self.stops.directly(other)
        if has_trace and stop and stand_in:
            return last + stop
        raise self._refusal("no stop token follows it; name the string that ends a turn")

    def _other_tail(self, last: int, has_trace: bool) -> str | None:
        """The text after this turn where something else follows: the end of the chat, or a user's message."""
        chat = [*self.chat[: self.number + 1], *(_PROBE if self.is_last else [])]
        text = self.render(chat, False)
        if text is None:
            return None
        if not has_trace:
            return text[last:] if text.startswith(self.text[:last]) else None
        for empty_too in (False, True):
            traces = _traced(chat, self.render, text, {self.number}, empty_too)
            place = traces.last[self.number] if traces else None
            if place is not None:
                return text[place:]
        return None


def _common_length(left: str, right: str) -> int:
    for place, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return place
    return min(len(left), len(right))


def _newline(text: str, place: int) -> int:
    """The length of a line break at this place, or 0."""
    return 2 if text.startswith("\r\n", place) else int(text.startswith("\n", place))
