"""What a code object computes, without where it was written.

The canonical form is its instructions in the order in which they can be reached, with their arguments
resolved: names, constants, jumps as numbers of instructions. File, lines, columns, the function's own
name, docstrings, annotations and constants that nothing loads are not in it. It differs between versions
of Python, as the instructions do.
"""

from __future__ import annotations

import dis
import inspect
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from arrowprep.dataset.fingerprint.flow import flow
from arrowprep.dataset.fingerprint.steps import Step, read_steps

# flags that change what a call does; the others (optimized, nested, __future__) restate the instructions
_FLAGS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
_READS_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_READS_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}


class Import(NamedTuple):
    """`from module import names` (or `import module`, without names) inside of a body."""

    module: str
    names: tuple[str, ...]
    level: int


class CanonicalCode(NamedTuple):
    """What one code object says, ready to be named.

    plain: signature and instructions, as plain data; those that load a constant only say so
    constants: what the instructions load, in order; code objects among them
    reads: names that are looked up in the module, each with the attributes asked of it at once:
        `np.linalg.norm(x)` is ("np", "linalg", "norm")
    imports: what the body imports
    """

    plain: tuple[Any, ...]
    constants: tuple[Any, ...]
    reads: tuple[tuple[str, ...], ...]
    imports: tuple[Import, ...]


@lru_cache(maxsize=4096)
def _canonical_by_id(key: _ById) -> CanonicalCode:
    return _canonical(key.code)


class _ById:
    """A cache key that is this very code object; comparing two by value would walk both."""

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.code is self.code


def canonical(code: CodeType) -> CanonicalCode:
    """The canonical form of this code object; nested ones are among its constants."""
    return _canonical_by_id(_ById(code))


def _canonical(code: CodeType) -> CanonicalCode:
    bytecode = dis.Bytecode(code)
    steps = read_steps(bytecode)
    nodes = flow(steps, getattr(bytecode, "exception_entries", ()))
    constants = tuple(node.step.value for node in nodes if node.step.loads_constant)
    body = tuple(
        (
            node.opname,
            None if node.step.loads_constant else node.step.value,
            node.then,
            node.jump,
            node.handler,
        )
        for node in nodes
    )
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    signature = (
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & _FLAGS,
        code.co_varnames[:count],
    )
    return CanonicalCode((signature, body), constants, _reads(steps), _imports(steps))


def _reads(steps: list[Step]) -> tuple[tuple[str, ...], ...]:
    reads: dict[tuple[str, ...], None] = {}
    chain: list[str] = []
    for step in steps:
        if chain and step.opname in _READS_ATTRIBUTE:
            chain.append(step.value)
            continue
        if chain:
            reads[tuple(chain)] = None
        chain = [step.value] if step.opname in _READS_GLOBAL else []
    return tuple(sorted(reads))


def _imports(steps: list[Step]) -> tuple[Import, ...]:
    found = {}
    for at, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            names = steps[at - 1].value or ()
            level = steps[at - 2].value
            found[step.value, names, level] = Import(step.value, tuple(names), level or 0)
    return tuple(found[key] for key in sorted(found))
