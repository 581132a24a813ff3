"""Expressions of every kind give what transformers' sandbox gives: the same text, or a refusal of both."""

from __future__ import annotations

import pytest

from arrowprep.chat import ChatTemplate
from arrowprep.errors import TemplateError
from tests.chat.expressions import CASES, MESSAGES, TEMPLATES, in_template

peer = pytest.importorskip(
    "transformers.utils.chat_template_utils", reason="transformers is the reference of chat rendering"
)


def reference(source: str) -> str | None:
    try:
        texts, _ = peer.render_jinja_template([MESSAGES], chat_template=source)
    except Exception:
        return None
    return texts[0]  # type: ignore[no-any-return]


def ours(source: str) -> str | None:
    try:
        return ChatTemplate(source).render(MESSAGES).text
    except TemplateError:
        return None


@pytest.mark.parametrize("source", [*map(in_template, CASES), *TEMPLATES])
def test_a_template_gives_the_references_text(source: str) -> None:
    assert ours(source) == reference(source)
