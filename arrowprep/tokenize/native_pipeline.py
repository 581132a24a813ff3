"""Pipelines as the kernel takes them, or why it does not.

A pipeline is a list of steps that change a text, before and after added tokens are looked for
in it, the number of a way to cut it, and a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import addressof, byref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.character_classes import WHITESPACE
from arrowprep.tokenize.models import WordLevel, WordPiece
from arrowprep.tokenize.native_library import Added, Handle, PipelineParts, StepParts, call, flat_strings
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
    encoded,
    shape_of,
    shape_of_words,
    strings,
)
from arrowprep.tokenize.normalizers import (
    NFC,
    BertNormalizer,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    Sequence,
    Strip,
)
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    Metaspace,
    PreTokenizer,
    Split,
    WhitespaceSplit,
)

if TYPE_CHECKING:
    from arrowprep.tokenize.native_layers import Programs

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
PREPEND, REPLACE, SPACES, LEAD, COMPOSE, STRIP, SQUEEZE, WORDS, CHARSMAP = range(9)  # steps
FULL, FIRST, LEFT, RIGHT = 1, 1, 1, 2  # their options


def compiled(library: Any, pipeline: Pipeline, cache_bytes: int) -> Handle:
    """The kernel's tokenizer. Raises Unsupported, or KernelFailure with what the kernel says."""
    route, shape = _route(pipeline)
    model = compiled_model(library, pipeline.model, shape, cache_bytes)
    in_raw, in_normalized = _Matched(pipeline, False, ""), _Matched(pipeline, True, route.normal_space)
    made = RouteParts(route, in_raw.added, in_normalized.added)
    return call(
        library, "arrowprep_tokenizer_new", "arrowprep_tokenizer_free", model.pointer, byref(made.parts)
    )


def _route(pipeline: Pipeline) -> tuple[Route, Shape]:
    """The way to the pieces, and what the model is for them."""
    model = pipeline.model
    byte_level, options = bool(pipeline.leaves) and type(pipeline.leaves[-1]) is ByteLevel, OVER_BYTES
    of_words = type(model) in (WordPiece, WordLevel)
    if byte_level:
        route = Route.over_bytes(pipeline.normalizer, pipeline.leaves)
    elif of_words:
        route, options = Route.over_words(pipeline)
    else:
        route = Route.over_characters(pipeline.normalizer, pipeline.leaves, pipeline.full_offsets)
    if of_words:
        return route, shape_of_words(cast("WordPiece | WordLevel", model), options)
    return route, shape_of(model, byte_level, route.space)


def route_to_words(normalizer: Normalizer | None, leaves: tuple[PreTokenizer, ...]) -> tuple[Route, int]:
    """The way of a corpus to the words that are counted, and what of BERT is done to them."""
    if leaves and type(leaves[-1]) is ByteLevel:
        return Route.over_bytes(normalizer, leaves), 0
    normalizers = list(_leaves(normalizer))
    if [type(leaf) for leaf in leaves] == [BertPreTokenizer] and BertNormalizer in map(type, normalizers):
        return Route(cut=BERT), _bert(normalizers)
    return Route.over_characters(normalizer, leaves, False), 0


def cuts_of(leaves: tuple[PreTokenizer, ...]) -> tuple[int, bool, Programs | None]:
    """As `grammar_of`; where no splitter was written for the pre-tokenizers, what runs before one."""
    try:
        return *grammar_of(leaves), None
    except Unsupported:
        *first, last = leaves or (None,)
        if type(last) is not ByteLevel or (last.add_prefix_space and first):
            raise
    return GPT2 if last.use_regex else WHOLE, False, _programs(tuple(leaf for leaf in first if leaf))


def _programs(leaves: tuple[PreTokenizer, ...]) -> Programs:
    from arrowprep.tokenize.native_layers import compiled, layers_of
    from arrowprep.tokenize.pattern_syntax import Unknown

    try:
        return compiled(tuple(layer for leaf in leaves for layer in layers_of(leaf)))
    except Unknown as problem:
        raise Unsupported(str(problem)) from problem


def grammar_of(leaves: tuple[PreTokenizer, ...]) -> tuple[int, bool]:
    """The number of the splitter that does what the pre-tokenizers do, and whether a space goes first."""
    last = leaves[-1] if leaves else None
    if type(last) is not ByteLevel:
        raise Unsupported("it is not byte-level")
    splits = leaves[:-1]
    if not splits:
        return GPT2 if last.use_regex else WHOLE, last.add_prefix_space
    if last.add_prefix_space:
        raise Unsupported("it puts a space before every piece")
    cuts = [split for split in splits if type(split) is Split and not split.pattern.literal]
    patterns = tuple(split.pattern.source for split in cuts)
    known = GRAMMARS.get(patterns)
    if known is None or len(patterns) != len(splits) or last.use_regex:
        raise Unsupported("it has no splitter for the pattern")
    if not all(_keeps_all(split, alone=len(cuts) == 1) for split in cuts):
        raise Unsupported("it does not keep all pieces")
    return known, False


