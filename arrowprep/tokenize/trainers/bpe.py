"""BpeTrainer and WordPieceTrainer: the pair that comes most often is joined, again and again."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import ClassVar

from arrowprep.progress import Silent, bar
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.models import BPE, WordPiece
from arrowprep.tokenize.models.base import Model, Vocabulary
from arrowprep.tokenize.models.bpe import BpeTables
from arrowprep.tokenize.trainers.base import Trainer

Pair = tuple[int, int]
UNLIMITED = 1 << 62


class BpeTrainer(Trainer[Model]):
    """Learns merges: of all pairs of neighbours the one that comes most often; of equal ones the lowest ids.

    Ids: special tokens, the alphabet by code point, characters with prefix or suffix
    as they first come, then merges. Counts have no upper limit.

    vocab_size: at most so many tokens; the alphabet is kept even where it is larger
    min_frequency: pairs that come less often are not joined
    limit_alphabet: how many characters are kept, the commonest; of equal ones the lowest
    initial_alphabet: characters that are kept whether they come or not (the first of each text)
    max_token_length: longer tokens are not made
    progress_format: "silent" shows no bar; every other value is read as a bar
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
        self.progress_format = progress_format
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
        vocabulary, merges = self.learn(words)
        model.continuing_subword_prefix = self.continuing_subword_prefix
        model.end_of_word_suffix = self.end_of_word_suffix
        model._tables = BpeTables.of(
            vocabulary, list(chain.from_iterable(merges)), self.continuing_subword_prefix or ""
        )

    def learn(self, words: Counter[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """The vocabulary, and the merges in their order."""
        self._word_count = len(words)
        tokens = _Numbers(token.content for token in self.special_tokens)
        for character in self._alphabet(words):
            tokens.number(character)
        spelled = [self._spelled(word, tokens) for word in words]
        corpus = _Corpus(spelled, list(words.values()), self.max_token_length or UNLIMITED)
        merges: list[tuple[str, str]] = []
        room = max(self.vocab_size - len(tokens.texts), 0)
        with bar(room, "learn merges", unit=" merges") if self.show_progress else Silent() as progress:
            while len(tokens.texts) < self.vocab_size:
                found = corpus.commonest()
                if found is None or found.count < max(1, self.min_frequency):
                    break
                left, right = (tokens.texts[id] for id in found.pair)
                prefix = self.continuing_subword_prefix or ""
                joined = left + (right[len(prefix) :] if prefix and right.startswith(prefix) else right)
                corpus.join(found, tokens.number(joined))
                merges.append((left, right))
                progress.advance(1)
        return tokens.ids, merges

    def _alphabet(self, words: Counter[str]) -> list[str]:
        counts: Counter[str] = Counter()
        for word, count in words.items():
            for character in word:
                counts[character] += count
        counts.update(dict.fromkeys(self.initial_alphabet, UNLIMITED))
        kept = sorted(counts, key=lambda c: (-counts[c], c))[: self.limit_alphabet]
        return sorted(kept)

    def _spelled(self, word: str, tokens: _Numbers) -> list[int]:
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


class _Numbers:
    """Tokens and their ids; a new one takes the next."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts: list[str] = []
        self.ids: dict[str, int] = {}
        for text in texts:
            self.number(text)

    def number(self, text: str) -> int:
        if text not in self.ids:
            self.ids[text] = len(self.texts)
            self.texts.append(text)
        return self.ids[text]


class _Candidate:
    """A pair, how often it came when it was noted, and the words that it was seen in since the last note."""

    __slots__ = ("count", "pair", "words")

    def __init__(self, pair: Pair, count: int, words: set[int]) -> None:
        self.pair, self.count, self.words = pair, count, words

    def __lt__(self, other: _Candidate) -> bool:
        return (-self.count, self.pair) < (-other.count, other.pair)


class _Corpus:
    """Words as ids, how often each pair of neighbours comes, and where.

    A pair's count is kept up as words change; the heap may hold older counts, which
    are put right when they come up. O(changes · log pairs) in all.
    """

    def __init__(self, words: list[list[int]], counts: list[int], max_length: int) -> None:
        self._words = words
        self._lengths = [[1] * len(word) for word in words]
        self._counts = counts
        self._max_length = max_length
        self._pairs: defaultdict[Pair, int] = defaultdict(int)
        places: defaultdict[Pair, set[int]] = defaultdict(set)
        for number, word in enumerate(words):
            for pair in pairwise(word):
                self._pairs[pair] += counts[number]
                places[pair].add(number)
        self._heap = [_Candidate(pair, self._pairs[pair], where) for pair, where in places.items()]
        heapq.heapify(self._heap)

    def commonest(self) -> _Candidate | None:
        """The pair that comes most often, taken off; None when there is none."""
        while self._heap:
            top = heapq.heappop(self._heap)
            count = self._pairs[top.pair]
            if count == top.count:
                return top
            top.count = count
            if count > 0:
                heapq.heappush(self._heap, top)
        return None

    def join(self, found: _Candidate, joined: int) -> None:
        """Put `joined` in place of the pair in the words where it was seen."""
        new: defaultdict[Pair, set[int]] = defaultdict(set)
        for number in found.words:
            self._join_in(number, found.pair, joined, new)
        for pair, words in new.items():
            if self._pairs[pair] > 0:
                heapq.heappush(self._heap, _Candidate(pair, self._pairs[pair], words))

    def _join_in(self, number: int, pair: Pair, joined: int, new: defaultdict[Pair, set[int]]) -> None:
        word, lengths, count = self._words[number], self._lengths[number], self._counts[number]
        first, second = pair
        i = 0
        while i < len(word) - 1:
            if word[i] != first or word[i + 1] != second:
                i += 1
                continue
            word[i : i + 2] = [joined]
            lengths[i : i + 2] = [lengths[i] + lengths[i + 1]]
            # each neighbour loses the pair that it made, and makes a new one unless that would be too long
            if i:
                self._pairs[word[i - 1], first] -= count
                self._note((word[i - 1], joined), lengths[i - 1] + lengths[i], number, new)
            if i + 1 < len(word):
                self._pairs[second, word[i + 1]] -= count
                self._note((joined, word[i + 1]), lengths[i] + lengths[i + 1], number, new)
            i += 1

    def _note(self, pair: Pair, length: int, number: int, new: defaultdict[Pair, set[int]]) -> None:
        if length < self._max_length:
            self._pairs[pair] += self._counts[number]
            new[pair].add(number)


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
