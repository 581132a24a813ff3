"""Pipelines as the kernel takes them, or why it does not.

A pipeline is a list of steps that change a text before added tokens are looked for in it, stages
that change and cut it after that, the number of a last way to cut it, and a model.
"""

from __future__ import annotations

from array import array
from ctypes import addressof, byref
from dataclasses import dataclass, field
from typing import Any, cast

from arrowprep.tokenize.added_tokens import AddedToken, AddedVocabulary
from arrowprep.tokenize.character_classes import WHITESPACE
from arrowprep.tokenize.models import WordLevel, WordPiece
from arrowprep.tokenize.native_library import Added, Handle, PipelineParts, call
from arrowprep.tokenize.native_models import (
    AS_BERT,
    CLEAN,
    IDEOGRAPHS,
    LOWER,
    OVER_BYTES,
    STRIPPED,
    Shape,
    Unsupported,
    compiled_model,
    shape_of,
    shape_of_words,
    strings,
)
from arrowprep.tokenize.native_stages import FlatStages, Stage, stages_of
from arrowprep.tokenize.native_steps import (
    FIRST,
    LEAD,
    PREPEND,
    SPACES,
    WORDS,
    FlatSteps,
    Step,
    leaves_of,
    steps_of,
)
from arrowprep.tokenize.normalizers import BertNormalizer, Normalizer, Prepend, Replace
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    Metaspace,
    PreTokenizer,
    Split,
    WhitespaceSplit,
)

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"


def _cl100k(digits: str) -> str:
    return rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*{_SPACES}"


def _o200k(digits: str, contractions: str) -> str:
    before = r"[^\r\n\p{L}\p{N}]?"
    return (
        f"{before}{_UPPER}*{_LOWER}+{contractions}|{before}{_UPPER}+{_LOWER}*{contractions}"
        rf"|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*{_SPACES}"
    )


def _kimi() -> str:
    upper, lower = (f"{letters[:-1]}&&[^\\p{{Han}}]]" for letters in (_UPPER, _LOWER))
    before = r"[^\r\n\p{L}\p{N}]?"
    return (
        rf"[\p{{Han}}]+|{before}{upper}*{lower}+{_CONTRACTIONS}?|{before}{upper}+{lower}*{_CONTRACTIONS}?"
        rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*{_SPACES}"
    )


_DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*{_SPACES}",
)

