"""From JSON Lines to ids on the disk, whole programs side by side: wall seconds, two processes or threads.

    python -m benchmarks.end_to_end [--megabytes 200] [--repeats 3] [--peers-path FOLDER] [--slow]

arrowprep: load_local, map(tokenize, batched=True, num_proc=2). fastokens: `datasets`, mapped in two
processes by a function that returns Arrow; gigatoken: pyarrow reads and writes, its threads encode: what an
expert builds. tokenizers: `datasets` and `tokenizers`, only with --slow (a minute and a half for 200 MB).

Each repeat is a fresh process with an empty cache. The text is source code and documentation of what is
installed, in documents of 2 KB, none twice until there are no more. A library counts only where its ids
are the same as arrowprep's. --peers-path names a folder that packages are imported from, beside our own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import corpus

DOCUMENT = 2000  # characters
TARGETS = {"tokenizers": 40, "fastokens": 2, "gigatoken": 2}


def write_documents(path: Path, size: int) -> None:
    """`size` bytes of JSON Lines."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for text in _texts():
            written += file.write(json.dumps({"text": text}) + "\n")
            if written >= size:
                return


def _texts() -> Iterator[str]:
    """Every Python file that is installed, cut; again from the start when they end."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    paths += sorted(Path(sysconfig.get_path("purelib")).rglob("*.py"))
    while True:
        for path in paths:
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            yield from (text[at : at + DOCUMENT] for at in range(0, len(text), DOCUMENT))


def run_arrowprep(documents: Path, tokenizer: Path, folder: Path) -> Any:
    from arrowprep import configure, load_local, load_tokenizer

    configure(cache_dir=folder)
    encode = load_tokenizer(tokenizer)

    def tokenize(batch: Any) -> Any:
        return encode(batch["text"], return_attention_mask=False)

    mapped = load_local(documents).map(tokenize, batched=True, num_proc=2, remove_columns=["text"])
    return mapped.data["input_ids"]


def run_tokenizers(documents: Path, tokenizer: Path, folder: Path) -> Any:
    import datasets
    import tokenizers

    encode = tokenizers.Tokenizer.from_file(str(tokenizer / "tokenizer.json"))

    def tokenize(batch: Any) -> Any:
        return {"input_ids": [encoding.ids for encoding in encode.encode_batch(batch["text"])]}

    loaded = datasets.load_dataset("json", data_files=str(documents), split="train", cache_dir=str(folder))
    return loaded.map(tokenize, batched=True, num_proc=2, remove_columns=["text"]).data["input_ids"]


@cache
def _fastokens(path: str) -> Any:
    """One a process: it does not pickle."""
    import fastokens

    return fastokens.Tokenizer.from_file(path)


def run_fastokens(documents: Path, tokenizer: Path, folder: Path) -> Any:
    import datasets
    import pyarrow as pa

    def tokenize(batch: Any) -> Any:
        encode = _fastokens(str(tokenizer / "tokenizer.json"))
        ids, bounds = encode.encode_batch_flat(batch["text"].to_pylist(), add_special_tokens=False)
        offsets = pa.Array.from_buffers(pa.uint64(), len(bounds) // 8, [None, pa.py_buffer(bounds)])
        values = pa.Array.from_buffers(pa.int32(), len(ids) // 4, [None, pa.py_buffer(ids)])
        return pa.table({"input_ids": pa.ListArray.from_arrays(offsets.cast(pa.int32()), values)})

    loaded = datasets.load_dataset("json", data_files=str(documents), split="train", cache_dir=str(folder))
    arrow = loaded.with_format("arrow")
    return arrow.map(tokenize, batched=True, num_proc=2, remove_columns=["text"]).data["input_ids"]


def run_gigatoken(documents: Path, tokenizer: Path, folder: Path) -> Any:
    import awkward
    import gigatoken
    import pyarrow as pa
    import pyarrow.json

    texts = pyarrow.json.read_json(documents)["text"].cast(pa.binary()).to_pylist()
    encode = gigatoken.Tokenizer(str(tokenizer / "tokenizer.json"))
    ids = awkward.to_arrow(encode.encode_batch(texts), extensionarray=False)
    table = pa.table({"input_ids": ids})
    with pa.OSFile(str(folder / "ids.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return table["input_ids"]


PROGRAMS: dict[str, Callable[[Path, Path, Path], Any]] = {
    "arrowprep": run_arrowprep,
    "fastokens": run_fastokens,
    "gigatoken": run_gigatoken,
    "tokenizers": run_tokenizers,
}


def cell(name: str, documents: str, tokenizer: str) -> None:
    """One repeat: prints the seconds, and a digest of all ids."""
    import numpy as np

    with tempfile.TemporaryDirectory(dir=Path(documents).parent) as folder:
        start = time.perf_counter()
        column = PROGRAMS[name](Path(documents), Path(tokenizer), Path(folder))
        seconds = time.perf_counter() - start
        digest = hashlib.sha256()
        for chunk in column.chunks:
            digest.update(chunk.flatten().to_numpy(zero_copy_only=False).astype(np.int64))
        print(json.dumps([seconds, len(column), digest.hexdigest()[:12]]))


def repeat(name: str, documents: Path, tokenizer: Path, peers_path: str) -> tuple[float, list[Any]] | None:
    """`cell` in a fresh process; None where the library is not there, or fails."""
    quiet = {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "ARROWPREP_DISABLE_PROGRESS_BARS": "1",
    }
    environment = {**os.environ, **quiet, "TOKENIZERS_PARALLELISM": "false"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if name != "arrowprep" and peers_path:
        environment["PYTHONPATH"] = peers_path
    command = [sys.executable, "-m", "benchmarks.end_to_end", "--cell", name, str(documents), str(tokenizer)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        print(f"{name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
        return None
    seconds, *answer = json.loads(done.stdout.splitlines()[-1])
    return seconds, answer


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers-path", default="")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        cell(*arguments.cell)
        return
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = corpus.make(Path(folder)).tokenizer
        documents = Path(folder, "documents-2k.jsonl")
        write_documents(documents, arguments.megabytes * 1_000_000)
        names = [name for name in PROGRAMS if name != "tokenizers" or arguments.slow]
        found: dict[str, list[float]] = {name: [] for name in names}
        answers: dict[str, list[Any]] = {}
        for _ in range(arguments.repeats):
            for name in names:
                if one := repeat(name, documents, tokenizer, arguments.peers_path):
                    found[name].append(one[0])
                    answers[name] = one[1]
    own = statistics.median(found["arrowprep"])
    print(f"{arguments.megabytes} MB of JSON Lines, {answers['arrowprep'][0]} documents, GPT-2")
    print(f"{'':12}{'s':>8}{'MB/s':>8}{'ratio':>8}{'target':>8}")
    for name, seconds in found.items():
        if not seconds:
            continue
        median = statistics.median(seconds)
        wrong = "" if answers[name] == answers["arrowprep"] else "  other ids: does not count"
        print(
            f"{name:12}{median:8.2f}{arguments.megabytes / median:8.1f}{median / own:8.1f}"
            f"{TARGETS.get(name, ''):>8}{wrong}"
        )


if __name__ == "__main__":
    main()
