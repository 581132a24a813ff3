"""What is wrong with a tokenizer that works all the same: tokens that no text gives, ids that are others'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from arrowprep.tokenize import normalizers, pre_tokenizers
from arrowprep.tokenize.byte_characters import BYTE_CHARACTERS
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.processors import PostProcessor

if TYPE_CHECKING:
    from arrowprep.tokenize.assembly import Assembly
    from arrowprep.tokenize.models import Model

_SHOWN = 5


class Finding(NamedTuple):
    """A problem, in one sentence, and the tokens that have it."""

    problem: str
    tokens: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.tokens[:_SHOWN]))
        more = len(self.tokens) - _SHOWN
        return f"{self.problem}: {shown}{f' and {more:,} more' if more > 0 else ''}"


def findings(tokenizer: Assembly, added: set[str]) -> Iterator[Finding]:
    """The problems of a tokenizer with some added tokens, which are cut out before the model sees a text."""
    model = tokenizer.model
    problems = {
        "no text gives these tokens: the model takes their own text apart": [
            token for token in model.unreachable() if token not in added
        ],
        "the unknown token is not in the vocabulary, so what is unknown is an error": _missing_unknown(model),
        "these bytes are in no token, so text that has them is dropped or unknown": _missing_bytes(tokenizer),
        "the post-processor puts these in with ids that the vocabulary gives to others": [
            token
            for token, id in _framing_tokens(tokenizer.post_processor)
            if tokenizer.token_to_id(token) != id
        ],
    }
    for problem, tokens in problems.items():
        if tokens:
            yield Finding(problem, tuple(dict.fromkeys(tokens)))


def _missing_unknown(model: Model) -> list[str]:
    unknown = getattr(model, "unk_token", None)
    return [unknown] if unknown is not None and model.token_to_id(unknown) is None else []


def _missing_bytes(tokenizer: Assembly) -> list[str]:
    spells = (normalizers.ByteLevel, pre_tokenizers.ByteLevel)
    parts = (*_leaves(tokenizer.normalizer), *_leaves(tokenizer.pre_tokenizer))
    if not any(isinstance(part, spells) for part in parts):
        return []
    return [character for character in BYTE_CHARACTERS if tokenizer.model.token_to_id(character) is None]


def _leaves(part: Component | None) -> Iterator[Component]:
    if part is not None:
        yield part
        for inner in part.parts:
            yield from _leaves(inner)


def _framing_tokens(processor: PostProcessor | None) -> Iterator[tuple[str, int]]:
    for part in _leaves(processor):
        if isinstance(part, PostProcessor):
            yield from part.special_pairs()