def _keeps_all(split: Split, alone: bool) -> bool:
    """Whether pieces are the matches and what is between them. alone: whether all there is matches"""
    return split.behavior == "isolated" or (alone and split.behavior == "removed" and split.invert)


def is_nfc(normalizer: Normalizer | None) -> bool:
    if normalizer is None:
        return False
    parts = normalizer.parts or (normalizer,)
    if any(type(part) is not NFC for part in parts):
        raise Unsupported(f"it has no {type(normalizer).__name__} normalizer")
    return True


@dataclass(frozen=True, slots=True)
class Step:
    """A change of the text, by the kernel's number of it."""

    number: int
    options: int = 0
    texts: tuple[str | bytes, str | bytes] = ("", "")


@dataclass(slots=True)
class Route:
    """The way of a text to its pieces.

    programs: what cuts a text before `cut` does
    normal_space, space: the character that stands for a space in normalized text, and in
        pieces; where there is one the kernel has spaces in its place
    """

    before: list[Step] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)
    cut: int = WHOLE
    programs: Programs | None = None
    normal_space: str = ""
    space: str = ""

    @classmethod
    def over_bytes(cls, normalizer: Normalizer | None, leaves: tuple[PreTokenizer, ...]) -> Route:
        compose = [Step(COMPOSE)] if is_nfc(normalizer) else []
        cut, prefix, programs = cuts_of(leaves)  # programs take 50 ms, so all else is asked first
        return cls(before=compose, after=[Step(LEAD)] if prefix else [], cut=cut, programs=programs)

    @classmethod
    def over_characters(
        cls, normalizer: Normalizer | None, leaves: tuple[PreTokenizer, ...], full_offsets: bool
    ) -> Route:
        route = cls()
        for part in _leaves(normalizer):
            route._normalize(part, full_offsets)
        route.space = route.normal_space
        match leaves:
            case WhitespaceSplit(), Metaspace() as metaspace:
                route._words(metaspace)
            case _ if leaves and not route.space and Metaspace not in map(type, leaves):
                route.programs = _programs(leaves)
            case _:
                for leaf in leaves:
                    route._prepare(leaf)
        return route

    @classmethod
    def over_words(cls, pipeline: Pipeline) -> tuple[Route, int]:
        """And what of BERT the model does: it normalizes words, for most come again."""
        normalizers = list(_leaves(pipeline.normalizer))
        bert = _bert(normalizers)
        if normalizers and any(token.normalized for token in pipeline.added.in_matching_order()):
            raise Unsupported("added tokens are looked for in normalized text")
        if [type(leaf) for leaf in pipeline.leaves] == [BertPreTokenizer]:
            return cls(cut=BERT), bert
        if normalizers:
            raise Unsupported("it normalizes words for BERT's pre-tokenizer alone")
        return cls(programs=_programs(pipeline.leaves) if pipeline.leaves else None), 0

    def _normalize(self, part: Normalizer, full: bool) -> None:
        if type(part) is Prepend:
            self.before.append(Step(PREPEND, texts=(self._spelled(part.prepend), "")))
        elif type(part) is Replace and part.pattern.literal and part.pattern.source:
            old, new = part.pattern.source, part.content
            if old == " " and len(new) == 1 and new != " " and not self.normal_space:
                self._make_spaces_visible(new)
            elif self.normal_space:
                raise Unsupported("text is replaced after its spaces were")
            else:
                self.before.append(Step(REPLACE, FULL * full, (old, new)))
        elif self.normal_space:
            raise Unsupported(f"it has no {_name(part)} normalizer after spaces were replaced")
        elif type(part) is Replace and not part.pattern.literal and part.pattern.source == " {2,}":
            self.before.append(Step(SQUEEZE, FULL * full, (" ", part.content)))
        elif type(part) is Strip:
            self.before.append(Step(STRIP, LEFT * part.left + RIGHT * part.right))
        elif type(part) is NFC:
            self.before.append(Step(COMPOSE))
        elif type(part) is Precompiled:
            self.before.append(Step(CHARSMAP, FULL * full, (part.precompiled_charsmap, "")))
        else:
            raise Unsupported(f"it has no {_name(part)} normalizer here")

    def _make_spaces_visible(self, space: str) -> None:
        """From here on the kernel has a space for this character, and what was put in front has it too."""
        self.normal_space = space
        put_before = self.before.pop() if self.before and self.before[-1].number == PREPEND else None
        self.before.append(Step(SPACES, texts=(space, "")))
        if put_before:
            content = put_before.texts[0]
            assert isinstance(content, str)
            self.before.append(Step(PREPEND, texts=(content.replace(space, " "), "")))

    def _spelled(self, text: str) -> str:
        if self.normal_space and " " in text:
            raise Unsupported("a space is put before text that has none")
        return text.replace(self.normal_space, " ") if self.normal_space else text

    def _prepare(self, leaf: PreTokenizer) -> None:
        if type(leaf) is Metaspace and self.cut == WHOLE and not self.after:
            self._metaspace(leaf)
        elif not (self.space and _cuts_at_spaces_alone(leaf)):
            raise Unsupported(f"it has no {type(leaf).__name__} pre-tokenizer here")

    def _words(self, leaf: Metaspace) -> None:
        if self.space or leaf.prepend_scheme != "always" or not leaf.split or leaf.replacement == " ":
            raise Unsupported("it has no such Metaspace behind a WhitespaceSplit")
        self.space = leaf.replacement
        self.after = [Step(WORDS, texts=(self.space, "")), Step(SPACES, texts=(self.space, ""))]
        self.cut = BEFORE_SPACES

    def _metaspace(self, leaf: Metaspace) -> None:
        if self.space not in ("", leaf.replacement) or leaf.replacement == " ":
            raise Unsupported("two characters stand for a space")
        if not self.space:
            self.space = leaf.replacement
            self.after.append(Step(SPACES, texts=(self.space, "")))
        if leaf.prepend_scheme == "first" and any(
            step.number not in (PREPEND, SPACES) for step in self.before
        ):
            raise Unsupported("what is replaced may be the start of the text")
        if leaf.prepend_scheme != "never":
            self.after.append(Step(LEAD, FIRST * (leaf.prepend_scheme == "first")))
        self.cut = BEFORE_SPACES if leaf.split else WHOLE


