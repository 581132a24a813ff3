"""What ships with the package: sample data, GPT-2's tokenizer, a chat template; README.md names sources."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
DOCUMENTS = HERE / "documents.jsonl.gz"  # id, title, text, source
CONVERSATIONS = HERE / "conversations.jsonl"  # id, messages, source
GPT2 = HERE / "gpt2"  # for load_tokenizer
CHATML = HERE.parent / "chat" / "templates" / "chatml.jinja"  # a chat template that marks the assistant
