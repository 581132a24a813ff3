"""Ids, offsets, words and decoded text of real tokenizers against golden data."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from arrowprep.tokenize import Encoding, Tokenizer

HOME = os.environ.get("ARROWPREP_CONFORMANCE")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(HOME is None, reason="ARROWPREP_CONFORMANCE does not name the golden data"),
]
FOLDER = Path(HOME or ".")


def records(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(FOLDER / "golden" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@cache
def texts() -> list[str]:
    return [record["text"] for record in records("texts")]


def tokenizer(name: str) -> Tokenizer:
    return copy.deepcopy(loaded(name))


@cache
def loaded(name: str) -> Tokenizer:
    folder = FOLDER / "tokenizers" / name
    path = folder / "tokenizer.json"
    tok = Tokenizer.from_file(path if path.exists() else folder / "tokenizer.json.gz")
    tok.no_truncation()
    tok.no_padding()
    return tok


def digest(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def flat(encoding: Encoding) -> list[int]:
    return [place for span in encoding.offsets for place in span]


def agreements(record: dict[str, Any], encoding: Encoding) -> list[bool]:
    """Of the ids, and of the offsets; long texts have hashes of both."""
    if record["k"] == "encL":
        return [digest(encoding.ids) == record["ids_h"], digest(flat(encoding)) == record["off_h"]]
    return [encoding.ids == record["ids"], flat(encoding) == record["off"]]


def count(counts: Counter[bool], record: dict[str, Any], encoding: Encoding) -> None:
    counts.update(agreements(record, encoding))


NAMES = ["gpt2", "qwen3", "llama3like", "gptoss"]
OTHERS = ["clip", "llama2like", "minilm", "nepali_sp", "pgn", "pix2tex", "t5like", "xlmr"]


@pytest.mark.parametrize("name", NAMES + OTHERS)
def test_ids_and_offsets_of_every_text(name: str) -> None:
    tok = tokenizer(name)
    counts = {"with special tokens": Counter[bool](), "without": Counter[bool]()}
    for record in records(name):
        if "err" in record or record["k"] not in ("enc", "encL", "nos"):
            continue
        bare = record["k"] == "nos"
        encoding = tok.encode(texts()[record["t"]], add_special_tokens=not bare)
        count(counts["without" if bare else "with special tokens"], record, encoding)
    for kind, agree in counts.items():
        print(f"{name} {agree[True]}/{agree.total()} {kind}")
        assert agree[True] == agree.total() > 0


@pytest.mark.parametrize("name", NAMES)
def test_columns_have_the_ids_of_every_text(name: str) -> None:
    tok = tokenizer(name)
    wanted = {r["t"]: r for r in records(name) if r["k"] in ("enc", "encL")}
    columns = tok.encode_columns([texts()[t] for t in wanted])
    agree = Counter(
        ids == record["ids"] if "ids" in record else digest(ids) == record["ids_h"]
        for ids, record in zip(columns.ids.to_pylist(), wanted.values(), strict=True)
    )
    print(f"{name} {agree[True]}/{agree.total()} columns")
    assert agree[True] == agree.total() > 0


@pytest.mark.parametrize("name", NAMES)
def test_added_tokens_in_the_text(name: str) -> None:
    tok = tokenizer(name)
    agree: Counter[bool] = Counter()
    for record in records(name):
        if record["k"] == "own":
            tok.encode_special_tokens = bool(record["est"])
            count(agree, record, tok.encode(record["text"]))
    print(f"{name} {agree[True]}/{agree.total()} added tokens")
    assert agree[True] == agree.total() > 0


@pytest.mark.parametrize("name", NAMES)
def test_files_are_written_to_the_byte(name: str) -> None:
    tok = tokenizer(name)
    meta = next(record for record in records(name) if record["k"] == "meta")
    assert digest(tok.to_str()) == meta["to_str_sha"]
    assert digest(tok.to_str(pretty=True)) == meta["to_str_pretty_sha"]


def test_the_known_example() -> None:
    ids = tokenizer("qwen3").encode("The cat sat on the mat. 猫坐在垫子上。").ids
    assert ids == [785, 8251, 7578, 389, 279, 5517, 13, 10236, 234, 104, 104427, 102628, 44729, 17447, 1773]


def test_digits_are_cut_as_each_pattern_says() -> None:
    assert len(tokenizer("qwen3").encode("12345")) == 5
    assert len(tokenizer("llama3like").encode("12345", add_special_tokens=False)) == 2


# how many checks of a file differ on purpose, or not yet, and why; a number that is no longer right fails
DIFFERENT = {
    "synth": (29, "an id in a file that leaves a gap is kept; the reference gives the next free one"),
}


def test_every_check_but_the_known_ones_agrees() -> None:
    checker = FOLDER / "golden" / "check_tok_golden.py"
    run = subprocess.run(
        [sys.executable, str(checker), "--lib", "arrowprep.tokenize", "--root", str(FOLDER), "--show", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = {}
    for name, checked, differ in re.findall(r"^(\w+) +(\d+) checked +(\d+) differ", run.stdout, re.MULTILINE):
        known, why = DIFFERENT.get(name, (0, ""))
        print(f"{name} {int(checked) - int(differ)}/{checked}{f' ({known} differ: {why})' if known else ''}")
        found[name] = int(differ)
    assert found, run.stderr
    assert {name: n for name, n in found.items() if n} == {name: n for name, (n, _) in DIFFERENT.items()}
