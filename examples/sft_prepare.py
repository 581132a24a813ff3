"""Conversations to token ids and labels that train on the assistant's words alone.

    python examples/sft_prepare.py                              # the packaged sample
    python examples/sft_prepare.py chats.jsonl --tokenizer path/to/tokenizer

A row has `messages`: [{"role": ..., "content": ...}, ...]. The chat template must mark what the assistant
writes with {% generation %}; a tokenizer that has no template gets ChatML's.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np

from arrowprep import Dataset, data, load_local, load_tokenizer

IGNORED = -100  # the label that a loss function skips


def prepare(conversations: Dataset, tokenizer: Any, *, max_length: int, num_proc: int) -> Dataset:
    """Columns `input_ids` and `labels`; rows whose assistant says nothing in `max_length` are dropped."""

    def render(batch: Mapping[str, list[Any]]) -> dict[str, list[list[int]]]:
        encoded = tokenizer.apply_chat_template(
            batch["messages"],
            return_dict=True,
            return_assistant_tokens_mask=True,
            truncation=True,
            max_length=max_length,
        )
        rows = zip(encoded["input_ids"], encoded["assistant_masks"], strict=True)
        labels = [[i if is_ours else IGNORED for i, is_ours in zip(*row, strict=True)] for row in rows]
        return {"input_ids": encoded["input_ids"], "labels": labels}

    rows = conversations.map(
        render, batched=True, num_proc=num_proc, remove_columns=conversations.column_names
    )
    return rows.filter(lambda row: any(label != IGNORED for label in row["labels"]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="?", default=str(data.CONVERSATIONS), help="files with a column `messages`"
    )
    parser.add_argument("--tokenizer", default=str(data.GPT2))
    parser.add_argument("--max-length", type=int, default=1024)
    parser.add_argument("--num-proc", type=int, default=2)
    options = parser.parse_args()

    tokenizer = load_tokenizer(options.tokenizer)
    if tokenizer.chat_template is None:
        tokenizer.chat_template = data.CHATML.read_text()
    conversations = load_local(options.files, split="train")
    dataset = prepare(conversations, tokenizer, max_length=options.max_length, num_proc=options.num_proc)

    learned = total = 0
    for batch in dataset.with_format("numpy").iter(batch_size=64):
        for labels in batch["labels"]:  # (n,) int32 or int64, one array a row
            learned += int(np.count_nonzero(labels != IGNORED))
            total += len(labels)
    print(f"{len(conversations):,} conversations -> {len(dataset):,} rows")
    print(f"{learned:,} of {total:,} tokens are learned ({learned / total:.0%})")


if __name__ == "__main__":
    main()
