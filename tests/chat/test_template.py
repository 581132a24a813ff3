"""A chat template renders, and says in its errors what failed and where."""

from __future__ import annotations

import pickle
from datetime import datetime
from typing import ClassVar

import pytest

from arrowprep.chat import ChatTemplate, Rendered, choose_template
from arrowprep.errors import ChatError, MaskUnavailable, TemplateError, TemplateForbidden

CHATML = (
    "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]


def test_messages_special_tokens_and_the_prompt_are_rendered() -> None:
    template = ChatTemplate(CHATML, special_tokens={"bos_token": "<s>", "eos_token": None})
    assert template.render(CHAT).text == "<s><|user|>Hi</s>\n<|assistant|>Yo</s>\n"
    assert template.render(CHAT[:1], add_generation_prompt=True).text == "<s><|user|>Hi</s>\n<|assistant|>"


def test_an_absent_special_token_prints_as_nothing() -> None:
    assert ChatTemplate("{{ bos_token }}|{{ bos_token is defined }}").render(CHAT).text == "|False"


def test_a_variable_wins_over_a_special_token() -> None:
    template = ChatTemplate("{{ bos_token }}", special_tokens={"bos_token": "<s>"})
    assert template.render(CHAT, bos_token="<B>").text == "<B>"


def test_tools_and_documents_that_were_not_given_are_none() -> None:
    template = ChatTemplate("{{ tools is none }} {{ documents is none }} {{ tools|tojson }}")
    assert template.render(CHAT).text == "True True null"
    assert template.render(CHAT, tools=[], documents=[]).text == "False False []"


def test_json_is_neither_escaped_nor_sorted() -> None:
    assert (
        ChatTemplate("{{ messages[0].content|tojson }}")
        .render([{"role": "user", "content": {"z": "<é> & 'x'", "a": 1}}])
        .text
        == """{"z": "<é> & 'x'", "a": 1}"""
    )


def test_the_clock_is_the_callers() -> None:
    template = ChatTemplate("{{ strftime_now('%d %b %Y') }}", clock=lambda: datetime(2025, 3, 14))
    assert template.reads_clock
    assert template.render(CHAT).text == "14 Mar 2025"
    assert not ChatTemplate(CHATML).reads_clock


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("\n{{ raise_exception('no') }}", "raise_exception", 2),
        ("a\n\n{{ nope.x }}", "undefined", 3),
        ("{{ 'a' + 1 }}", "python_in_template", 1),
        ("{% macro f() %}\n{{ 1 / 0 }}{% endmacro %}\n\n{{ f() }}", "python_in_template", 2),
        ("\n{{ messages.append(1) }}", "security", 2),
        ("{{ messages.__class__.mro() }}", "security", 1),
        ("{% if true %}{{ 1|nofilter }}{% endif %}", "template", 1),
        ("\n\n{% endfor %}", "syntax", 3),
        ("\n{{ 1|nofilter }}", "syntax", 2),
        ("{% include 'other' %}", "python_in_template", 1),
    ],
)
def test_an_error_says_what_kind_it_is_and_in_which_line(source: str, kind: str, line: int) -> None:
    with pytest.raises(TemplateError, match=f"line {line} of the template") as caught:
        ChatTemplate(source).render(CHAT)
    assert (caught.value.kind, caught.value.line) == (kind, line)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TemplateForbidden) == (kind == "security")


def test_the_templates_own_words_are_in_its_refusal() -> None:
    with pytest.raises(TemplateError, match="refused the conversation: roles must alternate"):
        ChatTemplate("{{ raise_exception('roles must alternate') }}").render(CHAT)


def test_an_error_survives_pickling() -> None:
    with pytest.raises(TemplateError) as caught:
        ChatTemplate("{{ nope.x }}").render(CHAT)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.kind, copy.line) == (str(caught.value), "undefined", 1)


def test_documents_are_dicts() -> None:
    with pytest.raises(ChatError, match="documents are dicts"):
        ChatTemplate(CHATML).render(CHAT, documents=["text"])


def test_a_template_pickles_as_its_text() -> None:
    template = ChatTemplate(CHATML, special_tokens={"bos_token": "<s>"})
    copy = pickle.loads(pickle.dumps(template))
    assert copy.render(CHAT) == template.render(CHAT)
    assert copy.fingerprint == template.fingerprint


def test_templates_of_one_text_are_compiled_once() -> None:
    assert ChatTemplate(CHATML)._compiled is ChatTemplate(CHATML, special_tokens={"bos_token": "x"})._compiled


def test_the_fingerprint_covers_what_decides_the_text() -> None:
    def on(day: int, source: str = "{{ strftime_now('%d') }}", **tokens: str) -> str:
        return ChatTemplate(source, special_tokens=tokens, clock=lambda: datetime(2025, 3, day)).fingerprint

    assert on(14) == on(14)
    assert on(14) != on(15)
    assert on(14, "{{ bos_token }}", bos_token="<s>") == on(15, "{{ bos_token }}", bos_token="<s>")
    assert on(14, "{{ bos_token }}", bos_token="<s>") != on(14, "{{ bos_token }}", bos_token="<b>")
    assert on(14, "{{ bos_token }}") != on(14, "{{ bos_token }} ")


def test_a_rendering_pickles_and_shows_itself() -> None:
    rendered = ChatTemplate("{% generation %}a{% endgeneration %}").render(CHAT)
    assert pickle.loads(pickle.dumps(rendered)) == rendered == Rendered("a", ((0, 1),))
    assert repr(rendered) == "Rendered(text='a', spans=((0, 1),))"


class TestChoosing:
    named: ClassVar = {"default": "D", "tool_use": "T", "rag": "R"}

    def test_the_only_template_is_used(self) -> None:
        assert choose_template("X", None, True) == "X"

    def test_tools_choose_the_template_for_tools(self) -> None:
        assert choose_template(self.named, None, True) == "T"
        assert choose_template(self.named, None, False) == "D"
        assert choose_template({"default": "D"}, None, True) == "D"

    def test_a_name_is_looked_up_and_a_text_used(self) -> None:
        assert choose_template(self.named, "rag", True) == "R"
        assert choose_template(self.named, "{{ x }}", True) == "{{ x }}"
        assert choose_template(None, "{# x #}", False) == "{# x #}"

    def test_an_unknown_name_is_an_error_with_the_names(self) -> None:
        with pytest.raises(ChatError, match="'rgg'; the names are default, rag, tool_use"):
            choose_template(self.named, "rgg", False)

    def test_without_a_template_the_error_says_how_to_set_one(self) -> None:
        with pytest.raises(ValueError, match=r"set tokenizer\.chat_template"):
            choose_template(None, None, False)
        with pytest.raises(ValueError, match="choose one by chat_template=: rag"):
            choose_template({"rag": "R"}, None, False)


def test_a_missing_generation_tag_is_told_with_the_ways_out() -> None:
    with pytest.raises(MaskUnavailable, match=r"put \{% generation %\}"):
        ChatTemplate(CHATML).require_generation()
    with pytest.raises(MaskUnavailable, match=r"says <% generation %>"):
        ChatTemplate("<% generation %>x<% endgeneration %>").require_generation()
    ChatTemplate("{%+ generation +%}x{% endgeneration %}").require_generation()
