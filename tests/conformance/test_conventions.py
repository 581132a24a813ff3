"""Conventions against what the tags of public templates hold: each switch is some template's own choice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from arrowprep.chat import Convention
from arrowprep.chat.template import Rendered
from arrowprep.chat.train_on import TrainOn, trained_spans
from arrowprep.errors import MaskUnavailable
from tests.conformance.test_chat import HOME, Golden, golden, lines

__all__ = ["golden"]  # the fixture

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(HOME is None, reason="ARROWPREP_CONFORMANCE does not name the golden data"),
]

# what the tags of a template hold, and of how many chats at least; the rest has a header that the template
# leaves out after a tool, or thoughts whose opening tag the generation prompt supplies
TAGS = {
    "gptoss_training": (Convention(header=True), 1.0),
    "deepseekv3_training": (Convention(header=True), 0.85),
    "llama3_training": (Convention(), 1.0),
    "phi_4": (Convention(), 1.0),
    "gemma3_training": (Convention(trailing_newline=True), 1.0),
    "lfm2_5": (Convention(trailing_newline=True), 1.0),
    "qwen2_5_vl_training": (Convention(trailing_newline=True), 1.0),
    "glm4moe_training": (Convention(empty_reasoning=True), 0.85),
    "qwen3_training": (Convention(empty_reasoning=True, trailing_newline=True), 0.75),
}
EMPTY = r"\s*(<think>\s*)?</think>\s*"


def chats(golden: Golden, name: str) -> Iterator[tuple[dict[str, Any], list[Any], dict[str, Any]]]:
    for line in lines("golden.jsonl"):
        if line["t"] == name and line["ok"]:
            messages, options = golden.call(line)
            if "continue_final_message" not in options and any(m["role"] == "assistant" for m in messages):
                yield line, messages, options


def covered(spans: Any) -> set[int]:
    return {place for start, stop in spans for place in range(start, stop)}


def under(rendered: Rendered, convention: Convention) -> list[str]:
    """The text of each turn that is trained."""
    return [
        "".join(rendered.text[start:stop] for start, stop in convention.spans(turn))
        for turn in rendered.turns
    ]


@pytest.mark.parametrize("name", TAGS)
def test_a_convention_gives_what_the_tags_hold(name: str, golden: Golden) -> None:
    convention, share = TAGS[name]
    bare, same, accepted = golden.without_tags(name), 0, 0
    for line, messages, options in chats(golden, name):
        try:
            rendered = bare.render_with_spans(messages, spans="infer", convention=convention, **options)
        except MaskUnavailable:
            continue
        accepted += 1
        same += covered(rendered.spans) == covered(line["spans"])
    assert accepted >= 15
    assert same >= share * accepted


@pytest.mark.parametrize("name", ["llama3_training", "qwen2_5_vl_training", "gptoss_training"])
def test_a_convention_named_for_tags_is_that_of_inferred_turns(name: str, golden: Golden) -> None:
    bare, tagged = golden.without_tags(name), golden.templates[name]
    for convention in (Convention(), Convention(header=True), Convention(True, True, False, True)):
        for _, messages, options in chats(golden, name):
            try:
                inferred = bare.render_with_spans(messages, spans="infer", convention=convention, **options)
            except MaskUnavailable:
                continue
            got = tagged.render_with_spans(messages, convention=convention, **options)
            assert covered(got.spans) == covered(inferred.spans)


@pytest.mark.parametrize("name", ["llama3", "qwen2_5", "phi_4", "deepseekv3", "jamba"])
def test_without_the_end_of_turn_plain_answers_alone_are_trained(name: str, golden: Golden) -> None:
    seen = 0
    for _, messages, options in chats(golden, name):
        answers = [m for m in messages if m["role"] == "assistant"]
        if not all(set(m) == {"role", "content"} and isinstance(m["content"], str) for m in answers):
            continue
        try:
            rendered = golden.templates[name].render_with_spans(messages, spans="auto", **options)
        except MaskUnavailable:
            continue
        for text, message in zip(under(rendered, Convention(end_of_turn=False)), answers, strict=False):
            content = message["content"].rpartition("</think>")[2]  # some templates drop thoughts
            assert text.strip() in (content.strip(), message["content"].strip())
            seen += 1
    assert seen > 5 or golden.templates[name].has_generation


@pytest.mark.parametrize(
    "name", ["qwen3", "glm4moe_training", "deepseek_v3_2", "kimi_k2_thinking", "exaone4"]
)
def test_an_empty_reasoning_is_trained_where_that_is_switched_on(name: str, golden: Golden) -> None:
    found = 0
    for _, messages, options in chats(golden, name):
        try:
            rendered = golden.templates[name].render_with_spans(
                messages, spans="infer", convention=Convention(), **options
            )
        except MaskUnavailable:
            continue
        pairs = zip(
            under(rendered, Convention()), under(rendered, Convention(empty_reasoning=True)), strict=True
        )
        for without, whole in pairs:
            if without != whole:
                assert re.fullmatch(EMPTY + re.escape(without), whole)
                found += 1
    assert found


def test_reasoning_and_calls_can_be_left_out_of_every_template_that_shows_them(golden: Golden) -> None:
    seen: Counter[str] = Counter()
    for name, template in golden.templates.items():
        for _, messages, options in chats(golden, name):
            try:
                rendered = template.render_with_spans(
                    messages, spans="infer", convention=Convention(), **options
                )
                left = trained_spans(messages, rendered, TrainOn(reasoning=False, tool_calls=False))
            except MaskUnavailable:
                continue
            trained = "|".join(rendered.text[start:stop] for start, stop in left)
            whole = "|".join(rendered.text[start:stop] for start, stop in rendered.spans)
            for field, text in said(messages):
                if text in whole:
                    assert (text in trained) == (field == "content"), (name, field, text)
                    seen[field] += 1
    print(seen)
    assert min(seen["reasoning"], seen["call"]) > 50
    assert seen["content"] > 500


def said(messages: list[Any]) -> Iterator[tuple[str, str]]:
    """(field, text) of what the assistant's trained messages say, but for contents that hold thoughts."""
    for message in messages:
        if message["role"] == "assistant" and message.get("train", True):
            content = message.get("content")
            if isinstance(content, str) and "</think>" not in content:
                yield "content", content.strip()
            if message.get("reasoning_content"):
                yield "reasoning", message["reasoning_content"].strip()
            for call in message.get("tool_calls") or ():
                yield "call", call["function"]["name"]
