"""Training beside `tokenizers`: `python -m benchmarks.train [--megabytes 20] [--vocabulary 32000]`.

CPU seconds to learn a vocabulary from English, and from sources where there is not enough of that; a
process each, one thread, no bar. BPE and WordLevel must give the same file as the peer. The target is at
most ten times the peer's time in Python.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.kernel_corpus import documents

EXACT = ("bpe", "wordlevel")
KINDS = {
    "bpe": ("BPE", "BpeTrainer"),
    "wordpiece": ("WordPiece", "WordPieceTrainer"),
    "wordlevel": ("WordLevel", "WordLevelTrainer"),
    "unigram": ("Unigram", "UnigramTrainer"),
}
UNIGRAM = (1.0, 8000)  # megabytes and vocabulary: it takes far longer, everywhere


def texts_of(megabytes: float) -> list[str]:
    texts: list[str] = []
    size = 0
    for corpus in ("english", "code"):
        for text in documents(corpus, 2000, int(megabytes * 1e6), 1)[0]:
            if size < megabytes * 1e6:
                texts.append(text)
                size += len(text.encode())
    return texts


def measure(library: str, kind: str, corpus: str, vocabulary: int) -> dict[str, Any]:
    """One training, in a process of its own."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    texts = json.loads(Path(corpus).read_text(encoding="utf-8"))
    root = {"arrowprep": "arrowprep.tokenize", "tokenizers": "tokenizers"}[library]
    package = importlib.import_module(root)
    models, cutters, trainers = (
        importlib.import_module(f"{root}.{name}") for name in ("models", "pre_tokenizers", "trainers")
    )
    model, trainer = KINDS[kind]
    tokenizer = package.Tokenizer(getattr(models, model)())
    options: dict[str, Any] = {"vocab_size": vocabulary, "show_progress": False}
    tokenizer.pre_tokenizer = cutters.Whitespace()
    if kind == "bpe":
        tokenizer.pre_tokenizer = cutters.ByteLevel(add_prefix_space=False)
        options["initial_alphabet"] = cutters.ByteLevel.alphabet()
    if kind == "unigram":
        tokenizer.pre_tokenizer = cutters.Metaspace()
        options["unk_token"] = "<unk>"
    start = time.process_time()
    tokenizer.train_from_iterator(texts, getattr(trainers, trainer)(**options))
    return {
        "seconds": time.process_time() - start,
        "digest": hashlib.sha256(tokenizer.to_str().encode()).hexdigest(),
        "tokens": tokenizer.get_vocab_size(),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def run(library: str, kind: str, corpus: Path, vocabulary: int) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.train",
        "--cell",
        library,
        kind,
        str(corpus),
        str(vocabulary),
    ]
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        library, kind, corpus, vocabulary = arguments.cell
        print(json.dumps(measure(library, kind, corpus, int(vocabulary))))
        return
    print(f"{'':12}{'MB':>6}{'tokens':>8}{'CPU s':>8}{'peer':>8}{'times':>7}{'MB of memory':>15}{'peer':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            size, vocabulary = UNIGRAM if kind == "unigram" else (arguments.megabytes, arguments.vocabulary)
            corpus = Path(folder, f"{min(size, arguments.megabytes)}.json")
            if not corpus.exists():
                corpus.write_text(json.dumps(texts_of(min(size, arguments.megabytes))), encoding="utf-8")
            ours, peer = (run(library, kind, corpus, vocabulary) for library in ("arrowprep", "tokenizers"))
            times = ours["seconds"] / peer["seconds"]
            same = (
                ""
                if kind not in EXACT or ours["digest"] == peer["digest"]
                else "  another file: does not count"
            )
            print(
                f"{kind:12}{min(size, arguments.megabytes):6.1f}{ours['tokens']:8}{ours['seconds']:8.1f}"
                f"{peer['seconds']:8.1f}{times:7.1f}{ours['megabytes']:15.0f}{peer['megabytes']:7.0f}{same}",
                flush=True,
            )


if __name__ == "__main__":
    main()
