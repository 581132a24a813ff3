"""Aligned: a text on its way through the pipeline, with the span of the original under each character."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer[Any]]

NOWHERE = -1  # as a source: an inserted character with nothing before it


class Aligned:
    """A text, and for each of its characters the span of the original that it stands for.

    text: (n,) as it is now
    start: where the text begins in the original; the whole alignment as long as no
        character was changed (then character i stands for start + i alone)
    starts, ends: (n,) each, once something was changed; else None
    full: whether a character that several were made into one of stands for all of
        them; else for the first of those that were composed, the last of those that
        were replaced

    A value: every change makes a new one.
    """

    __slots__ = ("ends", "full", "start", "starts", "text")

    def __init__(
        self,
        text: str,
        start: int = 0,
        starts: Sequence[int] | None = None,
        ends: Sequence[int] | None = None,
        *,
        full: bool = False,
    ) -> None:
        self.text = text
        self.start = start
        self.starts = starts
        self.ends = ends
        self.full = full

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """The part of the original under text[start:stop]."""
        if self.starts is None or self.ends is None:
            return self.start + start, self.start + stop
        if start == stop:
            at = self.starts[start] if start < len(self.text) else self.ends[-1] if self.ends else self.start
            return at, at
        return self.starts[start], self.ends[stop - 1]

    def all_spans(self, starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
        """`span` of each of many, as arrays."""
        if self.starts is None or self.ends is None:
            return self.start + starts, self.start + stops
        if not len(starts):
            return starts, stops
        before, after = np.append(self.starts, self.ends[-1]), np.asarray(self.ends)
        firsts = before[starts]
        return firsts, np.where(stops > starts, after[stops - 1], firsts)

    def spans(self) -> tuple[Sequence[int], Sequence[int]]:
        """The starts and ends, one of each per character."""
        if self.starts is None or self.ends is None:
            n = len(self.text)
            return range(self.start, self.start + n), range(self.start + 1, self.start + n + 1)
        return self.starts, self.ends

    def respelled(self, text: str) -> Aligned:
        """Another text of the same length: character i stands for what it stood for."""
        return Aligned(text, self.start, self.starts, self.ends, full=self.full)

    def slice(self, start: int, stop: int) -> Aligned:
        """text[start:stop]"""
        if self.starts is None or self.ends is None:
            return Aligned(self.text[start:stop], self.start + start, full=self.full)
        starts, ends = self.starts[start:stop], self.ends[start:stop]
        at = starts[0] if starts else self.start
        return Aligned(self.text[start:stop], at, starts, ends, full=self.full)

    def rebuilt(self, text: str, sources: Sequence[int], lasts: Sequence[int] | None = None) -> Aligned:
        """Another text: its character i stands for what character sources[i] stood for.

        lasts: in a full alignment, for all of the characters from there to lasts[i]
        """
        before, after = self.spans()
        until = lasts if self.full and lasts is not None else sources
        # arrays: a list of a long text's places takes five times the memory
        if min(sources, default=0) < 0:
            starts = array("q", (before[source] if source >= 0 else self.start for source in sources))
            ends = array("q", (after[source] if source >= 0 else self.start for source in until))
        else:
            starts = array("q", map(before.__getitem__, sources))
            ends = array("q", map(after.__getitem__, until))
        return Aligned(text, starts[0] if starts else self.start, starts, ends, full=self.full)

    def then(self, later: Aligned) -> Aligned:
        """`later`, whose spans are places in this text, with spans in the original of this one."""
        if self.starts is None and later.starts is None:
            return Aligned(later.text, self.start + later.start, full=self.full)
        spans = [self.span(start, end) for start, end in zip(*later.spans(), strict=True)]
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        at = starts[0] if starts else self.start
        return Aligned(later.text, at, starts, ends, full=self.full)

    def replaced(self, spans: Iterable[tuple[int, int]], content: str) -> Aligned:
        """`content` in place of each text[start:stop].

        Each new character stands for the last one that was replaced, in a full
        alignment for all of them, or where none was, for the one before.
        """
        if len(content) == 1:
            # where a character is put in place of one, no other moves, and often it is the same: a space
            spans = [(start, stop) for start, stop in spans if self.text[start:stop] != content]
            if all(stop - start == 1 for start, stop in spans):
                return self.respelled(replaced(self.text, spans, content)) if spans else self
        spans = list(spans)
        if not spans:
            return self
        text: list[str] = []
        sources: list[int] = []
        lasts: list[int] = []
        last = 0
        for start, stop in spans:
            text += (self.text[last:start], content)
            first = min(start, stop - 1) if self.full else stop - 1
            for places, source in ((sources, first), (lasts, stop - 1)):
                places.extend(range(last, start))
                places.extend([source] * len(content))
            last = stop
        text.append(self.text[last:])
        for places in (sources, lasts):
            places.extend(range(last, len(self.text)))
        return self.rebuilt("".join(text), sources, lasts)

    def prepended(self, content: str) -> Aligned:
        """`content` before the text, standing for the first character; nothing before an empty text."""
        if not self.text or not content:
            return self
        sources = array("q", bytes(8 * len(content)))
        sources.extend(range(len(self.text)))
        return self.rebuilt(content + self.text, sources)

    def mapped(self, characters: Sequence[str]) -> Aligned:
        """Each character replaced by the text at its place in `characters`; "" removes it."""
        sources = [i for i, new in enumerate(characters) for _ in new]
        return self.rebuilt("".join(characters), sources)

    def changed(self, changes: Iterable[tuple[str, int]], skipped: int = 0) -> Aligned:
        """The text made anew from (character, change) pairs.

        change: 1 inserts the character, which then stands for the one before;
            0 puts it in place of the next; -n does so and removes n more
        skipped: how many characters are removed before the first
        """
        text: list[str] = []
        sources: list[int] = []
        lasts: list[int] = []
        at = skipped
        for character, change in changes:
            text.append(character)
            if change > 0:
                sources.append(at - 1)
            else:
                sources.append(at)
                at += 1 - change
            lasts.append(at - 1)
        return self.rebuilt("".join(text), sources, lasts)


def replaced(text: str, spans: Iterable[tuple[int, int]], content: str) -> str:
    """`content` in place of each text[start:stop]."""
    starts, stops = zip(*spans, strict=True)
    kept = map(slice, (0, *stops), (*starts, len(text)))
    return content.join(map(text.__getitem__, kept))
