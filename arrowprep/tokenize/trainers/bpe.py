"""BpeTrainer and WordPieceTrainer: the pair that comes most often is joined, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from arrowprep.progress import Silent, bar
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.models import BPE, WordPiece
from arrowprep.tokenize.models.base import Model, Vocabulary
from arrowprep.tokenize.models.bpe_tables import BpeTables
from arrowprep.tokenize.trainers.base import Trainer
from arrowprep.tokenize.trainers.pairs import Limits, Numbers, Spelled, merges
from arrowprep.tokenize.trainers.words import UNLIMITED, Words

EXACT = 1 << 53  # below it sums of floats are those of integers


class BpeTrainer(Trainer[Model]):
    """Learns merges: of all pairs of neighbours the one that comes most often; of equal ones the lowest ids.

    Ids: special tokens, the alphabet by code point, characters with prefix or suffix
    as they first come, then merges. Counts have no upper limit.

    vocab_size: at most so many tokens; the alphabet is kept even where it is larger
    min_frequency: pairs that come less often are not joined
    limit_alphabet: how many characters are kept, the commonest; of equal ones the lowest
    initial_alphabet: characters that are kept whether they come or not (the first of each text)
    max_token_length: longer tokens are not made
    progress_format: "silent" shows no bar; "json" and "indicatif", which is what others are read as, do
    """

    model_type: ClassVar[type[Model]] = BPE

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: str = "indicatif",
        special_tokens: Sequence[str | AddedToken] = (),
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] = (),
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        max_token_length: int | None = None,
    ) -> None:
        super().__init__(special_tokens, show_progress and progress_format != "silent")
        self.progress_format = progress_format if progress_format in ("json", "silent") else "indicatif"
        self.vocab_size = vocab_size
        self.min_frequency = min_frequency
        self.limit_alphabet = limit_alphabet
        self.initial_alphabet = [text[0] for text in initial_alphabet if text]
        self.continuing_subword_prefix = continuing_subword_prefix
        self.end_of_word_suffix = end_of_word_suffix
        self.max_token_length = max_token_length
        self._word_count = 0

    def get_word_count(self) -> int:
        """How many different words the last corpus had."""
        return self._word_count

    def train(self, words: Mapping[str, int], model: Model) -> None:
        assert isinstance(model, BPE)
        vocabulary, learnt = self.learn(words)
        model.continuing_subword_prefix = self.continuing_subword_prefix
        model.end_of_word_suffix = self.end_of_word_suffix
        model._tables = BpeTables.of(
            vocabulary, list(chain.from_iterable(learnt)), self.continuing_subword_prefix or ""
        )

    def learn(self, words: Mapping[str, int]) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """The vocabulary, and the merges in their order."""
        words = Words.of(words)
        self._word_count = len(words)
        tokens = Numbers(
            (token.content for token in self.special_tokens), self.continuing_subword_prefix or ""
        )
        for character in self._alphabet(words):
            tokens.number(character)
        spelled = self._spelled(words, tokens)
        limits = Limits(self.vocab_size, self.min_frequency, self.max_token_length)
        learnt: list[tuple[str, str]] = []
        room = max(self.vocab_size - len(tokens.texts), 0)
        with bar(room, "learn merges", unit=" merges") if self.show_progress else Silent() as progress:
            for left, right in merges(spelled, words.counts, tokens, limits):
                learnt.append((tokens.texts[left], tokens.texts[right]))
                progress.advance(1)
        return tokens.ids, learnt

    def _alphabet(self, words: Words) -> list[str]:
        counts = _characters(words)
        counts.update(dict.fromkeys(self.initial_alphabet, UNLIMITED))
        kept = sorted(counts, key=lambda c: (-counts[c], c))[: self.limit_alphabet]
        return sorted(kept)

    def _spelled(self, words: Words, tokens: Numbers) -> Spelled:
        """What is not in the alphabet that was kept is left out."""
        known = [character for character in tokens.ids if len(character) == 1]
        ids = np.full(max(map(ord, known), default=0) + 2, -1, np.int64)
        ids[list(map(ord, known))] = [tokens.ids[character] for character in known]
        found = ids[np.minimum(words.codes, len(ids) - 1)]
        kept = found >= 0
        if self.continuing_subword_prefix or self.end_of_word_suffix:
            self._mark(words, found, kept, tokens)
        offsets = np.concatenate(([0], np.cumsum(kept)))[words.offsets]
        return Spelled(found[kept].astype(np.uint32), offsets)

    def _mark(
        self, words: Words, ids: npt.NDArray[np.int64], wanted: npt.NDArray[np.bool_], tokens: Numbers
    ) -> None:
        """Give characters that have a prefix or a suffix their ids, as they first come."""
        prefix, suffix = self.continuing_subword_prefix or "", self.end_of_word_suffix or ""
        inside, last = np.ones(len(ids), bool), np.zeros(len(ids), bool)
        filled = words.lengths > 0
        inside[words.offsets[:-1][filled]] = False
        last[words.offsets[1:][filled] - 1] = True
        forms = (inside & bool(prefix)) + 2 * (last & bool(suffix))
        marked = np.flatnonzero(wanted & (forms > 0))
        keys, firsts, which = np.unique(
            words.codes[marked] * np.int64(4) + forms[marked], return_index=True, return_inverse=True
        )
        numbers = np.empty(len(keys), np.int64)
        for at in np.argsort(firsts).tolist():
            code, form = divmod(int(keys[at]), 4)
            numbers[at] = tokens.number(prefix * (form & 1) + chr(code) + suffix * (form >> 1))
        ids[marked] = numbers[which.reshape(-1)]


def _characters(words: Words) -> Counter[str]:
    """How often each character comes, where words come so often."""
    if words.counts.max(initial=0) * len(words.codes) >= EXACT:
        counts: Counter[str] = Counter()
        for word, count in words.items():
            for character in word:
                counts[character] += count
        return counts
    sums = np.bincount(words.codes, np.repeat(words.counts.astype(np.float64), words.lengths))
    return Counter({chr(code): int(sums[code]) for code in np.flatnonzero(np.bincount(words.codes))})


class WordPieceTrainer(BpeTrainer):
    """The same with a prefix, for a WordPiece model, which keeps the tokens and needs no merges."""

    model_type: ClassVar[type[Model]] = WordPiece

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] = (),
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] = (),
        continuing_subword_prefix: str | None = "##",
        end_of_word_suffix: str | None = None,
    ) -> None:
        super().__init__(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            show_progress=show_progress,
            special_tokens=special_tokens,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            continuing_subword_prefix=continuing_subword_prefix,
            end_of_word_suffix=end_of_word_suffix,
        )

    def train(self, words: Mapping[str, int], model: Model) -> None:
        assert isinstance(model, WordPiece)
        vocabulary, _ = self.learn(words)
        model.continuing_subword_prefix = self.continuing_subword_prefix or ""
        model._tables = Vocabulary(vocabulary)
