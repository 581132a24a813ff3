"""The main job beside `datasets` and `tokenizers`, alternating, each repeat in a fresh process.

    python -m benchmarks.run [--jobs load,rerun] [--repeats 3] [--folder DIR] [--save]

Prints a table of medians. An answer that differs between the libraries ends the run: only equal work
is compared. --save writes the table to benchmarks/results/, named by the date.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import corpus
from benchmarks.job import JOBS

RESULTS = Path(__file__).parent / "results"
PEERS = ("arrowprep_", "datasets_")
TWICE = {"rerun"}  # jobs that a process before has done with the same cache


class Row(NamedTuple):
    what: str
    target: float | None  # how many times faster we want to be


TABLE = {
    "load": Row("load JSON Lines, 200,000 rows", 1.2),
    "cheap_1": Row("map, cheap function, 200,000 rows, 1 process", 3),
    "cheap_2": Row("the same, 2 processes", 3),
    "cheap_2_warm": Row("the same, after another map", 3),
    "tokenize_1": Row("map, tokenize 3.1 MB, 1 process", None),
    "tokenize_2": Row("the same, 2 processes", None),
    "rerun": Row("load and map again, new process", 10),
    "rerun_map": Row("the same map again, same process", 10),
    "random_access": Row("5,000 random rows, one by one", None),
    "numpy_iteration": Row("NumPy batches of 1,000, 200,000 rows", 5),
    "encode": Row("encode 3.1 MB, 1 thread, no map", None),
}
assert TABLE.keys() == JOBS.keys()

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "ARROWPREP_DISABLE_PROGRESS_BARS": "1",
    "ARROWPREP_THREADS": "1",
    "RAYON_NUM_THREADS": "1",  # the peers' tokenizer; processes are what map scales by
    "TOKENIZERS_PARALLELISM": "false",
}


def measure(peer: str, job: str, inputs: Path) -> dict[str, Any]:
    """One repeat, in a fresh process with an empty cache; a job in TWICE is timed the second time."""
    with tempfile.TemporaryDirectory(dir=inputs) as cache:
        for _ in range(2 if job in TWICE else 1):
            command = [sys.executable, "-m", "benchmarks.job", peer, job, str(inputs), cache]
            environment = {**os.environ, **ENVIRONMENT, "HF_HOME": cache}
            # else every process would compile our modules anew, and the peers', once installed, never
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        return json.loads(done.stdout.splitlines()[-1])


def compare(job: str, inputs: Path, repeats: int) -> list[float]:
    """Median seconds of each peer, alternating so that both see the same weather."""
    seconds: dict[str, list[float]] = {peer: [] for peer in PEERS}
    answers = []
    for _ in range(repeats):
        for peer in PEERS:
            result = measure(peer, job, inputs)
            seconds[peer].append(result["seconds"])
            answers.append(result["answer"])
    if any(answer != answers[0] for answer in answers):
        sys.exit(f"{job}: the libraries disagree: {answers}")
    return [statistics.median(seconds[peer]) for peer in PEERS]


def line(job: str, ours: float, theirs: float) -> str:
    row = TABLE[job]
    target = "" if row.target is None else f">= {row.target:g}"
    return f"{row.what:<46} {ours:>9.4f} {theirs:>9.4f} {theirs / ours:>7.1f}x {target:>7}"


def machine() -> str:
    names = ("arrowprep", "datasets", "tokenizers", "pyarrow", "numpy")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{where}, Python {platform.python_version()}\n{versions}"


def main() -> None:
    parser = argparse.ArgumentParser("benchmarks.run", description="Speed beside the peers.")
    parser.add_argument("--jobs", default=",".join(JOBS), help="comma-separated, of: " + ", ".join(JOBS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the inputs here (default: a temporary folder)")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/DATE.txt")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        inputs = (options.folder or Path(scratch)).resolve()
        corpus.make(inputs)
        head = f"median seconds of {options.repeats}"
        columns = f"{'arrowprep':>9} {'peers':>9} {'ratio':>8} {'target':>7}"
        lines = [f"{datetime.date.today()}  {machine()}", "", f"{head:<46} {columns}"]
        print("\n".join(lines), flush=True)
        for job in options.jobs.split(","):
            lines.append(line(job, *compare(job, inputs, options.repeats)))
            print(lines[-1], flush=True)
    if options.save:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{datetime.date.today()}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
