"""Jinja's compiler, with operators that pay and generation blocks that leave their edges.

Differences of the Python code it writes:
- operators and outputs whose cost depends on their operands call `Operators`;
- each turn of a loop and each call of a macro pays for the nodes in its body;
- nothing is computed at compile time, so a template cannot do work by being read;
- a generation block writes its text in place, between two edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

from arrowprep.chat.generation import is_generation
from arrowprep.chat.meter import MAX_INT_BITS
from arrowprep.errors import TemplateForbidden

__all__ = ["OF_DICT", "READING", "TemplateCompiler"]

# what evaluating a node costs, in units of the meter; 1 for those not named
_PRICES: dict[type[nodes.Node], int] = {
    nodes.Call: 24,
    nodes.Output: 2,
    nodes.Filter: 30,
    nodes.Test: 12,
    nodes.Getattr: 4,
    nodes.Getitem: 4,
    nodes.Add: 3,
    nodes.Concat: 5,
    nodes.Compare: 3,
    nodes.For: 8,
    nodes.Macro: 8,
    nodes.CallBlock: 16,
}
_LONG_BRANCH = 40  # of an if; paying apart costs about two units
_OPERATORS = (
    *("text", "markup", "glued", "glued_markup", "add", "multiply"),
    *("power", "modulo", "compare", "key", "cut", "scanned", "subtract", "within"),
)
OF_DICT = frozenset(dir(dict))  # names that mean a method of a dict, whatever its keys
_LOOP_NUMBERS = frozenset(
    {"first", "last", "index", "index0", "revindex", "revindex0", "length", "depth", "depth0"}
)
READING = frozenset({"get", "items", "keys", "values"})  # methods of dicts that take no time
# methods of text that read it once, and return at most a copy
_SCANNING = frozenset({"strip", "lstrip", "rstrip", "startswith", "endswith", "removeprefix", "removesuffix"})


class TemplateCompiler(CodeGenerator):
    """Writes the Python code of one template."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._prices: dict[int, int] = {}  # by id: lists of nodes that may run often, and what they pay
        self._filtered: dict[
            int, int
        ] = {}  # by id: what a filtered loop runs over, and the price of its test

    def write_commons(self) -> None:
        super().write_commons()
        self.writeline("meter = context.meter")
        self.writeline("spend = meter.spend; concat = meter.joined")
        self.writeline("; ".join(f"{name} = meter.{name}" for name in _OPERATORS))

    # what runs again and again

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        self._prices[id(node.body)] = self._price(node.body)
        if node.test:
            self._filtered[id(node.iter)] = self._price([node.test])
        super().visit_For(node, frame)

    def macro_body(self, node: Any, frame: Frame) -> Any:
        self._prices[id(node.body)] = self._price(node.body)
        return super().macro_body(node, frame)

    def visit_Block(self, node: nodes.Block, frame: Frame) -> None:
        self._prices[id(node.body)] = self._price(node.body)
        super().visit_Block(node, frame)

    def blockvisit(self, body: Iterable[nodes.Node], frame: Frame) -> None:
        price = self._prices.get(id(body))
        if price is not None:
            self.writeline(f"spend({price})")
        super().blockvisit(body, frame)

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        price = self._filtered.pop(id(node), None)
        if price is None:
            return super().visit(node, *args, **kwargs)
        self.write("meter.counted(")
        super().visit(node, *args, **kwargs)
        self.write(f", {price})")
        return None

    def _price(self, body: Iterable[nodes.Node]) -> int:
        """Units of running body once, without what pays for itself: loops, macros and long branches."""
        return 6 + sum(map(self._node_price, body))

    def _node_price(self, node: nodes.Node) -> int:
        price = _PRICES.get(type(node), 1) + _text_length(node) // 64
        if isinstance(node, nodes.If):
            branches = [node.body, *(other.body for other in node.elif_), node.else_]
            price += sum(map(self._branch_price, branches))
            tests = [node.test, *(other.test for other in node.elif_)]
            return price + sum(map(self._node_price, tests))
        if isinstance(node, nodes.For):
            return price + self._node_price(node.iter) + sum(map(self._node_price, node.else_))
        if isinstance(node, (nodes.Macro, nodes.Block)):
            return price
        return price + sum(map(self._node_price, node.iter_child_nodes()))

    def _branch_price(self, branch: list[nodes.Node]) -> int:
        price = self._price(branch) if branch else 0
        if price <= _LONG_BRANCH:
            return price
        self._prices[id(branch)] = price
        return 0

    # output

    def visit_CallBlock(self, node: nodes.CallBlock, frame: Frame) -> None:
        if not is_generation(node):
            super().visit_CallBlock(node, frame)
            return
        self.simple_write("context.generation_start", frame, node)
        self.visit_Scope(nodes.Scope(node.body), frame)
        self.simple_write("context.generation_stop", frame, node)

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if not isinstance(node, (nodes.TemplateData, nodes.Const)):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile:
            self.write("(markup if context.eval_ctx.autoescape else text)(")
        else:
            self.write("markup(" if frame.eval_ctx.autoescape else "text(")

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        if isinstance(node.value, int) and node.value.bit_length() > MAX_INT_BITS:
            raise TemplateForbidden(
                f"line {node.lineno} of the template: a number of more than {MAX_INT_BITS} bits",
                kind="limit",
                line=node.lineno,
            )
        super().visit_Const(node, frame)

    # operators

    def _call(self, name: str, frame: Frame, *operands: nodes.Node | str) -> None:
        self.write(f"{name}(")
        for operand in operands:
            if isinstance(operand, str):
                self.write(repr(operand))
            else:
                self.visit(operand, frame)
            self.write(", ")
        self.write(")")

    def visit_Add(self, node: nodes.BinExpr, frame: Frame) -> None:
        parts = [node.right]
        # what cannot fail may be evaluated before the sum of what stands left of it
        while isinstance(node.left, nodes.Add) and isinstance(parts[0], (nodes.Const, nodes.Name)):
            node = node.left
            parts.insert(0, node.right)
        self._call("add", frame, node.left, *parts)

    def visit_Sub(self, node: nodes.BinExpr, frame: Frame) -> None:
        self._call("subtract", frame, node.left, node.right)

    def visit_Mul(self, node: nodes.BinExpr, frame: Frame) -> None:
        self._call("multiply", frame, node.left, node.right)

    def visit_Pow(self, node: nodes.BinExpr, frame: Frame) -> None:
        self._call("power", frame, node.left, node.right)

    def visit_Mod(self, node: nodes.BinExpr, frame: Frame) -> None:
        self._call("modulo", frame, node.left, node.right)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        escapes = frame.eval_ctx.volatile or frame.eval_ctx.autoescape
        self.write("glued_markup((" if escapes else "glued((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        only = node.ops[0] if len(node.ops) == 1 else None
        if only and only.op in ("in", "notin"):
            self.write("(not " if only.op == "notin" else "(")
            self._call("within", frame, node.expr, only.expr)
            self.write(")")
        elif only and (_small(node.expr) or _small(only.expr)):
            super().visit_Compare(node, frame)
        else:
            operands = [part for op in node.ops for part in (op.op, op.expr)]
            self._call("compare", frame, node.expr, *operands)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self.write("{")
        for pair in node.items:
            if isinstance(pair.key, nodes.Const):
                self.visit(pair.key, frame)
            else:
                self._call("key", frame, pair.key)
            self.write(": ")
            self.visit(pair.value, frame)
            self.write(", ")
        self.write("}")

    # Attributes are half the time of a rendering. Of a dict and of `loop` they are read in place; all else,
    # and what does not exist, is the sandbox's.

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        owner = self.temporary_identifier()
        if node.attr in _LOOP_NUMBERS and isinstance(node.node, nodes.Name) and node.node.name == "loop":
            self.write(f"({owner}.{node.attr} if type({owner} := ")
            self.visit(node.node, frame)
            self.write(f") is LoopContext else environment.getattr({owner}, {node.attr!r}))")
        elif node.attr in OF_DICT:
            super().visit_Getattr(node, frame)
        else:
            self._item(node.node, node.attr, "getattr", frame)

    def _item(self, owner: nodes.Node, key: str, otherwise: str, frame: Frame) -> None:
        held = self.temporary_identifier()
        self.write(f"({held}[{key!r}] if type({held} := ")
        self.visit(owner, frame)
        self.write(f") is dict and {key!r} in {held} else environment.{otherwise}({held}, {key!r}))")

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:
        method = node.node
        constant = not (node.kwargs or node.dyn_args or node.dyn_kwargs) and all(
            isinstance(arg, nodes.Const) and _text_length(arg) <= 32 for arg in node.args
        )
        if not constant or not isinstance(method, nodes.Getattr):
            super().visit_Call(node, frame, forward_caller=forward_caller)
        elif method.attr in _SCANNING:
            self._method(node, method, "str and scanned({})", frame)
        elif method.attr in READING:
            self._method(node, method, "dict", frame)
        else:
            super().visit_Call(node, frame, forward_caller=forward_caller)

    def _method(self, node: nodes.Call, method: nodes.Getattr, condition: str, frame: Frame) -> None:
        """A call of a method with constants, in place where its owner is of the type that has it."""
        owner = self.temporary_identifier()
        self.write(f"({owner}.{method.attr}(")
        for arg in node.args:
            self.visit(arg, frame)
            self.write(", ")
        self.write(f") if type({owner} := ")
        self.visit(method.node, frame)
        self.write(f") is {condition.format(owner)} else environment.call(context, ")
        self.write(f"environment.getattr({owner}, {method.attr!r})")
        self.signature(node, frame)
        self.write("))")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
            if node.arg.value in OF_DICT:
                super().visit_Getitem(node, frame)
            else:
                self._item(node.node, node.arg.value, "getitem", frame)
            return
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        part = node.arg
        self.write("cut(")
        self.visit(node.node, frame)
        self.write(", ")
        edges = [nodes.Const(None) if edge is None else edge for edge in (part.start, part.stop, part.step)]
        self._call("slice", frame, *edges)
        self.write(")")


_SMALL_NODES = (nodes.Const, nodes.Compare, nodes.Not, nodes.Test, nodes.Sub, nodes.Div, nodes.FloorDiv)
_SMALL_FILTERS = frozenset({"length", "count"})  # not int and float, which may return their default


def _small(node: nodes.Node) -> bool:
    """Whether comparing node's value with anything is little work, for it is a constant or a number."""
    if isinstance(node, nodes.Mod):
        return _small(node.left) and not isinstance(node.left, nodes.Const)
    if isinstance(node, nodes.Filter):
        return node.name in _SMALL_FILTERS
    if isinstance(node, nodes.Getattr):
        return isinstance(node.node, nodes.Name) and node.node.name == "loop" and node.attr in _LOOP_NUMBERS
    return isinstance(node, _SMALL_NODES)


def _text_length(node: nodes.Node) -> int:
    if isinstance(node, nodes.TemplateData):
        return len(node.data)
    return len(node.value) if isinstance(node, nodes.Const) and isinstance(node.value, str) else 0
