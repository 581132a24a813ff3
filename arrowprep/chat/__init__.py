"""Chats: messages → text and the spans the assistant wrote → masks → training rows.

template = ChatTemplate(text, special_tokens={"bos_token": "<s>"})
rendered = template.render([{"role": "user", "content": "Hi"}], add_generation_prompt=True)
rendered.text, rendered.spans
"""

from __future__ import annotations

from arrowprep.chat.template import ChatTemplate, Rendered, choose_template

__all__ = ["ChatTemplate", "Rendered", "choose_template"]
