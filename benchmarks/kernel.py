"""Speed of encoding, engine beside engine: one process a repeat, alternating, on one core, in CPU time.

    python -m benchmarks.kernel [--repeats 5] [--document 2000] [--peers-python PYTHON] TOKENIZER.json ...

cold: a new object's first text. distinct: more text of the same kind. warm: that text again; all in
MB a second. small: microseconds a call on 16 texts of 200 characters, new and seen. peak: MB of memory
that the engine took, its model included. Each gets texts as it takes them: Arrow columns, or lists of str.

The last row is how often ours beats the fastest other, and what is wanted; a cell counts only where its
ids are those of the reference engine. tiktoken, kitoken and tokie are asked with --orientation only, and are
no part of it: they are slower, and tokie takes up to 20 s to load a file. Engines that are not installed, or
do not know the model, are left out; --peers-python names an interpreter that has some, and may come several
times. One file, corpus and size take some 20 s a repeat.
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
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.kernel_corpus import CORPORA, documents
from benchmarks.kernel_engines import ENGINES

PART = 1_300_000  # bytes of text a call
PARTS = 5  # the first is the cold one
WARM_ROUNDS = 4
SMALL_CALLS = 300
SPEEDS = ("cold", "distinct", "warm")  # more is better; of the others less
COLUMNS = ("load s", *SPEEDS, "small new", "seen us", "peak MB")
OWN = ("arrowprep", "reference")
FOR_ORIENTATION = ("tiktoken", "kitoken", "tokie")


def wanted(kind: str, corpus: str, document: int) -> dict[str, float]:
    """How often the fastest other is to be beaten, by column."""
    small = {"small new": 2.0, "seen us": 2.0}
    if kind == "WordPiece":
        return dict.fromkeys(SPEEDS, 2.0) | small
    if kind == "Unigram":
        return dict.fromkeys(SPEEDS, 50.0)
    if kind == "BPE over characters":
        return dict.fromkeys(SPEEDS, 10.0)
    if corpus == "cjk":
        return {"cold": 3.0, "warm": 3.0}
    if document <= 300:
        return dict.fromkeys(SPEEDS, 3.0) | small
    return dict.fromkeys(SPEEDS, 2.5 if kind == "BPE over bytes, NFC" else 2.0) | small


def kind_of(path: str) -> str:
    """What a tokenizer.json is, as far as targets differ."""
    file = json.loads(Path(path).read_text(encoding="utf-8"))
    model = file["model"].get("type") or "BPE"
    if model != "BPE":
        return str(model)
    if "ByteLevel" not in json.dumps(file.get("pre_tokenizer")):
        return "BPE over characters"
    return "BPE over bytes, NFC" if "NFC" in json.dumps(file.get("normalizer")) else "BPE over bytes"


def measure(name: str, texts: str, path: str) -> dict[str, Any]:
    """One repeat, in a process of its own. texts: a JSON file of the corpus, part by part"""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["ARROWPREP_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    loaded: list[list[str]] = json.loads(Path(texts).read_text(encoding="utf-8"))
    parts = [(part, sum(len(text.encode()) for text in part)) for part in loaded]
    _forget_peak()
    before = _peak()
    start = time.process_time()
    prepare, encode, rows = ENGINES[name](path)
    load = time.process_time() - start
    batches = [(prepare(texts), size) for texts, size in parts]

    def speed(chosen: list[tuple[Any, int]]) -> float:
        start = time.process_time()
        for batch, _ in chosen:
            encode(batch)
        return sum(size for _, size in chosen) / 1e6 / (time.process_time() - start)

    rounds = 1 if name in ("reference", "tokenizers", "tiktoken") else WARM_ROUNDS
    cold, distinct = speed(batches[:1]), speed(batches[1:])
    warm = max(speed(batches[1:]) for _ in range(rounds))
    peak = _peak() - before
    flat = [text[at : at + 200] for text in loaded[0] for at in range(0, len(text), 200)]
    few = [prepare(flat[at : at + 16]) for at in range(0, min(len(flat), 16 * SMALL_CALLS), 16)]

    def small() -> float:
        start = time.process_time()
        for texts in few:
            encode(texts)
        return (time.process_time() - start) / len(few) * 1e6

    small_new, small_seen = small(), min(small() for _ in range(rounds))
    ids = [list(map(int, row)) for batch in (*(b for b, _ in batches), *few) for row in rows(encode(batch))]
    digest = hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:12]
    figures = (load, cold, distinct, warm, small_new, small_seen, peak)
    return dict(zip(COLUMNS, figures, strict=True), ids=digest)


def _forget_peak() -> None:
    """Count memory from here on, where the system can; what is loaded before is the benchmark's."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    """The most memory that this process had at once, in MB; 0 where the system does not say."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1e3
    return 0.0


