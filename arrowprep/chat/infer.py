"""The assistant's turns in the text of a template without generation tags, proved or refused.

Two methods, on the characters of the whole rendering:

*Prefix.* If the chat before a turn with the generation prompt, the chat up to and with the turn, and the
whole chat begin with one another, the turn is what lies between the first two.

*Marker.* Characters put around the texts of messages show where these stand. A turn then begins after its
header in the window before its first marker, and ends with what follows its last marker whatever comes next.

Markers are always placed; the prefix must agree with them. Where neither proves a turn, or a turn has no
stop token, the rendering is refused: a wrong mask trains the model on the user's words. The caller may name
strings as stop tokens; a turn that the template leaves open at the chat's end is then taken as it is.

Where the frame of such a turn was proved before, on a probe with the same roles, finding it again around the
row's own text is enough (see `frames`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import accumulate

from arrowprep.chat.convention import Turn
from arrowprep.chat.frames import Frame
from arrowprep.chat.markers import Chat, Render, Traces, traces_of, traces_of_marked
from arrowprep.chat.stops import Stops, common_length
from arrowprep.errors import MaskUnavailable

__all__ = ["inferred_turns"]

# <think></think>, or its closing tag alone, with the white space around it
_EMPTY_REASONING = re.compile(r"(\s*)((?:<(\w+)>\s*</\3>|</think>)\s*)")
# what closes a reasoning: </think>, <|end|>
_CLOSING = re.compile(r"\s*<[^<>\s]{1,60}>\s*")
_PROBE: Chat = [{"role": "user", "content": "And then?"}]


def inferred_turns(
    chat: Chat,
    render: Render,
    prompt: bool,
    tokens: Iterable[str] = (),
    stops: Iterable[str] = (),
    frames: Mapping[int, Frame] | None = None,
) -> list[Turn]:
    """The turn in render(chat, prompt) of each assistant's message.

    tokens: the tokenizer's special tokens
    stops: strings that end a turn, beside those that look like control tokens
    frames: what was proved to stand around the turns of chats like this one

    Raises MaskUnavailable, with the number of the message and the reason.
    """
    numbers = [number for number, message in enumerate(chat) if message.get("role") == "assistant"]
    text = render(chat, False)
    if text is None or not numbers:
        return []
    ends = Stops(tokens, stops)
    traces = traces_of(chat, render, text, numbers)
    turns: list[Turn] = []
    for number in numbers:
        floor = max(traces.before(number), turns[-1].stop if turns else 0)
        turn = _Search(chat, number, render, text, traces, ends, floor).turn((frames or {}).get(number))
        if turns:  # a line break between two turns belongs to the first
            turns[-1] = replace(turns[-1], newline=min(turns[-1].newline, turn.start))
            turn = replace(turn, header=max(turn.header, turns[-1].newline))
        turns.append(turn)
    if prompt:
        turns[-1] = _within(chat, render, text, turns[-1], ends)
    return turns


def _within(chat: Chat, render: Render, text: str, last: Turn, ends: Stops) -> Turn:
    """The last turn of text, which is the chat's, in the rendering that ends in the generation prompt.

    A known token at the end of the chat may give way to the prompt, or to another stop token before it.
    """
    prompted = render(chat, True) or ""
    common = ends.whole(text, common_length(text, prompted))
    if last.stop <= common:
        return replace(last, newline=min(last.newline, common))
    kept = text[last.start : common].rstrip()
    stop: int | None = last.start + len(kept)
    if not kept or not ends.only_named(text[common : last.stop]) or not ends.ends(kept):
        stop = _stand_in(chat, render, prompted, common, ends) if common == last.stop_token else None
    if stop is None:
        raise MaskUnavailable("with the generation prompt the template renders the chat differently")
    return replace(
        last,
        stop_token=min(last.stop_token, ends.run(prompted, last.stop_token, stop)),
        stop=stop,
        newline=stop + _newline(prompted, stop),
    )


def _stand_in(chat: Chat, render: Render, prompted: str, place: int, ends: Stops) -> int | None:
    """Where the stop token at this place of prompted ends, if it would end the turn before a user's too."""
    followed, both = render([*chat, *_PROBE], False) or "", render([*chat, *_PROBE], True) or ""
    prompt = both[len(followed) :] if both.startswith(followed) else ""
    alone = prompted.removesuffix(prompt)
    stop = ends.directly(alone[place:])
    if not prompt.strip() or alone == prompted or not followed.startswith(alone) or stop is None:
        return None
    return None if alone[place + stop :].strip() else place + stop


