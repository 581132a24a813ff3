"""Rows as a person looks at them: the text in pieces, each with its tokens and whether it is trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arrowprep.chat.sft.encode import EncodeRows
from arrowprep.chat.sft.examples import COLUMNS, VARIABLES, Reader, rows_of
from arrowprep.chat.sft.tokens import cut
from arrowprep.errors import ChatError

__all__ = ["Piece", "ShownText", "look_at"]


@dataclass(slots=True)
class Piece:
    """A stretch of text and the tokens that stand for it.

    text: "" for a token of no text, such as one that the tokenizer puts in front
    ids: several where tokens share characters, none where no token stands for the text
    start, stop: in characters
    trained: whether its tokens have labels
    cut: whether they were cut off
    """

    text: str
    ids: list[int]
    start: int
    stop: int
    trained: bool = False
    cut: bool = False


@dataclass(frozen=True)
class ShownText:
    """One text of a row; a preference has two.

    side: "chosen" or "rejected" of a preference, else ""
    roles: of its messages, in order
    problem: why there is no text
    """

    row: int
    side: str
    roles: list[str]
    pieces: list[Piece]
    problem: str | None = None
    problems: list[str] = field(default_factory=list)


def look_at(encode: EncodeRows, ds: Any, rows: Sequence[int]) -> list[ShownText]:
    """The texts of these rows, as they are encoded."""
    if not rows:
        return []
    table = ds.select(list(rows)).with_format("arrow")[:]
    reader = encode.reader
    sides = ("chosen", "rejected") if reader.shape == "preference" else ("",)
    roles = list(_roles(reader, table, len(sides)))
    shown = []
    for which, (side, examples) in enumerate(
        zip(sides, zip(*reader.examples(table), strict=True), strict=True)
    ):
        tokens, offsets = encode.tokens(examples, offsets=True)
        kept = np.zeros(len(tokens.ids), bool)
        pieces = cut(tokens.lengths, encode.spec)
        begins = tokens.edges[pieces.rows] + pieces.starts
        for begin, length in zip(begins.tolist(), pieces.lengths.tolist(), strict=True):
            kept[begin : begin + length] = True
        for number, example in enumerate(examples):
            of = slice(tokens.edges[number], tokens.edges[number + 1])
            columns = (tokens.ids[of], *offsets[of].T, tokens.trained[of], ~kept[of])
            found = list(_pieces(example.text, *(column.tolist() for column in columns)))
            shown.append(ShownText(rows[number], side, roles[number][which], found, example.problem))
    return sorted(shown, key=lambda text: text.row)


def _roles(reader: Reader, table: Any, sides: int) -> Iterator[list[list[str]]]:
    for row in rows_of(table, (*COLUMNS[reader.shape], *VARIABLES)):
        try:
            chats = reader.chats_of(row) if reader.template else []
        except ChatError:
            chats = []
        roles = [[str(message.get("role")) for message in chat] for chat in chats]
        yield roles or [[]] * sides


def _pieces(
    text: str, ids: list[int], starts: list[int], stops: list[int], trained: list[bool], cut: list[bool]
) -> Iterator[Piece]:
    """Tokens and text in order; all of the text, also where no token stands for it, comes once."""
    end = 0
    last: Piece | None = None
    for token, start, stop, is_trained, is_cut in zip(ids, starts, stops, trained, cut, strict=True):
        if start == stop:
            if last:
                yield last
                last = None
            yield Piece("", [token], end, end, is_trained, is_cut)
        elif stop <= end and last:  # shares the characters of the one before
            last.ids.append(token)
            last.trained |= is_trained
        else:
            if last:
                yield last
            if start > end:
                yield Piece(text[end:start], [], end, start)
            begin = max(start, end)
            last = Piece(text[begin:stop], [token], begin, stop, is_trained, is_cut)
            end = stop
    if last:
        yield last
    if end < len(text):
        yield Piece(text[end:], [], end, len(text))
