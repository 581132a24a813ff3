"""Rendering chats: arrowprep against transformers, one process, text only.

    python benchmarks/chat_render.py TEMPLATE.jinja ...

One conversation of 9 messages and about 6,600 characters, a new list each time. Both sides render in turn,
the median of each round counts. Without files, two templates of the shapes people use are measured.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS, CALLS = 15, 40

SHORT = (
    "{{ bos_token }}{% for m in messages %}"
    "{{ '<|start|>' + m['role'] + '\n\n' + m['content'] | trim + '<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|start|>assistant\n\n' }}{% endif %}"
)
LONG = """{%- if messages[0].role == 'system' %}
{{- '<s>system\n' + messages[0].content + '</s>\n' }}{%- endif %}
{%- set ns = namespace(last=messages|length - 1) %}
{%- for m in messages[::-1] %}{%- set at = messages|length - 1 - loop.index0 %}
{%- if m.role == 'user' and m.content is string and not m.content.startswith('<tool>') %}
{%- set ns.last = at %}{%- endif %}{%- endfor %}
{%- for m in messages %}{%- if m.content is string %}{%- set content = m.content %}{%- else %}
{%- set content = '' %}{%- endif %}
{%- if m.role == 'assistant' %}{%- set thought = '' %}{%- if '</think>' in content %}
{%- set thought = content.split('</think>')[0].rstrip('\n').split('<think>')[-1] %}
{%- set content = content.split('</think>')[-1].lstrip('\n') %}{%- endif %}
{%- if loop.last or loop.index0 > ns.last %}{{- '<s>assistant\n<think>' + thought + '</think>\n' + content }}
{%- else %}{{- '<s>assistant\n' + content }}{%- endif %}{{- '</s>\n' }}
{%- elif not loop.first or m.role != 'system' %}{{- '<s>' + m.role + '\n' + content + '</s>\n' }}{%- endif %}
{%- endfor %}{%- if add_generation_prompt %}{{- '<s>assistant\n' }}{%- endif %}"""


def conversation() -> list[dict[str, str]]:
    text = "The cat sat on the mat, and looked at the garden for a while. " * 13
    turns = [("system", text[:200])] + [("user", text), ("assistant", text)] * 4
    return [{"role": role, "content": content} for role, content in turns]


def theirs(source: str) -> Callable[[], str]:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>")),
        bos_token="<s>",
        eos_token="</s>",
    )
    tokenizer.chat_template = source
    return lambda: tokenizer.apply_chat_template(conversation(), tokenize=False)


def ours(source: str) -> Callable[[], str]:
    from arrowprep.chat import ChatTemplate

    template = ChatTemplate(source, special_tokens={"bos_token": "<s>", "eos_token": "</s>"})
    return lambda: template.render(conversation()).text


def microseconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    for _ in range(CALLS):
        call()
    return (time.process_time() - start) / CALLS * 1e6


def main() -> None:
    templates = {Path(name).stem: Path(name).read_text() for name in sys.argv[1:]} or {
        "short": SHORT,
        "long": LONG,
    }
    print(
        f"{'template':28} {'transformers':>14} {'arrowprep':>12} {'ratio':>7}   microseconds a conversation"
    )
    for name, source in templates.items():
        sides = {"theirs": theirs(source), "ours": ours(source)}
        if sides["theirs"]() != sides["ours"]():
            raise SystemExit(f"{name}: the texts differ")
        times: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(ROUNDS):
            for side, call in sides.items():
                times[side].append(microseconds(call))
        left, right = (statistics.median(times[side]) for side in sides)
        print(f"{name:28} {left:14.0f} {right:12.0f} {left / right:7.2f}")


if __name__ == "__main__":
    main()