def _leaves(normalizer: Normalizer | None) -> Iterator[Normalizer]:
    if type(normalizer) is Sequence:
        for part in normalizer.parts:
            yield from _leaves(part)
    elif normalizer is not None:
        yield normalizer


def _bert(normalizers: list[Normalizer]) -> int:
    """What a BertNormalizer does, as options of a model of words."""
    if not normalizers:
        return AS_BERT
    first, *more = normalizers
    if type(first) is not BertNormalizer or more:
        raise Unsupported(f"it has no {_name(more[0] if more else first)} normalizer here")
    strips = first.lowercase if first.strip_accents is None else first.strip_accents
    changes = CLEAN * first.clean_text + IDEOGRAPHS * first.handle_chinese_chars + STRIPPED * strips
    return AS_BERT + changes + LOWER * first.lowercase


def _cuts_at_spaces_alone(leaf: PreTokenizer) -> bool:
    """Whether it leaves text as it is that has no space."""
    return type(leaf) is Split and leaf.pattern.literal and leaf.pattern.source == " " and not leaf.invert


def _name(part: Normalizer) -> str:
    return type(part).__name__


class RouteParts:
    """A route for the kernel, which keeps nothing of it; `parts` holds as long as this does."""

    def __init__(self, route: Route, in_raw: Added, in_normalized: Added) -> None:
        self._before, self._after = _Steps(route.before), _Steps(route.after)
        self._layers = route.programs.structure() if route.programs else None
        layers = addressof(self._layers) if self._layers else None
        self.parts = PipelineParts(
            route.cut, self._before.parts, self._after.parts, layers, in_raw, in_normalized
        )


class _Steps:
    """Steps for the kernel, which keeps nothing of them."""

    def __init__(self, steps: list[Step]) -> None:
        texts = [text if isinstance(text, bytes) else encoded(text) for step in steps for text in step.texts]
        stops = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self._texts = flat_strings(b"".join(texts), stops)
        self._numbers = np.array([step.number for step in steps], np.uint32)
        self._options = np.array([step.options for step in steps], np.uint32)
        self.parts = StepParts(self._numbers.ctypes.data, self._options.ctypes.data, self._texts.strings)


# ---------------------------------------------------------------------- added tokens


class _Matched:
    """The added tokens that are looked for in raw text, or in normalized text, for the kernel.

    space: what a space is in place of, in the kernel's text
    """

    def __init__(self, pipeline: Pipeline, normalized: bool, space: str) -> None:
        vocabulary = pipeline.added
        tokens = [token for token in vocabulary.in_matching_order() if token.normalized == normalized]
        ignored = vocabulary.special if vocabulary.encode_special_tokens else {}
        spaced = any(token.content[:1] in WHITESPACE for token in tokens)
        if spaced and any(token.rstrip for token in tokens):
            raise Unsupported("an added token begins with the white space that another takes")
        if space and any(token.lstrip or token.rstrip for token in tokens):
            raise Unsupported("an added token takes white space where a space is none")
        normalize = pipeline.normalizer.normalize_str if normalized and pipeline.normalizer else str
        contents = [normalize(token.content) for token in tokens]
        self._contents = strings([text.replace(space, " ") if space else text for text in contents])
        self._ids = np.array([vocabulary.ids[token.content] for token in tokens], np.uint32)
        self._flags = np.array([_flags(token, token.content in ignored) for token in tokens], np.uint8)
        self.added = Added(self._contents.strings, self._ids.ctypes.data, self._flags.ctypes.data)


def _flags(token: AddedToken, ignored: bool) -> int:
    return token.single_word + 2 * token.lstrip + 4 * token.rstrip + 8 * ignored
