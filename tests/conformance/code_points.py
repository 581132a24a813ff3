"""Columns that show code points between letters, spaces, digits and themselves."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

ROOT = os.environ.get("ARROWPREP_CONFORMANCE", "")
NAMES = [
    "gpt2",
    "llama3like",
    "qwen3",
    "gptoss",
    "llama2like",
    "xlmr",
    "t5like",
    "nepali_sp",
    "minilm",
]
AROUND = "a? ?'s??1?\n"  # each in the place of the question marks
AT_ONCE = 1024  # code points in a text
STRIDE = 61  # of those that are alike: a prime, so that no pattern of a block is missed


def some_code_points() -> npt.NDArray[np.uint32]:
    """All of scripts whose characters differ; of ideographs, syllables, private and unassigned ones some."""
    codes = np.arange(0x110000, dtype=np.uint32)
    alike = (
        ((codes >= 0x3400) & (codes < 0xA000))
        | ((codes >= 0xAC00) & (codes < 0xD7A4))
        | ((codes >= 0xE000) & (codes < 0xF900))
        | ((codes >= 0x12000) & (codes < 0x1D000))
        | ((codes >= 0x1FC00) & (codes < 0xE0000))
        | (codes >= 0xE0200)
    )
    surrogates = (codes >= 0xD800) & (codes < 0xE000)
    return codes[~surrogates & (~alike | (codes % STRIDE == 0))]


def column(part: int = 0, parts: int = 1) -> pa.Array:
    """Each code point in `AROUND`, many in a text, then some of them alone; or of them every so many."""
    codes = some_code_points()[part::parts]
    template = np.array(list(map(ord, AROUND)), np.uint32)
    laid = np.where(template == ord("?"), codes[:, None], template)
    texts = [_text(laid[at : at + AT_ONCE]) for at in range(0, len(codes), AT_ONCE)]
    return pa.array([*texts, *_text(codes[::9])], pa.large_string())


def _text(codes: npt.NDArray[np.uint32]) -> str:
    return codes.tobytes().decode("utf-32-le")


def tokenizer_json(name: str) -> str:
    path = next(Path(ROOT, "tokenizers", name).glob("tokenizer.json*"))
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