WHOLE, GPT2 = 0, 1
# patterns one after the other, exactly, to the number of the kernel's splitter
GRAMMARS: dict[tuple[str, ...], int] = {
    (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",): GPT2,
    (_cl100k(r"\p{N}{1,3}"),): 2,
    (_cl100k(r"\p{N}"),): 3,
    (_o200k(r"\p{N}{1,3}", f"{_CONTRACTIONS}?"),): 4,
    (_o200k(r"\p{N}", ""),): 5,
    (_kimi(),): 6,
    _DEEPSEEK: 7,
}

BEFORE_SPACES, BERT = 64, 65  # ways to cut beside the patterns


def compiled(library: Any, pipeline: Pipeline, cache_bytes: int) -> Handle:
    """The kernel's tokenizer. Raises Unsupported, or KernelFailure with what the kernel says."""
    tokens = pipeline.added.in_matching_order()
    raw, normalized = ([token for token in tokens if token.normalized is kind] for kind in (False, True))
    route, shape = _route(pipeline, normalized)
    model = compiled_model(library, pipeline.model, shape, cache_bytes)
    in_raw = _Matched(pipeline.added, raw)
    in_normalized = _Matched(pipeline.added, normalized, pipeline.normalizer, route.normal_space)
    made = RouteParts(route, in_raw.added, in_normalized.added)
    return call(
        library, "arrowprep_tokenizer_new", "arrowprep_tokenizer_free", model.pointer, byref(made.parts)
    )


def _route(pipeline: Pipeline, in_normalized: list[AddedToken]) -> tuple[Route, Shape]:
    """The way to the pieces, and what the model is for them."""
    model, full = pipeline.model, pipeline.full_offsets
    normalizers = leaves_of(pipeline.normalizer)
    leaves = pipeline.leaves
    byte_level, options = bool(leaves) and type(leaves[-1]) is ByteLevel, OVER_BYTES
    of_words = type(model) in (WordPiece, WordLevel)
    if byte_level:
        route = Route.over_bytes(normalizers, leaves, full)
    elif of_words:
        route, options = Route.over_words(normalizers, leaves, full, search=bool(in_normalized))
    else:
        # to added tokens that take white space, a visible space is none
        takes_white = any(token.lstrip or token.rstrip for token in in_normalized)
        route = Route.over_characters(normalizers, leaves, full, spaces=not takes_white)
    if of_words:
        return route, shape_of_words(cast("WordPiece | WordLevel", model), options)
    return route, shape_of(model, byte_level, route.space)


def route_to_words(normalizer: Normalizer | None, leaves: tuple[PreTokenizer, ...]) -> tuple[Route, int]:
    """The way of a corpus to the words that are counted, and what of BERT is done to them."""
    normalizers = leaves_of(normalizer)
    if leaves and type(leaves[-1]) is ByteLevel:
        return Route.over_bytes(normalizers, leaves, False), 0
    if [type(leaf) for leaf in leaves] == [BertPreTokenizer]:
        return Route.over_words(normalizers, leaves, False, search=False)
    return Route.over_characters(normalizers, leaves, False), 0


def grammar_of(leaves: tuple[PreTokenizer, ...]) -> int | None:
    """The number of the splitter for pre-tokenizers that end with ByteLevel; None where there is none."""
    *splits, last = leaves
    assert isinstance(last, ByteLevel)
    if not splits:
        return GPT2 if last.use_regex else WHOLE
    cuts = [split for split in splits if type(split) is Split and not split.pattern.literal]
    known = GRAMMARS.get(tuple(split.pattern.source for split in cuts))
    if len(cuts) < len(splits) or last.use_regex or last.add_prefix_space:
        return None
    return known if all(_keeps_all(split, alone=len(cuts) == 1) for split in cuts) else None


def _keeps_all(split: Split, alone: bool) -> bool:
    """Whether pieces are the matches and what is between them. alone: whether all there is matches"""
    return split.behavior == "isolated" or (alone and split.behavior == "removed" and split.invert)


@dataclass(slots=True)
class Route:
    """The way of a text to its pieces.

    stages: what changes and cuts a text before `cut` does
    normal_space, space: the character that stands for a space in normalized text, and in
        pieces; where there is one the kernel has spaces in its place
    """

    before: list[Step] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    cut: int = WHOLE
    normal_space: str = ""
    space: str = ""

    @classmethod
    def over_bytes(cls, normalizers: list[Normalizer], leaves: tuple[PreTokenizer, ...], full: bool) -> Route:
        """full: whether composed characters stand for all that they are made of; here and below"""
        before = steps_of(normalizers, full)
        *first, last = leaves
        assert isinstance(last, ByteLevel)
        known = grammar_of(leaves)
        if known is None:
            stages = stages_of(first, spaced=last.add_prefix_space)  # 50 ms, so all else is asked first
            return cls(before=before, stages=stages, cut=GPT2 if last.use_regex else WHOLE)
        return cls(before=before, stages=[Stage([Step(LEAD)])] if last.add_prefix_space else [], cut=known)

    @classmethod
    def over_characters(
        cls,
        normalizers: list[Normalizer],
        leaves: tuple[PreTokenizer, ...],
        full: bool,
        *,
        spaces: bool = True,
    ) -> Route:
        """spaces: whether spaces may stay where a character is to stand for them"""
        route = cls()
        visible = _made_visible(normalizers) if spaces else len(normalizers)
        route.before = steps_of(normalizers[:visible], full)
        if visible < len(normalizers):
            route._keep_spaces(*normalizers[visible:])
        if route._keeps_spaces_in(leaves):
            return route
        return cls(before=steps_of(normalizers, full), stages=stages_of(leaves))

    @classmethod
    def over_words(
        cls, normalizers: list[Normalizer], leaves: tuple[PreTokenizer, ...], full: bool, *, search: bool
    ) -> tuple[Route, int]:
        """And what of BERT the model does: it normalizes words, for most come again.

        search: whether something is looked for in normalized text
        """
        if [type(leaf) for leaf in leaves] != [BertPreTokenizer]:
            before = steps_of(normalizers, full)
            return cls(before=before, stages=stages_of(leaves)), 0
        if normalizers and isinstance(last := normalizers[-1], BertNormalizer) and not search:
            return cls(before=steps_of(normalizers[:-1], full), cut=BERT), AS_BERT + _bert(last)
        return cls(before=steps_of(normalizers, full), cut=BERT), AS_BERT

    def _keep_spaces(self, visible: Normalizer, *put_before: Normalizer) -> None:
        """From here on the kernel has spaces where a text has a character that stands for one."""
        assert isinstance(visible, Replace)
        self.space = self.normal_space = visible.content
        last = self.before.pop() if self.before and self.before[-1].number == PREPEND else None
        self.before.append(Step(SPACES, texts=(self.space, "")))
        if last:
            put_before = (Prepend(str(last.texts[0])), *put_before)
        for part in put_before:
            assert isinstance(part, Prepend)
            self.before.append(Step(PREPEND, texts=(part.prepend.replace(self.space, " "), "")))

    def _keeps_spaces_in(self, leaves: tuple[PreTokenizer, ...]) -> bool:
        """Go through pre-tokenizers that do no more than Metaspace does; whether these do not."""
        if len(leaves) == 2 and type(leaves[0]) is WhitespaceSplit and isinstance(leaves[1], Metaspace):
            return self._words(leaves[1])
        for leaf in leaves:
            if isinstance(leaf, Metaspace) and type(leaf) is Metaspace:
                if self.cut != WHOLE or self.stages or not self._metaspace(leaf):
                    return False
            elif not (self.space and _cuts_at_spaces_alone(leaf)):
                return False
        return True

    def _words(self, leaf: Metaspace) -> bool:
        if self.space or leaf.prepend_scheme != "always" or not leaf.split or leaf.replacement == " ":
            return False
        self.space = leaf.replacement
        self.stages = [Stage([Step(WORDS, texts=(self.space, "")), Step(SPACES, texts=(self.space, ""))])]
        self.cut = BEFORE_SPACES
        return True

    def _metaspace(self, leaf: Metaspace) -> bool:
        if self.space not in ("", leaf.replacement) or leaf.replacement == " ":
            return False
        steps = []
        if not self.space:
            self.space = leaf.replacement
            steps.append(Step(SPACES, texts=(self.space, "")))
        if leaf.prepend_scheme != "never":
            steps.append(Step(LEAD, FIRST * (leaf.prepend_scheme == "first")))
        self.stages = [Stage(steps)]
        self.cut = BEFORE_SPACES if leaf.split else WHOLE
        return True


def _made_visible(normalizers: list[Normalizer]) -> int:
    """From which place on normalizers do no more than make spaces visible, and put text before."""
    at = len(normalizers)
    while at and isinstance(part := normalizers[at - 1], Prepend) and " " not in part.prepend:
        at -= 1
    return at - 1 if at and _makes_visible(normalizers[at - 1]) else len(normalizers)


def _makes_visible(part: Normalizer) -> bool:
    """Whether it puts one character in place of each space."""
    if not isinstance(part, Replace) or part.pattern != Pattern(" ", literal=True):
        return False
    return len(part.content) == 1 and part.content != " "


def _bert(part: BertNormalizer) -> int:
    """What a BertNormalizer does, as options of a model of words."""
    strips = part.lowercase if part.strip_accents is None else part.strip_accents
    changes = CLEAN * part.clean_text + IDEOGRAPHS * part.handle_chinese_chars + STRIPPED * strips
    return changes + LOWER * part.lowercase


def _cuts_at_spaces_alone(leaf: PreTokenizer) -> bool:
    """Whether it leaves text as it is that has no space."""
    return type(leaf) is Split and leaf.pattern.literal and leaf.pattern.source == " " and not leaf.invert


class RouteParts:
    """A route for the kernel, which keeps nothing of it; `parts` holds as long as this does."""

    def __init__(self, route: Route, in_raw: Added, in_normalized: Added) -> None:
        self._before, self._stages = FlatSteps(route.before), FlatStages(route.stages)
        stages = self._stages.parts
        place = None if stages is None else addressof(stages)
        self.parts = PipelineParts(
            route.cut, self._before.parts, place, len(route.stages), in_raw, in_normalized
        )


# ---------------------------------------------------------------------- added tokens


class _Matched:
    """The added tokens that are looked for in raw text, or in normalized text, for the kernel.

    normalizer: what that text went through; space: what a space is in place of, in the kernel's text
    """

    def __init__(
        self,
        vocabulary: AddedVocabulary,
        tokens: list[AddedToken],
        normalizer: Normalizer | None = None,
        space: str = "",
    ) -> None:
        ignored = vocabulary.special if vocabulary.encode_special_tokens else {}
        spaced = any(token.content[:1] in WHITESPACE for token in tokens)
        if spaced and any(token.rstrip for token in tokens):
            raise Unsupported("an added token begins with the white space that another takes")
        contents = [token.content for token in tokens]
        if normalizer:
            contents = list(map(normalizer.normalize_str, contents))
        self._contents = strings([text.replace(space, " ") for text in contents] if space else contents)
        self._ids = array("I", [vocabulary.ids[token.content] for token in tokens])
        self._flags = array("B", [_flags(token, token.content in ignored) for token in tokens])
        places = (numbers.buffer_info()[0] for numbers in (self._ids, self._flags))
        self.added = Added(self._contents.strings, *places)


def _flags(token: AddedToken, ignored: bool) -> int:
    return token.single_word + 2 * token.lstrip + 4 * token.rstrip + 8 * ignored
