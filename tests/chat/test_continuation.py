"""continue_final_message ends the text where the model is to go on."""

from __future__ import annotations

from typing import Any

import pytest

from arrowprep.chat import ChatTemplate
from arrowprep.errors import ChatError, TemplateError

KEEPS = ChatTemplate("{% for m in messages %}<{{ m.role }}>\n\n{{ m.content }}</s>{% endfor %}")
TRIMS = ChatTemplate("{% for m in messages %}<{{ m.role }}>\n\n{{ m.content|trim }}</s>{% endfor %}")
PARTS = ChatTemplate(
    "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{{ p.text }}{% endfor %}|{% endfor %}"
)


def ended(template: ChatTemplate, content: Any, **options: Any) -> str:
    chat = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": content}]
    return template.render(chat, continue_final_message=True, **options).text.partition("<assistant>")[2]


def test_the_text_ends_after_the_prefix() -> None:
    assert ended(KEEPS, "so far ") == "\n\nso far "
    assert ended(TRIMS, "so far") == "\n\nso far"


def test_a_template_that_trims_drops_the_prefixes_last_blanks() -> None:
    assert ended(TRIMS, "so far \n") == "\n\nso far"


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_before_an_empty_prefix_the_header_keeps_its_blanks(blank: str) -> None:
    assert ended(TRIMS, blank) == "\n\n"
    assert ended(KEEPS, blank) == "\n\n" + blank


def test_transformers_text_without_the_headers_blanks_has_to_be_asked_for() -> None:
    assert ended(TRIMS, "", continuation="transformers") == ""
    assert ended(KEEPS, "", continuation="transformers") == "\n\n"
    for template, prefix in ((TRIMS, "so far "), (KEEPS, "so far ")):
        assert ended(template, prefix, continuation="transformers") == ended(template, prefix)
    with pytest.raises(ChatError, match="not 'exactly'"):
        ended(TRIMS, "", continuation="exactly")


def test_the_last_of_several_equal_texts_is_meant() -> None:
    assert ended(KEEPS, "Q") == "\n\nQ"


def test_of_parts_the_last_text_is_continued() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "image"}]
    chat = [{"role": "assistant", "content": parts}]
    assert PARTS.render(chat, continue_final_message=True).text == "<assistant>ab"
    assert PARTS.render(chat).text == "<assistant>ab|"


def test_a_field_may_be_named_and_reasoning_has_several_names() -> None:
    template = ChatTemplate("{{ messages[-1].reasoning_content }}</think>{{ messages[-1].content }}")
    chat = [{"role": "assistant", "content": "", "thinking": "First"}]
    assert template.render(chat, continue_final_message="thinking").text == "First"


@pytest.mark.parametrize(
    ("content", "options", "kind"),
    [
        ("x", {"add_generation_prompt": True}, "api_option_clash"),
        (None, {}, "continue_no_content"),
        (7, {}, "continue_no_content"),
        ([{"type": "image"}], {}, "continue_no_content"),
    ],
)
def test_what_cannot_be_continued_says_why(content: Any, options: dict[str, Any], kind: str) -> None:
    with pytest.raises(TemplateError) as caught:
        ended(KEEPS, content, **options)
    assert (caught.value.kind, caught.value.line) == (kind, None)


def test_a_field_the_template_does_not_read_or_show_says_so() -> None:
    with pytest.raises(TemplateError) as caught:
        KEEPS.render([{"role": "user", "summary": "x"}], continue_final_message="summary")
    assert caught.value.kind == "continue_field_unknown"
    with pytest.raises(TemplateError) as caught:
        ChatTemplate("{{ messages[0].content }}").render(
            [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], continue_final_message=True
        )
    assert caught.value.kind == "continue_not_found"