class _Search:
    """For one assistant's turn of a rendering, which cannot begin before floor."""

    def __init__(
        self,
        chat: Chat,
        number: int,
        render: Render,
        text: str,
        traces: Traces,
        stops: Stops,
        floor: int,
    ) -> None:
        self.chat, self.number, self.render, self.text = chat, number, render, text
        self.traces, self.stops, self.floor = traces, stops, floor
        self.is_last = number == len(chat) - 1

    def turn(self, frame: Frame | None) -> Turn:
        first, last = self.traces.first[self.number], self.traces.last[self.number]
        if frame and first is not None and last is not None and self._fits(frame, first, last):
            header = first - len(frame.before)
            start, end = header + frame.header, last + len(frame.after)
        else:
            header, start = self._start()
            end = self._end(start if last is None else last, has_trace=last is not None)
        if self.number in self.traces.repeated:
            # it may hold a tool's answer, which names the tool again
            raise self._refusal("a text of it stands in it twice")
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
            min(end + _newline(self.text, end), latest),
            *self._fields(start, stop_token, end),
        )

    def _fits(self, frame: Frame, first: int, last: int) -> bool:
        content: str = self.chat[self.number]["content"]
        return self.text[first:last] == content.strip() and frame.fits(self.text, self.floor, first, last)

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
        start = self._after_the_message_before(prompted or "")
        if start is not None:
            return max(self.floor, start - len(header)), start
        first = self.traces.first[self.number]
        if first is None:
            raise self._refusal(
                "its own text leaves no trace, and the chat before it reads differently alone"
            )
        window = self.text[self.floor : first]
        # what of a beheaded text is shown stands in the window, and may hold what looks like a header
        shown = _common_end(window, self.traces.beheaded.get(self.number, ""))
        for length in self._cuts(header):
            if window.count(header[:length]) == 1:
                place = window.index(header[:length])
                if place >= len(window) - shown:
                    break
                return self.floor + place, self.floor + place + length
        raise self._refusal("its header is not the generation prompt")

    def _after_the_message_before(self, prompted: str) -> int | None:
        """Where what follows the text before ends, if it is what prompted has there up to its end."""
        before = self.number - 1
        place = self.traces.last[before] if self.number else None
        if place is None:
            return None
        alone = traces_of_marked(self.chat[: self.number], self.render, prompted, {before}, False, True)
        since = alone.last[before] if alone else None
        between = "" if since is None else prompted[since:]
        if not between.strip() or not self.text.startswith(between, place):
            return None
        return place + len(between)

    def _header(self, prompted: str | None) -> str:
        """What the generation prompt adds to the chat before this turn, or else to another."""
        before: Chat = self.chat[: self.number]
        if prompted is None:
            before, prompted = _PROBE, self.render(_PROBE, True)
        bare = self.render(before, False)
        if prompted is None or bare is None:
            return ""
        common = self.stops.whole(bare, common_length(bare, prompted))
        return prompted[common:] if self.stops.only_named(bare[common:]) else ""

    def _cuts(self, header: str) -> list[int]:
        """Lengths at which a token or a line of header ends, the longest first.

        A line without its break too: that of a prompt may be one of the template file.
        """
        ends = {token.end() for token in self.stops.pattern.finditer(header)}
        for end in {*accumulate(map(len, header.splitlines(keepends=True))), len(header)}:
            ends |= {end, len(header[:end].rstrip("\r\n")), len(header[:end].rstrip())}
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

    def _fields(self, start: int, stop_token: int, end: int) -> list[tuple[int, int] | None]:
        """Where reasoning and tool calls are: empty where there are none, None where that is not told."""
        names = ("reasoning_content", "content", "tool_calls")
        reasoning, content, calls = (self.traces.fields.get((self.number, name)) for name in names)
        shown = [places for places in (reasoning, content, calls) if places]
        if shown != sorted(shown):
            return [None, None]
        first = (content or calls or (stop_token, end))[0]
        thought = self._reasoning(start, stop_token, reasoning and reasoning[1], first)
        if thought is None and reasoning and content:
            thought = start, first
        if not calls:
            return [thought, (end, end)]
        before = content[1] if content else thought and thought[1]
        return [thought, None if before is None else (before, end)]

    def _reasoning(
        self, start: int, stop_token: int, closed: int | None, first: int
    ) -> tuple[int, int] | None:
        """From start to what closes it at closed, before first; or as the content has it in tags."""
        if closed is not None:
            closing = _CLOSING.match(self.text, closed, first)
            return (start, closing.end()) if closing else None
        thoughts = list(re.finditer(r"</think>\s*", self.text[start:stop_token]))
        if not thoughts or "</think>" not in str(self.chat[self.number].get("content")):
            return start, start
        return (start, start + thoughts[0].end()) if len(thoughts) == 1 else None

    def _end(self, last: int, has_trace: bool) -> int:
        """The end of what follows last, or the turn's start, whatever comes after the turn."""
        tail, other = self.text[last:], self._other_tail(last, has_trace)
        if other is None:
            raise self._refusal("what follows it cannot be compared with another rendering")
        common = self.stops.whole(other, self.stops.whole(tail, common_length(tail, other)))
        rest = tail[common:] if self.is_last else other[common:]
        if self.stops.only_named(rest):
            turn = tail if self.is_last else tail[:common]
            if self.stops.ends(turn):
                return last + len(turn.rstrip())
        # the end of the last turn differs from that of others, or the template goes on after it
        place = 0
        if self._ends_in_calls(last):  # whose arguments follow the name, and what opens them may be a token
            place = common if not self.stops.ends(tail[:common]) else len(tail)
        stop, stand_in = self.stops.directly(tail[place:]), self.stops.directly(other[place:])
        if has_trace and stop and stand_in and self.number not in self.traces.unended:
            return last + place + stop
        given = self.stops.end_by_given(tail, other)
        if given is not None:
            return last + given
        raise self._refusal("no stop token follows it; name the string that ends a turn")

    def _ends_in_calls(self, last: int) -> bool:
        """Whether it is the name of a tool that is traced to this place."""
        return self.traces.fields.get((self.number, "tool_calls"), (None, None))[1] == last

    def _other_tail(self, last: int, has_trace: bool) -> str | None:
        """The text after this turn where something else follows: the end of the chat, or a user's message."""
        chat = [*self.chat[: self.number + 1], *(_PROBE if self.is_last else [])]
        text = self.render(chat, False)
        if text is None:
            return None
        if not has_trace:
            return text[last:] if text.startswith(self.text[:last]) else None
        for empty_too in (False, True):
            traces = traces_of_marked(chat, self.render, text, {self.number}, empty_too)
            place = traces.last[self.number] if traces else None
            if place is not None:
                return text[place:]
        return None


def _common_end(left: str, right: str) -> int:
    return common_length(left[::-1], right[::-1])


def _newline(text: str, place: int) -> int:
    """The length of a line break at this place, or 0."""
    return 2 if text.startswith("\r\n", place) else int(text.startswith("\n", place))
