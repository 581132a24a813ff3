"""Patterns as the steps that `rust/src/split/pattern.rs` takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain, product
from operator import or_
from typing import TypeVar

from arrowprep.tokenize.pattern_syntax import Chars, Either, End, Look, Node, Once, Repeat, Row, Unknown

T = TypeVar("T")
Way = tuple[Chars, ...]

MOST_STEPS = 4000
MOST_BEHIND = 16  # ways to look behind at several characters
UNLIMITED = ANYWHERE = (1 << 64) - 1  # ANYWHERE: as what a match begins with, where it may be empty
SET, RUN, FORK, JUMP, LOOK, ONCE, BEHIND, END, DONE = range(9)


def program_of(tree: Node, mask: Callable[[str], int]) -> tuple[list[int], list[int]]:
    """The alternatives and the steps of a pattern, as arrowprep.h describes them. Raises Unknown.

    mask: the classes of characters that a set has, as bits
    """
    compiler = _Compiler(mask)
    alternatives: list[int] = []
    for option in tree.options if isinstance(tree, Either) else (tree,):
        first, empty = compiler.begins(option)
        alternatives += (len(compiler.steps), ANYWHERE if empty else first)
        compiler.put(option)
        compiler.step(DONE)
    if len(compiler.steps) > MOST_STEPS:
        raise Unknown("its pattern repeats too much")
    return alternatives, list(chain(*compiler.steps))


class _Compiler:
    """Steps of one layer, in the order in which they are put."""

    def __init__(self, mask: Callable[[str], int]) -> None:
        self.mask = mask
        self.steps: list[tuple[int, int, int]] = []

    def step(self, kind: int, a: int = 0, b: int = 0) -> int:
        """Put a step; its place."""
        self.steps.append((kind, a, b))
        return len(self.steps) - 1

    def _lead(self, place: int, to: int) -> None:
        kind, _, b = self.steps[place]
        self.steps[place] = (kind, to, b)

    def begins(self, node: Node) -> tuple[int, bool]:
        """The classes that a match may begin with, and whether it may be empty."""
        if isinstance(node, Chars):
            return self.mask(node.source), False
        if isinstance(node, Row):
            first = 0
            for part in node.parts:
                more, empty = self.begins(part)
                first |= more
                if not empty:
                    return first, False
            return first, True
        if isinstance(node, Either):
            firsts = [self.begins(option) for option in node.options]
            return reduce(or_, (first for first, _ in firsts)), any(empty for _, empty in firsts)
        if isinstance(node, Repeat):
            first, empty = self.begins(node.part)
            return first, empty or not node.least
        if isinstance(node, Once):
            return self.begins(node.part)
        return 0, True  # a place, not a character

    def put(self, node: Node) -> None:
        """The steps of a tree."""
        if isinstance(node, Chars):
            self.step(SET, self.mask(node.source))
        elif isinstance(node, Row):
            for part in node.parts:
                self.put(part)
        elif isinstance(node, Either):
            self._put_options(node.options, self.put)
        elif isinstance(node, Repeat):
            self._put_repeat(node)
        elif isinstance(node, End):
            self.step(END, self.mask(r"\n") if node.of_line else 0)
        elif isinstance(node, Once):
            self._put_within(self.step(ONCE), node.part)
        elif node.ahead:
            self._put_within(self.step(LOOK, 0, node.wanted), node.part)
        else:
            self._put_behind(node)

    def _put_within(self, place: int, part: Node) -> None:
        self.put(part)
        self._lead(place, self.step(DONE) + 1)

    def _put_behind(self, node: Look) -> None:
        """Each way has its characters one by one, the last of them right behind."""
        ways = _ways(node.part)
        if len(ways) == 1 and len(ways[0]) == 1:
            self.step(BEHIND, self.mask(ways[0][0].source), node.wanted)
            return
        look = self.step(LOOK, 0, node.wanted)
        self._put_options(ways, self._put_way)
        self._lead(look, self.step(DONE) + 1)

    def _put_way(self, way: Way) -> None:
        for further, chars in enumerate(reversed(way)):
            self.step(BEHIND | further << 32, self.mask(chars.source), True)

    def _put_options(self, options: Sequence[T], put: Callable[[T], None]) -> None:
        jumps = []
        for option in options[:-1]:
            fork = self.step(FORK)
            put(option)
            jumps.append(self.step(JUMP))
            self._lead(fork, len(self.steps))
        put(options[-1])
        for jump in jumps:
            self._lead(jump, len(self.steps))

    def _put_repeat(self, node: Repeat) -> None:
        if isinstance(node.part, Chars) and not node.lazy:
            most = UNLIMITED if node.most is None else node.most
            self.step(RUN | node.keeps << 8 | node.least << 32, self.mask(node.part.source), most)
            return
        if node.keeps:
            self._put_within(self.step(ONCE), Repeat(node.part, node.least, node.most))
            return
        if node.most != 1 and self.begins(node.part)[1]:
            raise Unknown("its pattern repeats what may be empty")
        for _ in range(node.least):
            self._put_bounded(node.part)
        if node.most is None:
            again = len(self.steps)
            out = self._put_way_out(node.lazy)
            self.put(node.part)
            self._lead(self.step(JUMP), again)
            self._lead(out, len(self.steps))
            return
        outs = []
        for _ in range(node.most - node.least):
            outs.append(self._put_way_out(node.lazy))
            self._put_bounded(node.part)
        for out in outs:
            self._lead(out, len(self.steps))

    def _put_way_out(self, first: bool) -> int:
        """A step that leads away from what comes next: when that fails, or before it is tried."""
        if not first:
            return self.step(FORK)
        self.step(FORK, len(self.steps) + 2)
        return self.step(JUMP)

    def _put_bounded(self, part: Node) -> None:
        if len(self.steps) > MOST_STEPS:
            raise Unknown("its pattern repeats too much")
        self.put(part)


def _ways(node: Node) -> list[Way]:
    """The rows of single characters that a node is, one of which must match."""
    if isinstance(node, Chars):
        return [(node,)]
    if isinstance(node, Either):
        ways = [way for option in node.options for way in _ways(option)]
    elif isinstance(node, Row):
        ways = [tuple(chain(*rows)) for rows in product(*map(_ways, node.parts))]
    elif isinstance(node, Repeat) and node.least == node.most:
        ways = [tuple(chain(*rows)) for rows in product(_ways(node.part), repeat=node.least)]
    else:
        raise Unknown("its pattern looks behind at what is of no certain length")
    if len(ways) > MOST_BEHIND:
        raise Unknown("its pattern looks behind in too many ways")
    return ways
