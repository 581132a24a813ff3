"""BPE and Unigram as SentencePiece does them, not in all as tokenizer.json's models of these names do."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cached_property
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from arrowprep.errors import TokenizerError
from arrowprep.tokenize.bulk import feed_texts, little_endian, utf8
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models.base import Token, Vocabulary, VocabularyModel
from arrowprep.tokenize.models.bpe import BPE
from arrowprep.tokenize.models.merging import merge
from arrowprep.tokenize.models.unigram import UNKNOWN_PENALTY, UNREACHED

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = KINDS = (1, 2, 3, 4, 5, 6)
LARGEST_SCORE = 1e30  # sums of real ones stay far below
IN_TEXT = (NORMAL, USER_DEFINED, UNUSED)


class Piece(NamedTuple):
    """An entry of the vocabulary: its text, its score, and one of the six kinds."""

    text: str
    score: float
    kind: int


class PieceTables(Vocabulary):
    """The pieces in the order of ids; of equal texts the last counts."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        super().__init__({piece.text: id for id, piece in enumerate(pieces)})
        self.pieces = pieces

    def feed(self, update: Callable[[bytes], None]) -> None:
        update(bytes(piece.kind for piece in self.pieces))
        update(little_endian(np.array([piece.score for piece in self.pieces], np.float64)))
        feed_texts(update, utf8([piece.text for piece in self.pieces], "surrogatepass"))

    @cached_property
    def in_text(self) -> dict[str, Piece]:
        """What a text can be made of: not control, unknown or byte pieces."""
        return {piece.text: piece for piece in self.pieces if piece.kind in IN_TEXT}

    @cached_property
    def unused(self) -> frozenset[str]:
        return frozenset(piece.text for piece in self.pieces if piece.kind == UNUSED)

    @cached_property
    def unknown(self) -> int | None:
        return next((id for id, piece in enumerate(self.pieces) if piece.kind == UNKNOWN), None)

    @cached_property
    def byte_ids(self) -> dict[int, int]:
        return {
            int(piece.text[3:5], 16): id
            for id, piece in enumerate(self.pieces)
            if piece.kind == BYTE and re.fullmatch(r"<0x[0-9A-F]{2}>", piece.text)
        }

    @cached_property
    def user_defined(self) -> re.Pattern[str] | None:
        """Finds user-defined pieces, the longest first."""
        return longest_first(piece.text for piece in self.pieces if piece.kind == USER_DEFINED)


