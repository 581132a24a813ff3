"""Reading what a docstring says of a function, its parameters and its result, in three styles."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Docs", "read_docstring"]


class Docs(NamedTuple):
    """description: the text before the first section; parameters: name -> text; returns: text or None."""

    description: str
    parameters: dict[str, str]
    returns: str | None


_GOOGLE_SECTION = re.compile(r"\s*(Args|Arguments|Parameters|Returns?|Raises|Yields?|Examples?|Notes?):\s*$")
_GOOGLE_ENTRY = re.compile(r"(\s*)(\w+)[ \t]*(?:\([^()\n]*\))?:\s*(.*)")
_NUMPY_RULE = re.compile(r"\s*-{3,}\s*$")
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_SPHINX_FIELD = re.compile(
    r"\s*:(param|parameter|arg|argument|key|returns?|type|rtype|raises?)\b\s*([^:]*):\s*(.*)"
)


def read_docstring(doc: str) -> Docs:
    """The parts of a docstring in Google, NumPy or Sphinx style, recognised by their sections.

    doc: as inspect.getdoc gives it, without the common indentation

    >>> read_docstring("Add.\\n\\nArgs:\\n    a: First\\n        number\\n\\nReturns:\\n    The sum")
    Docs(description='Add.', parameters={'a': 'First number'}, returns='The sum')
    """
    lines = doc.strip().split("\n")
    if any(_SPHINX_FIELD.match(line) for line in lines):
        return _sphinx(lines)
    if any(_NUMPY_RULE.match(rule) and title.strip() for title, rule in pairwise(lines)):
        return _numpy(lines)
    return _google(lines)


def _google(lines: list[str]) -> Docs:
    sections: dict[str, list[str]] = {}
    body = description = []  # type: list[str]
    for line in lines:
        if section := _GOOGLE_SECTION.match(line):
            body = sections.setdefault(section[1], [])
        else:
            body.append(line)
    arguments = next((sections[n] for n in ("Args", "Arguments", "Parameters") if n in sections), [])
    returns = sections.get("Returns", sections.get("Return"))
    said = None if returns is None else _text(returns)
    return Docs(_text(description), _google_entries(arguments), said)


def _google_entries(lines: list[str]) -> dict[str, str]:
    """An entry begins with `name:` or `name (type):`, not indented deeper than the one before it."""
    entries: dict[str, list[str]] = {}
    depth, text = None, []  # type: int | None, list[str]
    for line in lines:
        entry = _GOOGLE_ENTRY.match(line)
        if entry and (depth is None or len(entry[1]) <= depth):
            depth = len(entry[1])
            text = entries[entry[2]] = [entry[3]]
        else:
            text.append(line)
    return {name: _joined(text) for name, text in entries.items()}


def _numpy(lines: list[str]) -> Docs:
    sections: dict[str, list[str]] = {"": []}
    body = sections[""]
    for number, line in enumerate(lines):
        if number and _NUMPY_RULE.match(line):
            title = body.pop().strip().lower()
            body = sections.setdefault(title, [])
        else:
            body.append(line)
    entries: dict[str, list[str]] = {}
    for line in sections.get("parameters", []) + sections.get("other parameters", []):
        if line[:1].strip() and (entry := _NUMPY_ENTRY.match(line)):
            text: list[str] = []
            entries.update((name.strip().lstrip("*"), text) for name in entry[1].split(","))
        elif entries:
            text.append(line)
    returned = [line for line in sections.get("returns", []) if line.strip()]
    # the first line is the type, when something is indented under it
    if len(returned) > 1 and returned[1][:1].isspace():
        returned = returned[1:]
    parameters = {name: _joined(text) for name, text in entries.items()}
    return Docs(_text(sections[""]), parameters, _joined(returned) or None)


def _sphinx(lines: list[str]) -> Docs:
    description: list[str] = []
    parameters: dict[str, list[str]] = {}
    returns: list[str] | None = None
    body = description
    for line in lines:
        field = _SPHINX_FIELD.match(line)
        if not field:
            body.append(line)
            continue
        kind, name, text = field.groups()
        body = [text]
        if kind in ("param", "parameter", "arg", "argument", "key") and name.strip():
            parameters[name.split()[-1].lstrip("*")] = body
        elif kind in ("return", "returns"):
            returns = body
    found = {name: _joined(text) for name, text in parameters.items()}
    return Docs(_text(description), found, None if returns is None else _joined(returns))


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip()


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
