"""Unigram: the most likely way to spell a piece, given a score for each token."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from arrowprep.errors import BadArgument, TokenizerError
from arrowprep.tokenize.bulk import Flat, feed_texts, little_endian, utf8
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models import storage
from arrowprep.tokenize.models.base import Token, Vocabulary, VocabularyModel
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.models.sampling import Edge, draw_of_best, draw_path

UNKNOWN_PENALTY = 10.0  # below the lowest score of the vocabulary; SentencePiece's
UNREACHED = -1
_BYTE = re.compile("<0x[0-9A-F]{2}>")


class UnigramTables(Vocabulary):
    """Tokens with their scores, in the order of ids; of equal tokens the last counts."""

    def __init__(self, given: list[tuple[str, float]] | FlatVocabulary) -> None:
        if isinstance(given, FlatVocabulary):
            assert given.scores is not None
            super().__init__(given)
            self.score_array = given.scores
        else:
            super().__init__({token: id for id, (token, _) in enumerate(given)})
            self.all = [token for token, _ in given]
            self.score_array = np.array([score for _, score in given], np.float64)

    @cached_property
    def all(self) -> list[str]:
        """The tokens in the order of ids, also those that are there twice."""
        return list(self.ids)

    @cached_property
    def flat(self) -> Flat:
        return utf8(self.all, "surrogatepass")

    @cached_property
    def scores(self) -> list[float]:
        found: list[float] = self.score_array.tolist()
        return found

    @property
    def vocab(self) -> list[tuple[str, float]]:
        """The pairs, made anew each time."""
        return list(zip(self.all, self.scores, strict=True))

    def token_of(self, id: int) -> str | None:
        if self._read is not None and not self._worth_dicts():
            return self._read.token_of(id)
        return self.all[id] if 0 <= id < len(self.all) else None

    @cached_property
    def lengths(self) -> dict[str, tuple[int, ...]]:
        """The lengths of the tokens that begin with a pair of characters, shortest first."""
        found: dict[str, set[int]] = {}
        for token in self.ids:
            if len(token) > 1:
                found.setdefault(token[:2], set()).add(len(token))
        return {start: tuple(sorted(all)) for start, all in found.items()}

    @cached_property
    def unknown_score(self) -> float:
        return min(self.scores, default=0.0) - UNKNOWN_PENALTY

    def feed(self, update: Callable[[bytes], None]) -> None:
        update(little_endian(self.score_array))
        feed_texts(update, self.flat)


class Unigram(VocabularyModel):
    """The path of the highest sum of scores; of equal ones the path that was found first.

    Found first means: the one whose last token is the longest. An unknown character
    scores 10 below the lowest token; unknown neighbours are one token, which keeps
    its own text.

    vocab: (token, score) pairs, in the order of ids
    unk_id: None makes an unknown character an error
    byte_fallback: an unknown stretch is spelled in tokens `<0x..>` where all are there
    alpha: draws a path anew each time, in training: the smaller, the less the scores count. None
        and 0.0 take the best. Python's `random` draws, whose seed makes it repeatable; no file holds it
    nbest_size: among how many of the best paths; None and 0 are all
    """

    kind = "Unigram"
    _tables: UnigramTables

    def __init__(
        self,
        vocab: Iterable[tuple[str, float]] | FlatVocabulary | None = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        if not isinstance(vocab, FlatVocabulary):
            vocab = [(token, float(score)) for token, score in vocab or ()]
        tables = UnigramTables(vocab)
        if unk_id is not None and unk_id >= len(tables.score_array):
            raise BadArgument(
                f"unk_id={unk_id} is not in the vocabulary of {len(tables.score_array)}", unk_id=unk_id
            )
        self.unk_id = unk_id
        self.byte_fallback = bool(byte_fallback)
        self.alpha = alpha
        self.nbest_size = nbest_size
        self._tables = tables

    @classmethod
    def from_json(cls, spec: Spec) -> Unigram:
        vocab = spec.get("vocab", (list, FlatVocabulary))
        if isinstance(vocab, list) and not _are_entries(vocab):
            raise spec.bad(_broken_entry(vocab))
        try:
            unk_id = spec.get("unk_id", (int, type(None)), None)
            return cls(vocab, unk_id, spec.flag("byte_fallback", False))
        except BadArgument as error:
            raise spec.bad(str(error)) from error

    def save(self, folder: str | Path, prefix: str | None = None) -> list[str]:
        text = json.dumps(self.to_json(), ensure_ascii=False, indent=2)
        return [storage.write(folder, prefix, "unigram.json", text)]

    @property
    def untold(self) -> frozenset[int]:
        return frozenset() if self.unk_id is None else frozenset([self.unk_id])

    @property
    def is_random(self) -> bool:
        return bool(self.alpha) and self.nbest_size != 1

    def options_json(self) -> dict[str, Any]:
        drawn = {"alpha": self.alpha, "nbest_size": self.nbest_size} if self.is_random else {}
        return {"type": self.kind, "unk_id": self.unk_id, "byte_fallback": self.byte_fallback, **drawn}

    def to_json(self) -> dict[str, Any]:
        vocab = list(map(list, self._tables.vocab))
        return {
            "type": self.kind,
            "unk_id": self.unk_id,
            "vocab": vocab,
            "byte_fallback": self.byte_fallback,
        }

    def get_vocab_size(self) -> int:
        return len(self._tables.score_array)

    def unreachable(self) -> list[str]:
        """The tokens whose text has a better path, which is then better in every longer text too."""
        unknown = () if self.unk_id is None else (self._tables.all[self.unk_id],)
        tokens = (token for token in self._tables.ids if token not in unknown and not _BYTE.fullmatch(token))
        return [token for token in tokens if len(self._path(token)) != 1]

    def tokenize(self, sequence: str) -> list[Token]:
        tokens: list[Token] = []
        few = self._tables.few(0)
        id_of = few.id_of if few else self._tables.ids.get
        for start, stop in self._drawn(sequence) if self.is_random else self._path(sequence):
            value = sequence[start:stop]
            id = id_of(value)
            if id is None and self.byte_fallback and (spelled := self._spelled(value)):
                tokens += [Token(id, token, (start, stop)) for id, token in spelled]
                continue
            tokens.append(Token(self._unknown(value) if id is None else id, value, (start, stop)))
        return tokens

    def _path(self, sequence: str) -> list[tuple[int, int]]:
        """The spans of the best path. Source: Kudo (2018), with Viterbi over the ends of tokens."""
        tables = self._tables
        id_of: Callable[[str], int | None]
        if few := tables.few(len(sequence)):
            id_of, lengths_of = few.id_of, few.every_length
        else:
            id_of, lengths_of = tables.ids.get, tables.lengths
        score_of = tables.scores
        n = len(sequence)
        scores = [0.0] * (n + 1)
        begins = [UNREACHED] * (n + 1)
        known = [True] * (n + 1)
        for start in range(n):
            here = scores[start]
            single = id_of(sequence[start])
            score = tables.unknown_score if single is None else score_of[single]
            if begins[start + 1] == UNREACHED or here + score > scores[start + 1]:
                scores[start + 1], begins[start + 1] = here + score, start
                known[start + 1] = single is not None and single != self.unk_id
            for length in lengths_of.get(sequence[start : start + 2], ()):
                stop = start + length
                if stop > n:
                    break
                id = id_of(sequence[start:stop])
                if id is None:
                    continue
                score = here + score_of[id]
                if begins[stop] == UNREACHED or score > scores[stop]:
                    scores[stop], begins[stop], known[stop] = score, start, id != self.unk_id
        return self._backwards(begins, known)

    def _drawn(self, sequence: str) -> list[tuple[int, int]]:
        """The spans of a path that is drawn; unknown neighbours become one."""
        edges = self._edges(sequence)
        alpha, count = self.alpha or 0.0, self.nbest_size or 0
        path = draw_of_best(edges, alpha, count) if count > 1 else draw_path(edges, alpha)
        spans: list[tuple[int, int]] = []
        fusing = False
        for start, stop, _ in path:
            unknown = self._tables.ids.get(sequence[start:stop], self.unk_id) == self.unk_id
            spans.append((spans.pop()[0] if fusing and unknown else start, stop))
            fusing = unknown
        return spans

    def _edges(self, sequence: str) -> list[list[Edge]]:
        """(n,) the tokens that end behind each character."""
        tables = self._tables
        edges: list[list[Edge]] = [[] for _ in sequence]
        for start in range(len(sequence)):
            single = tables.ids.get(sequence[start])
            score = tables.unknown_score if single is None else tables.scores[single]
            edges[start].append(Edge(start, start + 1, score))
            for length in tables.lengths.get(sequence[start : start + 2], ()):
                id = tables.ids.get(sequence[start : start + length])
                if id is not None and start + length <= len(sequence):
                    edges[start + length - 1].append(Edge(start, start + length, tables.scores[id]))
        return edges

    def _backwards(self, begins: list[int], known: list[bool]) -> list[tuple[int, int]]:
        """From the end to the start; unknown neighbours become one."""
        spans: list[tuple[int, int]] = []
        stop = len(begins) - 1
        fusing = False
        while stop > 0:
            start = begins[stop]
            if fusing and not known[stop]:
                spans[-1] = (start, spans[-1][1])
            else:
                spans.append((start, stop))
            fusing = not known[stop]
            stop = start
        spans.reverse()
        return spans

    def _unknown(self, value: str) -> int:
        if self.unk_id is None:
            raise TokenizerError(
                f"{value!r} is not in the vocabulary, which has no unknown token", text=value
            )
        return self.unk_id

    def _spelled(self, value: str) -> list[tuple[int, str]] | None:
        tokens = [f"<0x{byte:02X}>" for byte in value.encode()]
        ids = self._tables.ids
        return [(ids[token], token) for token in tokens] if all(map(ids.__contains__, tokens)) else None


def _are_entries(vocab: list[Any]) -> bool:
    """Whether these are pairs of a token and its score; by sets of types, 250,000 take 30 ms."""
    return (
        set(map(type, vocab)) <= {list}
        and set(map(len, vocab)) <= {2}
        and set(map(type, map(itemgetter(0), vocab))) <= {str}
        and set(map(type, map(itemgetter(1), vocab))) <= {int, float}
    )


def _broken_entry(vocab: list[Any]) -> str:
    """What is wrong with the first that is none."""
    for id, entry in enumerate(vocab):
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)):
            return f"vocab[{id}] is {entry!r}, not a token and its score"
        if type(entry[1]) not in (int, float):
            return f"the score of vocab[{id}] is {entry[1]!r}, not a number"
    raise AssertionError("all entries are right")
