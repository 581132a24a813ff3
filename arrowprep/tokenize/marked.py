"""An engine that reads marked texts: what stands between marks is encoded as plain text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pyarrow as pa

from arrowprep.errors import ChatError
from arrowprep.tokenize.added_tokens import AddedVocabulary
from arrowprep.tokenize.engine import Encoded
from arrowprep.tokenize.reference import ReferenceEngine, Trace

__all__ = ["MarkedEngine"]

_ROWS = pa.list_(pa.int32())


class MarkedEngine:
    """Encodes as another engine does, but for added tokens between marks, which match nothing.

    The offsets are places in the text without its marks. A mark also cuts: no token goes over it, and none
    is joined of what stands on both sides of one that lost its partner.

    As in transformers, a piece is encoded after a line break, which is taken away again: a tokenizer may put
    a space before the start of a text.
    """

    name = "marked"

    def __init__(self, engine: Any, opening: str, closing: str) -> None:
        both = opening + closing
        self._marked = re.compile(f"{opening}([^{both}]*){closing}|[{both}]")
        self._marks = f"[{both}]"
        self.pipeline = engine.pipeline
        self._engine = engine
        self._plain = ReferenceEngine(replace(engine.pipeline, added=AddedVocabulary()))
        self._line_break = engine.ids("\n")

    def ids(self, text: str) -> list[int]:
        return self.trace(text).ids if self._marked.search(text) else list(self._engine.ids(text))

    def traces(self, texts: list[str]) -> list[Trace]:
        """The same of several texts."""
        return list(map(self.trace, texts))

    def encode(self, texts: pa.Array, *, offsets: bool = False, words: bool = False) -> Encoded:
        import pyarrow.compute as pc  # 50 ms, which importing this should not cost

        if not pc.any(pc.match_substring_regex(texts, self._marks)).as_py():
            encoded: Encoded = self._engine.encode(texts, offsets=offsets, words=words)
            return encoded
        rows = [None if text is None else self.trace(text) for text in texts.to_pylist()]

        def column(name: str) -> pa.ListArray:
            return pa.array([row and getattr(row, name) for row in rows], _ROWS)

        starts, ends = (column("starts"), column("ends")) if offsets else (None, None)
        return Encoded(column("ids"), starts, ends, column("words") if words else None)

    def trace(self, text: str) -> Trace:
        """Raises ChatError where the tokenizer makes a control token even of plain text."""
        whole = Trace([], [], [], [], [])
        place = 0
        for number, piece in enumerate(self._marked.split(text)):
            if not piece:
                continue
            # a template that splits texts at a token leaves marks around something else
            is_marked = number % 2 == 1 and piece in self.pipeline.added.ids
            part = self._piece(self._plain if is_marked else self._engine, piece, number > 0)
            if is_marked and self.pipeline.added.ids[piece] in part.ids:
                raise ChatError(
                    f"{piece!r} in a message cannot be kept as text: the tokenizer makes the control token "
                    "of plain text too; take it out of the message",
                    token=piece,
                )
            first_word = max(whole.words, default=-1) + 1
            whole.ids.extend(part.ids)
            whole.starts.extend(place + start for start in part.starts)
            whole.ends.extend(place + end for end in part.ends)
            whole.words.extend(word if word < 0 else first_word + word for word in part.words)
            whole.values.extend(part.values)
            place += len(piece)
        return whole

    def _piece(self, engine: Any, piece: str, inside: bool) -> Trace:
        """The trace of a piece as it reads inside a text."""
        known = len(self._line_break)
        if inside:
            trace: Trace = engine.trace(f"\n{piece}")
            if trace.ids[:known] == self._line_break:
                starts, ends = ([max(at - 1, 0) for at in places[known:]] for places in trace[1:3])
                first_word = min((word for word in trace.words[known:] if word >= 0), default=0)
                words = [word - first_word if word >= 0 else word for word in trace.words[known:]]
                return Trace(trace.ids[known:], starts, ends, words, trace.values[known:])
        alone: Trace = engine.trace(piece)
        return alone
