"""What went wrong inside a template, told as an error of ours with its kind and line."""

from __future__ import annotations

from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError, TemplateSyntaxError, UndefinedError
from jinja2.parser import Parser

from arrowprep.errors import ChatError, TemplateError, TemplateForbidden

__all__ = ["Refusal", "TemplateError", "told"]


class Refusal(jinja2.TemplateError):
    """What `raise_exception` in a template raises."""


_KINDS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (Refusal, "raise_exception"),
    (UndefinedError, "undefined"),
    (SecurityError, "security"),
    ((TemplateSyntaxError, SyntaxError), "syntax"),
    (jinja2.TemplateError, "template"),
    ((RecursionError, MemoryError), "limit"),
    (Exception, "python_in_template"),
)
_SAID = {
    "raise_exception": "the template refused the conversation: {}",
    "security": "the template did what the sandbox forbids: {}",
    "syntax": "the chat template cannot be read: {}",
    "limit": "the template goes deeper than it may: {}",
}


class told:
    """Turns every error of a template into TemplateError.

    template: for its line numbers; None while it is being compiled
    """

    __slots__ = ("_template",)

    def __init__(self, template: jinja2.Template | None) -> None:
        self._template = template

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            raise _failure(error, self._template) from error


def _failure(error: Exception, template: jinja2.Template | None) -> ChatError:
    line = _line(error, template)
    where = f"line {line} of the template: " if line else ""
    if isinstance(error, ChatError):
        if line and "line" not in error.facts:
            return type(error)(where + error.message, **error.facts, line=line)
        return error
    kind = next(kind for types, kind in _KINDS if isinstance(error, types))
    if template is None and kind == "python_in_template":
        kind = "syntax"
    forbidden = kind in ("security", "limit")
    said = _SAID.get(kind, "{}").format(_words(error, kind))
    return (TemplateForbidden if forbidden else TemplateError)(where + said, kind=kind, line=line)


def _words(error: Exception, kind: str) -> str:
    words = str(getattr(error, "message", None) or error)[:2000]
    return f"{type(error).__name__}: {words}" if kind in ("python_in_template", "limit") else words


def _line(error: Exception, template: jinja2.Template | None) -> int | None:
    """The innermost line of the template that was running, being compiled, or where its text is wrong."""
    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    line: int | None = None
    step: Any = error.__traceback__
    while step is not None:
        if template is None:
            line = _line_read(step.tb_frame.f_locals) or line
        elif step.tb_frame.f_code.co_filename == "<template>":
            line = template.get_corresponding_lineno(step.tb_lineno)
        step = step.tb_next
    if line is None and template is not None and template.debug_info:
        return template.debug_info[-1][0]  # it ran to its end, and what it wrote was too much
    return line


def _line_read(names: dict[str, Any]) -> int | None:
    """The line that jinja's lexer, parser or compiler is at, by the variables of one of its functions."""
    node, reader, line = names.get("node"), names.get("self"), names.get("lineno")
    if isinstance(node, nodes.Node):
        line = node.lineno
    elif isinstance(reader, Parser):
        line = reader.stream.current.lineno
    return line if isinstance(line, int) else None
