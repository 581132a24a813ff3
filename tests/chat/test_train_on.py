"""What is trained of an assistant's messages: all or the last, by their fields, with thoughts and calls."""

from __future__ import annotations

from typing import Any

import pytest

from arrowprep.chat import ChatTemplate, Convention, TrainOn, trained_spans
from arrowprep.errors import BadArgument, ChatError, MaskUnavailable

BODY = (
    "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}"
    "{% for c in m.tool_calls %}\n<tool_call>\n{{ c.function | tojson }}\n</tool_call>{% endfor %}<|im_end|>"
)
TAGGED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
    f"{BODY}{{% endgeneration %}}{{% else %}}{BODY}{{% endif %}}\n{{% endfor %}}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
BARE = TAGGED.replace("{% generation %}", "").replace("{% endgeneration %}", "")
CALL = [{"type": "function", "function": {"name": "now", "arguments": {"zone": "UTC"}}}]
CALLED = '<tool_call>\n{"name": "now", "arguments": {"zone": "UTC"}}\n</tool_call><|im_end|>'


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **fields}


def trained(chat: list[dict[str, Any]], source: str = BARE, **options: Any) -> list[str]:
    rendered = ChatTemplate(source).render_with_spans(chat, spans="auto")
    spans = trained_spans(chat, rendered, TrainOn(**options))
    return [rendered.text[start:stop] for start, stop in spans]


@pytest.mark.parametrize("source", [TAGGED, BARE], ids=["tagged", "inferred"])
class TestMessages:
    def test_all_turns_or_the_last_are_trained(self, source: str) -> None:
        chat = [user("Hi"), answer("one"), user("Go"), answer("two")]
        assert trained(chat, source) == ["one<|im_end|>", "two<|im_end|>"]
        assert trained(chat, source, turns="last") == ["two<|im_end|>"]
        assert trained(chat[:3], source, turns="last") == ["one<|im_end|>"]

    @pytest.mark.parametrize(
        "fields", [{"train": False}, {"weight": 0}, {"train": 0}, {"weight": 1, "train": False}]
    )
    def test_a_message_can_leave_itself_out(self, source: str, fields: dict[str, Any]) -> None:
        chat = [user("Hi"), answer("one", **fields), user("Go"), answer("two", train=True, weight=1)]
        assert trained(chat, source) == ["two<|im_end|>"]
        assert trained(chat[:2], source, turns="last") == []

    def test_other_weights_are_refused(self, source: str) -> None:
        with pytest.raises(ChatError, match=r"0 or 1.*0\.5"):
            trained([user("Hi"), answer("one", weight=0.5)], source)

    def test_a_chat_without_an_answer_trains_nothing(self, source: str) -> None:
        assert trained([user("Hi")], source) == []


class TestParts:
    THOUGHT = "<think>\nHm.\n</think>\n\n"

    @pytest.mark.parametrize("source", [TAGGED, BARE], ids=["tagged", "inferred"])
    def test_thoughts_are_left_out_with_their_tags(self, source: str) -> None:
        chat = [user("Hi"), answer("one", reasoning_content="Hm."), user("Go"), answer("two")]
        assert trained(chat, source) == [f"{self.THOUGHT}one<|im_end|>", "two<|im_end|>"]
        assert trained(chat, source, reasoning=False) == ["one<|im_end|>", "two<|im_end|>"]

    def test_thoughts_that_the_content_holds_are_too(self) -> None:
        chat = [user("Hi"), answer(f"{self.THOUGHT}one")]
        assert trained(chat, reasoning=False) == ["one<|im_end|>"]

    def test_calls_are_left_out_with_the_end_of_the_turn(self) -> None:
        chat = [
            user("Hi"),
            answer("I look.", tool_calls=CALL),
            {"role": "tool", "content": "9"},
            answer("Nine."),
        ]
        assert trained(chat) == [f"I look.{CALLED}", "Nine.<|im_end|>"]
        assert trained(chat, tool_calls=False) == ["I look.", "Nine.<|im_end|>"]

    def test_thoughts_directly_before_calls_end_at_their_closing_tag(self) -> None:
        chat = [user("Hi"), answer("", reasoning_content="Hm.", tool_calls=CALL)]
        assert trained(chat, reasoning=False) == [CALLED]
        assert trained(chat, tool_calls=False) == [self.THOUGHT]
        assert trained(chat, reasoning=False, tool_calls=False) == []

    def test_parts_hold_under_any_convention(self) -> None:
        chat = [user("Hi"), answer("one", reasoning_content="Hm.")]
        for source, spans in ((BARE, "infer"), (TAGGED, "generation")):
            rendered = ChatTemplate(source).render_with_spans(
                chat, spans=spans, convention=Convention(header=True, end_of_turn=False)
            )
            found = trained_spans(chat, rendered, TrainOn(reasoning=False))
            assert [rendered.text[a:b] for a, b in found] == ["<|im_start|>assistant\n", "one"]


class TestWhatCannotBeKnown:
    def test_parts_of_tagged_spans_are_refused_where_their_turns_cannot_be_inferred(self) -> None:
        chat = [user("Hi"), answer("one", reasoning_content="Hm.")]
        endless = TAGGED.replace("<|im_end|>", "")
        assert trained(chat, endless) == ["<think>\nHm.\n</think>\n\none"]
        with pytest.raises(MaskUnavailable, match=r"message 1: .*reasoning.*keep the reasoning in"):
            trained(chat, endless, reasoning=False)
        assert trained(chat, endless, tool_calls=False)  # it has no calls to leave out

    def test_thoughts_that_nothing_closes_before_calls_are_refused(self) -> None:
        source = BARE.replace("<think>\n", "").replace("\n</think>\n\n", "")
        source = source.replace("\n<tool_call>\n", " call ")
        chat = [user("Hi"), answer("", reasoning_content="Hm.", tool_calls=CALL)]
        for options in ({"reasoning": False}, {"tool_calls": False}):
            with pytest.raises(MaskUnavailable, match="keep the"):
                trained(chat, source, **options)

    def test_spans_that_do_not_pair_with_messages_are_told_apart_by_inferred_turns_or_refused(self) -> None:
        chat = [user("Hi"), answer("one"), user("Go"), answer("two")]
        twice = TAGGED.replace("{% generation %}", "{% generation %}a{% endgeneration %}{% generation %}")
        assert trained(chat, twice, turns="last") == ["a", "two<|im_end|>"]
        with pytest.raises(MaskUnavailable, match=r"4 spans .* 2 assistant messages"):
            trained(chat, twice.replace("<|im_end|>", ""), turns="last")
        assert len(trained(chat, twice)) == 4
        other = "{% for m in messages %}{% generation %}{{ loop.index }}{% endgeneration %}{% endfor %}"
        with pytest.raises(MaskUnavailable, match="2 spans"):
            trained([answer("one"), answer("two")], other, turns="last")

    def test_an_unknown_choice_is_refused(self) -> None:
        with pytest.raises(BadArgument, match="not 'first'"):
            TrainOn(turns="first")  # type: ignore[arg-type]
