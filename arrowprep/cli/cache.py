"""List, explain, check and shrink the cache of results."""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

import arrowprep
from arrowprep.cli.style import BOLD, fact, paint, size
from arrowprep.dataset.save.hf_disk import size_in_bytes
from arrowprep.dataset.storage import shelf
from arrowprep.dataset.storage.shelf import Shelved
from arrowprep.dataset.verbs.explain import compare
from arrowprep.errors import BadArgument, CacheError

SUMMARY = "list, explain, check and shrink the cache of results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache-dir", help="where results of map are (default: ARROWPREP_CACHE)")
    what = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    what.add_parser("ls", help="the entries, the last used first")
    explain = what.add_parser("explain", help="what an entry is made of, or how it differs from another")
    explain.add_argument("entry", help="the beginning of its fingerprint")
    explain.add_argument("other", nargs="?", help="another entry to compare it with")
    what.add_parser("verify", help="read all entries and compare their checksums")
    prune = what.add_parser("prune", help="remove what was used least recently, children before parents")
    prune.add_argument("--max-bytes", required=True, help='what may stay: "0", "500MB", "20GB"')
    remove = what.add_parser("rm", help="remove entries")
    remove.add_argument("entries", nargs="+", help="the beginnings of their fingerprints")


def run(arguments: argparse.Namespace) -> None:
    folder = Path(arguments.cache_dir or arrowprep.settings().cache_dir).expanduser() / "results"
    {"ls": _ls, "explain": _explain, "verify": _verify, "prune": _prune, "rm": _rm}[arguments.what](
        folder, arguments
    )


def _ls(folder: Path, arguments: argparse.Namespace) -> None:
    entries = shelf.entries(folder)
    known = {entry.fingerprint for entry in entries}
    for entry in entries:
        parent = ""
        if entry.parent:
            parent = f"of {entry.parent[:12]}" if entry.parent in known else "of loaded data"
        name = entry.operation + (f" {entry.function}" if entry.function else "")
        facts = f"{size(entry.size):>9}  used {_ago(entry.used):>8}  {name:<32} {parent}"
        print(f"{entry.fingerprint[:12]}  {facts}".rstrip())
    left = shelf.orphans(folder, 0)
    total = sum(entry.size for entry in entries)
    print(f"{len(entries)} entries, {size(total)} in {folder}")
    if left:
        waste = size(sum(path.stat().st_size for path in left))
        print(f"{len(left)} files of stopped runs, {waste}, are kept to go on with")


def _explain(folder: Path, arguments: argparse.Namespace) -> None:
    entry = _one(folder, arguments.entry)
    if arguments.other is None:
        for name, value in entry.note.get("key", {}).items():
            print(fact(name + ":", value))
        print(fact("columns:", ", ".join(entry.note.get("columns", ["the numbers of the rows that stay"]))))
        print(fact("parent:", entry.parent))
        print(fact("made:", datetime.datetime.fromtimestamp(entry.made).isoformat(" ", "seconds")))
        return
    other = _one(folder, arguments.other)
    for difference in compare(entry.note.get("key", {}), other.note.get("key", {})):
        print(difference)


def _verify(folder: Path, arguments: argparse.Namespace) -> None:
    bad = 0
    for entry in shelf.entries(folder):
        for path, batches in entry.damaged().items():
            bad += 1
            what = (
                "is gone or cannot be opened" if batches == [-1] else f"record batches {batches} are damaged"
            )
            print(f"{paint(path.name, BOLD)}: {what}")
    if bad:
        raise CacheError(f"{bad} files are damaged; `arrowprep cache rm` removes their entries")
    print("all entries are what was written")


def _prune(folder: Path, arguments: argparse.Namespace) -> None:
    swept = shelf.sweep(folder)
    removed = shelf.prune(folder, _bytes(arguments.max_bytes))
    freed = sum(entry.size for entry in removed)
    print(f"removed {len(removed)} entries ({size(freed)}) and {len(swept)} files of stopped runs")
    left = sum(entry.size for entry in shelf.entries(folder))
    if left > _bytes(arguments.max_bytes):
        print(f"{size(left)} are in use and stay")


def _rm(folder: Path, arguments: argparse.Namespace) -> None:
    for name in arguments.entries:
        entry = _one(folder, name)
        if not shelf.remove(entry):
            raise CacheError(f"{entry.files[0]} is in use by a running process", path=entry.files[0])
        print(f"removed {entry.fingerprint}")


def _one(folder: Path, beginning: str) -> Shelved:
    found = [entry for entry in shelf.entries(folder) if entry.fingerprint.startswith(beginning)]
    if len(found) != 1:
        problem = "no entry begins" if not found else f"{len(found)} entries begin"
        raise BadArgument(f"{problem} with {beginning!r}; `arrowprep cache ls` lists them")
    return found[0]


def _bytes(text: str) -> int:
    return 0 if text.strip() == "0" else size_in_bytes(text)


def _ago(when: float) -> str:
    seconds = max(0.0, datetime.datetime.now().timestamp() - when)
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name} ago"
    return f"{seconds / 86400:.0f} d ago"
