"""UnigramTrainer: begins with every substring that comes again, and drops the ones that help least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arrowprep.errors import BadArgument
from arrowprep.progress import Silent, bar
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.models import Unigram
from arrowprep.tokenize.models.unigram import UNKNOWN_PENALTY, UnigramTables
from arrowprep.tokenize.trainers.base import Trainer
from arrowprep.tokenize.trainers.lattice import Ints, Lattice
from arrowprep.tokenize.trainers.portable_math import Floats, digamma, log
from arrowprep.tokenize.trainers.pruning import removal_losses
from arrowprep.tokenize.trainers.substrings import Words as Laid
from arrowprep.tokenize.trainers.substrings import repeated_substrings
from arrowprep.tokenize.trainers.words import Words

SEEDS = 1_000_000
LEAST_EXPECTED = 0.5  # pieces that are expected to come less often are dropped
DIGITS = 12  # of scores, behind the point
PENALTY_STEP = 0.0001  # between characters that have lost their pieces


class UnigramTrainer(Trainer[Unigram]):
    """Finds pieces and probabilities under which the corpus is most likely.

    The same corpus gives the same vocabulary to the bit, in every process and on every
    machine. Memory: the distinct words, and about 100 bytes for each place in them
    where a piece stands; 4 MB of text took 250 MB.

    vocab_size: at most so many tokens; it can be fewer
    initial_alphabet: characters that are kept whether they come or not (the first of each text)
    shrinking_factor: how many of the pieces each round of dropping leaves
    unk_token: put first unless it is among the special tokens
    max_piece_length: in characters
    n_sub_iterations: how often probabilities are worked out between two rounds
    seed_size: with how many pieces to begin

    Source: Kudo (2018), and its implementation in SentencePiece.
    """

    model_type = Unigram

    def __init__(
        self,
        *,
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] = (),
        initial_alphabet: Sequence[str] = (),
        shrinking_factor: float = 0.75,
        unk_token: str | None = None,
        max_piece_length: int = 16,
        n_sub_iterations: int = 2,
        seed_size: int = SEEDS,
    ) -> None:
        super().__init__(special_tokens, show_progress)
        if not 0 < shrinking_factor < 1:
            raise BadArgument(
                f"shrinking_factor is between 0 and 1, not {shrinking_factor}",
                shrinking_factor=shrinking_factor,
            )
        self.vocab_size = vocab_size
        self.initial_alphabet = [text[0] for text in initial_alphabet if text]
        self.shrinking_factor = shrinking_factor
        self.unk_token = unk_token
        self.max_piece_length = max_piece_length
        self.n_sub_iterations = n_sub_iterations
        self.seed_size = seed_size

    def train(self, words: Mapping[str, int], model: Unigram) -> None:
        words = Words.of(words)
        required = sorted({*words.characters, *self.initial_alphabet})
        if len(required) > self.vocab_size:
            raise BadArgument(
                f"vocab_size={self.vocab_size} is less than the {len(required)} characters of the corpus",
                vocab_size=self.vocab_size,
            )
        pieces = self._learn(words) if words else {}
        unk_id, vocab = self._finished(pieces, required)
        model.unk_id = unk_id
        model._tables = UnigramTables(vocab)

    def _learn(self, words: Words) -> dict[str, float]:
        """Pieces and scores, about a tenth more than the vocabulary has room for."""
        counts = words.counts.astype(np.float64)
        laid = Laid.of(words.texts)
        state = _seeds(laid, counts, self.max_piece_length, self.seed_size)
        wanted = self.vocab_size * 11 // 10
        with bar(None, "drop pieces", unit=" rounds") if self.show_progress else Silent() as progress:
            while True:
                for _ in range(self.n_sub_iterations):
                    state = _maximized(state, counts)
                if len(state.texts) <= wanted:
                    break
                smaller = self._pruned(state, counts, wanted)
                if len(smaller.texts) == len(state.texts):
                    break  # all that is left is needed
                state = smaller
                progress.advance(1)
        return dict(zip(state.texts[1:], state.scores[1:].tolist(), strict=True))

    def _pruned(self, state: _State, counts: Floats, wanted: int) -> _State:
        losses = removal_losses(state.lattice, state.firsts, state.lengths, state.usable_scores(), counts)
        size = max(wanted, int(len(state.texts) * self.shrinking_factor))
        needed = np.flatnonzero(losses == np.inf)
        order = np.argsort(-losses, kind="stable")
        candidates = order[np.isfinite(losses[order])][: max(size - len(needed), 0)]
        return state.selected(np.concatenate([needed, candidates]))

    def _finished(
        self, pieces: dict[str, float], required: list[str]
    ) -> tuple[int | None, list[tuple[str, float]]]:
        """The number of the unknown token, and the vocabulary: special tokens, then by score."""
        special = [token.content for token in self.special_tokens]
        unk_id = None
        if self.unk_token is not None:
            if self.unk_token not in special:
                special.insert(0, self.unk_token)
            unk_id = special.index(self.unk_token)
        lowest = min(pieces.values(), default=0.0)
        chosen: dict[str, float] = {}
        lost = 0
        for character in required:
            if character in pieces:
                chosen[character] = pieces[character]
            else:
                chosen[character] = lowest + lost * PENALTY_STEP
                lost += 1
        room = self.vocab_size - len(special)
        for piece, score in pieces.items():
            if len(chosen) >= room:
                break
            chosen.setdefault(piece, score)
        # so many digits come back from a file as they are, whichever way it is read
        chosen = {piece: round(score, DIGITS) for piece, score in chosen.items()}
        ordered = sorted(chosen.items(), key=lambda item: -item[1])
        return unk_id, [*((token, 0.0) for token in special), *ordered]


@dataclass(frozen=True, slots=True)
class _State:
    """Pieces by their numbers, and the lattice of the words; piece 0 is what is unknown.

    firsts, lengths: where in the words a piece comes first, and its characters
    scores: logarithms of probabilities
    """

    texts: list[str]
    firsts: Ints
    lengths: Ints
    scores: Floats
    lattice: Lattice

    def usable_scores(self) -> Floats:
        """With one for what is unknown."""
        scores = self.scores.copy()
        scores[0] = scores[1:].min(initial=0.0) - UNKNOWN_PENALTY
        return scores

    def selected(self, kept: Ints) -> _State:
        """Only these pieces, in this order."""
        numbers = np.full(len(self.texts), -1, np.int32)
        numbers[kept] = np.arange(len(kept))
        texts = [self.texts[number] for number in kept.tolist()]
        lattice = self.lattice.renumbered(numbers)
        return _State(texts, self.firsts[kept], self.lengths[kept], self.scores[kept], lattice)


def _seeds(words: Laid, counts: Floats, longest: int, limit: int) -> _State:
    """Every character, and the substrings that cover most of the words, at most `limit`."""
    weights = np.repeat(counts, words.lengths + 1)
    often = np.bincount(words.codes, weights, minlength=len(words.characters))
    characters = np.lexsort((words.characters[1:], -often[1:])) + 1
    number_of = np.zeros(len(words.characters), np.int64)
    number_of[characters] = np.arange(1, len(characters) + 1)
    places = np.flatnonzero(words.codes)
    codes, where = np.unique(words.codes[places], return_index=True)
    firsts = places[where[np.argsort(number_of[codes])]]

    found = repeated_substrings(words, longest)
    values = np.concatenate([np.empty(0, np.int64), *(part.counts * part.length for part in found)])
    starts = np.concatenate([np.empty(0, np.int64), *(part.firsts for part in found)])
    lengths = np.concatenate([np.empty(0, np.int64), *(np.full(len(p.firsts), p.length) for p in found)])
    texts = [
        words.text[start : start + n] for start, n in zip(starts.tolist(), lengths.tolist(), strict=True)
    ]
    ranked = sorted(zip(values.tolist(), texts, range(len(texts)), strict=True), reverse=True)
    order = np.array([at for _, _, at in ranked[: max(limit - len(characters), 0)]], np.int64)
    numbers = np.full(len(values), -1, np.int64)
    numbers[order] = np.arange(len(order)) + 1 + len(characters)

    sources, targets, pieces = [places], [places + 1], [number_of[words.codes[places]]]
    offset = 0
    for part in found:
        piece = numbers[offset + part.which]
        offset += len(part.firsts)
        kept = piece >= 0
        sources.append(part.places[kept])
        targets.append(part.places[kept] + part.length)
        pieces.append(piece[kept])
    edges = (np.concatenate(part).astype(np.int32) for part in (sources, targets, pieces))
    lattice = Lattice.of(words.starts, words.starts + words.lengths, *edges)

    firsts = np.concatenate([[0], firsts, starts[order]])
    lengths = np.concatenate([[0], np.ones(len(characters), np.int64), lengths[order]])
    texts = [
        words.text[first : first + n] for first, n in zip(firsts.tolist(), lengths.tolist(), strict=True)
    ]
    scores = np.concatenate([often[characters], values[order]]).astype(np.float64)
    scores = np.concatenate([[0.0], log(scores) - log(np.array([scores.sum()]))])
    return _State(texts, firsts, lengths, scores, lattice)


def _maximized(state: _State, counts: Floats) -> _State:
    """One step of expectation and maximization; what is hardly expected is dropped."""
    expected = state.lattice.expected(state.usable_scores(), counts)
    expected[0] = 0.0
    kept = np.flatnonzero(expected >= LEAST_EXPECTED)
    # not the maximum itself but its Bayesian variant, which takes from what is rare
    scores = digamma(expected[kept]) - digamma(np.array([expected[kept].sum()]))
    smaller = state.selected(np.concatenate([[0], kept]))
    return _State(
        smaller.texts, smaller.firsts, smaller.lengths, np.concatenate([[0.0], scores]), smaller.lattice
    )
