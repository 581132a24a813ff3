"""BPE and Unigram as SentencePiece does them, not in all as tokenizer.json's models of these names do."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from struct import Struct
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from arrowprep.errors import TokenizerError
from arrowprep.tokenize.bulk import Flat, feed_texts, little_endian, utf8
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models.base import Token, Vocabulary, VocabularyModel
from arrowprep.tokenize.models.bpe import BPE
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.models.merging import merge
from arrowprep.tokenize.models.unigram import UNKNOWN_PENALTY, UNREACHED

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = KINDS = (1, 2, 3, 4, 5, 6)
LARGEST_SCORE = 1e30  # sums of real ones stay far below
IN_TEXT, ON_PATHS = (NORMAL, USER_DEFINED, UNUSED), (NORMAL, USER_DEFINED)

N = TypeVar("N")


class Piece(NamedTuple):
    """An entry of the vocabulary: its text, its score, and one of the six kinds."""

    text: str
    score: float
    kind: int


class PieceTables(Vocabulary):
    """The pieces in the order of ids; of equal texts the last counts.

    given: a list; or flat, as the kernel reads them: then objects and dicts are made when they pay
    scores, kinds: (n,) of the pieces
    """

    def __init__(self, given: Sequence[Piece] | FlatVocabulary) -> None:
        if isinstance(given, FlatVocabulary):
            assert given.scores is not None
            assert given.kinds is not None
            super().__init__(given)
            self.scores, self.kinds = given.scores, given.kinds
        else:
            super().__init__({piece.text: id for id, piece in enumerate(given)})
            self.pieces = given
            self.scores = np.array([piece.score for piece in given], np.float64)
            self.kinds = np.array([piece.kind for piece in given], np.int64)

    @cached_property
    def pieces(self) -> Sequence[Piece]:
        return list(map(Piece, self.flat.list(), self.scores.tolist(), self.kinds.tolist()))

    @cached_property
    def flat(self) -> Flat:
        return utf8([piece.text for piece in self.pieces], "surrogatepass")

    def token_of(self, id: int) -> str | None:
        if self._read is not None and not self._worth_dicts():
            return self._read.token_of(id)
        return self.pieces[id].text if 0 <= id < len(self.pieces) else None

    def feed(self, update: Callable[[bytes], None]) -> None:
        update(bytes(self.kinds.tolist()))
        update(little_endian(self.scores))
        feed_texts(update, self.flat)

    def of_kind(self, kind: int) -> list[tuple[int, str]]:
        """The pieces of a kind, as ids and texts."""
        ids = np.flatnonzero(self.kinds == kind).tolist()
        if "pieces" in vars(self):
            return [(id, self.pieces[id].text) for id in ids]
        return [(id, self.flat.text(id)) for id in ids]

    @cached_property
    def in_text(self) -> dict[str, int]:
        """What a text can be made of: not control, unknown or byte pieces. With their ids."""
        return {piece.text: id for id, piece in enumerate(self.pieces) if piece.kind in IN_TEXT}

    @cached_property
    def unused(self) -> frozenset[str]:
        return frozenset(text for _, text in self.of_kind(UNUSED))

    @cached_property
    def unknown(self) -> int | None:
        return next((id for id, _ in self.of_kind(UNKNOWN)), None)

    @cached_property
    def byte_ids(self) -> dict[int, int]:
        spelled = re.compile(r"<0x[0-9A-F]{2}>")
        return {int(text[3:5], 16): id for id, text in self.of_kind(BYTE) if spelled.fullmatch(text)}

    @cached_property
    def user_defined(self) -> re.Pattern[str] | None:
        """Finds user-defined pieces, the longest first."""
        return longest_first(text for _, text in self.of_kind(USER_DEFINED))


class Found(Generic[N]):
    """A number for each piece that counts, by its text; looked up in what the kernel has read."""

    def __init__(self, pieces: FlatVocabulary, numbers: list[N], kinds: Container[int]) -> None:
        self._pieces = pieces
        self._numbers = numbers
        self._kinds = kinds

    def get(self, text: str, default: Any = None) -> N | Any:
        place = self._pieces.place_of(text)
        assert self._pieces.kinds is not None
        return self._numbers[place] if place >= 0 and self._pieces.kinds[place] in self._kinds else default

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.get(text) is not None


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

    def __init__(self, pieces: Iterable[Piece] | FlatVocabulary, byte_fallback: bool = False) -> None:
        self.byte_fallback = byte_fallback
        self._tables = PieceTables(pieces if isinstance(pieces, FlatVocabulary) else list(pieces))

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

    @property
    def untold(self) -> None:
        """None: unknown text, and all but the last byte of a character, stand for texts of their own."""

    def tokenize(self, sequence: str) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        fusing = False
        parts, known = self._parts(sequence)
        for text in parts:
            start, at = at, at + len(text)
            if text in known:
                id = self._tables.id_of(text)
                assert id is not None
                tokens.append(Token(id, text, (start, at)))
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

    def _parts(self, sequence: str) -> tuple[list[str], Container[str]]:
        """The pieces of a text, and what all of them are in; a part that is not is one unknown character."""
        raise NotImplementedError

    def _spelled(self, text: str, start: int) -> list[Token]:
        data = text.encode()
        missing = [byte for byte in data if byte not in self._tables.byte_ids]
        if missing:
            raise TokenizerError(f"the vocabulary has no piece for the byte 0x{missing[0]:02X}", text=text)
        ids = [self._tables.byte_ids[byte] for byte in data]
        last = len(ids) - 1
        return [
            Token(id, self._tables.token_of(id) or "", (start, start + len(text) if i == last else start))
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
        unknown, scores = self._tables.unknown, self._tables.scores
        texts = sorted(self._tables.in_text, key=lambda text: -scores[self._tables.in_text[text]])
        nearest = BPE(
            unk_token=None if unknown is None else self.pieces[unknown].text,
            fuse_unk=True,
            byte_fallback=self.byte_fallback,
        )
        merges = [pair for text in texts for pair in self._splits(text)]
        return {**nearest.options_json(), "vocab": self._tables.by_id(), "merges": merges}

    def _splits(self, text: str) -> list[tuple[str, str]]:
        known = self._tables.in_text
        return [
            (left, right)
            for i in range(1, len(text))
            if (left := text[:i]) in known and (right := text[i:]) in known
        ]

    @cached_property
    def _rank_of(self) -> list[int]:
        """(n,) of each piece by its score, the highest first; equal scores have the same."""
        falling = np.argsort(-self._tables.scores, kind="stable")
        ranks = np.zeros(len(falling), np.int64)
        ranks[falling[1:]] = np.cumsum(np.diff(self._tables.scores[falling]) != 0)
        found: list[int] = ranks.tolist()
        return found

    @cached_property
    def _ranks(self) -> dict[str, int]:
        ranks = self._rank_of
        return {text: ranks[id] for text, id in self._tables.in_text.items()}

    def _parts(self, sequence: str) -> tuple[list[str], Container[str]]:
        few = self._tables.few(len(sequence))
        known = Found(few, self._rank_of, IN_TEXT) if few else self._ranks
        ranks = _RankOfResult(known)
        user_defined = self._tables.user_defined
        if user_defined is None:
            return self._merged(sequence, ranks), known
        parts: list[str] = []
        last = 0
        for match in user_defined.finditer(sequence):
            parts += self._merged(sequence[last : match.start()], ranks)
            parts.append(match.group())
            last = match.end()
        return parts + self._merged(sequence[last:], ranks), known

    def _merged(self, text: str, ranks: _RankOfResult) -> list[str]:
        made: dict[str, tuple[str, str]] = {}

        def join(left: str, right: str) -> str:
            made[left + right] = (left, right)
            return left + right

        unused = self._tables.unused
        parts, _ = merge(list(text), [1] * len(text), ranks, join if unused else str.__add__)
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

    def __init__(self, ranks: dict[str, int] | Found[int]) -> None:
        self._rank: Callable[[str, int], int] = ranks.get

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
    def _score_of(self) -> list[float]:
        """(n,) of each piece on a path."""
        tables = self._tables
        best = max(self._normal_scores.tolist(), default=0.0)
        whole = np.diff(tables.flat.offsets) * best - 0.1
        found: list[float] = np.where(tables.kinds == USER_DEFINED, whole, tables.scores).tolist()
        return found

    @property
    def _normal_scores(self) -> npt.NDArray[np.float64]:
        scores: npt.NDArray[np.float64] = self._tables.scores[self._tables.kinds == NORMAL]
        return scores

    @cached_property
    def _scores(self) -> dict[str, float]:
        """Of the pieces that may be on a path."""
        scores, kinds = self._score_of, self._tables.kinds
        return {text: scores[id] for text, id in self._tables.in_text.items() if kinds[id] != UNUSED}

    @cached_property
    def _unknown_score(self) -> float:
        return _rounded(min(self._normal_scores.tolist(), default=0.0) - UNKNOWN_PENALTY)

    @cached_property
    def _lengths(self) -> dict[str, tuple[int, ...]]:
        """The lengths of the pieces that begin with a pair of characters, shortest first."""
        found: dict[str, set[int]] = {}
        for text in self._scores:
            if len(text) > 1:
                found.setdefault(text[:2], set()).add(len(text))
        return {start: tuple(sorted(all)) for start, all in found.items()}

    def _parts(self, sequence: str) -> tuple[list[str], Container[str]]:
        scores: Found[float] | dict[str, float]
        if few := self._tables.few(len(sequence)):
            scores, lengths_of = Found(few, self._score_of, ON_PATHS), few.every_length
        else:
            scores, lengths_of = self._scores, self._lengths
        return self._best_path(sequence, scores, lengths_of), scores

    def _best_path(
        self,
        sequence: str,
        scores: Found[float] | dict[str, float],
        lengths_of: Mapping[str, tuple[int, ...]],
    ) -> list[str]:
        unknown = self._unknown_score
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
