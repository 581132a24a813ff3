"""Pipeline: all parts of a tokenizer as they were at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from arrowprep.tokenize.added_tokens import AddedVocabulary, Matcher
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.decoders import Decoder
from arrowprep.tokenize.models import Model
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.padding import Padding
from arrowprep.tokenize.pre_tokenizers import PreTokenizer
from arrowprep.tokenize.processors import PostProcessor
from arrowprep.tokenize.truncation import Truncation


@dataclass(frozen=True)
class Pipeline:
    """What a call works with from its start to its end, whatever is set on the tokenizer meanwhile.

    Text to ids: added tokens that are not normalized are cut out of the raw text,
    each rest is normalized on its own, the other added tokens are cut out of that,
    each rest is pre-tokenized, and the model sees every piece.

    full_offsets: a composed character has the span of all that it was made of
    frames: what stands around a text, with special tokens and without, once it was asked for
    variants: engines for calls that want something else, as whoever makes them names them
    """

    normalizer: Normalizer | None
    pre_tokenizer: PreTokenizer | None
    model: Model
    post_processor: PostProcessor | None
    decoder: Decoder | None
    added: AddedVocabulary
    truncation: Truncation | None = None
    padding: Padding | None = None
    full_offsets: bool = False
    variants: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    frames: dict[bool, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def in_raw_text(self) -> Matcher | None:
        """Finds the added tokens that are not normalized."""
        return Matcher.build(self.added, normalized=False)

    @cached_property
    def in_normalized_text(self) -> Matcher | None:
        """Finds those that are."""
        normalize = self.normalizer.normalize_str if self.normalizer else None
        return Matcher.build(self.added, normalized=True, normalize=normalize)

    @cached_property
    def added_texts(self) -> dict[int, str]:
        """What the ids of added tokens stand for: normalized where they are looked for in normalized text."""
        normalize = self.normalizer.normalize_str if self.normalizer else str
        return {
            id: normalize(token.content) if token.normalized else token.content
            for id, token in self.added.tokens.items()
        }

    @cached_property
    def leaves(self) -> tuple[PreTokenizer, ...]:
        """The pre-tokenizers, in order."""
        return self.pre_tokenizer.leaves if self.pre_tokenizer else ()

    def tells(self, ids: Sequence[int]) -> bool:
        """Whether ids say by `value_of` what the texts of their tokens are."""
        untold, added = self.model.untold, self.added.tokens.keys()
        if untold is None or not untold.isdisjoint(ids):
            return False
        return added.isdisjoint(ids) or all(map(self._has_own_text, added & set(ids)))

    def _has_own_text(self, id: int) -> bool:
        """Whether an added token is found as the text that its id stands for, and as no other."""
        token = self.added.tokens[id]
        takes_white = token.lstrip or token.rstrip
        as_it_is = self.model.id_to_token(id) in (None, token.content)
        return not takes_white and as_it_is and self.added_texts[id] == token.content

    def value_of(self, id: int) -> str | None:
        """The text of the token that an encoding has."""
        token = self.model.id_to_token(id)
        return self.added.tokens[id].content if token is None and id in self.added.tokens else token

    def token_to_id(self, token: str) -> int | None:
        id = self.added.ids.get(token)
        return self.model.token_to_id(token) if id is None else id

    def id_to_token(self, id: int) -> str | None:
        token = self.added_texts.get(id)
        return self.model.id_to_token(id) if token is None else token

    def num_special_tokens(self, is_pair: bool) -> int:
        return self.post_processor.num_special_tokens_to_add(is_pair) if self.post_processor else 0

    def stretches(self, text: str) -> Iterator[tuple[Aligned, int | None]]:
        """The text in order: added tokens with their ids, and what is between them, normalized."""
        for stretch, id in _cut(self.in_raw_text, Aligned(text, full=self.full_offsets)):
            if id is not None:
                yield stretch, id
                continue
            normalized = self.normalizer.apply(stretch) if self.normalizer else stretch
            yield from _cut(self.in_normalized_text, normalized)

    def plain_stretches(self, text: str) -> Iterator[tuple[str, int | None]]:
        """The same without alignments."""
        for stretch, id in _cut_text(self.in_raw_text, text):
            if id is not None:
                yield stretch, id
                continue
            normalized = self.normalizer.normalize_str(stretch) if self.normalizer else stretch
            yield from _cut_text(self.in_normalized_text, normalized)


def _cut(matcher: Matcher | None, text: Aligned) -> Iterator[tuple[Aligned, int | None]]:
    last = 0
    for match in matcher.find(text.text) if matcher else ():
        if last < match.start:
            yield text.slice(last, match.start), None
        if match.start < match.stop:
            yield text.slice(match.start, match.stop), match.id
        last = match.stop
    if not last and text.text:
        yield text, None
    elif last < len(text.text):
        yield text.slice(last, len(text.text)), None


def _cut_text(matcher: Matcher | None, text: str) -> Iterator[tuple[str, int | None]]:
    last = 0
    for match in matcher.find(text) if matcher else ():
        if last < match.start:
            yield text[last : match.start], None
        if match.start < match.stop:
            yield text[match.start : match.stop], match.id
        last = match.stop
    if last < len(text):
        yield text[last:], None
