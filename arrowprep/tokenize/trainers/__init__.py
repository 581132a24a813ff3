"""Trainers: vocabularies made from a corpus."""

from __future__ import annotations

from arrowprep.tokenize.models import BPE, Model, Unigram, WordLevel, WordPiece
from arrowprep.tokenize.trainers.base import Trainer
from arrowprep.tokenize.trainers.bpe import BpeTrainer, WordPieceTrainer
from arrowprep.tokenize.trainers.corpus import blocks_of, lines_of
from arrowprep.tokenize.trainers.counting import count_words
from arrowprep.tokenize.trainers.unigram import UnigramTrainer
from arrowprep.tokenize.trainers.word_level import WordLevelTrainer

__all__ = [
    "BpeTrainer",
    "Trainer",
    "UnigramTrainer",
    "WordLevelTrainer",
    "WordPieceTrainer",
    "blocks_of",
    "count_words",
    "default_trainer",
    "lines_of",
    "trainer_class",
]

_DEFAULTS: dict[type[Model], type[Trainer[Model]]] = {
    BPE: BpeTrainer,
    WordPiece: WordPieceTrainer,
    Unigram: UnigramTrainer,  # type: ignore[dict-item]
    WordLevel: WordLevelTrainer,  # type: ignore[dict-item]
}


def trainer_class(model: Model) -> type[Trainer[Model]]:
    """Which trainer a model's kind has; NotImplementedError where there is none."""
    if type(model) not in _DEFAULTS:
        raise NotImplementedError(f"there is no trainer for {type(model).__name__}")
    return _DEFAULTS[type(model)]


def default_trainer(model: Model) -> Trainer[Model]:
    """That trainer with its usual options."""
    return trainer_class(model)()
