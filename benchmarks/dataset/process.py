"""One group of one library in a process of its own: `python -m benchmarks.dataset.process PEER GROUP ...`.

Prints its figures as a line of JSON. "prepare" as the group loads what other groups read.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import pandas  # noqa: F401  pyarrow loads it (0.2 s) at its first Python value; one peer has at import

from benchmarks.dataset import caching, loading, mapping, memory, reading
from benchmarks.dataset.groups import Given, Group
from benchmarks.dataset.inputs import make

GROUPS: dict[str, Group] = {
    **loading.GROUPS,
    **mapping.GROUPS,
    **reading.GROUPS,
    **caching.GROUPS,
    **memory.GROUPS,
}


def main() -> None:
    peer, group, folder, megabytes, cache = sys.argv[1:]
    inputs = make(Path(folder), int(megabytes))
    given = Given(import_module(f"benchmarks.peers.{peer}"), inputs, Path(cache))
    if group == "prepare":
        for path in inputs.prepared:
            given.load(path)
        return
    print(json.dumps(list(GROUPS[group].run(given))))


if __name__ == "__main__":
    main()
