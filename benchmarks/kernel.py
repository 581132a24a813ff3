"""Speed of encoding, engine beside engine: one process a repeat, alternating, on one core, in CPU time.

    python -m benchmarks.kernel [--repeats 5] [--document 2000] [--peers-python PYTHON] TOKENIZER.json ...

cold: a new object's first text. distinct: more text of the same kind. warm: that text
again. small: microseconds a call on 16 texts of 200 characters, as a list of str, new and
seen. A cell counts only where its ids are those of the reference engine. Engines that
are not installed, or do not know the model, are left out; --peers-python names an interpreter that has them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.kernel_corpus import CORPORA, documents

PART = 1_300_000  # bytes of text a call
PARTS = 5  # the first is the cold one
WARM_ROUNDS = 4
SMALL_CALLS = 300
COLUMNS = ("load s", "cold", "distinct", "warm", "small new", "seen us")

Encode = Callable[[Any], Any]
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


def measure(name: str, texts: str, path: str) -> dict[str, Any]:
    """One repeat, in a process of its own. texts: a JSON file of the corpus, part by part"""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["ARROWPREP_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    loaded: list[list[str]] = json.loads(Path(texts).read_text(encoding="utf-8"))
    parts = [(part, sum(len(text.encode()) for text in part)) for part in loaded]
    start = time.process_time()
    prepare, encode, rows = ENGINES[name](path)
    load = time.process_time() - start
    batches = [(prepare(texts), size) for texts, size in parts]

    def speed(chosen: list[tuple[Any, int]]) -> float:
        start = time.process_time()
        for batch, _ in chosen:
            encode(batch)
        return sum(size for _, size in chosen) / 1e6 / (time.process_time() - start)

    rounds = 1 if name in ("reference", "tokenizers") else WARM_ROUNDS
    cold, distinct = speed(batches[:1]), speed(batches[1:])
    warm = max(speed(batches[1:]) for _ in range(rounds))
    flat = [text[at : at + 200] for text in loaded[0] for at in range(0, len(text), 200)]
    few = [flat[at : at + 16] for at in range(0, min(len(flat), 16 * SMALL_CALLS), 16)]

    def small() -> float:
        start = time.process_time()
        for texts in few:
            encode(prepare(texts))
        return (time.process_time() - start) / len(few) * 1e6

    small_new, small_seen = small(), min(small() for _ in range(rounds))
    ids = [list(map(int, row)) for batch, _ in batches for row in rows(encode(batch))]
    digest = hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:12]
    return dict(zip(COLUMNS, (load, cold, distinct, warm, small_new, small_seen), strict=True), ids=digest)


def repeat(python: str, name: str, texts: str, path: str) -> dict[str, Any] | None:
    """`measure` in another process; None where the engine is not there, or fails."""
    command = [python, "-m", "benchmarks.kernel", "--cell", name, texts, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"  {name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(arguments: argparse.Namespace, corpus: str, texts: str, path: str) -> None:
    """A table of one tokenizer on one corpus."""
    own = {"arrowprep", "reference"}
    python = {name: sys.executable if name in own else arguments.peers_python for name in ENGINES}
    found: dict[str, list[dict[str, Any]]] = {}
    for number in range(arguments.repeats):
        for name in ENGINES:
            if number and (name not in found or name == "reference"):
                continue
            if one := repeat(python[name], name, texts, path):
                found.setdefault(name, []).append(one)
    right = found["reference"][0]["ids"]
    print(f"\n{Path(path).stem}, {corpus}, documents of {arguments.document} bytes: MB per CPU second")
    print(f"{'':12}" + "".join(f"{name:>11}" for name in COLUMNS))
    for name, repeats in found.items():
        cells = (statistics.median(r[column] for r in repeats) for column in COLUMNS)
        wrong = "" if all(r["ids"] == right for r in repeats) else "  other ids: does not count"
        print(f"{name:12}" + "".join(f"{cell:11.2f}" for cell in cells) + wrong)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizers", nargs="*", help="tokenizer.json files, not compressed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--document", type=int, default=2000)
    parser.add_argument("--corpus", action="append", choices=CORPORA)
    parser.add_argument("--peers-python", default=sys.executable)
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(measure(*arguments.cell)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for corpus in arguments.corpus or CORPORA:
            texts = Path(folder, f"{corpus}.json")
            texts.write_text(json.dumps(documents(corpus, arguments.document, PART, PARTS)), encoding="utf-8")
            for path in arguments.tokenizers:
                compare(arguments, corpus, str(texts), path)


if __name__ == "__main__":
    main()
