"""Instructions that the kernel takes, by callgrind: what a busy machine cannot blur.

    python -m benchmarks.kernel_instructions [--save] TOKENIZER.json ...

Instructions of the kernel's own code a byte of text: cold, distinct and warm as in `benchmarks.kernel`, on
100 KB of English each. Beside them is what results/kernel_instructions.json has, which --save writes; more
than 3 % above it is a regression, and the exit code says so. Needs valgrind; half a minute a file. Counts are
of valgrind's CPU, which has AVX2 and no more.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.kernel_corpus import documents

COLUMNS = ("cold", "distinct", "warm")
SAVED = Path(__file__).parent / "results" / "kernel_instructions.json"
PART = 100_000  # bytes
WORSE = 1.03


def run(path: str, texts: str, calls: int) -> None:
    """The first calls of those that are counted, in a process of their own."""
    import pyarrow as pa

    from arrowprep.tokenize import Tokenizer

    parts = [pa.array(part, pa.large_string()) for part in json.loads(Path(texts).read_text())]
    engine = Tokenizer.from_file(path).engine.engine
    for part in (parts[0], parts[1], parts[1])[:calls]:
        engine.encode(part)


def instructions(path: str, texts: str, calls: int, folder: str) -> int:
    """Those of a process with so many calls, loading included."""
    found = Path(folder, f"{calls}.callgrind")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={found}", sys.executable]
    module = ["-m", "benchmarks.kernel_instructions", "--run", texts, str(calls), path]
    environment = os.environ | {"ARROWPREP_THREADS": "1", "PYTHONHASHSEED": "0"}
    subprocess.run([*command, *module], check=True, capture_output=True, env=environment)
    return kernel_instructions(found)


def kernel_instructions(profile: Path) -> int:
    """Of a profile, what ran in the kernel's library: its functions have no names there, so by object."""
    total, in_kernel, is_call, kernel = 0, False, False, None
    for line in profile.read_text().splitlines():
        if matched := re.match(r"c?ob=(\(\d+\))(.*)", line):
            if "arrowprep_kernel" in matched[2]:
                kernel = matched[1]
            if line.startswith("ob"):
                in_kernel = matched[1] == kernel
        elif line.startswith("calls="):
            is_call = True  # the next line is the cost of what was called
        elif matched := re.match(r"[+*-]?\d* (\d+)$|\* (\d+)$", line):
            total += 0 if is_call or not in_kernel else int(matched[1] or matched[2])
            is_call = False
    return total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizers", nargs="+", help="tokenizer.json files, not compressed")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.tokenizers[0], arguments.run[0], int(arguments.run[1]))
        return
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is not installed, so nothing can be counted")
    saved = json.loads(SAVED.read_text()) if SAVED.exists() else {}
    worse = False
    print(f"{'':14}" + "".join(f"{column:>20}" for column in COLUMNS) + "   instructions a byte (saved)")
    for path in arguments.tokenizers:
        name = Path(path).stem
        with tempfile.TemporaryDirectory() as folder:
            texts = Path(folder, "texts.json")
            parts = documents("english", 2000, PART, 2)
            texts.write_text(json.dumps(parts))
            sizes = [sum(len(text.encode()) for text in part) for part in (parts[0], parts[1], parts[1])]
            totals = [instructions(path, str(texts), calls, folder) for calls in range(len(COLUMNS) + 1)]
        counts = [more - less for less, more in itertools.pairwise(totals)]
        found = [round(count / size, 2) for count, size in zip(counts, sizes, strict=True)]
        before = saved.get(name, found)
        worse |= any(now > WORSE * then for now, then in zip(found, before, strict=True))
        print(f"{name:14}" + "".join(f"{n:12.2f} ({b:.2f})" for n, b in zip(found, before, strict=True)))
        saved[name] = found if arguments.save else before
    if arguments.save:
        SAVED.write_text(json.dumps(saved, indent=1) + "\n")
    elif worse:
        raise SystemExit("more instructions than before")


if __name__ == "__main__":
    main()
