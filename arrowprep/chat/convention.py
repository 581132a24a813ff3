"""Which of a template's own text around an answer is trained: four switches, named and printable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Convention", "Turn"]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Turn:
    """Where an assistant's message stands in a rendering, in characters, each place not before the last.

    message: its number in the chat
    header: where its header begins
    start: where its header ends, as a generation prompt does
    empty_reasoning: (start, stop) of an empty reasoning that the template wrote, before start, over it or
        after it; (start, start) where there is none
    stop_token: where the stop token begins, or the first of several
    stop: where it ends
    newline: where a line break directly after it ends; stop where there is none
    reasoning: (start, stop) of the message's own reasoning with its tags; empty where none is shown, None
        where it cannot be told from the rest
    tool_calls: the same of its tool calls, up to and with the end of the turn
    """

    message: int
    header: int
    start: int
    empty_reasoning: Span
    stop_token: int
    stop: int
    newline: int
    reasoning: Span | None
    tool_calls: Span | None

    @property
    def body(self) -> Span:
        """What the assistant writes, but for an empty reasoning and the stop token."""
        return max(self.start, self.empty_reasoning[1]), self.stop_token

    def moved(self, place: Callable[[int], int]) -> Turn:
        """The turn in a text where each place p of this one's is place(p)."""

        def span(edges: Span | None) -> Any:
            return edges and (place(edges[0]), place(edges[1]))

        return Turn(
            self.message,
            place(self.header),
            place(self.start),
            span(self.empty_reasoning),
            place(self.stop_token),
            place(self.stop),
            place(self.newline),
            span(self.reasoning),
            span(self.tool_calls),
        )


@dataclass(frozen=True, slots=True)
class Convention:
    """Which parts of a turn are trained beside its body.

    The default is what the model writes after the generation prompt, up to and with
    the stop token, but for an empty reasoning that the template puts before the answer.

    header: the tokens that open the turn
    empty_reasoning: a block such as <think></think> that the template adds where a message has no reasoning
    end_of_turn: the stop token
    trailing_newline: a line break directly after the stop token

    >>> print(Convention(header=True))
    The header that opens a turn is trained.
    An empty reasoning that the template adds is not trained.
    The stop token at the end of a turn is trained.
    The line break after the stop token is not trained.
    """

    header: bool = False
    empty_reasoning: bool = False
    end_of_turn: bool = True
    trailing_newline: bool = False

    def __str__(self) -> str:
        sentences = {
            "The header that opens a turn": self.header,
            "An empty reasoning that the template adds": self.empty_reasoning,
            "The stop token at the end of a turn": self.end_of_turn,
            "The line break after the stop token": self.trailing_newline,
        }
        return "\n".join(f"{part} is {'' if on else 'not '}trained." for part, on in sentences.items())

    def spans(self, turn: Turn) -> tuple[Span, ...]:
        """(start, stop) in characters of what is trained of a turn, in order and apart."""
        return _joined([turn.body, *self._around(turn)])

    def of_tagged(self, tagged: Sequence[Span], turns: Sequence[Turn]) -> tuple[Span, ...]:
        """As `spans`, of turns whose body is trained where the tags say so.

        Tags that touch no turn stay as they are; a turn without tags has nothing trained.
        """
        extents = [(turn.header, turn.newline) for turn in turns]
        kept = [span for span in tagged if not any(_common(span, extent) for extent in extents)]
        for turn, extent in zip(turns, extents, strict=True):
            if any(_common(span, extent) for span in tagged):
                kept += [part for span in tagged for part in _common(span, turn.body)]
                kept += self._around(turn)
        return _joined(kept)

    def _around(self, turn: Turn) -> Iterator[Span]:
        if self.header:
            yield turn.header, min(turn.start, turn.empty_reasoning[0])
        if self.empty_reasoning:
            yield turn.empty_reasoning
        if self.end_of_turn:
            yield turn.stop_token, turn.stop
        if self.trailing_newline:
            yield turn.stop, turn.newline


def _common(span: Span, other: Span) -> tuple[Span, ...]:
    """The one span that two share, or none."""
    start, stop = max(span[0], other[0]), min(span[1], other[1])
    return ((start, stop),) if start < stop else ()


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same characters in the fewest spans, in order; empty ones cover nothing.

    >>> _joined([(5, 7), (1, 3), (3, 4), (9, 9)])
    ((1, 4), (5, 7))
    """
    found: list[Span] = []
    for start, stop in sorted(span for span in spans if span[0] < span[1]):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(stop, found[-1][1])
        else:
            found.append((start, stop))
    return tuple(found)
