"""What the dataset benchmarks read: a large JSON Lines file, short texts, and lists of numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import corpus

SEQUENCES = 50_000
WIDTH = 128  # numbers of a fixed-length row; ragged ones have 1..2 * WIDTH - 1
TEXTS = 200_000
PAGES = 50_000
CHARACTERS = 2000  # of a page


class Inputs(NamedTuple):
    """Where the inputs lie.

    lines: rows of {id, text, score, label}, as many megabytes as asked for
    texts: 200,000 such rows
    documents: 2,240 real documents
    pages: 50,000 rows of {id, text}, each text 2,000 characters of the documents, Parquet
    fixed, ragged: 50,000 rows of `input_ids`, int32, Parquet
    tokenizer: folder of GPT-2's tokenizer.json
    """

    lines: Path
    texts: Path
    documents: Path
    pages: Path
    fixed: Path
    ragged: Path
    tokenizer: Path

    @property
    def prepared(self) -> list[Path]:
        """Those that are loaded once, not measured, before the groups that read them."""
        return [self.texts, self.documents, self.pages, self.fixed, self.ragged]


def make(folder: Path, megabytes: int) -> Inputs:
    """Write the inputs that are not there yet."""
    known = corpus.make(folder)
    inputs = Inputs(
        lines=folder / f"lines-{megabytes}.jsonl",
        texts=known.rows,
        documents=known.documents,
        pages=folder / "pages.parquet",
        fixed=folder / "fixed.parquet",
        ragged=folder / "ragged.parquet",
        tokenizer=known.tokenizer,
    )
    if not inputs.lines.exists():
        _repeat(known.rows, inputs.lines, megabytes * 1_000_000)
    if not inputs.pages.exists():
        pq.write_table(_pages(known.documents), inputs.pages)
    random = np.random.default_rng(0)
    for path, lengths in (
        (inputs.fixed, np.full(SEQUENCES, WIDTH)),
        (inputs.ragged, random.integers(1, 2 * WIDTH, SEQUENCES)),
    ):
        if not path.exists():
            pq.write_table(pa.table({"input_ids": _lists(lengths, random)}), path)
    return inputs


def _repeat(source: Path, path: Path, size: int) -> None:
    """Whole lines of `source`, over and over, until there are `size` bytes."""
    content = source.read_bytes()
    with path.open("wb") as file:
        while file.tell() + len(content) <= size:
            file.write(content)
        file.write(content[: content.rfind(b"\n", 0, size - file.tell()) + 1])


def _pages(documents: Path) -> pa.Table:
    """Windows over the joined documents, no two the same."""
    texts = [json.loads(line)["text"] for line in documents.read_text(encoding="utf-8").splitlines()]
    whole = "\n".join(texts)
    starts = [number * 7919 % (len(whole) - CHARACTERS) for number in range(PAGES)]
    return pa.table({"id": range(PAGES), "text": [whole[start : start + CHARACTERS] for start in starts]})


def _lists(lengths: np.ndarray, random: np.random.Generator) -> pa.ListArray:
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    numbers = random.integers(0, 50_000, offsets[-1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers))
