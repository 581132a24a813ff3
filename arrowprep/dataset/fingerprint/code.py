"""What a code object computes, without where it was written.

The canonical form is the sequence of its instructions with their arguments resolved: names, constants,
positions of jumps counted in instructions. File, lines, columns, the function's own name, docstrings,
annotations and constants that nothing loads are not in it. It differs between versions of Python, as
the instructions do.
"""

from __future__ import annotations

import dis
import inspect
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

# flags that change what a call does; the others (optimized, nested, __future__) restate the instructions
_FLAGS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
# NOP stands where a line had nothing to do; the rest is bookkeeping of the interpreter
_SILENT = {"NOP", "RESUME", "CACHE", "EXTENDED_ARG", "PRECALL", "NOT_TAKEN"}
# what a class body says about itself: stored by the two instructions `value; STORE_NAME name`
_ABOUT_ITSELF = {"__doc__", "__qualname__", "__module__", "__firstlineno__", "__static_attributes__"}
# 3.13 fuses neighbours only when they share a line
_FUSED = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST_BORROW", "LOAD_FAST_BORROW"),
}
# dis explains these arguments by text or a function that says less than the number
_BY_NUMBER = {"MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE", "FORMAT_VALUE", "CONVERT_VALUE"}
_LOADS_CONSTANT = {dis.opname[opcode] for opcode in dis.hasconst}
_READS_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_READS_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}
_ANNOTATED = 0x04


@dataclass(frozen=True)
class Import:
    """`from module import names` (or `import module`, without names) inside of a body."""

    module: str
    names: tuple[str, ...]
    level: int


@dataclass(frozen=True)
class CanonicalCode:
    """What one code object says, ready to be named.

    plain: signature, instructions and exception table, as plain data; a constant is its place in `constants`
    constants: what the instructions load, in order; code objects among them
    reads: names that are looked up in the module, each with the attributes asked of it at once:
        `np.linalg.norm(x)` is ("np", "linalg", "norm")
    imports: what the body imports
    """

    plain: tuple[Any, ...]
    constants: tuple[Any, ...]
    reads: tuple[tuple[str, ...], ...]
    imports: tuple[Import, ...]


@dataclass
class _Step:
    opname: str
    value: Any
    offset: int


@lru_cache(maxsize=4096)
def _canonical_by_id(key: _ById) -> CanonicalCode:
    return _canonical(key.code)


@dataclass(frozen=True, eq=False)
class _ById:
    """A cache key that is this very code object; comparing two by value would walk both."""

    code: CodeType

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.code is self.code


def canonical(code: CodeType) -> CanonicalCode:
    """The canonical form of this code object; nested ones are among its constants."""
    return _canonical_by_id(_ById(code))


def _canonical(code: CodeType) -> CanonicalCode:
    bytecode = dis.Bytecode(code)
    steps = _without_annotations(_without_self_description(_steps(bytecode)))
    position = _positions(steps)
    constants: list[Any] = []
    body = []
    for step in steps:
        opname, value = step.opname, step.value
        if opname in _LOADS_CONSTANT:
            constants.append(value)
            value = None
        elif opname.startswith("jump "):
            opname, value = _landing(opname, position(value), steps, position)
        body.append((opname, value))
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    signature = (
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & _FLAGS,
        code.co_varnames[:count],
    )
    table = _exception_table(bytecode, position)
    return CanonicalCode((signature, tuple(body), table), tuple(constants), _reads(steps), _imports(steps))


def _steps(bytecode: dis.Bytecode) -> list[_Step]:
    jumps = set(dis.hasjrel) | set(dis.hasjabs)
    steps: list[_Step] = []
    for it in bytecode:
        if it.opname in _SILENT:
            # a jump to here goes to the next instruction: positions() finds it by the offset
            continue
        if it.opname in _FUSED:
            steps += [
                _Step(op, name, it.offset) for op, name in zip(_FUSED[it.opname], it.argval, strict=True)
            ]
        elif it.opcode in jumps:
            # forward or backward follows from the position
            opname = it.opname.replace("_FORWARD", "").replace("_BACKWARD", "")
            steps.append(_Step(f"jump {opname}", it.argval, it.offset))
        elif it.arg is None:
            steps.append(_Step(it.opname, None, it.offset))
        elif it.opname in _LOADS_CONSTANT:
            # dis does not resolve KW_NAMES
            steps.append(_Step(it.opname, bytecode.codeobj.co_consts[it.arg], it.offset))
        elif it.opname in _BY_NUMBER:
            steps.append(_Step(it.opname, it.arg, it.offset))
        else:
            steps.append(_Step(it.opname, it.argval, it.offset))
    return steps


