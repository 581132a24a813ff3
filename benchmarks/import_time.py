"""What importing arrowprep costs beyond pyarrow: `python -m benchmarks.import_time`.

Two figures from -X importtime, the smallest of five processes: the package alone, and with its main names
used. Exits 1 when the package alone is over the limit.
"""

from __future__ import annotations

import os
import subprocess
import sys

LIMIT_S = 0.1
PACKAGE = "import arrowprep"
NAMES = "from arrowprep import Dataset, load_local, load_tokenizer"


def modules(statement: str) -> list[tuple[int, str]]:
    """(microseconds, name) of every module that the statement loads and that `import pyarrow` does not."""
    command = [sys.executable, "-X", "importtime", "-c", f"import pyarrow\n{statement}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True, env=environment)
    lines = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()[1:]]
    names = [name.strip() for _, _, name in lines]
    later = lines[names.index("pyarrow") + 1 :]
    return sorted(((int(own), name.strip()) for own, _, name in later), reverse=True)


def cheapest(statement: str, repeats: int = 5) -> list[tuple[int, str]]:
    return min((modules(statement) for _ in range(repeats)), key=lambda loaded: sum(own for own, _ in loaded))


def main() -> int:
    seconds = {}
    for statement in (PACKAGE, NAMES):
        loaded = cheapest(statement)
        seconds[statement] = sum(own for own, _ in loaded) / 1e6
        print(f"{statement}: {seconds[statement] * 1000:.1f} ms beyond pyarrow, {len(loaded)} modules")
    for own, name in loaded[:10]:
        print(f"  {own / 1000:6.1f} ms  {name}")
    return int(seconds[PACKAGE] > LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
