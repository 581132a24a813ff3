"""The `{% generation %}` tag: which part of the rendered text the assistant wrote.

The compiled template writes an edge before and after each block's text. Where
the text goes straight to the output, the edges are empty strings told by
identity, and their places are the spans. Where a macro, a set, filter or call
block or a recursive loop holds the text back first, the template is rendered a
second time with visible edges, which travel with the text; taken out again
they must leave the first rendering, or the spans are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from jinja2 import nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.ext import Extension
from jinja2.parser import Parser

from arrowprep.errors import MaskUnavailable

__all__ = [
    "GenerationTag",
    "held_back",
    "is_generation",
    "missing_tag",
    "spans_of_marked",
    "spans_of_pieces",
    "unused_edges",
]

Spans = tuple[tuple[int, int], ...]


class _Edge(str):
    """An empty string that is itself, whatever it equals."""

    __slots__ = ()


START, STOP = _Edge(), _Edge()


class GenerationTag(Extension):
    """Parses `{% generation %}…{% endgeneration %}` as a call block, so that it has a scope of its own."""

    tags = {"generation"}  # noqa: RUF012  (jinja declares it so)

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        _refuse_jumps(body)
        return nodes.CallBlock(self.call_method("generation"), [], [], body).set_lineno(line)


def _refuse_jumps(body: Iterable[nodes.Node]) -> None:
    """A break or continue that leaves the block would leave the span open."""
    for node in body:
        if isinstance(node, (nodes.Break, nodes.Continue)):
            raise TemplateSyntaxError("a generation block cannot be left by break or continue", node.lineno)
        if not isinstance(node, nodes.For):
            _refuse_jumps(node.iter_child_nodes())


def is_generation(node: nodes.Node) -> bool:
    """Whether node is what GenerationTag made."""
    target = node.call.node if isinstance(node, nodes.CallBlock) else None
    return isinstance(target, nodes.ExtensionAttribute) and target.name == "generation"


_HOLDS_BACK = (nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.AssignBlock, nodes.Block)


def held_back(tree: nodes.Node) -> int | None:
    """The line of the first generation block whose text does not go straight to the output, or None."""
    for child in tree.iter_child_nodes():
        if is_generation(child):
            line = held_back(child)
        elif isinstance(child, _HOLDS_BACK) or (isinstance(child, nodes.For) and child.recursive):
            line = next(
                (node.lineno for node in child.find_all(nodes.CallBlock) if is_generation(node)), None
            )
        else:
            line = held_back(child)
        if line is not None:
            return line
    return None


def spans_of_pieces(pieces: Iterable[str]) -> Spans:
    """(start, stop) in characters of the joined pieces, in the order in which the blocks end."""
    spans, opened, position = [], [], 0
    for piece in pieces:
        if piece is START:
            opened.append(position)
        elif piece is STOP:
            spans.append((opened.pop(), position))
        else:
            position += len(piece)
    return tuple(spans)


def unused_edges(text: str) -> tuple[str, str]:
    """Two private-use characters that text does not hold."""
    free = (char for char in map(chr, range(0xF0000, 0xF0000 + len(text) + 2)) if char not in text)
    return next(free), next(free)


def spans_of_marked(marked: str, edges: tuple[str, str], text: str, line: int) -> Spans:
    """As spans_of_pieces, read off a rendering with visible edges.

    Raises MaskUnavailable where the edges did not travel with the text.
    """
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    position = 0
    for part in re.split(f"([{''.join(edges)}])", marked):
        if part == edges[0]:
            opened.append(position)
        elif part == edges[1] and opened:
            spans.append((opened.pop(), position))
        else:
            position += len(part)
    clean = marked.replace(edges[0], "").replace(edges[1], "")
    if clean != text or position != len(text) or opened:
        raise MaskUnavailable(
            f"line {line} of the template: what a macro, set, filter or call block does with the text of "
            "this generation block changes it and hides its place; put the tag where its text is written",
            line=line,
        )
    return tuple(spans)


def missing_tag(source: str) -> MaskUnavailable:
    """The error for a mask that a template without the tag cannot give."""
    if re.search(r"<%[-+]?\s*generation", source):
        return MaskUnavailable(
            "the template says <% generation %>, which is plain text to it; the tag is spelled "
            "{% generation %}…{% endgeneration %}"
        )
    return MaskUnavailable(
        "this template does not say which part the assistant writes: put "
        '{% generation %}…{% endgeneration %} around it, or let the spans be inferred (spans="infer")'
    )
