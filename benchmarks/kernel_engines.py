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

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


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


def tiktoken(path: str) -> Engine:
    """Where the ids of a byte-level model are in the order of its merges, behind one pattern."""
    import tiktoken as peer_library

    from arrowprep.tokenize.byte_characters import from_byte_characters

    file = json.loads(Path(path).read_text(encoding="utf-8"))
    added = {token["content"] for token in file["added_tokens"]}
    ranks = {from_byte_characters(t): n for t, n in file["model"]["vocab"].items() if t not in added}
    peer = peer_library.Encoding("it", pat_str=_pattern(file), mergeable_ranks=ranks, special_tokens={})
    return (
        list,
        lambda texts: peer.encode_ordinary_batch(texts, num_threads=1),
        lambda encoded: encoded,
    )


def _pattern(file: dict[str, Any]) -> str:
    before = file["pre_tokenizer"]
    for step in before.get("pretokenizers", [before]):
        if step["type"] == "Split":
            return str(step["pattern"]["Regex"])
    return GPT2_PATTERN


def kitoken(path: str) -> Engine:
    import kitoken

    peer = kitoken.Kitoken.from_tokenizers_file(path)
    return list, lambda texts: peer.encode_all(texts, False), lambda encoded: encoded


def tokie(path: str) -> Engine:
    import numpy as np
    import tokie

    peer = tokie.Tokenizer.from_json(path)
    peer.no_padding()
    peer.no_truncation()

    def rows(encoded: tuple[Any, Any]) -> list[Sequence[int]]:
        return [row.tolist() for row in np.split(encoded[0], np.cumsum(encoded[1])[:-1].astype(np.int64))]

    return list, lambda texts: peer.encode_batch_flat(texts, add_special_tokens=False), rows


ENGINES = {
    "arrowprep": arrowprep_engine,
    "tokenizers": huggingface,
    "gigatoken": gigatoken,
    "fastokens": fastokens,
    "snaptokens": snaptokens,
    "nanotoken": nanotoken,
    "tiktoken": tiktoken,
    "kitoken": kitoken,
    "tokie": tokie,
    "reference": reference_engine,
}