def longest_first(texts: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern of any of the texts; None where there are none."""
    ordered = sorted(texts, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


class SentencePieceModel(VocabularyModel):
    """What both share: pieces of six kinds, and what becomes of unknown text.

    Control pieces stand for nothing in a text. A user-defined piece is taken whole
    wherever it stands. An unknown character is spelled in bytes where the model does
    that, only the last of which has an offset; else unknown neighbours are one token,
    which keeps their text.

    In a tokenizer.json each also is a model that other libraries read, with the
    nearest meaning that they have.
    """

    _tables: PieceTables

    def __init__(self, pieces: Iterable[Piece], byte_fallback: bool = False) -> None:
        self.byte_fallback = byte_fallback
        self._tables = PieceTables(list(pieces))

    @property
    def pieces(self) -> Sequence[Piece]:
        """The vocabulary in the order of ids."""
        return self._tables.pieces

    def options_json(self) -> dict[str, Any]:
        return {"type": self.kind, "byte_fallback": self.byte_fallback}

    def to_json(self) -> dict[str, Any]:
        return {
            **self._nearest_json(),
            "arrowprep": self.kind,
            "scores": [piece.score for piece in self.pieces],
            "kinds": "".join(str(piece.kind) for piece in self.pieces),
        }

    def _nearest_json(self) -> dict[str, Any]:
        raise NotImplementedError

    def id_to_token(self, id: int) -> str | None:
        return self.pieces[id].text if 0 <= id < len(self.pieces) else None

    @property
    def untold(self) -> None:
        """None: unknown text, and all but the last byte of a character, stand for texts of their own."""

    def tokenize(self, sequence: str) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        fusing = False
        for text in self._parts(sequence):
            start, at = at, at + len(text)
            if text in self._known:
                tokens.append(Token(self._tables.ids[text], text, (start, at)))
                fusing = False
                continue
            if self.byte_fallback:
                tokens += self._spelled(text, start)
            elif fusing:
                before = tokens.pop()
                tokens.append(Token(before.id, before.value + text, (before.offsets[0], at)))
            else:
                tokens.append(Token(self._unknown(text), text, (start, at)))
            fusing = not self.byte_fallback
        return tokens

    @property
    def _known(self) -> Container[str]:
        """The parts that are pieces."""
        raise NotImplementedError

    def _parts(self, sequence: str) -> list[str]:
        """The pieces of a text; a part that is none is one unknown character."""
        raise NotImplementedError

    def _spelled(self, text: str, start: int) -> list[Token]:
        data = text.encode()
        missing = [byte for byte in data if byte not in self._tables.byte_ids]
        if missing:
            raise TokenizerError(f"the vocabulary has no piece for the byte 0x{missing[0]:02X}", text=text)
        ids = [self._tables.byte_ids[byte] for byte in data]
        last = len(ids) - 1
        return [
            Token(id, self.pieces[id].text, (start, start + len(text) if i == last else start))
            for i, id in enumerate(ids)
        ]

    def _unknown(self, text: str) -> int:
        if self._tables.unknown is None:
            raise TokenizerError(f"{text!r} is not in the vocabulary, which has no unknown piece", text=text)
        return self._tables.unknown


class SentencePieceBPE(SentencePieceModel):
    """Joins neighbours, the piece of the highest score first and of equal ones the leftmost.

    An unused piece may be made on the way; one that is left is taken apart again.
    Source: Kudo and Richardson (2018).
    """

    kind = "SentencePieceBPE"
    legacy = (
        *("merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
        *("fuse_unk", "ignore_merges", "arrowprep"),
    )

    @classmethod
    def from_json(cls, spec: Spec) -> SentencePieceBPE:
        vocab: dict[str, int] = spec.get("vocab", dict)
        texts = sorted(vocab, key=lambda text: vocab[text])
        return cls(_read_pieces(spec, texts), spec.flag("byte_fallback"))

    def _nearest_json(self) -> dict[str, Any]:
        unknown = self._tables.unknown
        texts = sorted(self._tables.in_text.values(), key=lambda piece: -piece.score)
        nearest = BPE(
            unk_token=None if unknown is None else self.pieces[unknown].text,
            fuse_unk=True,
            byte_fallback=self.byte_fallback,
        )
        merges = [pair for piece in texts for pair in self._splits(piece.text)]
        return {**nearest.options_json(), "vocab": self._tables.by_id(), "merges": merges}

    def _splits(self, text: str) -> list[tuple[str, str]]:
        known = self._tables.in_text
        return [
            (left, right)
            for i in range(1, len(text))
            if (left := text[:i]) in known and (right := text[i:]) in known
        ]

    @property
    def _known(self) -> Container[str]:
        return self._tables.in_text

    @cached_property
    def _ranks(self) -> _RankOfResult:
        pieces = self._tables.in_text.values()
        order = {score: rank for rank, score in enumerate(sorted({p.score for p in pieces}, reverse=True))}
        return _RankOfResult({piece.text: order[piece.score] for piece in pieces})

    def _parts(self, sequence: str) -> list[str]:
        user_defined = self._tables.user_defined
        if user_defined is None:
            return self._merged(sequence)
        parts: list[str] = []
        last = 0
        for match in user_defined.finditer(sequence):
            parts += self._merged(sequence[last : match.start()])
            parts.append(match.group())
            last = match.end()
        return parts + self._merged(sequence[last:])

    def _merged(self, text: str) -> list[str]:
        made: dict[str, tuple[str, str]] = {}

        def join(left: str, right: str) -> str:
            made[left + right] = (left, right)
            return left + right

        unused = self._tables.unused
        parts, _ = merge(list(text), [1] * len(text), self._ranks, join if unused else str.__add__)
        return (
            [smaller for part in parts for smaller in _taken_apart(part, unused, made)] if unused else parts
        )


def _taken_apart(part: str, unused: Container[str], made: dict[str, tuple[str, str]]) -> Iterator[str]:
    """An unused piece in the parts that it was merged of."""
    if part in unused and part in made:
        for smaller in made[part]:
            yield from _taken_apart(smaller, unused, made)
    else:
        yield part


class _RankOfResult:
    """Ranks of pairs, looked up by what they make."""

    def __init__(self, ranks: dict[str, int]) -> None:
        self._rank = ranks.get

    def get(self, pair: tuple[str, str], default: int, /) -> int:
        return self._rank(pair[0] + pair[1], default)


_as_float32 = Struct("f")


class SentencePieceUnigram(SentencePieceModel):
    """The path of the highest sum of scores, added up in 32 bits as SentencePiece does.

    A user-defined piece scores so that no other path wins; an unknown character 10
    below the lowest score. Source: Kudo (2018).
    """

    kind = "SentencePieceUnigram"
    legacy = ("unk_id", "arrowprep")

    @classmethod
    def from_json(cls, spec: Spec) -> SentencePieceUnigram:
        vocab = spec.get("vocab", list)
        if not all(isinstance(entry, list) and entry and isinstance(entry[0], str) for entry in vocab):
            raise spec.bad("'vocab' is not tokens and their scores")
        return cls(_read_pieces(spec, [entry[0] for entry in vocab]), spec.flag("byte_fallback"))

    def _nearest_json(self) -> dict[str, Any]:
        vocab = [[piece.text, piece.score] for piece in self.pieces]
        unknown = self._tables.unknown
        return {"type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": self.byte_fallback}

    @cached_property
    def _scores(self) -> dict[str, float]:
        """Of the pieces that may be on a path."""
        best = max((p.score for p in self.pieces if p.kind == NORMAL), default=0.0)
        return {
            text: len(text.encode()) * best - 0.1 if piece.kind == USER_DEFINED else piece.score
            for text, piece in self._tables.in_text.items()
            if piece.kind != UNUSED
        }

    @property
    def _known(self) -> Container[str]:
        return self._scores

    @cached_property
    def _unknown_score(self) -> float:
        lowest = min((p.score for p in self.pieces if p.kind == NORMAL), default=0.0)
        return _rounded(lowest - UNKNOWN_PENALTY)

    @cached_property
    def _lengths(self) -> dict[str, tuple[int, ...]]:
        """The lengths of the pieces that begin with a pair of characters, shortest first."""
        found: dict[str, set[int]] = {}
        for text in self._scores:
            if len(text) > 1:
                found.setdefault(text[:2], set()).add(len(text))
        return {start: tuple(sorted(all)) for start, all in found.items()}

    def _parts(self, sequence: str) -> list[str]:
        scores, lengths_of, unknown = self._scores, self._lengths, self._unknown_score
        n = len(sequence)
        best = [0.0] * (n + 1)
        begins = [UNREACHED] * (n + 1)
        for start in range(n):
            here = best[start]
            lengths = (1, *lengths_of.get(sequence[start : start + 2], ()))
            for length in lengths:
                stop = start + length
                if stop > n:
                    break
                score = scores.get(sequence[start:stop])
                if score is None:
                    if length > 1:
                        continue
                    score = unknown
                sum = here + score
                if begins[stop] == UNREACHED or (sum > best[stop] and _rounded(sum) > best[stop]):
                    best[stop], begins[stop] = _rounded(sum), start
        parts: list[str] = []
        stop = n
        while stop > 0:
            parts.append(sequence[begins[stop] : stop])
            stop = begins[stop]
        parts.reverse()
        return parts


def _rounded(score: float) -> float:
    number: float = _as_float32.unpack(_as_float32.pack(score))[0]
    return number


def _read_pieces(spec: Spec, texts: list[str]) -> list[Piece]:
    scores, kinds = spec.get("scores", list), spec.text("kinds")
    numbers = all(isinstance(score, (int, float)) for score in scores)
    if not (len(texts) == len(scores) == len(kinds)) or not numbers or set(kinds) - set("123456"):
        raise spec.bad("'scores' and 'kinds' are not one for each token of the vocabulary")
    if wrong := [score for score in scores if not abs(score) < LARGEST_SCORE]:
        raise spec.bad(f"'scores' has {wrong[0]}, which cannot be added up in 32 bits")
    exact = map(_rounded, scores)  # the last bit is not the same in every reader of JSON
    return [Piece(text, score, int(kind)) for text, score, kind in zip(texts, exact, kinds, strict=True)]
