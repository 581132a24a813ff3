"""Conversations to token ids and labels that train on the assistant's words alone.

    python examples/sft_prepare.py                              # the packaged sample
    python examples/sft_prepare.py chats.jsonl --tokenizer path/to/tokenizer --packing bfd

A row has `messages`: [{"role": ..., "content": ...}, ...]; or `prompt` and `completion`, each a text or
messages; or `text`. The chat template must mark what the assistant writes with {% generation %}, or
`--spans infer` finds it; a tokenizer that has no template gets ChatML's.
"""

from __future__ import annotations

import argparse

import numpy as np

from arrowprep import data, load_local, load_tokenizer
from arrowprep.chat import prepare_sft, report_sft

IGNORED = -100  # the label that a loss function skips


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="?", default=str(data.CONVERSATIONS), help="files of rows")
    parser.add_argument("--tokenizer", default=str(data.GPT2))
    parser.add_argument("--max-length", type=int, default=1024)
    parser.add_argument("--spans", choices=("generation", "infer", "auto"), default="generation")
    parser.add_argument("--packing", choices=("bfd", "bfd_split", "wrapped"))
    parser.add_argument("--num-proc", type=int, default=2)
    options = parser.parse_args()

    tokenizer = load_tokenizer(options.tokenizer)
    if tokenizer.chat_template is None:
        tokenizer.chat_template = data.CHATML.read_text()
    conversations = load_local(options.files, split="train")
    what = {"max_length": options.max_length, "packing": options.packing, "spans": options.spans}
    dataset = prepare_sft(conversations, tokenizer, num_proc=options.num_proc, **what)

    learned = total = 0
    for batch in dataset.with_format("numpy").iter(batch_size=64):
        for labels in batch["labels"]:  # (n,) int32, one array a row
            learned += int(np.count_nonzero(labels != IGNORED))
            total += len(labels)
    print(f"{len(conversations):,} conversations -> {len(dataset):,} rows")
    print(f"{learned:,} of {total:,} tokens are learned ({learned / total:.0%})")
    print(report_sft(conversations, tokenizer, **what))


if __name__ == "__main__":
    main()
