"""BPE: byte-pair encoding, over characters or over bytes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, repeat
from pathlib import Path
from typing import Any

import numpy as np

from arrowprep.errors import BadArgument, BadTokenizerFile, TokenizerError, WrongType
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models import storage
from arrowprep.tokenize.models.base import (
    FlatTokens,
    Ints,
    Token,
    VocabularyModel,
    checked_vocabulary,
    read_vocabulary,
    vocabulary_of,
)
from arrowprep.tokenize.models.bpe_tables import BpeTables
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.models.merging import merge, merge_with_dropout
from arrowprep.tokenize.models.merging_many import Numbers, merge_many
from arrowprep.tokenize.ragged import positions

LONG = 1024  # parts of a piece that is merged by itself: the work of a round grows with the longest piece


class BPE(VocabularyModel):
    """Starts from single characters and joins neighbours, the lowest rank first.

    vocab, merges: or the paths of a vocab.json and a merges.txt
    unk_token: for characters that are not in the vocabulary; None drops them silently
    continuing_subword_prefix: stands before every character of a piece but the first
    end_of_word_suffix: stands behind the last
    fuse_unk: unknown neighbours become one token
    byte_fallback: an unknown character is spelled in tokens `<0x..>` where the
        vocabulary has all of them. Spelled right after an unknown one that could
        not be, it is put out before that one
    ignore_merges: a whole piece that is in the vocabulary is taken as it is
    dropout: chance that a merge is passed over, in training; 0.0 is as None
    """

    kind = "BPE"
    _tables: BpeTables

    def __init__(
        self,
        vocab: dict[str, int] | str | Path | None = None,
        merges: Iterable[Sequence[str]] | str | Path | None = None,
        *,
        cache_capacity: int | None = None,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: bool = False,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
    ) -> None:
        if (vocab is None) != (merges is None):
            raise BadArgument("vocab and merges must be given together", argument="merges")
        if isinstance(vocab, (str, Path)):
            vocab, merges = self.read_file(vocab, str(merges))
        if dropout is not None and not 0 <= dropout <= 1:
            raise BadArgument(f"dropout is a chance between 0 and 1, not {dropout}", dropout=dropout)
        self.dropout = dropout
        self.unk_token = unk_token
        self.continuing_subword_prefix = continuing_subword_prefix
        self.end_of_word_suffix = end_of_word_suffix
        self.fuse_unk = fuse_unk
        self.byte_fallback = byte_fallback
        self.ignore_merges = ignore_merges
        self._tables = BpeTables.of(checked_vocabulary(vocab), _flat(merges), continuing_subword_prefix or "")

    @property
    def is_random(self) -> bool:
        return bool(self.dropout)

    @classmethod
    def from_json(cls, spec: Spec) -> BPE:
        vocab = vocabulary_of(spec)
        model = cls(
            dropout=spec.get("dropout", (int, float, type(None)), None),
            unk_token=spec.get("unk_token", (str, type(None)), None),
            continuing_subword_prefix=spec.get("continuing_subword_prefix", (str, type(None)), None),
            end_of_word_suffix=spec.get("end_of_word_suffix", (str, type(None)), None),
            fuse_unk=spec.flag("fuse_unk", False),
            byte_fallback=spec.flag("byte_fallback", False),
            ignore_merges=spec.flag("ignore_merges", False),
        )
        prefix = model.continuing_subword_prefix or ""
        if isinstance(vocab, FlatVocabulary):
            spec.get("merges", list)  # which were read with it
            model._tables = BpeTables(vocab, vocab.ways)
            return model
        try:
            model._tables = BpeTables.of(vocab, _read_merges(spec), prefix)
        except BadArgument as error:
            raise spec.bad(error.message) from error
        return model

    @staticmethod
    def read_file(vocab: str | Path, merges: str | Path) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Vocabulary and merges of a vocab.json and a merges.txt."""
        return read_vocabulary(storage.read_vocab_json(vocab)), storage.read_merges_txt(merges)

    @classmethod
    def from_file(cls, vocab: str | Path, merges: str | Path, **options: Any) -> BPE:
        """From a vocab.json and a merges.txt. Raises BadTokenizerFile with the place."""
        ids, pairs = cls.read_file(vocab, merges)
        try:
            return cls(ids, pairs, **options)
        except BadArgument as error:
            raise BadTokenizerFile(f"{merges}: {error}", path=str(merges)) from error

    def save(self, folder: str | Path, prefix: str | None = None) -> list[str]:
        merges = "".join(f"{left} {right}\n" for left, right in self._tables.merges)
        return [
            storage.write(folder, prefix, "vocab.json", storage.compact(self._tables.by_id())),
            storage.write(folder, prefix, "merges.txt", "#version: 0.2\n" + merges),
        ]

    def options_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "dropout": self.dropout,
            "unk_token": self.unk_token,
            "continuing_subword_prefix": self.continuing_subword_prefix,
            "end_of_word_suffix": self.end_of_word_suffix,
            "fuse_unk": self.fuse_unk,
            "byte_fallback": self.byte_fallback,
            "ignore_merges": self.ignore_merges,
        }

    def to_json(self) -> dict[str, Any]:
        return {**self.options_json(), "vocab": self._tables.by_id(), "merges": self._tables.merges}

    # ------------------------------------------------------------------ tokens of a piece

    def tokenize(self, sequence: str) -> list[Token]:
        ids = self._tables.ids
        if self.ignore_merges and sequence in ids:
            return [Token(ids[sequence], sequence, (0, len(sequence)))]
        parts = self._decorated(sequence)
        if all(map(ids.__contains__, parts)):
            return self._tokens(*self._merged(parts, [1] * len(parts)))
        parts, lengths = self._spelled(sequence, parts)
        return _in_characters(sequence, self._tokens(*self._merged(parts, lengths)))

    def ids(self, sequence: str) -> list[int]:
        ids = self._tables.ids
        if self.ignore_merges and sequence in ids:
            return [ids[sequence]]
        parts = self._decorated(sequence)
        if not all(map(ids.__contains__, parts)):
            parts, _ = self._spelled(sequence, parts)
        merged, _ = self._merged(parts, [1] * len(parts))
        return list(map(self._tables.id_list.__getitem__, merged))

    def tokenize_all(self, sequences: Sequence[str], *, located: bool) -> FlatTokens:
        parts, counts = self._characters_of(sequences)
        missing = np.append(0, np.cumsum(parts < 0))
        stops = np.cumsum(counts)
        together = (missing[stops] == missing[stops - counts]) & (counts > 0) & (counts <= LONG)
        begins = np.cumsum(counts) - counts
        sizes = counts
        if self.ignore_merges:
            # a piece that is a token begins as that: one part, which covers all of it
            whole = self._tables.places_of(sequences)
            known = (whole >= 0) & (counts > 0)
            parts[begins[known]] = whole[known]
            sizes, together = np.where(known, 1, counts), together | known
        if self.dropout or not together.any():
            return self._one_by_one(sequences, located)
        chosen = parts[positions(begins[together], sizes[together])]
        places, lengths, many = merge_many(chosen, sizes[together], self._tables.pairs)
        if self.ignore_merges:
            lengths[(np.cumsum(many) - 1)[known[together]]] = counts[known]
        ends = np.cumsum(lengths) - np.repeat(np.cumsum(counts[together]) - counts[together], many)
        merged = FlatTokens(many, self._tables.numbers[places], ends - lengths, ends)
        if together.all():
            return merged
        alone = [sequences[i] for i in np.flatnonzero(~together).tolist()]
        return merged.beside(self._one_by_one(alone, located), together)

    def _one_by_one(self, sequences: Sequence[str], located: bool) -> FlatTokens:
        """What is too long to be merged with others, or unknown. Long ones make no object a token."""
        if not located or self.dropout:
            return super().tokenize_all(sequences, located=located)
        tables, found = self._tables, [np.empty((3, 0), np.int64)]
        for sequence in sequences:
            parts = self._decorated(sequence)
            if len(parts) <= LONG or not all(map(tables.ids.__contains__, parts)):
                tokens = [(token.id, *token.offsets) for token in self.tokenize(sequence)]
                found.append(np.array(tokens, np.int64).reshape(-1, 3).T)
                continue
            places, lengths = self._merged(parts, [1] * len(parts))
            ends = np.cumsum(lengths)
            found.append(np.stack([tables.numbers[places], ends - lengths, ends]))
        counts = np.array([tokens.shape[1] for tokens in found[1:]], np.int64)
        return FlatTokens(counts, *np.concatenate(found, axis=1))

    def _characters_of(self, sequences: Sequence[str]) -> tuple[Numbers, Ints]:
        """The places of the characters of all pieces, -1 for those that are no tokens; how many each has."""
        tables = self._tables
        counts = np.fromiter(map(len, sequences), np.int64, len(sequences))
        if not self.continuing_subword_prefix and not self.end_of_word_suffix:
            return tables.spelled("".join(sequences)), counts
        flat = chain.from_iterable(map(self._decorated, sequences))
        return np.fromiter(map(tables.places.get, flat, repeat(-1)), np.int32, int(counts.sum())), counts

    def _decorated(self, sequence: str) -> list[str]:
        """The characters, with prefix and suffix."""
        parts = list(sequence)
        if self.continuing_subword_prefix:
            parts[1:] = [self.continuing_subword_prefix + c for c in parts[1:]]
        if self.end_of_word_suffix and parts:
            parts[-1] += self.end_of_word_suffix
        return parts

    def unreachable(self) -> list[str]:
        """The tokens that merging their own characters does not give.

        No text gives them then: what is merged within a token of a longer text is
        what would be merged in the token's text alone.
        """
        if self.ignore_merges:
            return []
        left_out = {f"<0x{byte:02X}>" for byte in range(256)} if self.byte_fallback else set()
        tokens = (token for token in self._tables.ids if token != self.unk_token and token not in left_out)
        return [token for token in tokens if not self._is_reached(token)]

    def _is_reached(self, token: str) -> bool:
        """Whether the characters of a token are merged to it."""
        places = self._tables.places
        parts = [places.get(part, -1) for part in self._characters(token)]
        merged, _ = merge(parts, [1] * len(parts), self._tables.ranks, self._tables.join)
        return merged == [places[token]]

    def _characters(self, token: str) -> list[str]:
        """What a token begins as: its characters, with the prefix and the suffix that it has itself."""
        prefix, suffix = self.continuing_subword_prefix or "", self.end_of_word_suffix or ""
        goes_on = bool(prefix) and token.startswith(prefix)
        ends = bool(suffix) and token.endswith(suffix)
        parts = list(token[len(prefix) * goes_on : len(token) - len(suffix) * ends])
        first = 0 if goes_on else 1
        parts[first:] = [prefix + character for character in parts[first:]]
        if ends and parts:
            parts[-1] += suffix
        return parts

    def _spelled(self, sequence: str, parts: list[str]) -> tuple[list[str], list[int]]:
        """Parts that are in the vocabulary, each with how many bytes of the piece it covers."""
        out: list[str] = []
        lengths: list[int] = []
        unknown = 0  # bytes of unknown characters that wait to be put out
        for character, part in zip(sequence, parts, strict=True):
            size = len(character.encode())
            if part in self._tables.ids:
                if unknown:
                    out.append(self._unknown())
                    lengths.append(unknown)
                    unknown = 0
                out.append(part)
                lengths.append(size)
            elif self.byte_fallback and (spelled := self._spell(part)):
                out += spelled
                lengths += [1] * len(spelled)
            elif self.unk_token is not None:
                if unknown and not self.fuse_unk:
                    out.append(self._unknown())
                    lengths.append(unknown)
                    unknown = 0
                unknown += size
        if unknown:
            out.append(self._unknown())
            lengths.append(unknown)
        return out, lengths

    def _spell(self, part: str) -> list[str] | None:
        spelled = [f"<0x{byte:02X}>" for byte in part.encode()]
        return spelled if all(map(self._tables.ids.__contains__, spelled)) else None

    def _unknown(self) -> str:
        if self.unk_token is None or self.unk_token not in self._tables.ids:
            raise TokenizerError(
                f"the unknown token {self.unk_token!r} is not in the vocabulary", unk_token=self.unk_token
            )
        return self.unk_token

    def _merged(self, parts: list[str], lengths: list[int]) -> tuple[list[int], list[int]]:
        """The places of the tokens that parts, which are tokens themselves, are merged to."""
        tables = self._tables
        places = list(map(tables.places.__getitem__, parts))
        if self.dropout:
            chance = self.dropout
            return merge_with_dropout(
                places, lengths, tables.ranks, tables.join, lambda: random.random() < chance
            )
        return merge(places, lengths, tables.ranks, tables.join)

    def _tokens(self, places: list[int], lengths: list[int]) -> list[Token]:
        texts, ids = self._tables.texts, self._tables.id_list
        stops = list(accumulate(lengths))
        return [
            Token(ids[p], texts[p], (stop - n, stop))
            for p, n, stop in zip(places, lengths, stops, strict=True)
        ]


