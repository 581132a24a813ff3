"""Instructions that the kernel takes, by callgrind: what a busy machine cannot blur.

    python -m benchmarks.kernel_instructions [--save] TOKENIZER.json ...

Instructions of the kernel's own code a byte of text: cold, distinct and warm as in `benchmarks.kernel`, on
100 KB of English each. Beside them is what results/kernel_instructions.json has, which --save writes, file by
file; more than 3 % above it is a regression, and the exit code says so. Without files it takes those of
ARROWPREP_CONFORMANCE. Needs valgrind; half a minute a file. Counts are of its CPU, which has AVX2 and no
more.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.kernel_corpus import documents

COLUMNS = ("cold", "distinct", "warm")
SAVED = Path(__file__).parent / "results" / "kernel_instructions.json"
GOLDEN = ("gpt2", "qwen3", "llama2like", "minilm", "xlmr", "t5like", "llama3like", "gptoss")
PART = 100_000  # bytes
WORSE = 1.03
MARK = "getloadavg"  # a function of the C library that nothing else calls, and of the module os


def run(path: str, texts: str) -> None:
    """The calls that are counted, a mark before each."""
    import pyarrow as pa

    from arrowprep.tokenize import Tokenizer

    parts = [pa.array(part, pa.large_string()) for part in json.loads(Path(texts).read_text())]
    engine = Tokenizer.from_file(path).engine.engine
    for part in (parts[0], parts[1], parts[1]):
        getattr(os, MARK)()
        engine.encode(part)


def instructions(path: str, texts: str, folder: str) -> list[int]:
    """Those of each call."""
    found = Path(folder, "callgrind")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={found}", f"--dump-before={MARK}"]
    module = [sys.executable, "-m", "benchmarks.kernel_instructions", "--run", texts, path]
    environment = os.environ | {"ARROWPREP_THREADS": "1", "PYTHONHASHSEED": "0"}
    subprocess.run([*command, *module], check=True, capture_output=True, env=environment)
    # a profile is written at every mark, of what was before; the last at the end
    return [kernel_instructions(Path(profile)) for profile in (f"{found}.2", f"{found}.3", found)]


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
    parser.add_argument("tokenizers", nargs="*", help="tokenizer.json files, not compressed")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.tokenizers[0], arguments.run)
        return
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is not installed, so nothing can be counted")
    saved = json.loads(SAVED.read_text()) if SAVED.exists() else {}
    worse = False
    print(f"{'':14}" + "".join(f"{column:>20}" for column in COLUMNS) + "   instructions a byte (saved)")
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder, "texts.json")
        parts = documents("english", 2000, PART, 2)
        texts.write_text(json.dumps(parts))
        sizes = [sum(len(text.encode()) for text in part) for part in (parts[0], parts[1], parts[1])]
        for path in arguments.tokenizers or golden(Path(folder)):
            name = Path(path).stem
            counts = instructions(path, str(texts), folder)
            found = [round(count / size, 2) for count, size in zip(counts, sizes, strict=True)]
            before = saved.get(name, found)
            worse |= any(now > WORSE * then for now, then in zip(found, before, strict=True))
            columns = (f"{now:12.2f} ({then:.2f})" for now, then in zip(found, before, strict=True))
            print(f"{name:14}" + "".join(columns), flush=True)
            if arguments.save:
                saved[name] = found
                SAVED.write_text(json.dumps(saved, indent=1, sort_keys=True) + "\n")
    if worse and not arguments.save:
        raise SystemExit("more instructions than before")


def golden(folder: Path) -> Iterator[str]:
    """The tokenizers of ARROWPREP_CONFORMANCE that stand for all kinds, not compressed."""
    if "ARROWPREP_CONFORMANCE" not in os.environ:
        raise SystemExit("no tokenizer.json is given, and ARROWPREP_CONFORMANCE names no folder of them")
    for name in GOLDEN:
        home = Path(os.environ["ARROWPREP_CONFORMANCE"], "tokenizers", name, "tokenizer.json")
        packed = home.with_suffix(".json.gz")
        plain = folder / f"{name}.json"
        plain.write_bytes(gzip.decompress(packed.read_bytes()) if packed.exists() else home.read_bytes())
        yield str(plain)


if __name__ == "__main__":
    main()
