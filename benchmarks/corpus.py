"""The inputs, derived from the packaged samples, so every machine measures the same bytes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from arrowprep import data

ROWS = 200_000
CHARACTERS = 240  # of a row's text
WIDTH = 128  # numbers of a vector


class Corpus(NamedTuple):
    """Where the inputs lie.

    documents: 2,240 real documents, 3.1 MB of text: what is tokenized
    rows: 200,000 short texts with a number and a label: what a cheap function runs over
    vectors: 200,000 lists of 128 int32, a float64 and an int64, Parquet: what is read as NumPy
    tokenizer: folder of GPT-2's tokenizer.json, not compressed, which not every peer reads
    """

    documents: Path
    rows: Path
    vectors: Path
    tokenizer: Path


def make(folder: Path) -> Corpus:
    """Write the inputs that are not there yet."""
    corpus = Corpus(
        folder / "documents.jsonl", folder / "rows.jsonl", folder / "vectors.parquet", folder / "gpt2"
    )
    corpus.tokenizer.mkdir(parents=True, exist_ok=True)
    content = gzip.decompress(data.DOCUMENTS.read_bytes())
    tokenizer = gzip.decompress((data.GPT2 / "tokenizer.json.gz").read_bytes())
    config = (data.GPT2 / "tokenizer_config.json").read_bytes()
    _write(corpus.documents, content)
    _write(corpus.tokenizer / "tokenizer.json", tokenizer)
    _write(corpus.tokenizer / "tokenizer_config.json", config)
    if not corpus.rows.exists():
        _write(corpus.rows, _rows([json.loads(line)["text"] for line in content.splitlines()]))
    if not corpus.vectors.exists():
        pq.write_table(_vectors(), corpus.vectors)
    return corpus


def _write(path: Path, content: bytes) -> None:
    if not path.exists():
        path.write_bytes(content)


def _rows(texts: list[str]) -> bytes:
    """Windows over the joined documents; the step is prime to their length, so no two are the same."""
    whole = "\n".join(texts)
    lines = []
    for number in range(ROWS):
        start = number * 7919 % (len(whole) - CHARACTERS)
        row = {
            "id": number,
            "text": whole[start : start + CHARACTERS],
            "score": number / 7,
            "label": number % 5,
        }
        lines.append(json.dumps(row).encode())
    return b"\n".join(lines) + b"\n"


def _vectors() -> pa.Table:
    random = np.random.default_rng(0)
    numbers = pa.array(random.integers(0, 50_000, ROWS * WIDTH, dtype=np.int32))
    offsets = pa.array(np.arange(0, ROWS * WIDTH + 1, WIDTH, dtype=np.int32))
    vectors = pa.ListArray.from_arrays(offsets, numbers)
    scores, counts = pa.array(random.random(ROWS)), pa.array(np.arange(ROWS))
    return pa.table({"vector": vectors, "score": scores, "count": counts})
