"""List, explain, check and shrink the cache of results and converted files."""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

import arrowprep
from arrowprep.cli.style import BOLD, fact, paint, size
from arrowprep.dataset.save.hf_disk import size_in_bytes
from arrowprep.dataset.storage import shelf
from arrowprep.dataset.storage.shelved import Shelved
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
    root = Path(arguments.cache_dir or arrowprep.settings().cache_dir).expanduser()
    {"ls": _ls, "explain": _explain, "verify": _verify, "prune": _prune, "rm": _rm}[arguments.what](
        root, arguments
    )


def _ls(root: Path, arguments: argparse.Namespace) -> None:
    entries = shelf.entries(root)
    known = {entry.fingerprint for entry in entries}
    for entry in entries:
        times = f"made {_ago(entry.made):>9}  used {_ago(entry.used):>9}"
        what = f"{_what(entry):<32} {_origin(entry, known)}"
        print(f"{entry.fingerprint[:12]}  {size(entry.size):>9}  {times}  {what}".rstrip())
    left = shelf.orphans(root, 0)
    total = sum(entry.size for entry in entries)
    print(f"{len(entries)} entries, {size(total)} in {root}")
    if left:
        waste = size(sum(path.stat().st_size for path in left))
        print(f"{len(left)} files of stopped runs, {waste}, are kept to go on with")


def _what(entry: Shelved) -> str:
    return entry.operation + (f" {entry.function}" if entry.function else "")


def _origin(entry: Shelved, known: set[str]) -> str:
    """What an entry was made from: other entries, a file, or data that is in no entry."""
    if entry.source:
        return f"of {entry.source}"
    parents = sorted(entry.parents & known)
    if parents:
        more = f" and {len(parents) - 3} more" if len(parents) > 3 else ""
        return "of " + ", ".join(name[:12] for name in parents[:3]) + more
    return "of other data" if entry.parent else ""


def _explain(root: Path, arguments: argparse.Namespace) -> None:
    entry = _one(root, arguments.entry)
    if arguments.other is None:
        for name, value in entry.note.get("key", {}).items():
            print(fact(name + ":", value))
        if entry.source:
            print(fact("source:", entry.source))
        if "columns" in entry.note or entry.parent:
            columns = entry.note.get("columns", ["the numbers of the rows that stay"])
            print(fact("columns:", ", ".join(columns)))
            print(fact("parents:", ", ".join(sorted(entry.parents))))
        print(fact("made:", datetime.datetime.fromtimestamp(entry.made).isoformat(" ", "seconds")))
        return
    other = _one(root, arguments.other)
    for difference in compare(entry.note.get("key", {}), other.note.get("key", {})):
        print(difference)


def _verify(root: Path, arguments: argparse.Namespace) -> None:
    damaged = [(entry, path) for entry in shelf.entries(root) for path in entry.damaged()]
    for entry, path in damaged:
        what = "is damaged" if path.exists() else "is gone"
        print(f"{paint(str(path.relative_to(root)), BOLD)} {what}: {_what(entry)}, {entry.fingerprint[:12]}")
    if damaged:
        raise CacheError(f"{len(damaged)} files are damaged; `arrowprep cache rm` removes their entries")
    print("all entries are what was written")


def _prune(root: Path, arguments: argparse.Namespace) -> None:
    limit = _bytes(arguments.max_bytes)
    swept = shelf.sweep(root)
    removed = shelf.prune(root, limit)
    freed = sum(entry.size for entry in removed)
    print(f"removed {len(removed)} entries ({size(freed)}) and {len(swept)} files of stopped runs")
    left = sum(entry.size for entry in shelf.entries(root))
    if left > limit:
        print(f"{size(left)} are in use and stay")


def _rm(root: Path, arguments: argparse.Namespace) -> None:
    for name in arguments.entries:
        entry = _one(root, name)
        if not entry.remove():
            raise CacheError(f"{entry.files[0]} is in use by a running process", path=entry.files[0])
        print(f"removed {entry.fingerprint}")


def _one(root: Path, beginning: str) -> Shelved:
    found = [entry for entry in shelf.entries(root) if entry.fingerprint.startswith(beginning)]
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
