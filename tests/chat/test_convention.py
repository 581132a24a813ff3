"""What of a template's own text is trained is said by four switches."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from arrowprep.chat import ChatTemplate, Convention
from arrowprep.errors import MaskUnavailable

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
    "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n"
    "{% else %}<think>\n\n</think>\n\n{% endif %}{{ m.content }}{% endgeneration %}"
    "{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SUPPLIED = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n\n</think>\n\n{% endif %}")
BRACKETS = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }} </s>{% else %}[INST] "
    "{{ m.content }} [/INST] {% endif %}{% endfor %}"
)
TRIMMING = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}<|eot|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]
EMPTY = "<think>\n\n</think>\n\n"


def bare(source: str) -> ChatTemplate:
    source = source.replace("{% generation %}", "").replace("{% endgeneration %}", "")
    return ChatTemplate(source, special_tokens={"eos_token": "</s>"})


def trained(template: ChatTemplate, chat: list[dict[str, Any]] = CHAT, **switches: bool) -> str:
    convention = Convention(**switches)
    rendered = template.render_with_spans(chat, spans="auto", convention=convention)
    return "|".join(rendered.text[start:stop] for start, stop in rendered.spans)


def test_by_default_the_answer_and_its_stop_token_are_trained() -> None:
    assert trained(bare(CHATML)) == trained(bare(SUPPLIED)) == "Yo<|im_end|>"
    assert trained(bare(BRACKETS)) == "Yo </s>"
    assert trained(bare(TRIMMING)) == "Yo<|eot|>"
    rendered = bare(CHATML).render_with_spans(CHAT, spans="infer")
    assert rendered == bare(CHATML).render_with_spans(CHAT, spans="infer", convention=Convention())


@pytest.mark.parametrize(
    ("switch", "chatml", "brackets", "trimming"),
    [
        ({"header": True}, "<|im_start|>assistant\n|Yo<|im_end|>", "Yo </s>", "<|assistant|>Yo<|eot|>"),
        ({"empty_reasoning": True}, f"{EMPTY}Yo<|im_end|>", "Yo </s>", "Yo<|eot|>"),
        ({"end_of_turn": False}, "Yo", "Yo ", "Yo"),
        ({"trailing_newline": True}, "Yo<|im_end|>\n", "Yo </s>", "Yo<|eot|>"),
    ],
)
def test_each_switch_adds_or_leaves_out_its_part(
    switch: dict[str, bool], chatml: str, brackets: str, trimming: str
) -> None:
    assert trained(bare(CHATML), **switch) == chatml
    assert trained(bare(SUPPLIED), **switch) == chatml  # whether or not the prompt supplies the block
    assert trained(bare(BRACKETS), **switch) == brackets
    assert trained(bare(TRIMMING), **switch) == trimming


def test_all_switches_together_cover_the_turn_without_a_gap() -> None:
    switches = dict.fromkeys((field.name for field in fields(Convention)), True)
    assert trained(bare(CHATML), **switches) == f"<|im_start|>assistant\n{EMPTY}Yo<|im_end|>\n"


def test_a_reasoning_of_the_messages_own_is_no_empty_one() -> None:
    thought = [CHAT[0], {"role": "assistant", "content": "Yo", "reasoning_content": "Hm."}]
    assert trained(bare(CHATML), thought) == "<think>\nHm.\n</think>\n\nYo<|im_end|>"
    written = [CHAT[0], {"role": "assistant", "content": f"{EMPTY}Yo"}]
    assert trained(bare(TRIMMING), written) == f"{EMPTY}Yo<|eot|>"


def test_several_stop_tokens_are_one_end() -> None:
    source = TRIMMING + "{% if not add_generation_prompt %}{{ eos_token }}{% endif %}"
    assert trained(bare(source)) == "Yo<|eot|></s>"
    assert trained(bare(source), end_of_turn=False) == "Yo"
    called = [CHAT[0], {"role": "assistant", "content": "So<|eot|>"}]
    assert trained(bare(TRIMMING), called, end_of_turn=False) == "So<|eot|>"


def test_tags_are_literal_until_a_convention_is_named() -> None:
    tagged = ChatTemplate(CHATML)
    rendered = tagged.render_with_spans(CHAT)
    assert [rendered.text[start:stop] for start, stop in rendered.spans] == [f"{EMPTY}Yo"]
    assert trained(tagged) == "Yo<|im_end|>"
    assert trained(tagged, empty_reasoning=True, end_of_turn=False) == f"{EMPTY}Yo"
    assert trained(tagged, header=True, trailing_newline=True) == "<|im_start|>assistant\n|Yo<|im_end|>\n"


def test_turns_that_the_tags_leave_out_stay_out() -> None:
    source = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if loop.last %}{% generation %}{{ m.content }}"
        "{% endgeneration %}{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    header = "<|im_start|>assistant\n"
    assert trained(ChatTemplate(source), [*CHAT, *CHAT], header=True) == f"{header}Yo<|im_end|>"


def test_a_tagged_turn_that_cannot_be_found_is_refused_when_a_convention_is_named() -> None:
    template = ChatTemplate(
        "{% for m in messages %}{% generation %}{{ m.content|upper }}{% endgeneration %}{% endfor %}"
    )
    assert template.render_with_spans(CHAT).spans
    with pytest.raises(MaskUnavailable):
        template.render_with_spans(CHAT, convention=Convention())


def test_it_prints_a_sentence_for_each_switch() -> None:
    for number, field in enumerate(fields(Convention)):
        on, off = (str(replace(Convention(), **{field.name: value})).splitlines() for value in (True, False))
        assert len(on) == len(off) == len(fields(Convention))
        assert off[number] == on[number].replace("is trained", "is not trained")
        assert on[number].endswith("is trained.")
