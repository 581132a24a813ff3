"""Instructions that the kernel takes, by callgrind: what a busy machine cannot blur.

    python -m benchmarks.kernel_instructions [--save] TOKENIZER.json ...

Instructions a byte of text inside the kernel's call: cold, distinct and warm as in `benchmarks.kernel`, on
300 KB of English each. Beside them is what results/kernel_instructions.json has, which --save writes; more
than 3 % above it is a regression, and the exit code says so. Needs valgrind; half a minute a file. Counts are
of valgrind's CPU, which has AVX2 and no more.
"""

from __future__ import annotations

import argparse
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
PART = 300_000  # bytes
WORSE = 1.03
CALL = "arrowprep_encode_lists"


def run(path: str, texts: str) -> None:
    """The calls that are counted, in a process of their own."""
    import pyarrow as pa

    from arrowprep.tokenize import Tokenizer

    parts = [pa.array(part, pa.large_string()) for part in json.loads(Path(texts).read_text())]
    engine = Tokenizer.from_file(path).engine.engine
    for part in (parts[0], parts[1], parts[1]):
        engine.encode(part)


def counted(path: str, texts: str, folder: str) -> list[int]:
    """Instructions of each call."""
    dumps = Path(folder, "calls")
    subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            f"--toggle-collect={CALL}",
            f"--dump-after={CALL}",
            f"--callgrind-out-file={dumps}",
            *(sys.executable, "-m", "benchmarks.kernel_instructions", "--run", texts, path),
        ],
        check=True,
        capture_output=True,
        env=os.environ | {"ARROWPREP_THREADS": "1"},
    )
    found = sorted(dumps.parent.glob(f"{dumps.name}.*"), key=lambda dump: int(dump.suffix[1:]))
    totals = (re.search(r"^totals: (\d+)", dump.read_text(), re.MULTILINE) for dump in found)
    return [int(total[1]) for total in totals if total][: len(COLUMNS)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizers", nargs="+", help="tokenizer.json files, not compressed")
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
    for path in arguments.tokenizers:
        name = Path(path).stem
        with tempfile.TemporaryDirectory() as folder:
            texts = Path(folder, "texts.json")
            parts = documents("english", 2000, PART, 2)
            texts.write_text(json.dumps(parts))
            sizes = [sum(len(text.encode()) for text in part) for part in (parts[0], parts[1], parts[1])]
            counts = counted(path, str(texts), folder)
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
