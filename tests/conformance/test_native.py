"""The kernel beside the reference engine on the golden texts, with real vocabularies."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from arrowprep.config import configured
from arrowprep.tokenize import Tokenizer
from arrowprep.tokenize.engine import choose_engine
from arrowprep.tokenize.native_library import load

ROOT = os.environ.get("ARROWPREP_CONFORMANCE")
library = load()
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not ROOT, reason="ARROWPREP_CONFORMANCE names no folder of golden data"),
    pytest.mark.skipif(isinstance(library, str), reason=str(library)),
]


@pytest.fixture(scope="module")
def texts() -> pa.Array:
    assert ROOT is not None
    with gzip.open(Path(ROOT, "golden", "texts.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return pa.array([row["text"] for row in rows if isinstance(row.get("text"), str)])


NAMES = ["gpt2", "llama3like", "qwen3", "gptoss", "llama2like", "xlmr", "t5like", "nepali_sp", "minilm"]


@pytest.mark.parametrize("name", [*NAMES, "pix2tex", "clip"])
def test_golden_texts_are_encoded_as_the_reference_does(name: str, texts: pa.Array) -> None:
    assert ROOT is not None
    folder = Path(ROOT, "tokenizers", name)
    tok = Tokenizer.from_file(next(folder.glob("tokenizer.json*")))
    native = choose_engine(tok._engine.pipeline, wanted="native").engine
    reference = choose_engine(tok._engine.pipeline, wanted="reference").engine
    expected = reference.encode(texts, offsets=True, words=True)
    assert native.encode(texts, offsets=True, words=True) == expected
    with configured(threads=2):
        repeated = pa.concat_arrays([texts] * 3)
        assert native.encode(repeated).ids == pa.concat_arrays([expected.ids] * 3)
    assert native.decode(expected.ids).to_pylist() == reference.decode(expected.ids).to_pylist()
