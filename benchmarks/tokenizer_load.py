"""How soon a tokenizer is there: file to object, file to first ids, name; beside `tokenizers`.

    python -m benchmarks.tokenizer_load [--repeats 3] [--only NAME ...]

Every tokenizer under $ARROWPREP_CONFORMANCE/tokenizers, or the packaged GPT-2. Each repeat is a fresh
process with the library imported already, the libraries take turns, and the figures are the smallest CPU
seconds. `tokenizers` reads no .tiktoken, tekken.json or .model: it gets what we save of these as
tokenizer.json. A ratio is peer / ours: above 1 ours is faster.
"""

from __future__ import annotations

import argparse
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

from arrowprep import data
from arrowprep.tokenize.files import huggingface, pipelines

TEXT = "Hello world, this is a test."
FORMATS = ("tokenizer.json", "tekken.json", "*.tiktoken", "*.model")


def arrowprep_cell(path: Path) -> tuple[Callable[[], Any], Callable[[Any], list[int]], Callable[[Any], str]]:
    for module in ("native", "tokenizer", "files.tiktoken", "files.tekken", "files.sentencepiece"):
        importlib.import_module(f"arrowprep.tokenize.{module}")
    return (
        lambda: pipelines.read(path, huggingface.unpack, {})[0],
        lambda tokenizer: list(tokenizer.encode(TEXT, add_special_tokens=False).ids),
        lambda tokenizer: str(tokenizer.fingerprint),
    )


def huggingface_cell(
    path: Path,
) -> tuple[Callable[[], Any], Callable[[Any], list[int]], Callable[[Any], str]]:
    import tokenizers

    return (
        lambda: tokenizers.Tokenizer.from_file(str(path)),
        lambda tokenizer: list(tokenizer.encode(TEXT, add_special_tokens=False).ids),
        lambda _: "",
    )


def measure(library: str, path: str) -> dict[str, Any]:
    """One repeat, in a process of its own: CPU seconds, and MB that the object and its first ids took."""
    load, encode, name = {"arrowprep": arrowprep_cell, "tokenizers": huggingface_cell}[library](Path(path))
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


def repeat(library: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.tokenizer_load", "--cell", library, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(name: str, paths: dict[str, Path], repeats: int) -> bool:
    """A line of the table; whether ours is loaded sooner."""
    runs = [{library: repeat(library, path) for library, path in paths.items()} for _ in range(repeats)]
    best = {
        library: {key: min(run[library][key] for run in runs) for key in ("load", "first", "name", "memory")}
        for library in paths
    }
    ours, peer = best["arrowprep"], best["tokenizers"]
    cells = [f"{name:28}"]
    cells += [
        f"{ours[key] * 1e3:8.1f}{peer[key] * 1e3:9.1f}{peer[key] / ours[key]:7.2f}"
        for key in ("load", "first")
    ]
    other = "" if runs[0]["arrowprep"]["ids"] == runs[0]["tokenizers"]["ids"] else "  other ids"
    cells.append(f"{ours['name'] * 1e3:8.1f}{ours['memory']:8.0f}{peer['memory']:7.0f}{other}")
    print("".join(cells), flush=True)
    return bool(ours["load"] < peer["load"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="names of tokenizers")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(measure(*arguments.cell)))
        return
    print(f"{'CPU ms':28}{'load':>8}{'peer':>9}{'ratio':>7}{'first':>8}{'peer':>9}{'ratio':>7}", end="")
    print(f"{'name':>8}{'MB':>8}{'peer':>7}")
    sooner = []
    with tempfile.TemporaryDirectory() as folder:
        for name, ours, theirs in files(Path(folder)):
            if not arguments.only or name.split("/")[0] in arguments.only:
                paths = {"arrowprep": ours, "tokenizers": theirs}
                sooner.append(compare(name, paths, arguments.repeats))
    print(f"{sum(sooner)} of {len(sooner)} are loaded sooner; the target is all of them")


if __name__ == "__main__":
    main()
