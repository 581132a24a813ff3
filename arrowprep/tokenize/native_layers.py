"""Pre-tokenizers that the kernel has no splitter for, as programs that it runs.

Its sets of characters are asked of the reference engine's own patterns, character by character.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.native_library import LayerPrograms
from arrowprep.tokenize.native_sets import members
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.pattern_steps import program_of
from arrowprep.tokenize.pattern_syntax import Chars, Either, End, Node, Repeat, Row, Unknown, Value, parse
from arrowprep.tokenize.plain_sets import Codes
from arrowprep.tokenize.pre_tokenizers import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    PreTokenizer,
    Punctuation,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from arrowprep.tokenize.pre_tokenizers.characters import NOT_BLANK, WORDS, numeric, punctuation
from arrowprep.tokenize.pre_tokenizers.scripts import script_numbers
from arrowprep.tokenize.pre_tokenizers.split import BEHAVIORS

MOST_CLASSES = 64
BY_LENGTH, BY_SCRIPTS = 5, 6  # in place of a behavior
_BEHAVIOR = {name: number for number, name in enumerate(BEHAVIORS)}


class Layer(Value):
    """A pattern and what becomes of its matches.

    pattern: Oniguruma's; or of Python's `re`, one set or a run of one
    """

    def __init__(self, pattern: Pattern | re.Pattern[str], behavior: str, invert: bool = False) -> None:
        self.pattern = pattern
        self.behavior = behavior
        self.invert = invert


class Length(Value):
    """A cut after so many characters."""

    def __init__(self, length: int) -> None:
        self.length = length


class Scripts(Value):
    """A cut where the script changes."""


Cut = Layer | Length | Scripts


class Programs:
    """Layers for the kernel. runs: (n, 2) uint32; words: (m,) uint64, as arrowprep.h describes them"""

    def __init__(self, runs: npt.NDArray[np.uint32], words: npt.NDArray[np.uint64]) -> None:
        self.runs = runs
        self.words = words

    def structure(self) -> LayerPrograms:
        """Holds as long as this does."""
        return LayerPrograms(self.runs.ctypes.data, len(self.runs), self.words.ctypes.data, len(self.words))


def layers_of(leaf: PreTokenizer) -> list[Cut]:
    """What a pre-tokenizer does, as layers. Raises Unknown."""
    kind = type(leaf)
    if isinstance(leaf, FixedLength) and kind is FixedLength:
        return [Length(leaf.length)]
    if kind is UnicodeScripts:
        return [Scripts()]
    if isinstance(leaf, Split) and kind is Split:
        return [Layer(leaf.pattern, leaf.behavior, leaf.invert)]
    if isinstance(leaf, Digits) and kind is Digits:
        return [Layer(numeric(), "isolated" if leaf.individual_digits else "contiguous")]
    if isinstance(leaf, Punctuation) and kind is Punctuation:
        return [Layer(punctuation(), leaf.behavior)]
    if isinstance(leaf, CharDelimiterSplit) and kind is CharDelimiterSplit:
        return [Layer(re.compile(re.escape(leaf.delimiter)), "removed")]
    if kind is Whitespace:
        return [Layer(WORDS, "removed", invert=True)]
    between_blanks = Layer(NOT_BLANK, "removed", invert=True)
    if kind is WhitespaceSplit:
        return [between_blanks]
    if kind is BertPreTokenizer:
        return [between_blanks, Layer(punctuation(), "isolated")]
    raise Unknown(f"it has no {kind.__name__} pre-tokenizer")


@lru_cache(maxsize=64)
def compiled(layers: tuple[Cut, ...]) -> Programs:
    """The programs of layers. Raises Unknown, which says what the kernel cannot do."""
    trees = [_tree(layer.pattern) if isinstance(layer, Layer) else None for layer in layers]
    sets = _Sets()
    for layer, tree in zip(layers, trees, strict=True):
        if isinstance(layer, Layer) and tree is not None:
            sets.add(tree, layer.pattern)
    runs = sets.divide()
    words: list[int] = []
    for layer, tree in zip(layers, trees, strict=True):
        if isinstance(layer, Layer) and tree is not None:
            words += _words(layer, *program_of(tree, partial(sets.mask, pattern=layer.pattern)))
        elif isinstance(layer, Length):
            words += (layer.length, 0, BY_LENGTH)
        else:
            words += (0, 0, BY_SCRIPTS)
            runs = _with_scripts(runs)
    return Programs(runs, np.array(words, np.uint64))


def _words(layer: Layer, alternatives: list[int], steps: list[int]) -> list[int]:
    head = (len(alternatives) // 2, len(steps) // 3, _BEHAVIOR[layer.behavior] + 8 * layer.invert)
    return [*head, *alternatives, *steps]


def _with_scripts(runs: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Classes divided further by the numbers of scripts, which are in the second byte."""
    firsts, numbers = script_numbers()
    edges = np.union1d(runs[:, 0], firsts)
    classes, scripts = (
        values[np.searchsorted(starts, edges, side="right") - 1]
        for starts, values in ((runs[:, 0], runs[:, 1] & 0xFF), (firsts, numbers))
    )
    return np.ascontiguousarray(np.column_stack([edges, classes | scripts << 8]).astype(np.uint32))


