"""Chats of every kind by a seed, and what is wrong with the spans that were inferred in one."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arrowprep.chat import ChatTemplate
from arrowprep.errors import ChatError, MaskUnavailable

__all__ = ["CONVENTION", "Case", "Outcome", "cases", "check", "without_tags"]

Chat = list[dict[str, Any]]
Spans = Sequence[tuple[int, int]]

_SYLLABLES = [a + b + c for a in "bdfgkz" for b in "aeiou" for c in "lmnprst"]
_WIDE = [
    "é",
    "猫",
    "🙂",
    "e\u0301",
    "👩‍👩‍👧",
    "\u200b",
    "ß",
    "\U000f0000",
    "\u2028",
    "ﬁ",
    "İ",
    "\ufeff",
    "Ω≈",
]
_MARKUP = [
    *("<|im_end|>", "<|im_start|>assistant\n", "<|im_start|>user\n", "</s>", "<eos>", "<bos>", "<s>"),
    *("<|eot_id|>", "<|end|>", "<|assistant|>", "<|user|>", "<think>", "</think>", "[INST]", "[/INST]"),
    *("<|start_header_id|>assistant<|end_header_id|>\n\n", "<start_of_turn>model\n", "<end_of_turn>"),
    *("<tool_response>", "</tool_response>", "<tool_call>", "</tool_call>", "<｜Assistant｜>", "<|return|>"),
    *("<|start|>assistant<|channel|>final<|message|>", "<|endoftext|>", "<|turn>model\n", "<turn|>"),
    *("{{ x }}", "{% endgeneration %}", '{"a": "b"}', "<b>&amp;</b>", "\\n", "\r\n", "\t", "assistant", "'"),
]
_ROLES = ["user", "assistant", "assistant", "tool", "system", "developer", "critic"]


@dataclass(frozen=True)
class Case:
    """A call of a template: its name, the messages and the other arguments."""

    name: str
    chat: Chat
    options: Mapping[str, Any]


def cases(templates: Mapping[str, ChatTemplate], seed: int, count: int) -> Iterator[Case]:
    """That many calls with an assistant's message in each, of one template after the other."""
    names = sorted(templates)
    markup = {name: [*_MARKUP, *_markup_of(templates[name].source) * 2] for name in names}
    for number in range(count):
        name = names[number % len(names)]
        maker = _Maker(random.Random(f"{seed} {number}"), markup[name])
        yield Case(name, maker.chat(), maker.options())


def _markup_of(source: str) -> list[str]:
    """What the template itself writes and looks for: its control tokens."""
    return sorted(set(re.findall(r"<\|?[^<>\s{}%'\"]{1,40}\|?>|\[/?[A-Z_]{2,20}\]", source)))


class _Maker:
    """Most chats are in one form throughout, for few templates take them mixed."""

    def __init__(self, rnd: random.Random, markup: list[str]) -> None:
        self.rnd, self.markup = rnd, markup
        self.kind = rnd.choices(["plain", "agent", "any"], [35, 45, 20])[0]
        self.parts = rnd.choices([0.0, 1.0, 0.3], [70, 15, 15])[0]
        self.json_arguments = rnd.choices([0.0, 1.0, 0.5], [70, 20, 10])[0]

    def chat(self) -> Chat:
        rnd, out = self.rnd, []
        if self.kind == "any":
            out += [self._message(rnd.choice(_ROLES)) for _ in range(rnd.randint(1, 6))]
        else:
            if rnd.random() < 0.4:
                out.append(self._message("developer" if rnd.random() < 0.1 else "system"))
            for _ in range(rnd.randint(1, 4)):
                out += [self._message("user"), self._message("assistant")]
                while "tool_calls" in out[-1] and rnd.random() < 0.8:
                    out += [self._message("tool") for _ in out[-1]["tool_calls"]]
                    out.append(self._message("assistant"))
            if rnd.random() < 0.2:
                out.append(self._message("user"))
        if not any(message["role"] == "assistant" for message in out):
            out.append(self._message("assistant"))
        return out

    def options(self) -> dict[str, Any]:
        rnd, options = self.rnd, {}
        if rnd.random() < 0.3:
            options["tools"] = [self._tool() for _ in range(rnd.randint(1, 2))]
        if rnd.random() < 0.2:
            options["enable_thinking"] = rnd.random() < 0.5
        if rnd.random() < 0.15:
            options["add_generation_prompt"] = True
        if rnd.random() < 0.05:
            options["documents"] = [{"title": self._word(), "text": self._text()}]
        return options

    def _word(self) -> str:
        return "".join(self.rnd.choices(_SYLLABLES, k=self.rnd.randint(1, 3)))

    def _text(self) -> str:
        rnd = self.rnd
        if rnd.random() < 0.1:
            return rnd.choice(["", "\n", " ", "   \n", "\n\n"])
        kinds = rnd.choices("wnsum", [5, 2, 1, 1, rnd.choice([0, 1, 4])], k=rnd.randint(1, 7))
        said = {
            "w": lambda: self._word() + " ",
            "n": lambda: self._word() + "\n",
            "s": self._word,
            "u": lambda: rnd.choice(_WIDE),
            "m": lambda: rnd.choice(self.markup),
        }
        return "".join(said[kind]() for kind in kinds)

    def _message(self, role: str) -> dict[str, Any]:
        rnd, message, content = self.rnd, {"role": role}, self._text()
        if rnd.random() < self.parts:
            parts = [content] if rnd.random() < 0.5 else [content, self._text()]
            message["content"] = [{"type": "text", "text": part} for part in parts]
        elif self.kind == "plain" or rnd.random() < 0.97:
            message["content"] = content
        if role == "assistant":
            if rnd.random() < 0.25:
                message[rnd.choice(["reasoning_content", "reasoning_content", "thinking"])] = self._text()
            elif rnd.random() < 0.1:
                message["content"] = f"<think>\n{self._text()}\n</think>\n\n{content}"
            if self.kind != "plain" and rnd.random() < 0.25:
                message["tool_calls"] = [self._call() for _ in range(rnd.choice([1, 1, 2]))]
        if role == "tool":
            message |= {"tool_call_id": "abcdefghi", "name": self._word()}
        return message

    def _call(self) -> dict[str, Any]:
        arguments: Any = {"a": self._text(), self._word(): self.rnd.choice([1, None, True, [self._text()]])}
        if self.rnd.random() < self.json_arguments:
            arguments = json.dumps(arguments, ensure_ascii=self.rnd.random() < 0.5)
        function = {"name": self._word(), "arguments": arguments}
        return {"type": "function", "id": "abcdefghi", "function": function}

    def _tool(self) -> dict[str, Any]:
        properties = {"a": {"type": "string", "description": self._text()}}
        parameters = {"type": "object", "properties": properties, "required": ["a"]}
        function = {"name": self._word(), "description": self._text(), "parameters": parameters}
        return {"type": "function", "function": function}


