"""The canonical form of code does not depend on the layout of its source: shown on the standard library."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

import pytest

from arrowprep.dataset.fingerprint.code import canonical


class Bare(ast.NodeTransformer):
    """Without docstrings and annotations."""

    def visit_FunctionDef(self, node: Any) -> Any:
        self.generic_visit(node)
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        if ast.get_docstring(node) is not None and len(node.body) > 1:
            node.body = node.body[1:]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


def codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes(constant)


def written_out(code: CodeType) -> Any:
    form = canonical(code)
    constants = [
        written_out(it)
        if isinstance(it, CodeType)
        else (type(it), sorted(map(repr, it)) if isinstance(it, frozenset) else repr(it))
        for it in form.constants
    ]
    return form.plain, constants, form.reads, form.imports


@pytest.mark.parametrize(
    "module", ["argparse", "inspect", "tarfile", "asyncio.base_events", "json.decoder", "dataclasses"]
)
def test_a_new_layout_gives_the_same_form(module: str) -> None:
    source = inspect.getsource(importlib.import_module(module))
    tree = ast.parse(source)
    as_written = compile(source, "as_written.py", "exec", dont_inherit=True)
    anew = compile(ast.unparse(Bare().visit(tree)), "anew.py", "exec", dont_inherit=True)
    pairs = list(zip(codes(as_written), codes(anew), strict=True))
    assert len(pairs) > 5
    differ = [(a.co_name, a.co_firstlineno) for a, b in pairs if written_out(a) != written_out(b)]
    assert differ == []


def form_of(source: str) -> Any:
    return canonical(compile(source, "x.py", "exec", dont_inherit=True))


def test_reads_are_chains_of_attributes() -> None:
    code = compile(
        "def f(x):\n    return np.linalg.norm(x) + [y for y in HELD] + cfg.a", "x", "exec"
    ).co_consts[0]
    reads = {chain for c in [code, *codes(code)] for chain in canonical(c).reads}
    assert reads == {("np", "linalg", "norm"), ("HELD",), ("cfg", "a")}


def test_imports_are_seen() -> None:
    form = form_of("from ..a import b, c\nimport d.e\n")
    assert {(it.module, it.names, it.level) for it in form.imports} == {("a", ("b", "c"), 2), ("d.e", (), 0)}


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("try:\n    f()\nexcept A:\n    g()", "try:\n    f()\nfinally:\n    g()"),
        ("try:\n    f()\n    h()\nexcept A:\n    g()", "try:\n    f()\nexcept A:\n    g()\nh()"),
        ("while a:\n    b()", "if a:\n    b()"),
        ("a and b or c", "a and (b or c)"),
        ("x = f'{a}'", "x = f'{a!r}'"),
        ("x = a < b", "x = a <= b"),
        ("f(a=1)", "f(b=1)"),
    ],
)
def test_another_flow_is_another_form(one: str, two: str) -> None:
    a, b = form_of(one), form_of(two)
    assert (a.plain, a.constants) != (b.plain, b.constants)