def repeat(pythons: list[str], name: str, texts: str, path: str) -> dict[str, Any] | None:
    """`measure` in another process, of the first Python that can; None where none can."""
    for python in pythons:
        command = [python, "-m", "benchmarks.kernel", "--cell", name, texts, path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode:
            found: dict[str, Any] = json.loads(done.stdout)
            return found
        print(f"  {name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return None


def compare(arguments: argparse.Namespace, corpus: str, document: int, texts: str, path: str) -> None:
    """A table of one tokenizer on one corpus."""
    found: dict[str, list[dict[str, Any]]] = {}
    for number in range(arguments.repeats):
        for name in ENGINES:
            if number and (name not in found or name == "reference"):
                continue
            if name in FOR_ORIENTATION and not arguments.orientation:
                continue
            pythons = [sys.executable] if name in OWN else arguments.peers_python or [sys.executable]
            if one := repeat(pythons, name, texts, path):
                found.setdefault(name, []).append(one)
    right = found["reference"][0]["ids"]
    kind = kind_of(path)
    print(f"\n{Path(path).stem} ({kind}), {corpus}, documents of {document} bytes: MB per CPU second")
    print(f"{'':12}" + "".join(f"{name:>11}" for name in COLUMNS))
    medians = {
        name: {column: statistics.median(r[column] for r in repeats) for column in COLUMNS}
        for name, repeats in found.items()
    }
    is_right = {name: all(r["ids"] == right for r in repeats) for name, repeats in found.items()}
    for name, cells in medians.items():
        wrong = "" if is_right[name] else "  other ids: does not count"
        print(f"{name:12}" + "".join(f"{cells[column]:11.2f}" for column in COLUMNS) + wrong)
    others = [
        cells for name, cells in medians.items() if name not in (*OWN, *FOR_ORIENTATION) and is_right[name]
    ]
    if others and is_right["arrowprep"]:
        print(f"{'ratio':12}" + _ratios(medians["arrowprep"], others, wanted(kind, corpus, document)))


def _ratios(ours: dict[str, float], others: list[dict[str, float]], wanted: dict[str, float]) -> str:
    """Of ours to the best of the others, by column; behind it what is wanted."""
    cells = []
    for column in COLUMNS:
        theirs = [cells[column] for cells in others]
        ratio = ours[column] / max(theirs) if column in SPEEDS else min(theirs) / max(ours[column], 1e-9)
        cells.append(f"{ratio:.1f}" + (f"/{wanted[column]:g}" if column in wanted else ""))
    return "".join(f"{cell:>11}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizers", nargs="*", help="tokenizer.json files, not compressed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--document", type=int, action="append", help="bytes; 300, 2000 and 10000 are asked for"
    )
    parser.add_argument("--corpus", action="append", choices=CORPORA)
    parser.add_argument("--peers-python", action="append", default=[])
    parser.add_argument("--orientation", action="store_true", help="show slower engines beside them")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(measure(*arguments.cell)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for corpus in arguments.corpus or CORPORA:
            for document in arguments.document or [2000]:
                texts = Path(folder, f"{corpus}.{document}.json")
                parts = documents(corpus, document, PART, PARTS)
                texts.write_text(json.dumps(parts), encoding="utf-8")
                for path in arguments.tokenizers:
                    compare(arguments, corpus, document, str(texts), path)


if __name__ == "__main__":
    main()