def _flat(merges: Any) -> list[str]:
    """Left, right, left, right, ... of merges as pairs. Raises WrongType for what is none."""
    if isinstance(merges, (str, Path)):
        raise WrongType(
            "merges are a list of pairs, or a path beside that of the vocabulary", argument="merges"
        )
    pairs = list(merges or ())
    if wrong := [pair for pair in pairs if isinstance(pair, str) or len(pair) != 2]:
        raise WrongType(f"{wrong[0]!r} is not a pair of tokens", argument="merges")
    return list(chain.from_iterable(pairs))


def _in_characters(sequence: str, tokens: list[Token]) -> list[Token]:
    """Offsets in bytes made offsets in characters: a part of a character stands for all of it.

    Characters that were dropped count as if they had never been there, which
    moves the offsets of all that follows to the left; bytes of a prefix or suffix
    move them to the right, at most to the last character.
    """
    at = [i for i, c in enumerate(sequence) for _ in c.encode()]
    at += [len(sequence) - 1] * (sum(stop - start for _, _, (start, stop) in tokens) - len(at))
    out = []
    for token in tokens:
        start, stop = token.offsets
        out.append(token._replace(offsets=(at[start], at[stop - 1] + 1) if stop > start else (0, 0)))
    return out


def _read_merges(spec: Spec) -> list[str]:
    """The list at "merges", of pairs or in old files of texts with a space, as left, right, left, ..."""
    merges: list[Any] = spec.get("merges", list)
    # sets of types and lengths instead of a check each: 446,000 merges in 70 ms
    kinds = set(map(type, merges))
    if kinds == {str} and set(map(str.count, merges, repeat(" "))) == {1}:
        return " ".join(merges).split(" ")
    if kinds <= {list} and set(map(len, merges)) <= {2}:
        flat = list(chain.from_iterable(merges))
        if set(map(type, flat)) <= {str}:
            return flat
    pairs = [given.split(" ") if isinstance(given, str) else given for given in merges]
    for rank, pair in enumerate(pairs):
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise spec.bad(f"merges[{rank}] is {merges[rank]!r}, not a pair of tokens")
    return list(chain.from_iterable(pairs))
