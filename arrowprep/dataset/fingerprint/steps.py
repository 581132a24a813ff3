"""The instructions of a code object that mean something, with their arguments resolved."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any, NamedTuple

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
_JUMPS = {*dis.hasjrel, *dis.hasjabs}
_ANNOTATIONS, _CLOSURE = 0x04, 0x08  # flags of what a function is made with


class Step(NamedTuple):
    """One instruction.

    value: its argument: a name, a number, a constant
    offset: where it is, in bytes
    target: the offset that it may jump to
    """

    opname: str
    value: Any
    offset: int
    target: int | None = None

    @property
    def loads_constant(self) -> bool:
        return self.opname in _LOADS_CONSTANT


def read_steps(bytecode: dis.Bytecode) -> list[Step]:
    """The steps of a code object in the order of its instructions, without what is there for people."""
    steps: list[Step] = []
    for it in bytecode:
        if it.opname in _SILENT:
            continue  # a jump to here goes to the next step
        if it.opname in _FUSED:
            pairs = zip(_FUSED[it.opname], it.argval, strict=True)
            steps += [Step(opname, name, it.offset) for opname, name in pairs]
        elif it.opcode in _JUMPS:
            # forward, backward or absolute: that follows from the target
            opname = it.opname.replace("_FORWARD", "").replace("_BACKWARD", "").replace("_ABSOLUTE", "")
            steps.append(Step(opname, None, it.offset, it.argval))
        elif it.arg is None:
            steps.append(Step(it.opname, None, it.offset))
        elif it.opname in _LOADS_CONSTANT:  # dis does not resolve KW_NAMES
            steps.append(Step(it.opname, bytecode.codeobj.co_consts[it.arg], it.offset))
        else:
            steps.append(Step(it.opname, it.arg if it.opname in _BY_NUMBER else it.argval, it.offset))
    return _without_annotations(_without_self_description(steps))


def _without_self_description(steps: list[Step]) -> list[Step]:
    kept: list[Step] = []
    for step in steps:
        if step.opname == "STORE_NAME" and step.value in _ABOUT_ITSELF:
            kept.pop()
        elif not _is_qualname(step, kept):
            kept.append(step)
    return kept


def _is_qualname(step: Step, before: list[Step]) -> bool:
    """3.10 loads a nested function's code and then its qualified name."""
    if step.opname != "LOAD_CONST" or type(step.value) is not str or not before:
        return False
    last = before[-1]
    return last.opname == "LOAD_CONST" and isinstance(last.value, CodeType)


def _without_annotations(steps: list[Step]) -> list[Step]:
    """Drop what builds the annotations of nested functions.

    Before MAKE_FUNCTION stand, in this order: defaults, keyword defaults, annotations, closure, code. The
    annotations are a tuple; its BUILD_TUPLE and as many values as it takes go. Where one of them is more
    than a name, an attribute, a subscript or a constant, all stay: the name is then finer than it need be.
    """
    kept: list[Step] = []
    for at, step in enumerate(steps):
        if step.opname == "MAKE_FUNCTION":
            made_with = _made_with(steps, at)
            if made_with & _ANNOTATIONS and _drop_annotations(kept, made_with):
                step = Step(step.opname, made_with & ~_ANNOTATIONS, step.offset)
            else:
                step = Step(step.opname, made_with, step.offset)
        elif step.opname == "SET_FUNCTION_ATTRIBUTE":
            continue  # MAKE_FUNCTION says it
        kept.append(step)
    return kept


def _made_with(steps: list[Step], at: int) -> int:
    """The flags of a function's making; from 3.13 on the instructions after it say them one by one."""
    flags = steps[at].value or 0
    while at + 1 < len(steps) and steps[at + 1].opname == "SET_FUNCTION_ATTRIBUTE":
        at += 1
        flags |= steps[at].value
    return int(flags)


def _drop_annotations(kept: list[Step], made_with: int) -> bool:
    stop = len(kept) - 1  # before the code
    if made_with & _CLOSURE:
        stop = _start_of_value(kept, stop)
    start = _start_of_value(kept, stop) if stop >= 0 else -1
    if start >= 0:
        del kept[start:stop]
    return start >= 0


_PUSHES = {"LOAD_CONST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE"}
_TAKES = {"LOAD_ATTR": 1, "BINARY_SUBSCR": 2, "BINARY_OP": 2}  # and pushes one


def _start_of_value(steps: list[Step], stop: int) -> int:
    """Where the instructions begin that push the one value before `stop`; -1: cannot tell."""
    at, missing = stop, 1
    while missing:
        at -= 1
        if at < 0:
            return -1
        step = steps[at]
        if step.opname in _PUSHES:
            missing -= 1
        elif step.opname in _TAKES:
            missing += _TAKES[step.opname] - 1
        elif step.opname == "BUILD_TUPLE":
            missing += step.value - 1
        else:
            return -1
    return at
