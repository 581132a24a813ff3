"""The same tokens and masks as the package `renderers` gives for the models that it knows by hand."""

from __future__ import annotations

import csv
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from arrowprep import load_tokenizer
from arrowprep.chat import Convention

renderers = pytest.importorskip(
    "renderers", reason="renderers is not installed: its masks cannot be compared"
)
HOME = os.environ.get("ARROWPREP_CONFORMANCE")
pytestmark = pytest.mark.skipif(
    HOME is None, reason="ARROWPREP_CONFORMANCE does not name the models' templates"
)
FOLDER = Path(HOME or ".")

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look up",
            "parameters": {"type": "object", "properties": {"q": {"type": "string", "description": "what"}}},
        },
    }
]
SYSTEM = {"role": "system", "content": "Be brief."}
QUESTION, MORE = {"role": "user", "content": "Hi"}, {"role": "user", "content": "And?"}
ANSWER, LAST = {"role": "assistant", "content": "Hello, you."}, {"role": "assistant", "content": "So."}
CALL = {"type": "function", "id": "call_1", "function": {"name": "look", "arguments": {"q": "rain"}}}
FOUND = {"role": "tool", "name": "look", "tool_call_id": "call_1", "content": "wet"}
CHATS: dict[str, list[dict[str, Any]]] = {
    "an answer": [SYSTEM, QUESTION, ANSWER],
    "two answers": [SYSTEM, QUESTION, ANSWER, MORE, LAST],
    "thoughts": [
        SYSTEM,
        QUESTION,
        {**ANSWER, "reasoning_content": "They greet."},
        MORE,
        {**LAST, "reasoning_content": "Go on."},
    ],
    "a call": [SYSTEM, QUESTION, {"role": "assistant", "content": "", "tool_calls": [CALL]}, FOUND, LAST],
}
# class, template, tokenizer, and the chats that both render alike: where a template writes calls otherwise
# than the model's code does, it is another revision
MODELS = [
    ("Qwen3Renderer", "qwen3", "qwen3", set(CHATS)),
    ("Llama3Renderer", "llama3_1", "llama3like", set(CHATS)),
    ("DeepSeekV3Renderer", "deepseekv3", "qwen3", {"an answer", "two answers", "thoughts"}),
    ("DeepSeekR1Renderer", "deepseek_r1_distill_llama", "qwen3", {"an answer", "two answers", "thoughts"}),
    ("MiniMaxM2Renderer", "minimax_m2", "qwen3", {"an answer", "two answers"}),
]
ODD = ("]~b]", "]~!b[", "[e~[", "<|endoftext|>")  # control tokens that look like none


@cache
def tokenizer_of(template: str, base: str, renderer: str) -> Any:
    """A tokenizer to which the control tokens of template and renderer are known."""
    source = (FOLDER / "chat_templates" / f"{template}.jinja").read_bytes().decode()
    code = Path(getattr(renderers, renderer).__init__.__code__.co_filename).read_text()
    found = re.findall(r"<[|｜]?[^<>\s{}%'\"|]{1,40}[|｜]?>", source + code)
    tokenizer = load_tokenizer(FOLDER / "tokenizers" / base)
    tokenizer.add_special_tokens({"extra_special_tokens": [*dict.fromkeys([*found, *ODD])]})
    with (FOLDER / "chat_templates" / "MANIFEST.tsv").open() as rows:
        row = next(
            r for r in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE) if r["name"] == template
        )
    for name in ("bos_token", "eos_token"):
        setattr(tokenizer, name, row[name] if row[name] not in ("-", "") else None)
    tokenizer.unk_token = None
    tokenizer.chat_template = source
    tokenizer.name_or_path = template
    return tokenizer


def of_both(
    model: str, template: str, base: str, chat: list[dict[str, Any]], **options: Any
) -> tuple[Any, Any, Any]:
    """The tokenizer, and (ids, mask) of each."""
    tokenizer = tokenizer_of(template, base, model)
    tools = TOOLS if any("tool_calls" in message for message in chat) else None
    sample = renderers.build_training_sample(getattr(renderers, model)(tokenizer), chat, tools=tools)
    ours = tokenizer.apply_chat_template(
        chat,
        tools=tools,
        return_dict=True,
        return_assistant_tokens_mask=True,
        spans="infer",
        convention=Convention(empty_reasoning=True),  # which models write themselves
        **options,
    )
    theirs = list(sample.token_ids), [int(marked) for marked in sample.loss_mask]
    return tokenizer, theirs, (list(ours["input_ids"]), list(ours["assistant_masks"]))


@pytest.mark.parametrize(
    ("model", "template", "base", "chat"), [(*row[:3], chat) for row in MODELS for chat in sorted(row[3])]
)
def test_tokens_and_mask_are_theirs(model: str, template: str, base: str, chat: str) -> None:
    _, theirs, ours = of_both(model, template, base, CHATS[chat])
    assert ours == theirs
    assert 0 < sum(ours[1]) < len(ours[1])


def test_what_opens_a_thought_is_trained_there_and_the_prompts_here() -> None:
    """The template ends its generation prompt in the opening tag, so a model never writes it."""
    tokenizer, theirs, ours = of_both("MiniMaxM2Renderer", "minimax_m2", "qwen3", CHATS["thoughts"])
    assert ours[0] == theirs[0]
    odd = [token for token, a, b in zip(ours[0], ours[1], theirs[1], strict=True) if a != b]
    assert tokenizer.decode(odd) == "<think>\n"
    assert all(a <= b for a, b in zip(ours[1], theirs[1], strict=True))


def test_a_token_over_the_end_of_the_header_is_trained_here_unless_asked_otherwise() -> None:
    """Of two line breaks that are one token the first ends the header, the second begins the call."""
    chat = ("MiniMaxM2Renderer", "minimax_m2", "qwen3", CHATS["a call"])
    tokenizer, theirs, ours = of_both(*chat)
    assert tokenizer.decode([t for t, a, b in zip(*ours, theirs[1], strict=True) if a != b]) == "\n\n"
    _, theirs, ours = of_both(*chat, straddle="inside")
    assert ours == theirs
