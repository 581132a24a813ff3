"""The dataset engine beside `datasets`, alternating, each repeat of a group in a fresh process.

    python -m benchmarks.dataset [GROUP ...] [--repeats 3] [--megabytes 100] [--folder DIR] [--save]

Prints medians, how many times less ours is, and what is wanted. An answer that differs between
the libraries ends the run: only equal work is compared.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.dataset.groups import Row
from benchmarks.dataset.inputs import make
from benchmarks.dataset.memory import peak_of
from benchmarks.dataset.process import GROUPS
from benchmarks.run import ENVIRONMENT, PEERS, RESULTS, machine

FRESH = {  # measured from the start of a process; the last of so many counts
    "rerun": (
        2,
        {
            "rerun": Row("load and five maps again, new process", 5),
            "rerun_beyond": Row("the same, beyond importing pyarrow", most=0.3),
        },
    ),
    "start": (1, {"start": Row("import, and the first mapped row", 5)}),
}
Figures = list[tuple[str, float, Any]]


class Bench:
    """Runs groups in processes over one folder of inputs."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self._folder, self._megabytes = folder, megabytes
        self._inputs = make(folder, megabytes)

    def measure(self, peer: str, name: str) -> Figures:
        """The figures of one repeat."""
        if name in FRESH:
            with self._cache(peer, prepared=name == "rerun") as cache:
                command = ["benchmarks.dataset.fresh", peer, name, str(self._inputs.texts), str(cache)]
                for _ in range(FRESH[name][0]):
                    output, _ = self._run(command, cache)
                return _figures(output)
        group = GROUPS[name]
        with self._cache(peer, group.prepared) as cache:
            command = self._command(peer, name, cache)
            output, peak = self._run(command, cache, watched=group.watched is not None)
        figures = _figures(output)
        return [(row, peak if row == group.watched else value, answer) for row, value, answer in figures]

    @contextmanager
    def _cache(self, peer: str, prepared: bool) -> Iterator[Path]:
        """A cache of its own, perhaps with the inputs that were loaded before."""
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            cache = Path(folder) / "cache"
            if prepared:
                shutil.copytree(self._prepared(peer), cache, copy_function=os.link)
            yield cache

    def _prepared(self, peer: str) -> Path:
        cache = self._folder / f"prepared-{peer}"
        if not cache.exists():
            aside = cache.with_suffix(".tmp")
            self._run(self._command(peer, "prepare", aside), aside)
            aside.rename(cache)
        return cache

    def _command(self, peer: str, group: str, cache: Path) -> list[str]:
        inputs = [str(self._folder), str(self._megabytes)]
        return ["benchmarks.dataset.process", peer, group, *inputs, str(cache)]

    def _run(self, command: list[str], cache: Path, watched: bool = False) -> tuple[str, float]:
        """(what it printed, MB of memory where it is watched)"""
        environment = {**os.environ, **ENVIRONMENT, "HF_HOME": str(cache)}
        # else every process would compile our modules anew, and the peers', once installed, never
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        process = subprocess.Popen(
            [sys.executable, "-m", *command], stdout=subprocess.PIPE, text=True, env=environment
        )
        peak = peak_of(process) if watched else 0.0
        output, _ = process.communicate()
        if process.returncode:
            sys.exit(f"{' '.join(command)} failed")
        return output, peak


def _figures(output: str) -> Figures:
    found: Figures = json.loads(output.splitlines()[-1])
    return found


def rows_of(name: str) -> dict[str, Row]:
    return FRESH[name][1] if name in FRESH else GROUPS[name].rows


def compare(bench: Bench, name: str, repeats: int) -> dict[str, list[float]]:
    """Medians of each row: ours and the peer's, alternating so that both see the same weather."""
    values: dict[str, dict[str, list[float]]] = {row: {peer: [] for peer in PEERS} for row in rows_of(name)}
    answers: dict[str, Any] = {}
    for _ in range(repeats):
        for peer in PEERS:
            for row, value, answer in bench.measure(peer, name):
                values[row][peer].append(value)
                if answers.setdefault(row, answer) != answer:
                    sys.exit(f"{row}: the libraries disagree: {answers[row]} and {answer}")
    return {row: [statistics.median(found[peer]) for peer in PEERS] for row, found in values.items()}


def line(row: Row, ours: float, theirs: float) -> str:
    if row.most is not None:
        target, reached = f"<= {row.most:g} {row.unit}", ours <= row.most
    else:
        target, reached = f">= {row.ratio:g}x", theirs >= (row.ratio or 0) * ours
    ratio = f"{theirs / ours:>7.1f}x" if row.ratio is not None else " " * 8
    verdict = "reached" if reached else "MISSED"
    return f"{row.what:<42} {ours:>9.4f} {theirs:>9.4f} {row.unit:<2} {ratio} {target:>9} {verdict}"


def main() -> None:
    names = [*GROUPS, *FRESH]
    parser = argparse.ArgumentParser("benchmarks.dataset", description="The dataset engine beside datasets.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="of: " + ", ".join(names))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=100, help="of the JSON Lines file that is loaded")
    parser.add_argument("--folder", type=Path, help="keep the inputs here (default: a temporary folder)")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/DATE-dataset.txt")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(names):
        parser.error(f"no group is named {', '.join(sorted(unknown))}; they are {', '.join(names)}")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench((options.folder or Path(scratch)).resolve(), options.megabytes)
        columns = f"{'arrowprep':>9} {'datasets':>9}"
        lines = [
            f"{datetime.date.today()}  {machine()}",
            "",
            f"{f'medians of {options.repeats}':<42} {columns}",
        ]
        print("\n".join(lines), flush=True)
        for name in options.groups or names:
            for row, (ours, theirs) in compare(bench, name, options.repeats).items():
                lines.append(line(rows_of(name)[row], ours, theirs))
                print(lines[-1], flush=True)
    if options.save:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{datetime.date.today()}-dataset.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
