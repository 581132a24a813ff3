"""The compiler writes operators, filters and methods in its own way; jinja's sandbox says what they mean."""

from __future__ import annotations

import json
from typing import Any

import jinja2
import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from arrowprep.chat import ChatTemplate
from arrowprep.errors import TemplateError

from .expressions import CASES, MESSAGES, TEMPLATES, in_template


def _raise_exception(message: str) -> None:
    raise jinja2.TemplateError(message)


def _tojson(value: Any, ensure_ascii: bool = False, **layout: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, **layout)


JINJA = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
)
JINJA.globals["raise_exception"] = _raise_exception
JINJA.filters["tojson"] = _tojson


def jinja(source: str) -> str | None:
    given: dict[str, Any] = {
        "messages": MESSAGES,
        "tools": None,
        "documents": None,
        "add_generation_prompt": False,
    }
    try:
        return JINJA.from_string(source).render(given)
    except Exception:
        return None


def ours(source: str) -> str | None:
    try:
        return ChatTemplate(source).render(MESSAGES).text
    except TemplateError:
        return None


# what transformers adds to jinja's sandbox, or takes away
ADDED = ("dict.fromkeys", "namespace(_a", "ns._x", "generation")


@pytest.mark.parametrize(
    "source", [s for s in (*map(in_template, CASES), *TEMPLATES) if not any(name in s for name in ADDED)]
)
def test_a_template_means_what_it_means_to_jinja(source: str) -> None:
    assert ours(source) == jinja(source)
