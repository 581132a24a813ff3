"""Steps in the order in which they can be reached, whatever order the compiler wrote them in.

Where lines break decides whether the compiler shortens a jump to a jump, turns a condition around, or
merges two ways out. So jumps that are always taken are edges here and not steps, a condition has one sense,
and steps are numbered by a walk from the first one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, NamedTuple

from arrowprep.dataset.fingerprint.steps import Step

_ALWAYS = {"JUMP", "JUMP_NO_INTERRUPT"}
_LAST = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}
_TURNED = {"POP_JUMP_IF_TRUE": "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NOT_NONE": "POP_JUMP_IF_NONE"}


class Node(NamedTuple):
    """A step and where it leads; places are numbers of nodes.

    then: what follows; None after a return or raise, and where it is the next number
    jump: where a jump goes when it is taken
    handler: (place, depth of the stack, whether the last instruction is pushed) for what it raises
    """

    opname: str
    step: Step
    then: int | None
    jump: int | None
    handler: tuple[int, int, bool] | None


def flow(steps: list[Step], exception_entries: Iterable[Any]) -> list[Node]:
    """The reachable steps from the first one on; entries are those of `dis.Bytecode`, none before 3.11."""
    return _Flow(steps, list(exception_entries)).nodes()


class _Flow:
    def __init__(self, steps: list[Step], entries: list[Any]) -> None:
        self._steps = steps
        self._offsets = [step.offset for step in steps]
        self._entries = entries

    def nodes(self) -> list[Node]:
        edges: dict[int, tuple[str, int | None, int | None, Any]] = {}  # in the order of the walk
        pending = [self._follow(0)] if self._steps else []
        while pending:
            at: int | None = pending.pop()
            while at is not None and at not in edges:
                opname, then, jump = self._leads_to(at)
                handler = self._handler(at)
                edges[at] = opname, then, jump, handler
                pending += [place for place in (handler and handler[0], jump) if place is not None]
                at = then
        number = {at: count for count, at in enumerate(edges)}
        return [
            Node(
                opname,
                self._steps[at],
                None if then is None or number[then] == number[at] + 1 else number[then],
                None if jump is None else number[jump],
                None if handler is None else (number[handler[0]], *handler[1:]),
            )
            for at, (opname, then, jump, handler) in edges.items()
        ]

    def _follow(self, at: int) -> int:
        """The step that is done next when `at` is reached: past jumps that are always taken."""
        seen = set()
        while self._steps[at].opname in _ALWAYS and at not in seen:
            seen.add(at)
            at = self._at(self._steps[at].target)
        return at

    def _at(self, offset: int | None) -> int:
        return bisect_left(self._offsets, offset or 0)

    def _leads_to(self, at: int) -> tuple[str, int | None, int | None]:
        """What the step is called, what follows it, and where it may jump."""
        step = self._steps[at]
        if step.opname in _ALWAYS:  # to itself: an endless loop
            return step.opname, None, at
        then = None if step.opname in _LAST else self._follow(at + 1)
        if step.target is None:
            return step.opname, then, None
        opname, jump = self._landing(step.opname, self._follow(self._at(step.target)))
        if opname in _TURNED:
            return _TURNED[opname], jump, then
        return opname, then, jump

    def _landing(self, opname: str, at: int) -> tuple[str, int]:
        """3.10 and 3.11 shorten `a and b` before another condition only when both share a line."""
        for _ in range(len(self._steps)):
            if not opname.endswith("_OR_POP"):
                break
            sense = "TRUE" if "_TRUE_" in opname else "FALSE"
            after = self._steps[at]
            if after.opname in (opname, f"POP_JUMP_IF_{sense}"):
                opname, at = after.opname, self._follow(self._at(after.target))
            elif "JUMP_IF_TRUE" in after.opname or "JUMP_IF_FALSE" in after.opname:
                opname, at = f"POP_JUMP_IF_{sense}", self._follow(at + 1)
            else:
                break
        return opname, at

    def _handler(self, at: int) -> tuple[int, int, bool] | None:
        offset = self._offsets[at]
        for entry in self._entries:
            if entry.start <= offset < entry.end:
                return self._follow(self._at(entry.target)), entry.depth, bool(entry.lasti)
        return None
