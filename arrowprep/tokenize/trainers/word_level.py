"""WordLevelTrainer: the commonest words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice

from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.models import WordLevel
from arrowprep.tokenize.models.base import Vocabulary
from arrowprep.tokenize.trainers.base import Trainer


class WordLevelTrainer(Trainer[WordLevel]):
    """Special tokens, then words by how often they come; of equal ones in the order of their text.

    A special token that is a word too has the id of the word.

    vocab_size: at most so many tokens
    min_frequency: words that come less often are left out
    """

    model_type = WordLevel

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] = (),
    ) -> None:
        super().__init__(special_tokens, show_progress)
        self.vocab_size = vocab_size
        self.min_frequency = min_frequency

    def train(self, words: Mapping[str, int], model: WordLevel) -> None:
        common = sorted((-count, word) for word, count in words.items() if count >= self.min_frequency)
        tokens = chain((token.content for token in self.special_tokens), (word for _, word in common))
        model._tables = Vocabulary({token: id for id, token in enumerate(islice(tokens, self.vocab_size))})
