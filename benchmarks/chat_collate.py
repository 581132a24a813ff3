"""Collating batches: arrowprep against transformers, 32 rows of up to 2,000 tokens, NumPy out.

    python benchmarks/chat_collate.py

Both are given what a training loop hands over; for arrowprep also rows of arrays and an Arrow table, as
Dataset.with_format gives them. Medians of rounds in turn.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

ROUNDS = 21


def milliseconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    from tokenizers import Tokenizer, models
    from transformers import DataCollatorWithPadding as Theirs
    from transformers import PreTrainedTokenizerFast

    from arrowprep.chat.collate import DataCollatorWithPadding

    model = models.WordLevel({"<pad>": 0}, unk_token="<pad>")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(model), pad_token="<pad>")
    random = np.random.default_rng(0)
    ids = [random.integers(0, 50_000, length) for length in random.integers(1000, 2001, 32)]
    lists = [{"input_ids": row.tolist(), "attention_mask": [1] * len(row)} for row in ids]
    arrays = [{"input_ids": row, "attention_mask": np.ones(len(row), np.int64)} for row in ids]
    table = pa.table({name: [row[name] for row in lists] for name in lists[0]})
    theirs, ours = (kind(tokenizer, return_tensors="np") for kind in (Theirs, DataCollatorWithPadding))
    sides: dict[str, Callable[[], Any]] = {
        "transformers, lists": lambda: theirs(lists),
        "transformers, arrays": lambda: theirs(arrays),
        "arrowprep, lists": lambda: ours(lists),
        "arrowprep, arrays": lambda: ours(arrays),
        "arrowprep, Arrow table": lambda: ours(table),
    }
    times: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side, call in sides.items():
            times[side].append(milliseconds(call))
    base = statistics.median(times["transformers, arrays"])
    for side, taken in times.items():
        print(f"{side:26} {statistics.median(taken):8.2f} ms   {base / statistics.median(taken):6.1f}x")


if __name__ == "__main__":
    main()