def without_tags(template: ChatTemplate) -> ChatTemplate:
    """The template with its generation tags made a condition that is always true."""
    source = re.sub(r"(\{%[-+]?\s*)generation(\s*[-+]?%\})", r"\1if true\2", template.source)
    source = re.sub(r"(\{%[-+]?\s*)endgeneration(\s*[-+]?%\})", r"\1endif\2", source)
    return ChatTemplate(source, special_tokens=template.special_tokens, clock=template.clock)


@dataclass(frozen=True)
class Outcome:
    """kind: "not rendered", "refused", "exact", "white space", "convention" or "wrong"

    owned: whether it was known of each character which message it is from
    detail: why it was refused, or what is wrong
    """

    kind: str
    owned: bool = False
    detail: str = ""


# what the tags of public templates hold or leave out beside the answer: headers, empty thoughts, stop tokens
CONVENTION = re.compile(r"<[^<>\s]+>|\b(assistant|model|analysis|final|commentary|think)\b|\s")


def check(case: Case, tagged: ChatTemplate, bare: ChatTemplate) -> Outcome:
    """What inference makes of the template without tags, held against the tags.

    Where they differ, the characters must be the template's own, and a header, an empty reasoning or the end
    of a turn. Whose a character is comes from a rendering whose texts are replaced by signs of their message.
    """
    try:
        wanted = tagged.render(case.chat, **case.options)
        spans = wanted.spans
    except ChatError as error:
        return Outcome("not rendered", detail=str(error))
    owners = _owners(case, tagged, wanted.text)
    try:
        found = bare.render_with_spans(case.chat, spans="infer", **case.options)
    except MaskUnavailable as error:
        return Outcome("refused", owners is not None, str(error))
    if found.text != wanted.text:
        return Outcome("wrong", detail="another text")
    ours, theirs = (_covered(s, len(wanted.text)) for s in (found.spans, spans))
    odd = [place for place, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    if not odd:
        return Outcome("exact", owners is not None)
    if owners:
        said = [place for place in odd if owners[place] is not None and not wanted.text[place].isspace()]
        if said:
            text = "".join(wanted.text[place] for place in said)
            return Outcome("wrong", True, f"{text!r} of message {owners[said[0]]}")
    pieces = _pieces(wanted.text, odd)
    if any(CONVENTION.sub("", piece) for piece in pieces):
        return Outcome("wrong", owners is not None, repr(pieces))
    is_space = not "".join(pieces).strip()
    return Outcome("white space" if is_space else "convention", owners is not None)


def _covered(spans: Spans, length: int) -> bytearray:
    covered = bytearray(length)
    for start, stop in spans:
        covered[start:stop] = b"\1" * (stop - start)
    return covered


def _pieces(text: str, places: Sequence[int]) -> list[str]:
    """The stretches of text that these places make."""
    pieces: list[str] = []
    last = -2
    for place in places:
        if place == last + 1:
            pieces[-1] += text[place]
        else:
            pieces.append(text[place])
        last = place
    return pieces


_SIGNS = 0x100000  # private-use characters that nothing else here holds


def _owners(case: Case, template: ChatTemplate, text: str) -> list[int | None] | None:
    """(characters,) the message that each is from, None for the template's; None where that is not known.

    Signs stand in for all characters but white space and what JSON escapes, and if that reads differently,
    for all but those of markup.
    """
    for kept in (r"\s", r"\s|<[^<>\s]*>|\[/?[A-Z_]+\]"):
        chat = [
            _signed(message, number, re.compile(f'({kept}|["\\\\])'))
            for number, message in enumerate(case.chat)
        ]
        try:
            shadow = template.render(chat, **case.options).text
        except ChatError:
            continue
        if len(shadow) == len(text) and all(
            s == t or ord(s) >= _SIGNS for s, t in zip(shadow, text, strict=True)
        ):
            return [ord(s) - _SIGNS if ord(s) >= _SIGNS else None for s in shadow]
    return None


def _signed(value: Any, number: int, kept: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        sign = chr(_SIGNS + number)
        return "".join(p if i % 2 else sign * len(p) for i, p in enumerate(kept.split(value)))
    if isinstance(value, dict):
        fixed = ("role", "type", "id", "tool_call_id")
        return {k: v if k in fixed else _signed(v, number, kept) for k, v in value.items()}
    return [_signed(item, number, kept) for item in value] if isinstance(value, list) else value
