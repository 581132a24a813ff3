"""Patterns that are seen to be written right without `regex`, which takes a millisecond to compile one."""

from __future__ import annotations

from arrowprep.tokenize.pattern_syntax import Chars, Either, Node, Repeat, Row, Unknown, parse
from arrowprep.tokenize.plain_sets import is_plain


def is_sure(source: str) -> bool:
    """Whether it is of nothing but alternatives of plain sets, each once, or as often as a sign says."""
    try:
        return _is_sure(parse(source))
    except Unknown:
        return False


def _is_sure(node: Node) -> bool:
    if isinstance(node, Repeat):
        return isinstance(node.part, Chars) and not node.keeps and not node.lazy and _is_sure(node.part)
    if isinstance(node, Row | Either):
        return all(map(_is_sure, node.parts if isinstance(node, Row) else node.options))
    return isinstance(node, Chars) and is_plain(node.source)
