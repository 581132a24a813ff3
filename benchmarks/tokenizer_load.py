"""How soon a tokenizer is there: file to object, file to first ids, name; beside other libraries.

    python -m benchmarks.tokenizer_load [--repeats 3] [--only NAME ...] [--peers-python PYTHON]

Every tokenizer under $ARROWPREP_CONFORMANCE/tokenizers, or the packaged GPT-2. Each repeat is a fresh
process with the library imported already, its shared library too; the libraries take turns, and the figures
are the smallest CPU seconds. Peers read no .tiktoken, tekken.json or .model: they get what we save of them as
tokenizer.json. A ratio is peer / ours: above 1 ours is faster. `best` is the fastest to the first ids of
fastokens, snaptokens and gigatoken, which --peers-python names an interpreter for, where they read the file.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEXT = "Hello world, this is a test."
FORMATS = ("tokenizer.json", "tekken.json", "*.tiktoken", "*.model")
PEERS = ("fastokens", "snaptokens", "gigatoken")

Cell = tuple[Callable[[], Any], Callable[[Any], list[int]], Callable[[Any], str]]


def arrowprep_cell(path: Path) -> Cell:
    from arrowprep.tokenize import native_library
    from arrowprep.tokenize.files import huggingface, pipelines

    for module in ("native", "tokenizer", "files.tiktoken", "files.tekken", "files.sentencepiece"):
        importlib.import_module(f"arrowprep.tokenize.{module}")
    native_library.load()  # which to import another library does as well
    return (
        lambda: pipelines.read(path, huggingface.unpack, {})[0],
        lambda tokenizer: list(tokenizer.encode(TEXT, add_special_tokens=False).ids),
        lambda tokenizer: str(tokenizer.fingerprint),
    )


def huggingface_cell(path: Path) -> Cell:
    import tokenizers

    return (
        lambda: tokenizers.Tokenizer.from_file(str(path)),
        lambda tokenizer: list(tokenizer.encode(TEXT, add_special_tokens=False).ids),
        lambda _: "",
    )


def peer_cell(name: str, path: Path) -> Cell:
    peer = importlib.import_module(name).Tokenizer
    if name == "gigatoken":
        return (
            lambda: peer(str(path)),
            lambda tokenizer: list(map(int, tokenizer.encode_batch([TEXT.encode()], parallel=False)[0])),
            lambda _: "",
        )
    return (
        lambda: peer.from_file(str(path)),
        lambda tokenizer: list(
            memoryview(tokenizer.encode_batch_flat([TEXT], add_special_tokens=False)[0]).cast("I")
        ),
        lambda _: "",
    )


def measure(library: str, path: str) -> dict[str, Any]:
    """One repeat, in a process of its own: CPU seconds, and MB that the object and its first ids took."""
    cells = {"arrowprep": arrowprep_cell, "tokenizers": huggingface_cell}
    load, encode, name = cells[library](Path(path)) if library in cells else peer_cell(library, Path(path))
    gc.collect()  # what imports left is ours or not by chance: to look through it takes 1 to 8 ms
    before = _resident()
    start = time.process_time()
    tokenizer = load()
    loaded = time.process_time()
    ids = encode(tokenizer)
    first = time.process_time()
    memory = _resident() - before
    named = time.process_time()
    name(tokenizer)
    return {
        "load": loaded - start,
        "first": first - start,
        "name": time.process_time() - named,
        "memory": memory,
        "ids": ids,
    }


def _resident() -> float:
    """MB of this process in memory."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def files(folder: Path) -> list[tuple[str, Path, Path]]:
    """(name, our file, the peer's tokenizer.json) of every tokenizer, unpacked into `folder`."""
    from arrowprep import data
    from arrowprep.tokenize.files import huggingface, pipelines

    root = os.environ.get("ARROWPREP_CONFORMANCE")
    sources = sorted(Path(root, "tokenizers").iterdir()) if root else [data.GPT2]
    found = []
    for source in (source for source in sources if source.is_dir()):
        for packed in sorted(file for form in FORMATS for file in source.glob(form + "*")):
            home = folder / source.name / packed.name
            home.mkdir(parents=True)
            ours = home / packed.name.removesuffix(".gz")
            ours.write_bytes(huggingface.unpack(packed))
            theirs = ours
            if ours.name != "tokenizer.json":
                theirs = home / "tokenizer.json"
                pipelines.read(ours, huggingface.unpack, {})[0].save(theirs, pretty=False)
            name = source.name if ours.name == "tokenizer.json" else f"{source.name}/{ours.name}"
            found.append((name, ours, theirs))
    return found


def repeat(python: str, library: str, path: Path) -> dict[str, Any] | None:
    """`measure` in another process; None where a library is not there, or cannot read the file."""
    command = [python, "-m", "benchmarks.tokenizer_load", "--cell", library, str(path)]
    # compiling modules anew is no part of what is measured
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode and python == sys.executable:
        raise RuntimeError(done.stderr)
    return None if done.returncode else json.loads(done.stdout)


def compare(name: str, ours: Path, theirs: Path, repeats: int, peers_python: str | None) -> tuple[bool, bool]:
    """A line of the table; whether ours is loaded sooner, and has its first ids sooner than every peer."""
    libraries = {"arrowprep": (sys.executable, ours), "tokenizers": (sys.executable, theirs)}
    if peers_python:
        libraries |= dict.fromkeys(PEERS, (peers_python, theirs))
    best: dict[str, dict[str, Any]] = {}
    for _ in range(repeats):
        for library, (python, path) in libraries.items():
            if run := repeat(python, library, path):
                before = best.get(library, run)
                best[library] = run | {key: min(run[key], before[key]) for key in ("load", "first", "name")}
    mine, peer = best.pop("arrowprep"), best["tokenizers"]
    cells = [f"{name:28}"]
    cells += [
        f"{mine[key] * 1e3:8.1f}{peer[key] * 1e3:9.1f}{peer[key] / mine[key]:7.2f}"
        for key in ("load", "first")
    ]
    # one with other ids does not count, unless none has ours
    right = {library: run for library, run in best.items() if run["ids"] == mine["ids"]} or best
    soonest = min(right, key=lambda library: right[library]["first"])
    first = best[soonest]["first"]
    other = "" if peer["ids"] == mine["ids"] else "  other ids"
    cells.append(f"{mine['name'] * 1e3:8.1f}{mine['memory']:8.0f}{peer['memory']:7.0f}")
    cells.append(f"{first / mine['first']:7.2f} {soonest}{other}")
    print("".join(cells), flush=True)
    return mine["load"] < min(run["load"] for run in right.values()), mine["first"] < first


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="names of tokenizers")
    parser.add_argument("--peers-python", help="an interpreter that has the other peers")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(measure(*arguments.cell)))
        return
    print(f"{'CPU ms':28}{'load':>8}{'peer':>9}{'ratio':>7}{'first':>8}{'peer':>9}{'ratio':>7}", end="")
    print(f"{'name':>8}{'MB':>8}{'peer':>7}{'best':>7}")
    sooner = []
    with tempfile.TemporaryDirectory() as folder:
        for name, ours, theirs in files(Path(folder)):
            if not arguments.only or name.split("/")[0] in arguments.only:
                sooner.append(compare(name, ours, theirs, arguments.repeats, arguments.peers_python))
    for column, what in enumerate(("are loaded", "have their first ids")):
        count = sum(found[column] for found in sooner)
        print(f"{count} of {len(sooner)} {what} sooner than by any peer; the target is all of them")


if __name__ == "__main__":
    main()
