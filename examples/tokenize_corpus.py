"""Files of text to fixed-length blocks of token ids, for pretraining.

    python examples/tokenize_corpus.py                          # the packaged sample
    python examples/tokenize_corpus.py 'corpus/*.jsonl' --tokenizer path/to/tokenizer --num-proc 8

The second run comes from the cache, and so does one with another --num-proc.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import chain
from typing import Any

from arrowprep import Dataset, data, load_local, load_tokenizer


def blocks(documents: Dataset, tokenizer: Any, *, length: int, num_proc: int) -> Dataset:
    """Rows of exactly `length` ids: all documents one after another, each closed by the end-of-text token.

    Every batch of 1,000 documents is joined and cut, and its short last block dropped.
    """
    end = tokenizer.eos_token_id

    def tokenize(batch: Mapping[str, list[str]]) -> dict[str, list[list[int]]]:
        documents_ids = tokenizer(batch["text"], return_attention_mask=False)["input_ids"]
        ids = list(chain.from_iterable([*document, end] for document in documents_ids))
        return {"input_ids": [ids[at : at + length] for at in range(0, len(ids) - length + 1, length)]}

    return documents.map(tokenize, batched=True, num_proc=num_proc, remove_columns=documents.column_names)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="?", default=str(data.DOCUMENTS), help="files with a column `text`")
    parser.add_argument("--tokenizer", default=str(data.GPT2))
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--num-proc", type=int, default=2)
    options = parser.parse_args()

    documents = load_local(options.files, split="train")
    tokenizer = load_tokenizer(options.tokenizer)
    dataset = blocks(documents, tokenizer, length=options.length, num_proc=options.num_proc)
    print(f"{len(documents):,} documents -> {len(dataset):,} blocks of {options.length} ids")
    for batch in dataset.with_format("numpy").iter(batch_size=16):
        ids = batch["input_ids"]  # (16, length) int32, a view of the cache file
        print(ids.dtype, ids.shape, repr(tokenizer.decode(ids[0])[:60]))
        break


if __name__ == "__main__":
    main()