def _tree(pattern: Pattern | re.Pattern[str]) -> Node:
    if isinstance(pattern, re.Pattern):
        run = pattern.pattern.endswith("]+")
        return Repeat(Chars(pattern.pattern[:-1]), 1, None) if run else Chars(pattern.pattern)
    if pattern.literal:
        return Row(tuple(Chars(re.escape(c) if c.isascii() else c) for c in pattern.source))
    return parse(pattern.source)


# ---------------------------------------------------------------------- sets of characters


_ALL = np.array([0, 0x110000])
SETS_AT_ONCE = 48  # bits of a number, above which those of a class have room


def _numbered(inside: list[Codes], classes: Codes) -> Codes:
    """Classes divided further by which of some sets each stretch of characters is in, numbered anew."""
    keys = classes
    for has in inside:
        keys = keys << 1 | has
    known = np.sort(keys)
    first = np.ones(len(known), bool)
    np.greater(known[1:], known[:-1], out=first[1:])
    return known[first].searchsorted(keys)


class _Sets:
    """The sets of some patterns, and the classes that they divide all characters into."""

    def __init__(self) -> None:
        self._members: dict[tuple[str, bool, bool], Codes] = {}
        self._masks: dict[tuple[str, bool, bool], int] = {}

    @staticmethod
    def _key(source: str, pattern: Pattern | re.Pattern[str]) -> tuple[str, bool, bool]:
        if isinstance(pattern, re.Pattern):
            return source, True, True
        return source, False, not pattern.ignores_case

    def add(self, node: Node, pattern: Pattern | re.Pattern[str]) -> None:
        """The sets of a tree."""
        if isinstance(node, Chars):
            key = self._key(node.source, pattern)
            self._members[key] = members(*key)
        elif isinstance(node, End):
            if node.of_line:
                self.add(Chars(r"\n"), pattern)
        elif isinstance(node, Row | Either):
            for part in node.parts if isinstance(node, Row) else node.options:
                self.add(part, pattern)
        else:
            self.add(node.part, pattern)

    def divide(self) -> npt.NDArray[np.uint32]:
        """Classes that no set has a part of: (n, 2) first code point and class, up to the next."""
        if not self._members:
            return np.zeros((1, 2), np.uint32)
        edges = np.concatenate([_ALL, *self._members.values()])
        edges.sort()
        # each once, without the end; not by np.unique, which would load NumPy's masked arrays, 20 ms
        edges = edges[:-1][edges[1:] > edges[:-1]]
        inside = [found.searchsorted(edges, "right") & 1 for found in self._members.values()]
        classes = np.zeros(len(edges), np.int64)
        for at in range(0, len(inside), SETS_AT_ONCE):
            classes = _numbered(inside[at : at + SETS_AT_ONCE], classes)
            if classes.max() >= MOST_CLASSES:
                raise Unknown(f"its patterns tell more than {MOST_CLASSES} kinds of characters apart")
        example = np.zeros(MOST_CLASSES, np.int64)
        example[classes] = np.arange(len(classes))
        example = example[: classes.max() + 1]
        masks = np.packbits(np.array(inside)[:, example], axis=1, bitorder="little")
        for key, mask in zip(self._members, masks, strict=True):
            self._masks[key] = int.from_bytes(mask.tobytes(), "little")
        runs = np.empty((len(edges), 2), np.uint32)
        runs[:, 0], runs[:, 1] = edges, classes
        return runs

    def mask(self, source: str, pattern: Pattern | re.Pattern[str]) -> int:
        """The classes of a set, as bits."""
        return self._masks[self._key(source, pattern)]
