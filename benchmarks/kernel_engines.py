"""The engines that the kernel is measured beside, each as three functions over lists of texts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Encode = Callable[[Any], Any]
# texts as the engine takes them; its call; ids of what that returned
Engine = tuple[Callable[[list[str]], Any], Encode, Callable[[Any], list[Sequence[int]]]]


def arrowprep_engine(path: str) -> Engine:
    import pyarrow as pa

    from arrowprep.tokenize import Tokenizer

    engine = Tokenizer.from_file(path).engine.engine
    return (
        lambda texts: pa.array(texts, pa.large_string()),
        engine.encode,
        lambda encoded: encoded.ids.to_pylist(),
    )


def reference_engine(path: str) -> Engine:
    os.environ["ARROWPREP_ENGINE"] = "reference"
    return arrowprep_engine(path)


def huggingface(path: str) -> Engine:
    import tokenizers

    peer = tokenizers.Tokenizer.from_file(path)
    peer.no_padding()
    peer.no_truncation()
    return (
        list,
        lambda texts: peer.encode_batch_fast(texts, add_special_tokens=False),
        lambda encoded: [e.ids for e in encoded],
    )


def gigatoken(path: str) -> Engine:
    import gigatoken

    peer = gigatoken.Tokenizer(path)
    return (
        lambda texts: [text.encode() for text in texts],
        lambda texts: peer.encode_batch(texts, parallel=False),
        lambda encoded: [list(row) for row in encoded],
    )


def flat_rows(encoded: tuple[bytes, bytes]) -> list[Sequence[int]]:
    """Rows of (ids as uint32, where each row begins and the last one ends as uint64)."""
    import numpy as np

    ids, bounds = np.frombuffer(encoded[0], np.uint32), np.frombuffer(encoded[1], np.uint64)
    return [row.tolist() for row in np.split(ids, bounds[1:-1].astype(np.int64))]


def fastokens(path: str) -> Engine:
    import fastokens

    peer = fastokens.Tokenizer.from_file(path)
    return list, lambda texts: peer.encode_batch_flat(texts, add_special_tokens=False), flat_rows


def snaptokens(path: str) -> Engine:
    import snaptokens

    peer = snaptokens.Tokenizer.from_file(path)
    return list, lambda texts: peer.encode_batch_flat(texts, add_special_tokens=False), flat_rows


def nanotoken(path: str) -> Engine:
    import nanotoken

    file = {**json.loads(Path(path).read_text(encoding="utf-8")), "truncation": None, "padding": None}
    peer = nanotoken.Tokenizer.from_json(json.dumps(file))
    return (
        list,
        lambda texts: peer.encode_batch(texts, add_special_tokens=False, parallel=False),
        lambda encoded: [list(row) for row in encoded],
    )


ENGINES = {
    "arrowprep": arrowprep_engine,
    "tokenizers": huggingface,
    "gigatoken": gigatoken,
    "fastokens": fastokens,
    "snaptokens": snaptokens,
    "nanotoken": nanotoken,
    "reference": reference_engine,
}
