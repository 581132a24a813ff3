"""Encoding: the tokens of one text or pair, with where each came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrowprep.errors import BadArgument
from arrowprep.tokenize.padding import Padding
from arrowprep.tokenize.truncation import DIRECTIONS, Truncation, check_choice, windows

__all__ = ["Encoding", "Padding", "Span", "Truncation"]

Span = tuple[int, int]


class Encoding:
    """The tokens of one text or pair; every list has one element per token.

    ids, type_ids: numbers of the tokens, and which text (or part of a template) they belong to
    tokens: their texts as the vocabulary has them
    offsets: (start, end) in characters of the text, end exclusive; (0, 0) for added ones
    words: number of the piece (or of the caller's word) a token is part of, None for added ones
    special_tokens_mask: 1 where the post-processor or padding put a token
    attention_mask: 0 where padding did
    overflowing: the windows that truncation cut off, encodings themselves
    sequence_ranges: for each text of the encoding, the (start, stop) of its tokens
    """

    __slots__ = (
        "attention_mask",
        "ids",
        "offsets",
        "overflowing",
        "sequence_ranges",
        "special_tokens_mask",
        "tokens",
        "type_ids",
        "words",
    )

    def __init__(
        self,
        ids: list[int] | None = None,
        type_ids: list[int] | None = None,
        tokens: list[str] | None = None,
        offsets: list[Span] | None = None,
        words: list[int | None] | None = None,
        special_tokens_mask: list[int] | None = None,
        attention_mask: list[int] | None = None,
        overflowing: list[Encoding] | None = None,
        sequence_ranges: dict[int, Span] | None = None,
    ) -> None:
        n = len(ids or ())
        self.ids = ids or []
        self.type_ids = type_ids if type_ids is not None else [0] * n
        self.tokens = tokens if tokens is not None else [""] * n
        self.offsets = offsets if offsets is not None else [(0, 0)] * n
        self.words: list[int | None] = words if words is not None else [None] * n
        self.special_tokens_mask = special_tokens_mask if special_tokens_mask is not None else [0] * n
        self.attention_mask = attention_mask if attention_mask is not None else [1] * n
        self.overflowing = overflowing if overflowing is not None else []
        self.sequence_ranges = sequence_ranges if sequence_ranges is not None else {}

    @classmethod
    def of_special(cls, ids: Sequence[int], tokens: Sequence[str], type_id: int) -> Encoding:
        """Tokens that stand for nothing in the text."""
        n = len(ids)
        return cls(list(ids), [type_id] * n, list(tokens), special_tokens_mask=[1] * n)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return (
            f"Encoding(num_tokens={len(self)}, attributes=[ids, type_ids, tokens, offsets, attention_mask,"
            " special_tokens_mask, overflowing])"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def copy(self) -> Encoding:
        """One whose lists can be changed apart from these."""
        twin = self.part(0, len(self))
        twin.overflowing = [part.copy() for part in self.overflowing]
        twin.sequence_ranges = dict(self.sequence_ranges)
        return twin

    # ------------------------------------------------------------------ which text, which word

    @property
    def word_ids(self) -> list[int | None]:
        return self.words

    @property
    def n_sequences(self) -> int:
        """How many texts it has: one, or two for a pair."""
        return len(self.sequence_ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """The text of each token, 0 or 1; None for added ones."""
        ids: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, stop = self._range(sequence)
            ids[start:stop] = [sequence] * (stop - start)
        return ids

    def set_sequence_id(self, sequence_id: int) -> None:
        """Say that all tokens are of this text."""
        self.sequence_ranges[sequence_id] = (0, len(self))

    def _range(self, sequence: int) -> Span:
        return self.sequence_ranges.get(sequence, (0, len(self)))

    # ------------------------------------------------------------------ queries

    def token_to_sequence(self, token_index: int) -> int | None:
        if not 0 <= token_index <= len(self):
            return None
        if not self.sequence_ranges:
            return 0
        for sequence, (start, stop) in self.sequence_ranges.items():
            if start <= token_index < stop:
                return sequence
        return None

    def token_to_chars(self, token_index: int) -> Span | None:
        """The characters of a token; None for added ones."""
        if self.token_to_sequence(token_index) is None or token_index >= len(self):
            return None
        return self.offsets[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        if self.token_to_sequence(token_index) is None or token_index >= len(self):
            return None
        return self.words[token_index]

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """(start, stop) of the tokens of a word; None when it has none."""
        start, stop = self._range(sequence_index)
        found: Span | None = None
        for i in range(start, stop):
            word = self.words[i]
            if word == word_index:
                found = (found[0] if found else i, i + 1)
            elif word is not None and word > word_index:
                break  # words of one text only grow; added tokens among them have none
        return found

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        tokens = self.word_to_tokens(word_index, sequence_index)
        if tokens is None:
            return None
        return self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1]

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that covers a character; None for a space that none covers."""
        start, stop = self._range(sequence_index)
        for i in range(start, stop):
            if self.offsets[i][0] <= char_pos < self.offsets[i][1]:
                return i
        return None

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    # ------------------------------------------------------------------ changes in place

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Keep `max_length` tokens; the others become windows in `overflowing`.

        The ranges of the texts are lost with it.
        """
        Truncation(max_length, stride, direction=direction)  # checks them
        if len(self) <= max_length:
            return
        kept, *rest = windows(len(self), max_length, stride, direction)
        overflowing = [self.part(*window) for window in rest]
        first = self.part(*kept)
        for name in _LISTS:
            setattr(self, name, getattr(first, name))
        self.overflowing, self.sequence_ranges = overflowing, {}

    def part(self, start: int, stop: int) -> Encoding:
        """The tokens from start to stop alone; which text they are of is lost."""
        lists: list[Any] = [getattr(self, name)[start:stop] for name in _LISTS]
        return Encoding(*lists)

    def pad(
        self,
        length: int,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> None:
        """Make it, and what overflows of it, at least `length` tokens long."""
        check_choice("direction", direction, DIRECTIONS)
        for part in self.overflowing:
            part.pad(length, direction, pad_id, pad_type_id, pad_token)
        missing = length - len(self)
        if missing <= 0:
            return
        pads = Encoding.of_special([pad_id] * missing, [pad_token] * missing, pad_type_id)
        pads.attention_mask = [0] * missing
        for name in _LISTS:
            own, padding = getattr(self, name), getattr(pads, name)
            setattr(self, name, padding + own if direction == "left" else own + padding)
        if direction == "left":
            ranges = self.sequence_ranges.items()
            self.sequence_ranges = {s: (start + missing, stop + missing) for s, (start, stop) in ranges}

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """One after the other; with growing offsets each begins where the one before ended.

        What overflows is combined in all ways: k windows beside m make their product.
        """
        merged = Encoding()
        for encoding in encodings:
            merged = _joined(merged, encoding, growing_offsets)
        return merged


_LISTS = ("ids", "type_ids", "tokens", "offsets", "words", "special_tokens_mask", "attention_mask")


def _joined(left: Encoding, right: Encoding, growing: bool) -> Encoding:
    overflowing: list[Encoding] = []
    for part in left.overflowing:
        overflowing.append(_joined(part, right, growing))
        overflowing += [_joined(part, other, growing) for other in right.overflowing]
    overflowing += [_joined(left, other, growing) for other in right.overflowing]
    lists: list[Any] = [getattr(left, name) + getattr(right, name) for name in _LISTS]
    joined = Encoding(*lists)
    joined.overflowing = overflowing
    shift = left.offsets[-1][1] if growing and left.offsets else 0
    if shift:
        joined.offsets[len(left) :] = [(start + shift, end + shift) for start, end in right.offsets]
    n = len(left)
    joined.sequence_ranges = {
        **left.sequence_ranges,
        **{s: (start + n, stop + n) for s, (start, stop) in right.sequence_ranges.items()},
    }
    return joined


def pad_all(encodings: Sequence[Encoding], padding: Padding) -> None:
    """Pad a batch in place."""
    length = padding.target(max((len(encoding) for encoding in encodings), default=0))
    for encoding in encodings:
        encoding.pad(length, padding.direction, padding.pad_id, padding.pad_type_id, padding.pad_token)


def check_same_length(name: str, first: Sequence[object], second: Sequence[object]) -> None:
    """Raises BadArgument when a batch and what goes with it differ in length."""
    if len(first) != len(second):
        raise BadArgument(f"{len(first)} texts but {len(second)} {name}", texts=len(first), other=len(second))
