"""What ships with the package: two sample data sets and GPT-2's tokenizer; README.md names sources and licences."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
DOCUMENTS = HERE / "documents.jsonl.gz"  # id, title, text, source
CONVERSATIONS = HERE / "conversations.jsonl"  # id, messages, source
GPT2 = HERE / "gpt2"  # for load_tokenizer
