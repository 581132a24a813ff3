"""BpeTrainer and WordPieceTrainer: the pair that comes most often is joined, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import ClassVar

import numpy as np

from arrowprep.progress import Silent, bar
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.models import BPE, WordPiece
from arrowprep.tokenize.models.base import Model, Vocabulary
from arrowprep.tokenize.models.bpe_tables import BpeTables
from arrowprep.tokenize.trainers.base import Trainer
from arrowprep.tokenize.trainers.pairs import UNLIMITED, Limits, Numbers, merges

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

    def train(self, words: Counter[str], model: Model) -> None:
        assert isinstance(model, BPE)
        vocabulary, learnt = self.learn(words)
        model.continuing_subword_prefix = self.continuing_subword_prefix
        model.end_of_word_suffix = self.end_of_word_suffix
        model._tables = BpeTables.of(
            vocabulary, list(chain.from_iterable(learnt)), self.continuing_subword_prefix or ""
        )

    def learn(self, words: Counter[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """The vocabulary, and the merges in their order."""
        self._word_count = len(words)
        tokens = Numbers(
            (token.content for token in self.special_tokens), self.continuing_subword_prefix or ""
        )
        for character in self._alphabet(words):
            tokens.number(character)
        spelled = [self._spelled(word, tokens) for word in words]
        limits = Limits(self.vocab_size, self.min_frequency, self.max_token_length)
        learnt: list[tuple[str, str]] = []
        room = max(self.vocab_size - len(tokens.texts), 0)
        with bar(room, "learn merges", unit=" merges") if self.show_progress else Silent() as progress:
            for left, right in merges(spelled, list(words.values()), tokens, limits):
                learnt.append((tokens.texts[left], tokens.texts[right]))
                progress.advance(1)
        return tokens.ids, learnt

    def _alphabet(self, words: Counter[str]) -> list[str]:
        counts = _characters(words)
        counts.update(dict.fromkeys(self.initial_alphabet, UNLIMITED))
        kept = sorted(counts, key=lambda c: (-counts[c], c))[: self.limit_alphabet]
        return sorted(kept)

    def _spelled(self, word: str, tokens: Numbers) -> list[int]:
        if not self.continuing_subword_prefix and not self.end_of_word_suffix:
            return [tokens.ids[character] for character in word if character in tokens.ids]
        ids: list[int] = []
        last = len(word) - 1
        for i, character in enumerate(word):
            if character not in tokens.ids:
                continue  # not in the alphabet that was kept
            if i and self.continuing_subword_prefix:
                character = self.continuing_subword_prefix + character
            if i == last and self.end_of_word_suffix:
                character += self.end_of_word_suffix
            ids.append(tokens.number(character))
        return ids


def _characters(words: Counter[str]) -> Counter[str]:
    """How often each character comes, where words come so often."""
    text = "".join(words)
    if max(words.values(), default=0) * len(text) >= EXACT:
        counts: Counter[str] = Counter()
        for word, count in words.items():
            for character in word:
                counts[character] += count
        return counts
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    sums = np.bincount(codes, np.repeat(np.fromiter(words.values(), np.float64, len(words)), lengths))
    return Counter({chr(code): int(sums[code]) for code in np.flatnonzero(np.bincount(codes))})


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

    def train(self, words: Counter[str], model: Model) -> None:
        assert isinstance(model, WordPiece)
        vocabulary, _ = self.learn(words)
        model.continuing_subword_prefix = self.continuing_subword_prefix or ""
        model._tables = Vocabulary(vocabulary)
