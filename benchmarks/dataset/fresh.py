"""What a new process costs: `python -m benchmarks.dataset.fresh PEER WHAT INPUTS CACHE`.

Imports nothing before the clock runs. rerun: load and five maps, all found in the cache; the process
before made them. start: import the library and see the first mapped row.
"""

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any


def rerun(peer: Any, texts: Path, cache: Path) -> Any:
    from benchmarks.dataset.chain import chain

    return chain(peer.load(texts, cache))[0]


def start(peer: Any, texts: Path, cache: Path) -> Any:
    rows = peer.from_columns({"text": ["a", "bc"] * 50}, cache)
    return rows.map(lambda row: {"n": len(row["text"])})[1]


def main() -> None:
    name, what, texts, cache = sys.argv[1:]
    begun = time.perf_counter()
    import pyarrow  # noqa: F401

    with_pyarrow = time.perf_counter()
    peer = import_module(f"benchmarks.peers.{name}")
    answer = {"rerun": rerun, "start": start}[what](peer, Path(texts), Path(cache))
    ended = time.perf_counter()
    figures = [(what, ended - begun, answer)]
    if what == "rerun":
        figures.append(("rerun_beyond", ended - with_pyarrow, answer))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
