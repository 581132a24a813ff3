"""The reference engine beside `tokenizers`: `python -m benchmarks.reference [--offsets] [FILE ...]`.

    python -m benchmarks.reference --corpora multilingual,scripts --repeats 5

MB of text per CPU second on byte-level BPE, a process each, on one core. cold: a new object's first
text. warm: that text again. FILE is a tokenizer.json; without one, five under
$ARROWPREP_CONFORMANCE/tokenizers, or the packaged GPT-2. The peer's is encode_batch without special
tokens, of which the ids are read. A ratio is ours / peer; the target is 2, with offsets 1.
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
from pathlib import Path
from typing import Any

from arrowprep import data
from arrowprep.tokenize.files.huggingface import unpack
from benchmarks.kernel_corpus import documents

CORPORA = ("english", "code", "multilingual", "scripts")
NAMES = ("gpt2", "llama3like", "qwen3", "gptoss", "clip")
PART = 1_300_000  # bytes of text
SHIFTS = (0, 0x370, 0x400, 0x5D0, 0x900, 0x3040, 0x4E00, 0xAC00)  # where scripts begin


def texts_of(corpus: str) -> list[str]:
    """Documents of about 2,000 bytes.

    multilingual: translated messages of programs, where any are installed
    scripts: English whose letters are moved, a script a document, so that hardly a word is in a vocabulary
    """
    if corpus != "scripts":
        return documents(corpus, 2000, PART, 1)[0]
    texts = documents("english", 2000, PART, 1)[0]
    return [_moved(text, SHIFTS[i % len(SHIFTS)]) for i, text in enumerate(texts)]


def _moved(text: str, start: int) -> str:
    """Every word spelled in 24 letters of a script, so that words come as often as they do in English."""
    if not start:
        return text
    return "".join(chr(start + 1 + ord(c) % 24) if c.isalpha() else c for c in text)


def measure(library: str, path: str, corpus: str, offsets: bool) -> dict[str, Any]:
    """One repeat, in a process of its own."""
    os.environ.update(TOKENIZERS_PARALLELISM="false", ARROWPREP_ENGINE="reference")
    texts: list[str] = json.loads(Path(corpus).read_text(encoding="utf-8"))
    size = sum(len(text.encode()) for text in texts)
    run = {"arrowprep": _arrowprep, "tokenizers": _huggingface}[library](path, texts, offsets)
    speeds = []
    for _ in range(3):
        start = time.process_time()
        ids = run()
        speeds.append(size / 1e6 / (time.process_time() - start))
    digest = hashlib.sha256(json.dumps(ids()).encode()).hexdigest()
    return {"cold": speeds[0], "warm": max(speeds[1:]), "ids": digest}


def _arrowprep(path: str, texts: list[str], offsets: bool) -> Any:
    import pyarrow as pa

    from arrowprep.tokenize import Tokenizer

    engine = Tokenizer.from_file(path).engine.engine
    column = pa.array(texts, pa.large_string())

    def run() -> Any:
        encoded = engine.encode(column, offsets=offsets)
        return lambda: encoded.ids.to_pylist()

    return run


def _huggingface(path: str, texts: list[str], offsets: bool) -> Any:
    import tokenizers

    peer = tokenizers.Tokenizer.from_file(path)
    peer.no_padding()
    peer.no_truncation()

    def run() -> Any:
        encoded = peer.encode_batch(texts, add_special_tokens=False)
        rows = [(e.ids, e.offsets if offsets else None) for e in encoded]
        return lambda: [ids for ids, _ in rows]

    return run


def repeat(library: str, path: Path, corpus: Path, offsets: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.reference", "--cell", library, str(path), str(corpus)]
    done = subprocess.run(command + ["--offsets"] * offsets, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def chosen(given: list[str], folder: Path) -> list[Path]:
    """The tokenizer.json files, unpacked."""
    root = os.environ.get("ARROWPREP_CONFORMANCE")
    homes = [Path(root, "tokenizers", name) for name in NAMES] if root else [data.GPT2]
    found = []
    for source in map(Path, given) if given else [next(home.glob("tokenizer.json*")) for home in homes]:
        target = folder / f"{source.parent.name}.json"
        target.write_bytes(unpack(source))
        found.append(target)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*")
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--offsets", action="store_true")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(measure(*arguments.cell, arguments.offsets)))
        return
    print(f"{'MB/s':28}{'cold':>8}{'peer':>8}{'ratio':>7}{'warm':>8}{'peer':>8}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpora = {corpus: found for corpus in arguments.corpora.split(",") if (found := texts_of(corpus))}
        for corpus, found in corpora.items():
            Path(folder, f"{corpus}.texts").write_text(json.dumps(found), encoding="utf-8")
        for path in chosen(arguments.files, folder):
            for corpus in corpora:
                compare(path, folder / f"{corpus}.texts", arguments)


def compare(path: Path, texts: Path, arguments: argparse.Namespace) -> None:
    """A line of the table."""
    runs: dict[str, list[dict[str, Any]]] = {"arrowprep": [], "tokenizers": []}
    for _ in range(arguments.repeats):
        for library, found in runs.items():
            found.append(repeat(library, path, texts, arguments.offsets))
    line = f"{path.stem + ', ' + texts.stem:28}"
    for key in ("cold", "warm"):
        ours, peer = (statistics.median(run[key] for run in found) for found in runs.values())
        line += f"{ours:8.1f}{peer:8.1f}{ours / peer:7.2f}"
    same = len({run["ids"] for found in runs.values() for run in found}) == 1
    print(line + ("" if same else "  other ids: does not count"), flush=True)


if __name__ == "__main__":
    main()
