"""A conversation and two templates of the shapes people use, for what is measured without other files."""

from __future__ import annotations

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


def conversation(number: int = 0) -> list[dict[str, str]]:
    """9 messages and about 6,600 characters, other ones for each number."""
    text = f"The cat sat on mat {number}, and looked at the garden for a while. " * 13
    turns = [("system", text[:200])] + [("user", text), ("assistant", text)] * 4
    return [{"role": role, "content": content} for role, content in turns]
