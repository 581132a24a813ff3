"""What a preparation takes from a tokenizer: its template, its special tokens, the texts that end a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrowprep.chat.sft.examples import Reader
from arrowprep.chat.sft.spec import SFTSpec, Shape
from arrowprep.chat.template import ChatTemplate, choose_template

__all__ = ["reader_of"]


def reader_of(
    tokenizer: Any, spec: SFTSpec, shape: Shape, *, is_chat: bool, template: str | ChatTemplate | None
) -> Reader:
    """A reader for chats, or for plain texts, which end in eos and may be framed by special tokens."""
    if is_chat:
        return Reader(spec, shape, _template(tokenizer, template), _stops(tokenizer, spec.stop_strings), "")
    eos = tokenizer.eos_token or ""
    if not eos or tokenizer("a", verbose=False)["input_ids"][-1] == tokenizer.eos_token_id:
        return Reader(spec, shape, None, (), "")
    return Reader(spec, shape, None, (eos,), eos)


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
