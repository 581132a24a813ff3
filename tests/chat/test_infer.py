"""Spans of templates without tags are what tags would say, or refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.chat import ChatTemplate, Rendered
from arrowprep.chat.infer import inferred_turns
from arrowprep.chat.sandbox import Compiled
from arrowprep.errors import ChatError, MaskUnavailable, TemplateError
from tests.chat.random_chats import Case, cases, check

# templates whose tags go from the end of the header to the end of the stop token, as inference does
TAGGED = {
    "chatml": "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}"
    "{% generation %}"
    "{{ m.content }}<|im_end|>{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    "trimming": "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content | trim }}<|eot|>{% endgeneration %}{% else %}{{ m.content | trim }}<|eot|>{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
    "no prompt": "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content }}{{ eos_token }}{% endgeneration %}{% else %}[INST] {{ m.content }}"
    " [/INST]{% endif %}{% endfor %}",
    "thoughts only in the last turn": "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' %}{% generation %}{% if loop.last and m.reasoning_content %}"
    "<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}<|im_end|>{% endgeneration %}"
    "{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    "another end in the last turn": "{% for m in messages %}<|start|>{{ m.role }}<|message|>"
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
    "{{ '<|return|>' if loop.last else '<|end|>' }}"
    "{% endgeneration %}{% else %}{{ m.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant<|message|>{% endif %}",
}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def without_tags(source: str) -> ChatTemplate:
    bare = source.replace("{% generation %}", "{% if true %}").replace("{% endgeneration %}", "{% endif %}")
    return ChatTemplate(bare, special_tokens=TOKENS)


def turns(*contents: str) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": c} for role, c in zip(["user", "assistant"] * 9, contents, strict=False)
    ]


def cut(template: ChatTemplate, chat: list[dict[str, Any]], **options: Any) -> list[str]:
    rendered = template.render_with_spans(chat, spans="infer", **options)
    return [rendered.text[start:stop] for start, stop in rendered.spans]


@pytest.mark.parametrize("name", TAGGED)
def test_spans_are_those_of_the_tags(name: str) -> None:
    chat = turns("Hi", "Hello, you.", "And?", " padded \n", "Go", "")
    chat[1]["reasoning_content"] = "Hm."
    wanted = ChatTemplate(TAGGED[name], special_tokens=TOKENS).render_with_spans(chat)
    assert without_tags(TAGGED[name]).render_with_spans(chat, spans="infer") == wanted
    assert len(wanted.spans) == 3


texts = st.lists(
    st.sampled_from(
        ["a", "b c", "\n", " ", "<|im_end|>", "<|im_start|>assistant\n", "<|eot|>", "<|assistant|>"]
    )
    | st.sampled_from(["<|end|>", "</s>", "[INST]", "[/INST]", "<think>", "</think>", "\U000f0000", "é"]),
    max_size=4,
).map("".join)
chats = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "assistant", "tool"]), "content": texts},
        optional={"reasoning_content": texts},
    ),
    min_size=1,
    max_size=5,
)


def test_generated_chats_have_the_spans_of_the_tags_or_none() -> None:
    tagged = {
        name: ChatTemplate(text, special_tokens=TOKENS) for name, text in {**TAGGED, "calls": CALLS}.items()
    }
    bare = {name: without_tags(source) for name, source in {**TAGGED, "calls": CALLS}.items()}
    outcomes = [check(case, tagged[case.name], bare[case.name]) for case in cases(tagged, seed=3, count=600)]
    counts = Counter(outcome.kind for outcome in outcomes)
    assert [outcome for outcome in outcomes if outcome.kind == "wrong"] == []
    assert counts["exact"] + counts["white space"] + counts["convention"] > 400
    assert sum(outcome.owned for outcome in outcomes) > 400  # so the check could see a wrong one


def test_the_check_of_generated_chats_sees_a_wrong_span(monkeypatch: pytest.MonkeyPatch) -> None:
    tagged, bare = ChatTemplate(TAGGED["chatml"]), without_tags(TAGGED["chatml"])
    case = Case("chatml", turns("<|im_end|>", "Yo", "Go"), {})
    assert check(case, tagged, bare).kind == "exact"
    right = ChatTemplate.render_with_spans

    def with_the_user(self: ChatTemplate, chat: Any, **options: Any) -> Rendered:
        rendered = right(self, chat, **options)
        at = rendered.text.index("<|im_end|>")  # of the user's text, and looks like the template's
        return Rendered(rendered.text, [(at, at + 10), *rendered.spans])

    monkeypatch.setattr(ChatTemplate, "render_with_spans", with_the_user)
    assert check(case, tagged, bare).kind == "wrong"


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(TAGGED)), chats)
def test_whatever_the_texts_hold_spans_are_right_or_refused(name: str, chat: list[dict[str, Any]]) -> None:
    wanted = ChatTemplate(TAGGED[name], special_tokens=TOKENS).render(chat)
    try:
        got = without_tags(TAGGED[name]).render_with_spans(chat, spans="infer")
    except MaskUnavailable:
        return
    assert got.text == wanted.text
    bare = [(start, start + len(wanted.text[start:stop].rstrip())) for start, stop in wanted.spans]
    assert list(got.spans) == bare


plain_chats = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"]), "content": texts}),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(TAGGED)), plain_chats)
def test_what_was_learned_of_a_template_changes_no_turn(name: str, chat: list[dict[str, Any]]) -> None:
    template = without_tags(TAGGED[name])

    def render(chat: list[dict[str, Any]], prompt: bool) -> str:
        return template.render(chat, add_generation_prompt=prompt).text

    try:
        proved = inferred_turns(chat, render, False, TOKENS.values())
        learned = template.render_with_spans(chat, spans="infer").turns
    except MaskUnavailable:
        return
    assert list(learned) == proved


def test_a_chat_with_known_roles_takes_two_renderings(monkeypatch: pytest.MonkeyPatch) -> None:
    template, calls = without_tags(TAGGED["chatml"]), []
    render = Compiled.render
    monkeypatch.setattr(Compiled, "render", lambda self, *args: calls.append(1) or render(self, *args))
    template.render_with_spans(turns("Hi", "Hello", "And?", "So."), spans="infer")
    assert len(calls) > 10
    calls.clear()
    template.render_with_spans(turns("Go", "Then", "On?", "Yes."), spans="infer")
    assert len(calls) == 2


def test_most_chats_are_accepted() -> None:
    for source in TAGGED.values():
        assert len(cut(without_tags(source), turns("Hi", "<b>one</b>", "<|user|>", "two", "ok"))) == 2


def test_a_token_after_the_whole_chat_belongs_to_the_last_turn_if_it_is_known() -> None:
    source = TAGGED["chatml"] + "{% if not add_generation_prompt %}{{ eos_token }}{% endif %}"
    assert cut(without_tags(source), turns("Hi", "Yo"))[0] == "Yo<|im_end|></s>"
    assert cut(without_tags(source), turns("Hi", "Yo", "Hm"))[0] == "Yo<|im_end|>"
    assert cut(without_tags(source), turns("Hi", "Yo"), add_generation_prompt=True)[0] == "Yo<|im_end|>"


CALLS = (
    "{% for m in messages %}"
    "{% set end = '<|eom|>' if not loop.last and loop.nextitem.role == m.role else '<|eot|>' %}"
    "<|start|>{{ m.role }}{% if m.role == 'assistant' %}{% generation %}{% for call in m.tool_calls or [] %}"
    " to={{ call.function.name }}<|message|>{{ call.function.arguments.q }}{% else %}"
    "<|message|>{{ m.content }}{% endfor %}{{ end }}{% endgeneration %}"
    "{% else %}<|message|>{{ m.content }}{{ end }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)


def test_arguments_after_the_name_of_a_tool_belong_to_the_turn() -> None:
    call = {"function": {"name": "look", "arguments": {"q": "the weather"}}}
    chat = [*turns("Hi"), {"role": "assistant", "tool_calls": [call]}, {"role": "assistant", "content": "Yo"}]
    wanted = [" to=look<|message|>the weather<|eom|>", "<|message|>Yo<|eot|>"]
    assert cut(without_tags(CALLS), chat) == wanted


def test_a_turn_that_a_tools_answer_stands_in_is_refused_also_where_that_is_empty() -> None:
    source = (
        "{% for m in messages if m.role != 'tool' %}<|turn>{{ m.role }}\n{% if m.tool_calls %}"
        "{% set name = m.tool_calls[0].function.name %}{% generation %}call:{{ name }}<call|>"
        "{% endgeneration %}<|answer>{{ name }}={{ (messages[loop.index] or {}).content }}<answer|>"
        "{% endif %}"
        "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<turn|>{% endgeneration %}"
        "{% else %}{{ m.content }}<turn|>{% endif %}\n{% endfor %}"
        "{% if add_generation_prompt %}<|turn>assistant\n{% endif %}"
    )
    call = {"role": "assistant", "content": "So.", "tool_calls": [{"function": {"name": "look"}}]}
    for answer in ("wet", ""):
        with pytest.raises(MaskUnavailable, match="message 1"):
            cut(without_tags(source), [*turns("Hi"), call, {"role": "tool", "content": answer}])


def test_a_header_in_what_is_left_of_a_text_is_not_taken_for_the_real_one() -> None:
    source = TAGGED["chatml"].replace("{{ m.content }}", "{{ m.content.split('</think>')[-1] }}")
    thought, header = "Hm.</think>", "<|im_start|>assistant\n"
    chat = turns("Hi", f"{thought}One <|im_end|>", "Go", "Two")
    assert cut(without_tags(source), chat) == ["One <|im_end|><|im_end|>", "Two<|im_end|>"]
    prompt = "{% if add_generation_prompt %}" + header
    prompting = source.replace(prompt, prompt + "<think>")
    chat[1]["content"] = f"{thought}One {header}<think>"
    with pytest.raises(MaskUnavailable, match=r"message 1: .*its header is not the generation prompt"):
        cut(without_tags(prompting), chat)


def test_what_begins_a_text_whose_end_is_not_shown_is_not_taken_for_its_stop_token() -> None:
    source = (
        "{% for m in messages %}{% if not loop.previtem or loop.previtem.role != m.role %}"
        "<|turn>{{ m.role }}\n{% endif %}"
        "{% set text = m.content.split('<cut>')[0] %}{% if m.role == 'assistant' %}{% generation %}"
        "{{ text }}{{ '<turn|>' if not loop.nextitem or loop.nextitem.role != m.role else '<|more>' }}"
        "{% endgeneration %}{% else %}{{ text }}<turn|>{% endif %}\n{% endfor %}"
        "{% if add_generation_prompt %}<|turn>assistant\n{% endif %}"
    )
    whole = [{"role": "assistant", "content": "<think> Hm. Yes.<cut>"}, *turns("Go", "Ok")]
    assert cut(without_tags(source), whole) == ["<think> Hm. Yes.<turn|>", "Ok<turn|>"]
    chat = [whole[0], {"role": "assistant", "content": "More"}, *turns("Go", "Ok")]
    with pytest.raises(MaskUnavailable, match="message 0"):
        cut(without_tags(source), chat)


def test_the_generation_prompt_may_stand_after_the_chat() -> None:
    template = without_tags(TAGGED["chatml"])
    assert cut(template, turns("Hi", "Yo", "Hm"), add_generation_prompt=True) == ["Yo<|im_end|>"]


PLAIN = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def test_a_turn_without_a_stop_token_is_refused_unless_it_is_named() -> None:
    template = ChatTemplate(PLAIN.replace("}}\n", "}}###\n"))
    with pytest.raises(MaskUnavailable, match=r"message 1: .*name the string that ends a turn"):
        cut(template, turns("Hi", "Yo"))
    assert cut(template, turns("Hi", "Yo"), stop_strings=["###"]) == ["Yo###"]


OPEN = (
    "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}"
    "{% for call in m.calls %}<call>{{ call.name }}({{ call.a }})</call>{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def test_a_named_string_may_be_the_next_role_and_the_last_turn_left_open() -> None:
    template, chat = ChatTemplate(OPEN), turns("Hi", "Yo <|user|>.", "Go", "Ok")
    with pytest.raises(MaskUnavailable, match="name the string that ends a turn"):
        cut(template, chat)
    assert cut(template, chat, stop_strings=["<|user|>"]) == ["Yo <|user|>.<|user|>", "Ok"]
    asked = cut(template, chat, stop_strings=["<|user|>"], add_generation_prompt=True)
    assert asked == ["Yo <|user|>.<|user|>", "Ok"]
    with pytest.raises(MaskUnavailable, match="name the string that ends a turn"):
        cut(template, chat, stop_strings=["<|end|>"])


def test_a_named_string_may_be_white_space() -> None:
    template = ChatTemplate(PLAIN.replace("}}\n", "}}\n\n"))
    chat = turns("Hi", "One\n\ntwo", "Go", "Ok")
    assert cut(template, chat, stop_strings=["\n\n"]) == ["One\n\ntwo\n\n", "Ok\n\n"]


def test_the_last_turn_may_end_in_another_token_before_the_generation_prompt() -> None:
    source = TAGGED["another end in the last turn"].replace(
        "'<|return|>' if loop.last", "'<|return|>' if loop.last and not add_generation_prompt"
    )
    template, chat = without_tags(source), turns("Hi", "Yo")
    assert cut(template, chat) == ["Yo<|return|>"]
    assert cut(template, chat, add_generation_prompt=True) == ["Yo<|end|>"]
    dropped = source.replace("'<|end|>' }}", "'' }}")  # what follows is the prompt, and ends no turn
    with pytest.raises(MaskUnavailable, match="with the generation prompt"):
        cut(without_tags(dropped), chat, add_generation_prompt=True)


def test_the_prompt_may_end_its_line_where_the_text_goes_on() -> None:
    source = "{% for m in messages %}\n    {{ m.role }}: {{ m.content }}<e>\n{% endfor %}\n"
    source += "{% if add_generation_prompt %}\n    {{ 'assistant:' }}\n{% endif %}"
    assert cut(ChatTemplate(source), turns("Hi", "Yo", "Go", "assistant:")) == [" Yo<e>", " assistant:<e>"]


def test_a_turn_begins_where_the_prompt_ends_after_the_same_text_though_more_stands_before_it() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'user' %}[INST]{{ 'Be brief. ' if loop.last }}{{ m.content }}"
        "[/INST]{% else %}{{ m.content }}</s>{% endif %}{% endfor %}"
    )
    assert cut(without_tags(source), turns("Hi", "Yo", "Go", "[/INST]")) == ["Yo</s>", "[/INST]</s>"]


@pytest.mark.parametrize(
    "source",
    [
        TAGGED["chatml"].replace("{{ m.content }}<|im_end|>{% endg", "{{ m.content|length }}{% endg"),
        "{{ messages|tojson }}",
        "{% for m in messages|reverse %}<{{ m.role }}>{{ m.content }}<|e|>{% endfor %}",
    ],
)
def test_a_template_that_changes_the_texts_is_refused(source: str) -> None:
    with pytest.raises(MaskUnavailable):
        cut(without_tags(source), turns("Hi there", "Yo you", "Hm"))


def test_the_ways_to_ask_for_spans() -> None:
    tagged, bare = ChatTemplate(TAGGED["chatml"]), without_tags(TAGGED["chatml"])
    chat = turns("Hi", "Yo")
    assert tagged.render_with_spans(chat) == tagged.render_with_spans(chat, spans="auto")
    assert bare.render_with_spans(chat, spans="auto") == bare.render_with_spans(chat, spans="infer")
    with pytest.raises(MaskUnavailable, match='spans="infer"'):
        bare.render_with_spans(chat)
    with pytest.raises(ChatError, match="not 'tags'"):
        bare.render_with_spans(chat, spans="tags")  # type: ignore[arg-type]


def test_a_chat_without_an_assistant_has_no_spans_and_a_refusal_stays_one() -> None:
    assert cut(without_tags(TAGGED["chatml"]), turns("Hi")) == []
    with pytest.raises(TemplateError, match="no"):
        cut(ChatTemplate("{{ raise_exception('no') }}"), turns("Hi", "Yo"))
