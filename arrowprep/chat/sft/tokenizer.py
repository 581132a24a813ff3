"""What a preparation takes from a tokenizer: its template, its special tokens, the texts that end a turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from arrowprep.chat.control_tokens import control_pattern
from arrowprep.chat.sft.examples import Reader
from arrowprep.chat.sft.spec import SFTSpec, Shape
from arrowprep.chat.template import ChatTemplate, choose_template

__all__ = ["controls_of", "reader_of"]


def reader_of(
    tokenizer: Any, spec: SFTSpec, shape: Shape, *, is_chat: bool, template: str | ChatTemplate | None
) -> Reader:
    """A reader for chats, or for plain texts, which end in eos and may be framed by special tokens."""
    if is_chat:
        chosen, stops = _template(tokenizer, template), _stops(tokenizer, spec.stop_strings)
        controls = controls_of(tokenizer, chosen) if spec.sanitize else None
        return Reader(spec, shape, chosen, stops, "", controls)
    eos = tokenizer.eos_token or ""
    if not eos or tokenizer("a", verbose=False)["input_ids"][-1] == tokenizer.eos_token_id:
        return Reader(spec, shape, None, (), "")
    return Reader(spec, shape, None, (eos,), eos)


def controls_of(tokenizer: Any, template: ChatTemplate) -> re.Pattern[str]:
    """Matches the special tokens, and those added ones that the template writes."""
    added = tokenizer.added_tokens_decoder.values()
    special = {*tokenizer.all_special_tokens, *(token.content for token in added if token.special)}
    return control_pattern(template.source, special, [token.content for token in added])


def _template(tokenizer: Any, template: str | ChatTemplate | None) -> ChatTemplate:
    if isinstance(template, ChatTemplate):
        return template
    source = choose_template(tokenizer.chat_template, template, False)
    special_tokens = {
        name: text for name, text in tokenizer.special_tokens_map.items() if isinstance(text, str)
    }
    return ChatTemplate(source, special_tokens=special_tokens, clock=getattr(tokenizer, "clock", None))


def _stops(tokenizer: Any, named: Sequence[str]) -> tuple[str, ...]:
    """Texts that may end a turn: those named, eos and the added tokens, but for bos and closing tags."""
    added = [token.content for token in tokenizer.added_tokens_decoder.values()]
    ends = [text for text in added if text != tokenizer.bos_token and not text.startswith("</")]
    return tuple(dict.fromkeys(text for text in (*named, tokenizer.eos_token, *ends) if text))
