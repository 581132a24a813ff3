"""Bytes that a chain of five maps, each adding a small column, writes beside `datasets`.

    python -m benchmarks.cache_bytes [--megabytes 100]

Each library has a process and an empty cache of its own. Counted is what the
maps add to the cache folder, not the converted file; nothing here is a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.run import ENVIRONMENT, PEERS

TEXT_BYTES = 2000  # of a row: a document of a page
TARGET = 1 / 10  # of the peer's bytes
SHARE = 0.03  # of the text's


def chain(dataset: Any) -> Any:
    """Five columns of one number each."""
    dataset = dataset.map(lambda row: {"length": len(row["text"])})
    dataset = dataset.map(lambda row: {"words": row["text"].count(" ")})
    dataset = dataset.map(lambda row: {"lines": row["text"].count("\n")})
    dataset = dataset.map(lambda row: {"long": row["length"] > TEXT_BYTES})
    return dataset.map(lambda row: {"ratio": row["words"] / row["length"]})


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measured(peer: str, inputs: Path, cache: Path) -> dict[str, Any]:
    """Bytes that the chain adds, and an answer that must be the same."""
    dataset = import_module(f"benchmarks.peers.{peer}").load(inputs, cache)
    before = size_of(cache)
    dataset = chain(dataset)
    return {"bytes": size_of(cache) - before, "answer": [len(dataset), dataset[len(dataset) - 1]["ratio"]]}


def write(path: Path, rows: int) -> int:
    """JSON Lines of rows of TEXT_BYTES; the bytes of their text."""
    sentence = "A row of text that no other row is like, it being number {}, of so many. "
    with path.open("w") as file:
        for number in range(rows):
            text = (sentence.format(number) * (TEXT_BYTES // 70))[:TEXT_BYTES]
            file.write(json.dumps({"text": text}) + "\n")
    return rows * TEXT_BYTES


def main() -> None:
    parser = argparse.ArgumentParser("benchmarks.cache_bytes", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100, help="of text")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        peer, inputs, cache = options.measure
        print(json.dumps(measured(peer, Path(inputs), Path(cache))))
        return
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "rows.jsonl"
        text = write(inputs, options.megabytes * 1_000_000 // TEXT_BYTES)
        found = []
        for peer in PEERS:
            cache = Path(folder) / peer
            command = [sys.executable, "-m", "benchmarks.cache_bytes", "--measure", peer, inputs, cache]
            environment = {**os.environ, **ENVIRONMENT, "HF_HOME": str(cache)}
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    ours, theirs = found
    if ours["answer"] != theirs["answer"]:
        sys.exit(f"the libraries disagree: {found}")
    head = f"five small columns beside {options.megabytes} MB of text"
    print(f"{head:<46} {'arrowprep':>12} {'datasets':>14} {'ratio':>8} {'target':>8}")
    ratio = ours["bytes"] / theirs["bytes"]
    print(f"{'bytes written':<46} {ours['bytes']:>12,} {theirs['bytes']:>14,} {ratio:>8.4f} {TARGET:>8.2f}")
    shares = [result["bytes"] / text for result in found]
    print(f"{'share of the text':<46} {shares[0]:>12.1%} {shares[1]:>14.1%} {'':>8} {SHARE:>8.0%}")


if __name__ == "__main__":
    main()