def _without_self_description(steps: list[_Step]) -> list[_Step]:
    kept: list[_Step] = []
    for step in steps:
        if step.opname == "STORE_NAME" and step.value in _ABOUT_ITSELF:
            kept.pop()
        elif _is_qualname(step, kept):
            continue
        else:
            kept.append(step)
    return kept


def _is_qualname(step: _Step, before: list[_Step]) -> bool:
    """3.10 loads a nested function's code and then its qualified name."""
    if step.opname != "LOAD_CONST" or type(step.value) is not str or not before:
        return False
    last = before[-1]
    return last.opname == "LOAD_CONST" and isinstance(last.value, CodeType)


def _without_annotations(steps: list[_Step]) -> list[_Step]:
    """Drop what builds the annotations of nested functions.

    Before MAKE_FUNCTION stand, in this order: defaults, keyword defaults, annotations, closure, code. The
    annotations are a tuple; its BUILD_TUPLE and as many values as it takes go. Where one of them is more
    than a name, an attribute, a subscript or a constant, all stay: the name is then finer than it need be.
    """
    kept: list[_Step] = []
    for step in steps:
        if step.opname == "MAKE_FUNCTION" and isinstance(step.value, int) and step.value & _ANNOTATED:
            stop = len(kept) - 1  # before the code
            if step.value & 0x08:
                stop = _start_of_values(kept, stop, 1)
            start = _start_of_values(kept, stop, 1) if stop >= 0 else -1
            if start >= 0:
                del kept[start:stop]
                step = _Step(step.opname, step.value & ~_ANNOTATED, step.offset)
        kept.append(step)
    return kept


_PUSHES = {"LOAD_CONST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE"}
_REPLACES = {"LOAD_ATTR": 1, "BINARY_SUBSCR": 2, "BINARY_OP": 2}


def _start_of_values(steps: list[_Step], stop: int, count: int) -> int:
    """Where the run of instructions begins that pushes the `count` values before `stop`; -1: cannot tell."""
    at = stop
    while count:
        at -= 1
        if at < 0:
            return -1
        step = steps[at]
        if step.opname in _PUSHES:
            count -= 1
        elif step.opname in _REPLACES:
            count += _REPLACES[step.opname] - 1
        elif step.opname == "BUILD_TUPLE":
            count += step.value - 1
        else:
            return -1
    return at


def _positions(steps: list[_Step]) -> Any:
    """A function from byte offsets to positions in `steps`, of the first step at or after the offset."""
    from bisect import bisect_left

    offsets = [step.offset for step in steps]

    def position(offset: int) -> int:
        at = bisect_left(offsets, offset)
        seen = set()
        # a jump to a jump goes where that goes: whether the compiler shortens it depends on line breaks
        while at < len(steps) and at not in seen and _always_jumps(steps[at].opname):
            seen.add(at)
            at = bisect_left(offsets, steps[at].value)
        return at

    return position


def _landing(opname: str, at: int, steps: list[_Step], position: Any) -> tuple[str, int]:
    """Where a jump ends; 3.10 and 3.11 shorten `a and b` before an `if` only when both share a line."""
    sense = "TRUE" if "_IF_TRUE_" in opname else "FALSE"
    if opname == f"jump JUMP_IF_{sense}_OR_POP" and at < len(steps):
        then = steps[at]
        if then.opname in (f"jump POP_JUMP_IF_{sense}", opname):
            return then.opname, position(then.value)
        if "JUMP_IF_TRUE" in then.opname or "JUMP_IF_FALSE" in then.opname:
            return f"jump POP_JUMP_IF_{sense}", position(then.offset + 1)
    return opname, at


def _always_jumps(opname: str) -> bool:
    return opname in ("jump JUMP", "jump JUMP_ABSOLUTE")


def _exception_table(bytecode: dis.Bytecode, position: Any) -> tuple[Any, ...]:
    """(start, stop, target, depth, lasti) in positions; empty before 3.11, where blocks are instructions."""
    table: list[tuple[Any, ...]] = []
    for entry in getattr(bytecode, "exception_entries", ()):
        start, stop = position(entry.start), position(entry.end)
        if start == stop:
            continue
        rest = (position(entry.target), entry.depth, entry.lasti)
        if table and table[-1][1] == start and table[-1][2:] == rest:
            start = table.pop()[0]
        table.append((start, stop, *rest))
    return tuple(table)


def _reads(steps: list[_Step]) -> tuple[tuple[str, ...], ...]:
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


def _imports(steps: list[_Step]) -> tuple[Import, ...]:
    found = {}
    for at, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            names = steps[at - 1].value or ()
            level = steps[at - 2].value
            found[step.value, names, level] = Import(step.value, tuple(names), level or 0)
    return tuple(found[key] for key in sorted(found))
